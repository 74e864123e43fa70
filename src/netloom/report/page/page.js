// Draws the charts of the page, in the colours of its background, and again when that changes.
(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const themes = read("themes");
  const specs = read("specs");
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");
  let printing = paper.matches;
  let drawn = "";
  let views = [];

  const chosen = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const wanted = () => (printing ? "light" : chosen());

  async function draw() {
    const theme = wanted();
    if (theme === drawn) return;
    drawn = theme;
    const old = views;
    views = [];
    for (const [id, spec] of Object.entries(specs)) {
      const place = document.querySelector(`#${id} .drawing`);
      try {
        const made = await vegaEmbed(place, spec, {
          renderer: "svg", actions: false, mode: "vega-lite", config: themes[theme],
          tooltip: { theme },
        });
        views.push(made);
      } catch (error) {
        console.error(id, error);
        place.textContent = "The chart cannot be drawn; its numbers stand below.";
      }
      if (theme !== drawn) return; // another drawing has begun
    }
    for (const view of old) view.finalize();
    root.dataset.drawn = theme;
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
  const print = (now) => { printing = now; draw(); };
  paper.addEventListener("change", (event) => print(event.matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  named();
  draw();
})();
