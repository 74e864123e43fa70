// The explorer: one state, shown in all parts of the page whenever it changes.

import { addressOf, stateOf } from "./address.js";
import { dataOf } from "./data.js";
import { Loads } from "./loads.js";
import { Matrix } from "./matrix.js";
import { LISTED, Model } from "./model.js";
import { Panel } from "./panel.js";
import { mostOf, rampOf, rampOfJobs, scaleOf } from "./scale.js";
import { Frames, Player } from "./time.js";
import { saveCsv, saveImage, saveSvg } from "./saved.js";
import { $, Side } from "./side.js";
import { amount, channelName, channelSaid, counted, number, percent, rankName, valued } from "./words.js";

class Explorer {
  constructor(data) {
    this.plains = {};
    this.data = data;
    this.network = data.network;
    this.models = data.views.map((view) => new Model(data.network, view));
    this.frames = data.views.map((view) => (view.frames ? new Frames(view.frames, data.network.channels) : null));
    this.state = this.settled(stateOf(location.hash, data));
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
    this.state = this.settled({ ...this.state, ...changes });
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

  // Time is that of one answer, and ends with it.
  settled(state) {
    const frames = state.mode === "one" ? this.frames[state.view] : null;
    return { ...state, frame: frames ? Math.min(state.frame, frames.many - 1) : -1 };
  }

  // The values, the scale and the colors of what is shown.
  look(model) {
    const { frame, mode, measure } = this.state;
    const { colors } = this;
    if (mode === "change") {
      const values = Float64Array.from(this.other.load, (each, at) => each - this.model.load[at]);
      return { values, scale: { kind: "change", most: mostOf(values), share: model.view.unit === "share" }, colors, ramp: this.ramp("change") };
    }
    if (frame >= 0) {
      return { ...this.busyLook, values: this.frames[this.state.view].busy(frame) };
    }
    if (mode === "one" && model.own(measure) === "jobs") {
      return { values: model.jobs, scale: { kind: "jobs" }, colors, ramp: rampOfJobs(this.data.colors.jobs, colors) };
    }
    return this.plain(model);
  }

  // The look of loads alone: of parts that show no difference and no time.
  plain(model) {
    const compared = this.other && (model === this.model || model === this.other) ? [this.model, this.other] : [model];
    const key = `${compared.map((each) => this.models.indexOf(each)).join(" ")} ${this.dark}`;
    if (!this.plains[key]) {
      const [delays, full] = ["delays", "full"].map((name) => Math.max(...compared.map(({ view }) => view[name])));
      const scale = scaleOf(compared.map((each) => each.values), { delays, full }, this.data.colors.delayed);
      this.plains[key] = { ...scale, share: model.view.unit === "share" };
    }
    return { values: model.values, scale: this.plains[key], colors: this.colors, ramp: this.ramp("heat") };
  }

  // What is selected, on a scale of its own: what it puts on channels, up to the most.
  part(model, picked, chosen) {
    const values = chosen ? model.carried(chosen) : new Float64Array(this.network.channels);
    const scale = { kind: "part", most: mostOf(values), delayed: this.data.colors.delayed, share: model.view.unit === "share" };
    return { values, scale, ramp: this.ramp("heat"), channels: model.channelsOf(picked).slice(0, 400) };
  }

  // The look of shares of time.
  get busyLook() {
    const scale = { ...scaleOf([[1]], { delays: 1, full: 1 }, this.data.colors.delayed), share: true };
    return { scale, colors: this.colors, ramp: this.ramp("heat") };
  }

  ramp(name) {
    return rampOf(this.data.colors[this.dark ? `dark_${name}` : name]);
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
    $("parts").classList.toggle("two", shown.length > 1);
    this.panels[1].place.hidden = shown.length < 2;
    $("name-beside").hidden = shown.length < 2;
    $("name-one").hidden = shown.length < 2;
    this.plains = {};
    this.chosen = this.model.chosen(state.picked);
    this.shown = this.look(this.model);
    shown.forEach((model, at) => this.showPanel(this.panels[at], model));
    const matrix = Boolean(this.model.walks) && this.model.view.flows.source.length > 0;
    $("matrix").hidden = !matrix;
    const beside = this.shown.scale.kind === "load" && state.frame < 0 ? this.shown : this.plain(this.model);
    this.below = { ...beside, chosen: this.chosenFlows(), picked: state.picked };
    if (matrix) this.matrix.show(this.model, this.below);
    this.loads.show(this.model, this.below);
    this.player.show(state.mode === "one" ? this.frames[state.view] : null, state.frame, this.busyLook);
    this.side.show();
    document.body.dataset.ready = "yes";
  }

  showPanel(panel, model) {
    const look = { ...this.look(model), pointed: this.pointed, out: this.state.out, listed: this.listed(model) };
    const { picked, frame } = this.state;
    if (picked) look.selected = this.part(model, picked, model === this.model ? this.chosen : model.chosen(picked));
    if (!picked && frame >= 0) look.thread = this.thread(model);
    panel.camera = this.state.camera;
    panel.show(this.network.drawings[this.state.drawing], look);
    panel.top.setAttribute("aria-label", this.side.sentence());
  }

  // The channels that have a disc with their number in the list: of three rows, but no ties and none
  // near the mean.
  listed(model) {
    const { scale, values } = this.look(model);
    if (scale.kind === "change") return this.changed(values).slice(0, 3).map((channel, at) => [channel, at + 1]);
    if (scale.kind === "jobs" || this.state.frame >= 0) return [];
    const rows = model.rows(3).map(({ channels }, at) => [channels, at + 1]);
    return rows.filter(([channels]) => channels.length === 1 && values[channels[0]] > 1.05 * scale.mean).map(([[channel], at]) => [channel, at]);
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
    const lines = [channelSaid(model, channel)];
    if (!this.network.even) lines.push(`${number(this.network.rate[channel])} ${this.network.rate_unit}`);
    if (model.timed) lines.push(valued(model, model.values[channel]));
    if (this.state.frame >= 0) lines.push(`${percent(this.shown.values[channel])} busy now`);
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
    if (waits >= 0) lines.push(`busiest on the way: ${channelSaid(model, waits, false)}`);
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
