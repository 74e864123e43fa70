// Draws the charts of the page, in the colours of its background and for the width of its window,
// and again when these change.
(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const themes = read("themes");
  const specs = read("specs");
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");
  const small = matchMedia("(max-width: 820px)");
  let printing = paper.matches;
  let drawn = "";
  let views = [];

  const chosen = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const themed = () => (printing ? "light" : chosen());
  const tight = () => small.matches && !printing;

  function chart(id) {
    const narrow = specs[id].usermeta?.narrow;
    if (!tight() || !narrow) return specs[id];
    return { ...narrow, datasets: { ...specs[id].datasets, ...narrow.datasets } };
  }

  async function draw() {
    const theme = themed();
    const wanted = `${theme} ${tight() ? "narrow" : "wide"}`;
    if (wanted === drawn) return;
    drawn = wanted;
    const old = views;
    views = [];
    for (const id of Object.keys(specs)) {
      const place = document.querySelector(`#${id} .drawing`);
      try {
        const made = await vegaEmbed(place, chart(id), {
          renderer: "svg", actions: false, mode: "vega-lite", config: themes[theme],
          tooltip: { theme },
        });
        views.push(made);
      } catch (error) {
        console.error(id, error);
        place.textContent = "The chart cannot be drawn; its numbers stand below.";
      }
      if (wanted !== drawn) return; // another drawing has begun
    }
    for (const view of old) view.finalize();
    root.dataset.drawn = theme;
    root.dataset.size = tight() ? "narrow" : "wide";
  }

  const button = document.getElementById("theme");
  const named = () => { button.textContent = chosen() === "dark" ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = chosen() === "dark" ? "light" : "dark";
    named();
    draw();
  });
  dark.addEventListener("change", () => { named(); draw(); });
  small.addEventListener("change", draw);
  const print = (now) => { printing = now; draw(); };
  paper.addEventListener("change", (event) => print(event.matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  named();
  draw();
})();
