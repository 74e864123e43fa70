// The explorer: one state, shown in all parts of the page whenever it changes.

import { addressOf, stateOf } from "./address.js";
import { dataOf } from "./data.js";
import { Loads } from "./loads.js";
import { Matrix } from "./matrix.js";
import { LISTED, Model } from "./model.js";
import { Panel } from "./panel.js";
import { LEVELS, rampOf, rampOfJobs, scaleOf } from "./scale.js";
import { Frames, Player } from "./time.js";
import { saveCsv, saveImage, saveSvg } from "./saved.js";
import { $, Side } from "./side.js";
import { amount, channelName, channelSaid, counted, number, percent, rankName, valued } from "./words.js";

class Explorer {
  constructor(data) {
    this.data = data;
    this.network = data.network;
    this.models = data.views.map((view) => new Model(data.network, view));
    this.frames = data.views.map((view) => (view.frames ? new Frames(view.frames, data.network.channels) : null));
    this.state = stateOf(location.hash, data);
    this.pointed = -1;
    const heard = {
      clicked: (hit) => this.clicked(hit),
      pointed: (hit, event, panel) => this.hovered(hit, event, panel),
      moved: (camera) => this.set({ camera }, "camera"),
    };
    this.panels = [$("network"), $("network-beside")].map((place) => new Panel(place, this.network, heard));
    this.matrix = new Matrix($("matrix"), {
      brushed: (box) => this.pick({ kind: "pairs", ...box }),
      pointed: (pair, event) => this.pairPointed(pair, event),
    });
    this.loads = new Loads($("loads"), { brushed: (span) => this.pick(span && { kind: "loads", ...span }) });
    this.player = new Player($("time"), (frame) => this.set({ frame }));
    this.side = new Side(this);
    this.controls();
    addEventListener("resize", () => this.show());
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) !== addressOf(this.state)) this.set(stateOf(location.hash, this.data));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
    addEventListener("beforeprint", () => this.printed());
    addEventListener("afterprint", () => this.unprinted());
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.pick(null);
    });
    this.show();
  }

  get model() {
    return this.models[this.state.view];
  }

  get other() {
    return this.state.beside >= 0 ? this.models[this.state.beside] : null;
  }

  // Change the state, and show it. What only moves the camera draws no other part anew.
  set(changes, only = "") {
    this.state = { ...this.state, ...changes };
    if (only === "camera") {
      for (const panel of this.panels) {
        if (!panel.scene || panel.place.hidden) continue;
        panel.camera = this.state.camera;
        panel.move();
      }
    } else this.show();
    if (location.protocol !== "about:") history.replaceState(null, "", `#${addressOf(this.state)}`); // in a page of its own
  }

  pick(picked) {
    if (!picked) this.matrix.box = null;
    this.set({ picked });
  }

  clicked({ channel, router }) {
    if (channel >= 0) this.pick({ kind: "channel", channel });
    else if (router >= 0) this.pick({ kind: "router", router });
    else this.pick(null);
  }

  // The values, the scale and the colors of what is shown.
  look(model) {
    const { measure, frame, mode, range } = this.state;
    const { dark, colors } = this;
    const frames = this.frames[this.models.indexOf(model)];
    const use = model.view.unit === "share" || (frames && frame >= 0);
    const valuesOf = (each) => (frame >= 0 && frames ? frames.busy(Math.min(frame, frames.many - 1)) : each.values(measure));
    const compared = mode === "one" ? [model] : [this.model, this.other];
    if (mode === "change") {
      const [before, after] = [this.model, this.other].map(valuesOf);
      const values = Float64Array.from(after, (each, at) => each - before[at]);
      return { values, scale: scaleOf([values], "change"), colors, ramp: rampOf(this.data.colors[dark ? "dark_change" : "change"]) };
    }
    if (model.own(measure) === "jobs" && mode === "one" && !(frames && frame >= 0)) {
      return { values: model.jobs, scale: { kind: "jobs", low: 0, high: LEVELS, most: LEVELS, mean: 0 }, colors, ramp: rampOfJobs(this.data.colors.jobs, colors) };
    }
    let scale = scaleOf(compared.map(valuesOf), use ? "use" : "load");
    if (range) scale = { ...scale, low: Math.min(...range), high: Math.max(...range) };
    return { values: valuesOf(model), scale, colors, ramp: rampOf(this.data.colors[dark ? "dark_heat" : "heat"]) };
  }

  // The colors of the page, which canvases need in plain words.
  get colors() {
    const found = {};
    for (const name of ["ink", "quiet", "paper", "card", "box", "faint"]) {
      $("heard").style.color = `var(--${name})`;
      found[name] = getComputedStyle($("heard")).color;
    }
    return found;
  }

  get dark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  show() {
    const { state } = this;
    for (const model of this.models) {
      const wanted = { out: state.out, swap: model.canSwap ? state.swap : null };
      if (JSON.stringify(wanted) !== JSON.stringify(model.changes)) model.change(wanted);
    }
    const shown = state.mode === "beside" ? [this.model, this.other] : [this.model];
    $("networks").classList.toggle("two", shown.length > 1);
    this.panels[1].place.hidden = shown.length < 2;
    $("name-beside").hidden = shown.length < 2;
    $("name-one").hidden = shown.length < 2;
    this.chosen = this.model.chosen(state.picked, state.measure);
    shown.forEach((model, at) => this.showPanel(this.panels[at], model));
    this.shownLook = { ...this.look(this.model), measure: state.measure, chosen: this.chosenFlows(), picked: state.picked };
    const whole = state.mode === "change" || state.frame >= 0 || state.measure === "jobs" ? { ...this.shownLook, ...this.plainLook() } : this.shownLook;
    const matrix = Boolean(this.model.walks) && this.model.view.flows.source.length > 0;
    $("matrix").hidden = !matrix;
    if (matrix) this.matrix.show(this.model, whole);
    this.loads.show(this.model, whole);
    this.player.show(this.frames[state.view], state.frame, this.shownLook);
    this.side.show();
    document.body.dataset.ready = "yes";
  }

  // The look of the first answer alone, in all: for parts that show no difference and no time.
  plainLook() {
    const before = this.state;
    this.state = { ...before, mode: "one", frame: -1, measure: before.measure === "jobs" ? "load" : before.measure };
    const found = this.look(this.model);
    this.state = before;
    return found;
  }

  showPanel(panel, model) {
    const look = this.look(model);
    const { measure, picked, mode } = this.state;
    look.listed = mode === "change" ? this.changed(look.values).slice(0, 3) : this.state.frame >= 0 ? [] : model.busiest(measure, 3);
    if (look.scale.kind === "jobs" || look.scale.high <= look.scale.low || look.values.every((each) => each <= 1.05 * look.scale.mean) && mode !== "change") look.listed = [];
    look.pointed = this.pointed;
    const chosen = model === this.model ? this.chosen : model.chosen(picked, measure);
    if (picked) {
      const load = chosen ? model.carried(chosen) : new Float64Array(this.network.channels);
      let most = 0;
      for (const each of load) most = Math.max(most, each);
      look.selected = { load: load.map((each) => Math.sqrt(each / (most || 1))), channels: model.channelsOf(picked, measure).slice(0, 400) };
    }
    if (!picked && this.state.frame >= 0) look.thread = this.thread(model);
    panel.camera = this.state.camera;
    panel.show(this.network.drawings[this.state.drawing], look);
    panel.top.setAttribute("aria-label", this.side.sentence());
  }

  // The channels that the critical path crosses in the frame that is shown.
  thread(model) {
    const frames = this.frames[this.models.indexOf(model)];
    const [step] = frames ? frames.steps(Math.min(this.state.frame, frames.many - 1)) : [];
    if (!step || step[1] < 0 || !model.walks) return [];
    const { flows } = model.view;
    const flow = flows.source.findIndex((each, at) => each === step[0] && flows.target[at] === step[1]);
    const { walks } = model;
    for (let walk = 0; flow >= 0 && walk < walks.many; walk++) {
      if ((walks.flow ? walks.flow[walk] : walk) === flow) return [...walks.channel.subarray(walks.first[walk], walks.first[walk + 1])];
    }
    return [];
  }

  // The channels by how much they change.
  changed(values) {
    const order = Array.from({ length: values.length }, (_, at) => at);
    return order.sort((one, other) => Math.abs(values[other]) - Math.abs(values[one])).filter((each) => values[each]).slice(0, LISTED);
  }

  chosenFlows() {
    if (!this.chosen) return null;
    const { walks } = this.model;
    const found = new Uint8Array(this.model.view.flows.source.length);
    for (let walk = 0; walk < walks.many; walk++) if (this.chosen[walk]) found[walks.flow ? walks.flow[walk] : walk] = 1;
    return found;
  }

  hovered({ channel, router }, event, panel) {
    if (channel !== this.pointed) {
      this.pointed = channel;
      for (const each of this.panels) {
        if (!each.scene || each.place.hidden) continue;
        each.look.pointed = channel;
        each.mark();
      }
    }
    panel.top.style.cursor = channel >= 0 || router >= 0 ? "pointer" : panel.camera.k > 1 ? "grab" : "default";
    if (channel >= 0) this.tip(event, this.tellChannel(panel === this.panels[1] ? this.other : this.model, channel));
    else if (router >= 0) this.tip(event, [this.network.router_names[router]]);
    else this.tip(null);
  }

  tellChannel(model, channel) {
    const { measure } = this.state;
    const lines = [channelSaid(model, measure, channel, scaleOf([model.values(measure)], model.view.unit === "share" ? "use" : "load"))];
    if (!this.network.even) lines.push(`${number(this.network.rate[channel])} ${this.network.rate_unit}`);
    if (measure !== "load") lines.push(valued(model, measure, model.values(measure)[channel]));
    if (this.state.mode === "change") {
      const change = this.other.load[channel] - this.model.load[channel];
      lines.push(`${amount(Math.abs(change), model.view.unit)} ${change < 0 ? "less" : "more"} in ${this.other.view.name}`);
    }
    if (!model.walks) return lines;
    for (const [flow, part] of model.flowsOver(channel).slice(0, 3)) {
      const { flows } = model.view;
      lines.push(`${rankName(model, flows.source[flow])} → ${rankName(model, flows.target[flow])}: ${amount(part, model.view.unit)}`);
    }
    return lines;
  }

  pairPointed(pair, event) {
    if (!pair) return this.tip(null);
    const { model } = this;
    const { flows } = model.view;
    const names = `${rankName(model, pair.source)} → ${rankName(model, pair.target)}`;
    const flow = flows.each !== undefined && pair.source !== pair.target
      ? pair.source * (flows.ranks - 1) + pair.target - (pair.target > pair.source ? 1 : 0)
      : flows.source.findIndex((each, at) => each === pair.source && flows.target[at] === pair.target);
    if (flow < 0 || pair.source === pair.target) return this.tip(event, [names, "nothing is sent"]);
    const waits = model.waits[flow];
    const lines = [names, amount(flows.amount[flow], model.view.unit)];
    if (waits >= 0) lines.push(`busiest on the way: ${channelSaid(model, this.state.measure, waits, { mean: 0 })}`);
    return this.tip(event, lines);
  }

  // A few lines beside the pointer, away from both edges. Without a pointer they are read aloud.
  tip(event, lines) {
    const tip = $("tip");
    tip.hidden = !event || !lines;
    if (lines && !event) $("heard").textContent = lines.join(". ");
    if (tip.hidden) return;
    tip.replaceChildren(...lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
    const box = tip.getBoundingClientRect();
    const x = event.clientX + 16 + box.width > innerWidth ? event.clientX - 16 - box.width : event.clientX + 16;
    const y = event.clientY + 16 + box.height > innerHeight ? event.clientY - 16 - box.height : event.clientY + 16;
    tip.style.left = `${Math.max(4, Math.min(x, innerWidth - box.width - 4))}px`;
    tip.style.top = `${Math.max(4, y)}px`;
  }

  controls() {
    $("save-svg").addEventListener("click", () => saveSvg(this));
    $("save-png").addEventListener("click", () => saveImage(this));
    $("save-csv").addEventListener("click", () => saveCsv(this));
    $("zoom-in").addEventListener("click", () => this.panels[0].zoom(1.6));
    $("zoom-out").addEventListener("click", () => this.panels[0].zoom(1 / 1.6));
    $("zoom-all").addEventListener("click", () => this.set({ camera: { k: 1, x: 0, y: 0 } }, "camera"));
    $("theme").addEventListener("click", () => {
      document.documentElement.dataset.theme = this.dark ? "light" : "dark";
      this.show();
    });
  }

  // A bitmap prints blurred: lines are put in its place. Paper is light.
  printed() {
    const { dataset } = document.documentElement;
    this.theme = dataset.theme;
    dataset.theme = "light";
    this.show();
    for (const panel of this.panels) {
      if (!panel.scene || panel.place.hidden) continue;
      const image = document.createElement("div");
      image.className = "print";
      image.innerHTML = panel.svg(this.side.sentence());
      panel.place.append(image);
    }
  }

  unprinted() {
    document.querySelectorAll(".print").forEach((each) => each.remove());
    if (this.theme) document.documentElement.dataset.theme = this.theme;
    else delete document.documentElement.dataset.theme;
    this.show();
  }
}

async function start() {
  const given = JSON.parse($("data").textContent);
  const explorer = new Explorer(await dataOf(given));
  window.netloom = {
    explorer,
    words: { amount, channelName, counted, percent },
    at: (channel, panel = 0) => {
      const box = explorer.panels[panel].top.getBoundingClientRect();
      const place = explorer.panels[panel].screen(channel);
      return place && [box.left + place[0], box.top + place[1]];
    },
  };
}

start().catch((error) => {
  $("sentence").textContent = `This browser cannot show the page: ${error.message}. It needs a browser of 2023 or later.`;
  throw error;
});
