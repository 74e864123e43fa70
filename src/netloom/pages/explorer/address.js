// What is shown, as the end of the page's address: a link leads back to it.

export const START = {
  view: 0, beside: -1, mode: "one", drawing: 0, measure: "load", picked: null,
  out: [], swap: null, frame: -1, camera: { k: 1, x: 0, y: 0 },
};

const short = (value) => Number(value.toPrecision(5));

export function addressOf(state) {
  const parts = [];
  const add = (name, value) => parts.push(`${name}=${encodeURIComponent(value)}`);
  add("view", state.view);
  if (state.mode !== "one") add("mode", `${state.mode} ${state.beside}`);
  if (state.drawing) add("drawing", state.drawing);
  add("measure", state.measure);
  if (state.picked) add("picked", JSON.stringify(state.picked));
  if (state.out.length) add("out", state.out.join(" "));
  if (state.swap) add("swap", state.swap.join(" "));
  if (state.frame >= 0) add("frame", state.frame);
  if (state.camera.k !== 1) add("camera", [state.camera.k, state.camera.x, state.camera.y].map(short).join(" "));
  return parts.join("&");
}

// The state of an address. What it says of things that are not there is left out.
export function stateOf(address, data) {
  const given = new URLSearchParams(address.replace(/^#/, ""));
  const numbers = (name) => (given.get(name) || "").split(" ").filter(Boolean).map(Number);
  const state = { ...START, camera: { ...START.camera }, ...(address.length > 1 ? {} : data.start) };
  const inside = (value, many) => Number.isInteger(value) && value >= 0 && value < many;
  const [view] = numbers("view");
  if (inside(view, data.views.length)) state.view = view;
  const [mode, beside] = (given.get("mode") || "").split(" ");
  if (["beside", "change"].includes(mode) && inside(Number(beside), data.views.length)) {
    state.mode = mode;
    state.beside = Number(beside);
  }
  const [drawing] = numbers("drawing");
  if (inside(drawing, data.network.drawings.length)) state.drawing = drawing;
  if (["load", "jobs"].includes(given.get("measure"))) state.measure = given.get("measure");
  state.picked = pickedOf(given.get("picked"), data, state.view);
  state.out = numbers("out").filter((each) => inside(each, data.network.channels));
  const swap = numbers("swap");
  const { flows } = data.views[state.view];
  if (flows && swap.length === 2 && swap.every((each) => inside(each, flows.ranks))) state.swap = swap;
  const [frame] = numbers("frame");
  const { frames } = data.views[state.view];
  if (frames && inside(frame, frames.edges.length - 1)) state.frame = frame;
  const camera = numbers("camera");
  if (camera.length === 3 && camera.every(Number.isFinite) && camera[0] >= 1) {
    state.camera = { k: camera[0], x: camera[1], y: camera[2] };
  }
  return state;
}

function pickedOf(text, data, view) {
  let found;
  try {
    found = JSON.parse(text || "null");
  } catch {
    return null;
  }
  const { network } = data;
  const ranks = data.views[view].flows ? data.views[view].flows.ranks : 0;
  const inside = (value, many) => Number.isInteger(value) && value >= 0 && value < many;
  const span = (each) => Array.isArray(each) && each.length === 2 && each.every((rank) => inside(rank, ranks));
  const known = {
    channel: (it) => inside(it.channel, network.channels),
    router: (it) => inside(it.router, network.routers),
    rank: (it) => inside(it.rank, ranks),
    job: (it) => data.views[view].flows && data.views[view].flows.jobs && inside(it.job, data.views[view].flows.jobs.length),
    pairs: (it) => span(it.from) && span(it.to),
    loads: (it) => Number.isFinite(it.low) && Number.isFinite(it.high),
  };
  return found && Object.hasOwn(known, found.kind) && known[found.kind](found) ? found : null;
}
