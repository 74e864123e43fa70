// Draws the charts of the page, in the colours of its background and for the width of its window,
// and again when these change; sorts tables, and hands out their numbers as files.
(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const themes = read("themes");
  const specs = read("specs");
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");
  const small = matchMedia("(max-width: 1179px)");
  let printing = paper.matches;
  let drawn = "";
  let views = [];

  const chosen = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const themed = () => (printing ? "light" : chosen());
  const tight = () => small.matches || printing;

  function chart(id) {
    const narrow = specs[id].usermeta?.narrow;
    if (!tight() || !narrow) return specs[id];
    return { ...narrow, datasets: { ...specs[id].datasets, ...narrow.datasets } };
  }

  function named(place) {
    const svg = place.querySelector("svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", place.parentElement.dataset.label);
    for (const inside of svg.querySelectorAll("[role], [aria-label]")) {
      inside.removeAttribute("role");
      inside.removeAttribute("aria-label");
    }
    if (byKeyboard(place)) svg.setAttribute("role", "group"); // what is inside can be reached
    svg.style.setProperty("--own", `${svg.viewBox.baseVal.width}px`);
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
        const made = await showChart(place, chart(id), { theme, config: themes[theme] });
        views.push(made);
        named(place);
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

  // A cell as a number, or as a word where it is none; what is unknown comes last.
  const powers = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
  function value(cell) {
    const text = cell.textContent.trim().replaceAll(",", "").replaceAll("−", "-");
    if (text === "–" || text === "") return null;
    const found = text.match(/^([+-]?\d*\.?\d+(?:e[+-]?\d+)?)(?:\s([kMGTP]))?(?:\s*(?:%|±|to\s|$))/u);
    return found ? Number(found[1]) * (powers[found[2]] || 1) : text;
  }

  function sort(table, column, falling) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row.cells[column]), row]);
    rows.sort(([one], [other]) => {
      if (one === null || other === null) return (one === null) - (other === null);
      const words = typeof one === "string" || typeof other === "string";
      const order = words
        ? String(one).localeCompare(String(other), "en", { numeric: true })
        : one - other;
      return falling ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
  }

  for (const table of document.querySelectorAll("table")) {
    const fixed = table.classList.contains("fixed");
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const first = table.tBodies[0].rows[0]?.cells[column];
      if (first?.classList.contains("n")) head.style.textAlign = "right";
      if (fixed || table.tBodies[0].rows.length < 2) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const falling = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        sort(table, column, falling);
      });
    });
  }

  const files = read("csv");
  for (const button of document.querySelectorAll("button.csv")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const { file, text } = files[button.dataset.csv];
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      link.download = file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  const explorers = read("explorers");
  for (const place of document.querySelectorAll("details.explorer")) {
    place.addEventListener("toggle", () => {
      if (place.querySelector("iframe")) return;
      const [title, data] = explorers.each[place.dataset.number];
      const frame = document.createElement("iframe");
      frame.title = title;
      frame.srcdoc = explorers.shell.replace('"the data"', () => data);
      frame.addEventListener("load", () => { frame.contentDocument.documentElement.dataset.theme = chosen(); });
      place.append(frame);
    });
  }

  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  const button = document.getElementById("theme");
  const label = () => { button.textContent = chosen() === "dark" ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = chosen() === "dark" ? "light" : "dark";
    label();
    draw();
  });
  dark.addEventListener("change", () => { label(); draw(); });
  small.addEventListener("change", draw);
  const print = (now) => { printing = now; draw(); };
  paper.addEventListener("change", (event) => print(event.matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  label();
  draw();
})();
