// Everything beside the pictures: the sentence, what is shown, the scale, the busiest channels, what
// is selected, what is changed, and the table of numbers.

import { START } from "./address.js";
import { LISTED } from "./model.js";
import { LEVELS, colorOf, mostOf } from "./scale.js";
import { amount, channelName, channelSaid, channelTold, counted, flowRow, number, percent, rankName, valued } from "./words.js";

const ROWS = 12;
const IN_TABLE = 50;
const MARKS = { fine: "✓", limited: "!", act: "✗", unknown: "?" };
const MEASURES = { load: "load", jobs: "jobs" };
const STOPS = 60; // of the colors of a legend
export const $ = (name) => document.getElementById(name);
const made = (tag, properties = {}, ...inside) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
};

export class Side {
  constructor(explorer) {
    this.explorer = explorer;
    this.network = explorer.network;
    this.choices();
    this.listen();
  }

  // Native radio buttons: one group for each thing that is chosen.
  choices() {
    const { data, network } = this.explorer;
    const views = data.views.map((view, at) => [view.name, { view: at, mode: "one" }]);
    if (data.views.some((view, at) => this.mates(at).length)) {
      views.push(["side by side", { mode: "beside" }], ["difference", { mode: "change" }]);
    }
    this.group("views", views, (state) => (state.mode === "one" ? state.view : data.views.length + (state.mode === "beside" ? 0 : 1)));
    $("views").hidden = views.length < 2;
    this.group("drawings", network.drawings.map((each, at) => [each.label, { drawing: at, camera: START.camera }]), (state) => state.drawing);
    $("drawings").hidden = network.drawings.length < 2;
    const some = Object.keys(MEASURES).filter((each) => this.explorer.models.some((model) => model.measures.includes(each)));
    this.group("measures", some.map((each) => [MEASURES[each], { measure: each }]), (state) => some.indexOf(this.explorer.model.own(state.measure)));
    $("measures").hidden = some.length < 2;
  }

  group(name, choices, chosen) {
    const place = $(name);
    choices.forEach(([label, changes], at) => {
      const input = made("input", { type: "radio", name, value: at });
      input.addEventListener("change", () => this.explorer.set(this.withOther(changes)));
      place.append(made("label", {}, input, made("span", { textContent: label })));
    });
    place.update = (state) => {
      const input = place.querySelectorAll("input")[chosen(state)];
      if (input) input.checked = true;
    };
  }

  // The answers that one can be compared with: those in the same unit.
  mates(view) {
    const { views } = this.explorer.data;
    return views.map((_, at) => at).filter((at) => at !== view && views[at].unit === views[view].unit);
  }

  // Two answers are compared: the one that is shown, and another in its unit.
  withOther(changes) {
    const { state } = this.explorer;
    const { mode, view, beside } = { ...state, ...changes };
    if (mode === "one") return { ...changes, beside: -1, picked: changes.view === undefined ? state.picked : null };
    const first = this.mates(view).length ? view : this.explorer.data.views.findIndex((_, at) => this.mates(at).length);
    const mates = this.mates(first);
    const other = mates.includes(beside) ? beside : mates.find((each) => each > first) ?? mates[0];
    return { ...changes, view: Math.min(first, other), beside: Math.max(first, other), frame: -1 };
  }

  listen() {
    const { explorer } = this;
    $("clear").addEventListener("click", () => explorer.pick(null));
    $("undo").addEventListener("click", () => explorer.set({ out: [], swap: null }));
    $("find").addEventListener("change", () => this.found($("find").value));
    $("find").addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.found($("find").value);
    });
    $("busiest").addEventListener("keydown", (event) => this.listed(event));
    $("swap").addEventListener("submit", (event) => {
      event.preventDefault();
      this.swapped();
    });
  }

  show() {
    const { explorer } = this;
    const { state, model } = explorer;
    for (const name of ["views", "drawings", "measures"]) $(name).update(state);
    const { verdict } = model.view;
    $("sentence").textContent = this.sentence();
    $("verdict").textContent = this.second();
    $("of").textContent = `${verdict.of}. ${this.scene()}`;
    $("name-one").textContent = model.view.name;
    if (explorer.other) $("name-beside").textContent = explorer.other.view.name;
    $("note").textContent = explorer.panels[0].scene.turned ? "Drag to turn; Shift and drag to move." : explorer.network.drawings[state.drawing].note;
    this.legends();
    this.list();
    this.details();
    this.whatIf();
    this.table();
    $("command").textContent = model.view.command;
    $("clear").hidden = !state.picked;
    $("missing").textContent = model.walks ? "" : model.view.missing;
  }

  scene() {
    const { network } = this;
    const gone = network.missing ? `, ${counted(network.missing, "channel")} missing` : "";
    const who = network.direct ? counted(network.hosts, "node") : `${counted(network.hosts, "host")}, ${counted(network.routers, "router")}`;
    return `${who}, ${counted(network.channels, "channel")}${gone}`;
  }

  // What is seen, in one sentence with its number.
  sentence() {
    const { explorer } = this;
    const { state, model } = explorer;
    if (state.picked) return this.pickedSaid();
    if (state.mode !== "one") return `Busiest channel: ${this.worst(model)} with ${model.view.name}, ${this.worst(explorer.other)} with ${explorer.other.view.name}`;
    if (model.changed) return this.changedSaid();
    const frames = explorer.frames[state.view];
    if (state.frame >= 0 && frames) {
      const values = frames.busy(state.frame);
      const most = values.indexOf(Math.max(...values));
      return `${frames.said(state.frame)}: ${channelName(this.network, most)} is busy ${percent(values[most])}`;
    }
    return this.answered(model);
  }

  // What was answered; of what it is compared with, its busiest channel.
  answered(model) {
    const { verdict } = model.view;
    if (verdict.sentence) return `${MARKS[verdict.mark]} ${verdict.sentence}`;
    const [row] = model.rows(1);
    if (!row) return "nothing crosses any channel";
    if (row.channels.length === 1) return channelSaid(model, row.channels[0]);
    return `${row.name} carry ${amount(model.load[row.channels[0]], model.view.unit)} each`;
  }

  // The line below: what the sentence leaves out.
  second() {
    const { explorer } = this;
    const { state, model } = explorer;
    if (state.mode === "change" && !state.picked) {
      const [most] = explorer.changed(explorer.shown.values);
      if (most === undefined) return "No channel carries more or less.";
      const [before, after] = [model, explorer.other].map((each) => amount(each.load[most], model.view.unit));
      const said = explorer.other.view.verdict.sentence ? `${this.answered(explorer.other)} ` : "";
      return `${said}Largest change: ${channelName(this.network, most)}, ${before} → ${after}.`;
    }
    if (model.changed) return state.picked ? this.changedSaid() : ""; // the verdict is about what was answered
    return state.mode === "beside" || state.picked ? `${model.view.name}: ${this.answered(model)}` : "";
  }

  worst(model) {
    return amount(mostOf(model.load), model.view.unit);
  }

  changedSaid() {
    const { model, state } = this.explorer;
    const { unit, load } = model.view;
    const what = state.swap && model.canSwap ? `ranks ${state.swap.join(" and ")} swapped` : "";
    const gone = state.out.length ? `${counted(Math.ceil(state.out.length / 2), "cable")} out` : "";
    const [before, after] = [load, model.load].map(mostOf);
    const lost = model.walks && model.walks.lost ? ` ${counted(model.walks.lost, "pair")} ${model.walks.lost === 1 ? "has" : "have"} no way left.` : "";
    const how = after > before * 1.0005 ? "more" : after < before * 0.9995 ? "less" : "as much";
    return `With ${[gone, what].filter(Boolean).join(" and ")} the busiest channel carries ${how}: ${amount(before, unit)} → ${amount(after, unit)}.${lost}`;
  }

  pickedSaid() {
    const { explorer } = this;
    const { model, state } = explorer;
    const { picked } = state;
    if (picked.kind === "channel") return channelSaid(model, picked.channel);
    const channels = model.channelsOf(picked);
    if (!explorer.chosen) return `${this.pickedName()}: ${counted(channels.length, "channel")}`;
    let [pairs, sum] = [0, 0];
    explorer.chosenFlows().forEach((is, flow) => {
      if (!is) return;
      pairs++;
      sum += model.view.flows.amount[flow];
    });
    const carried = model.carried(explorer.chosen);
    let most = 0;
    for (let at = 0; at < carried.length; at++) if (carried[at] > carried[most]) most = at;
    if (!carried[most]) return `${this.pickedName()}: ${counted(pairs, "pair")}, which cross no channel`;
    return `${this.pickedName()}: ${counted(pairs, "pair")}, ${amount(sum, model.view.unit)}; most of it on ${channelName(this.network, most)}, ${amount(carried[most], model.view.unit)}`;
  }

  pickedName() {
    const { model, state } = this.explorer;
    const { picked } = state;
    const span = ([first, last]) => (first === last ? `${first}` : `${first}–${last}`);
    if (picked.kind === "router") return this.network.router_names[picked.router];
    if (picked.kind === "rank") return rankName(model, picked.rank);
    if (picked.kind === "job") return model.view.flows.jobs[picked.job];
    if (picked.kind === "pairs") return `Ranks ${span(picked.from)} to ranks ${span(picked.to)}`;
    const [low, high] = [picked.low, picked.high].map((each) => valued(model, each));
    return `Channels of ${low === high ? low : `${low} to ${high}`}`;
  }

  // What colors mean: of the network, of pairs and all channels where these are colored otherwise, and
  // of what is selected.
  legends() {
    const { explorer } = this;
    const { model, state } = explorer;
    const { shown, below } = explorer;
    const rows = [this.legend(shown, model)];
    if (below.scale !== shown.scale) rows.push(this.legend(below, model, "Pairs and all channels"));
    const { selected } = explorer.panels[0].look;
    if (state.picked && selected && selected.scale.most) rows.push(this.legend(selected, model, "Selected"));
    $("legends").replaceChildren(...rows);
  }

  legend(look, model, of = "") {
    const { scale, ramp } = look;
    if (scale.kind === "jobs") return made("p", { className: "legend" }, ...this.jobNames(ramp));
    const said = (value) => this.saidOn(scale, model, value);
    const change = scale.kind === "change";
    const [low, high] = [change ? -scale.most : 0, scale.kind === "load" ? scale.end : scale.most];
    const colors = Array.from({ length: STOPS + 1 }, (_, at) => colorOf(look, low + (at / STOPS) * (high - low)));
    const bar = made("span", { className: "ramp" });
    bar.style.background = `linear-gradient(to right, ${colors.join(", ")})`;
    const inside = scale.kind === "load" && scale.delays > 0 && scale.delays < 0.999 * high;
    if (inside) {
      const mark = made("i");
      mark.style.left = `${(100 * scale.delays) / high}%`;
      bar.append(mark);
    }
    const ends = change ? [`${said(high)} less`, `${said(high)} more`] : [said(0), said(high)];
    const delays = scale.kind === "load" && scale.delays > 0 ? `delays from ${said(scale.delays)}` : change ? "difference" : "";
    const whose = scale.kind === "part" ? "what the selection puts there" : delays;
    const row = made("p", { className: "legend" }, made("span", { textContent: of }), made("span", { className: "least", textContent: ends[0] }),
      bar, made("span", { className: "most", textContent: ends[1] }), made("span", { className: "means", textContent: whose }));
    row.dataset.kind = of ? of.split(" ")[0].toLowerCase() : scale.kind;
    return row;
  }

  // A value as its scale tells it: shares of time, amounts, or times of what channels carry.
  saidOn(scale, model, value) {
    if (scale.share) return percent(value);
    return scale.kind === "load" ? valued(model, value) : amount(value, model.view.unit);
  }

  jobNames(ramp) {
    const { jobs } = this.explorer.model.view.flows;
    const known = [...jobs.map((job, at) => [job, ramp[1 + (at % (LEVELS - 1))]]), ["several jobs", ramp[LEVELS]]];
    return known.map(([name, color]) => {
      const chip = made("i");
      chip.style.background = color;
      return made("span", { className: "job" }, chip, name);
    });
  }

  list() {
    const { explorer } = this;
    const { model, state, shown } = explorer;
    const { values, scale } = shown;
    const plain = scale === explorer.plain(model).scale || scale.kind === "jobs";
    const rows = plain ? model.rows(LISTED) : explorer.changed(values).map((channel) => ({ channels: [channel], name: channelName(this.network, channel) }));
    const list = $("busiest");
    const own = plain ? model.values : values;
    const most = mostOf(rows.map(({ channels }) => own[channels[0]])) || 1;
    const change = scale.kind === "change";
    $("busiest-title").textContent = change ? "Largest changes" : `Busiest channels${plain ? (model.changed ? ", as changed" : "") : " now"}`;
    list.replaceChildren(...rows.map(({ channels, name }, at) => {
      const [channel] = channels;
      const value = own[channel];
      const said = plain ? valued(model, value) : this.saidOn(scale, model, Math.abs(value));
      const bar = made("i");
      bar.style.width = `${(100 * Math.abs(value)) / most}%`;
      bar.style.background = colorOf(shown, values[channel]);
      const row = made("li", { id: `busy-${at}`, role: "option" }, made("b", { textContent: at + 1 }),
        made("span", { className: "name", textContent: name }), made("span", { className: "value", textContent: `${change ? (value > 0 ? "+" : "−") : ""}${said}` }), made("span", { className: "bar" }, bar));
      row.picks = channels.length === 1 ? { kind: "channel", channel } : { kind: "loads", low: value * (1 - 1e-9), high: value * (1 + 1e-9) };
      row.dataset.channels = channels.join(" ");
      row.setAttribute("aria-selected", String(JSON.stringify(state.picked) === JSON.stringify(row.picks)));
      row.addEventListener("click", () => explorer.pick(row.picks));
      row.addEventListener("pointerenter", () => this.pointAt(channels.length === 1 ? channel : -1));
      row.addEventListener("pointerleave", () => this.pointAt(-1));
      return row;
    }));
    const chosen = [...list.children].findIndex((row) => row.getAttribute("aria-selected") === "true");
    if (chosen >= 0) list.setAttribute("aria-activedescendant", `busy-${chosen}`);
    else list.removeAttribute("aria-activedescendant");
  }

  pointAt(channel) {
    const { explorer } = this;
    explorer.pointed = channel;
    for (const panel of explorer.panels) {
      if (!panel.scene || panel.place.hidden) continue;
      panel.look.pointed = channel;
      panel.mark();
    }
  }

  // Arrows move through the busiest channels, and select one.
  listed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -LISTED, End: LISTED }[event.key];
    if (!step) return;
    event.preventDefault();
    const rows = [...$("busiest").children];
    const here = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
    const next = Math.max(0, Math.min(rows.length - 1, here < 0 ? 0 : here + step));
    if (rows.length) this.explorer.pick(rows[next].picks);
  }

  details() {
    const { explorer } = this;
    const { model, state } = explorer;
    const { picked } = state;
    $("details").hidden = !picked;
    if (!picked) return;
    let told = { lines: [], rows: [] };
    if (picked.kind === "channel") told = channelTold(model, picked.channel);
    else if (explorer.chosen) told.rows = this.chosenRows();
    $("told").replaceChildren(...told.lines.slice(1).map((line) => made("p", { textContent: line })));
    this.buttons(picked);
    const rows = told.rows.slice(0, ROWS);
    $("pairs").hidden = !rows.length;
    $("pairs-body").replaceChildren(...rows.map((row) => made("tr", {},
      made("td", { textContent: row.from }), made("td", { textContent: row.to }), made("td", { textContent: row.amount, className: "number" }),
      made("td", { textContent: `${number(row.slower)}×`, className: "number" }))));
    $("more").textContent = told.rows.length > ROWS ? `and ${counted(told.rows.length - ROWS, "more pair")}: save the selection as CSV` : "";
  }

  chosenRows() {
    const { explorer } = this;
    const { model } = explorer;
    const { flows } = model.view;
    const some = [];
    explorer.chosenFlows().forEach((is, flow) => is && some.push(flow));
    some.sort((one, other) => flows.amount[other] - flows.amount[one]);
    const rows = some.slice(0, ROWS).map((flow) => flowRow(model, flow, flows.amount[flow]));
    return Object.assign(rows, { length: some.length }).slice(0, some.length);
  }

  buttons(picked) {
    const { explorer } = this;
    const place = $("deeds");
    place.replaceChildren();
    if (picked.kind === "channel" && explorer.model.walks) {
      const both = [picked.channel, this.network.twin[picked.channel]].filter((each) => each >= 0);
      const is = both.every((each) => explorer.state.out.includes(each));
      const button = made("button", { id: "take-out", textContent: is ? "Put this cable back" : "Take this cable out" });
      button.addEventListener("click", () => {
        const rest = explorer.state.out.filter((each) => !both.includes(each));
        explorer.set({ out: is ? rest : [...rest, ...both], picked: is ? explorer.state.picked : null });
      });
      place.append(button);
    }
  }

  whatIf() {
    const { explorer } = this;
    const { state, model } = explorer;
    $("undo").hidden = !state.out.length && !state.swap;
    $("swap").hidden = !model.canSwap;
    $("what-if").hidden = !model.walks;
    const names = state.out.filter((each, at) => state.out.indexOf(this.network.twin[each]) < 0 || at < state.out.indexOf(this.network.twin[each]));
    $("outs").textContent = state.out.length
      ? `Out: ${names.map((each) => channelName(this.network, each)).join(", ")}. Packets that crossed them take a shortest way that is left, the least used first. A subnet manager may choose another.`
      : "Select a channel to take its cable out.";
  }

  swapped() {
    const { model } = this.explorer;
    const ranks = ["swap-one", "swap-other"].map((name) => Number($(name).value));
    const known = ranks.every((rank) => Number.isInteger(rank) && rank >= 0 && rank < model.view.flows.ranks);
    $("swap-said").textContent = known ? "" : `Ranks are 0 to ${model.view.flows.ranks - 1}.`;
    if (known) this.explorer.set({ swap: ranks[0] === ranks[1] ? null : ranks });
  }

  // A name of a router, a host or a rank, as it is or in part.
  found(text) {
    const { explorer } = this;
    const wanted = text.trim().toLowerCase();
    $("find-said").textContent = "";
    if (!wanted) return;
    const { model } = explorer;
    const near = (names) => {
      const lower = names.map((each) => each.toLowerCase());
      const exact = lower.indexOf(wanted);
      return exact >= 0 ? exact : lower.findIndex((each) => each.includes(wanted));
    };
    const rank = /^(rank )?(\d+)$/.exec(wanted);
    if (rank && model.view.flows && Number(rank[2]) < model.view.flows.ranks) return this.explorer.pick({ kind: "rank", rank: Number(rank[2]) });
    if (model.view.flows) {
      const host = near(this.network.host_names);
      const on = host < 0 ? -1 : Array.from({ length: model.view.flows.ranks }, (_, at) => at).find((each) => model.hostOf(each) === host);
      if (on >= 0 && on !== undefined) return explorer.pick({ kind: "rank", rank: on });
    }
    const router = near(this.network.router_names);
    if (router >= 0) return explorer.pick({ kind: "router", router });
    const job = model.view.flows && model.view.flows.jobs ? near(model.view.flows.jobs) : -1;
    if (job >= 0) return explorer.pick({ kind: "job", job });
    $("find-said").textContent = `No router, host, rank or job is called ${text}.`;
    return undefined;
  }

  // The numbers behind the picture, for those who do not see it.
  table() {
    const { model } = this.explorer;
    const rows = model.busiest(IN_TABLE);
    $("numbers-body").replaceChildren(...rows.map((channel) => made("tr", {},
      made("td", { textContent: channelName(this.network, channel) }),
      made("td", { className: "number", textContent: amount(model.load[channel], model.view.unit) }),
      made("td", { className: "number", textContent: `${number(this.network.rate[channel])} ${this.network.rate_unit}` }),
      made("td", { className: "number", textContent: model.walks ? (model.crossing.first[channel + 1] - model.crossing.first[channel]).toLocaleString("en") : "–" }))));
    $("numbers-said").textContent = `The ${counted(rows.length, "busiest channel")} of ${this.network.channels.toLocaleString("en")}`;
  }
}
