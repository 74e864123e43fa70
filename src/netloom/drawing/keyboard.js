// Makes the channels of a drawn network reachable by keyboard: one stop of the Tab key, at the
// busiest. Arrow keys go on to the next busiest, and Home back. What has the focus tells what the
// pointer is told. Listeners are at the place, since SVG elements that have them are stops.
const byKeyboard = (place) => {
  const channels = new Map();
  for (const mark of place.querySelectorAll(".mark-symbol path")) {
    const { tooltip, datum } = mark.__data__ ?? {};
    if (!tooltip || datum?.channel === undefined || datum.heat === undefined) continue;
    const key = `${datum.channel} ${datum.load}`; // a summary may draw it again
    if (!channels.has(key)) channels.set(key, { mark, load: Math.abs(datum.load) });
  }
  const marks = [...channels.values()].sort((a, b) => b.load - a.load).map(({ mark }) => mark);
  const tell = (mark, kind) => {
    const { left, top, width, height } = mark.getBoundingClientRect();
    const at = { bubbles: true, clientX: left + width / 2, clientY: top + height / 2 };
    for (const each of [`pointer${kind}`, `mouse${kind}`]) mark.dispatchEvent(new MouseEvent(each, at));
  };
  const stop = (mark) => {
    const told = Object.entries(mark.__data__.tooltip).map(([name, value]) => `${name} ${value}`);
    const said = { tabindex: "0", role: "img", "aria-label": told.join(", ") };
    for (const [name, value] of Object.entries(said)) mark.setAttribute(name, value);
  };
  const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  if (!marks.length) return 0;
  place.addEventListener("focusin", ({ target }) => marks.includes(target) && tell(target, "move"));
  place.addEventListener("focusout", ({ target }) => marks.includes(target) && tell(target, "out"));
  place.addEventListener("keydown", (event) => {
    const rank = marks.indexOf(event.target);
    const next = rank < 0 ? null : event.key === "Home" ? marks[0] : marks[rank + steps[event.key]];
    if (!next || next === event.target) return;
    event.preventDefault();
    for (const name of ["tabindex", "role", "aria-label"]) event.target.removeAttribute(name);
    stop(next);
    next.focus();
  });
  stop(marks[0]);
  return marks.length;
};
