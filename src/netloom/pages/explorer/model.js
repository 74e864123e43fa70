// One answer, with what people change in the page: what channels carry, and who puts it there.

import { LEVELS } from "./scale.js";
import { canSwap, crossing, flowOf, loadsOf, shareOf, walksOf } from "./walks.js";
import { channelName, counted } from "./words.js";

// How many rows of the busiest channels are listed, how many channels of a tie are named one by one,
// and up to which part of their load channels carry as much.
export const LISTED = 10;
const FEW = 3;
const ALIKE = 1e-9;

function order(values) {
  const found = Array.from({ length: values.length }, (_, at) => at);
  return found.sort((one, other) => values[other] - values[one] || one - other);
}

export class Model {
  constructor(network, view) {
    this.network = network;
    this.view = view;
    this.change({});
  }

  change(changes) {
    this.changes = changes;
    this.found = {};
  }

  get changed() {
    return Boolean((this.changes.out || []).length || this.changes.swap);
  }

  get canSwap() {
    return canSwap(this.view);
  }

  get walks() {
    if (this.found.walks === undefined) this.found.walks = walksOf(this.network, this.view, this.changes);
    return this.found.walks;
  }

  // What channels carry: as answered, or worked out again once something is changed.
  get load() {
    if (!this.found.load) {
      this.found.load = this.changed && this.walks ? loadsOf(this.network, this.walks, this.view.flows) : this.view.load;
    }
    return this.found.load;
  }

  get crossing() {
    if (!this.found.crossing && this.walks) this.found.crossing = crossing(this.network, this.walks);
    return this.found.crossing;
  }

  // The host of each rank, also where two ranks have changed places.
  hostOf(rank) {
    const { swap } = this.changes;
    const { host_of: host } = this.view.flows;
    if (!swap || !swap.includes(rank)) return host[rank];
    return host[rank === swap[0] ? swap[1] : swap[0]];
  }

  // What channels can be colored by: loads always, jobs if they are known.
  get measures() {
    const { flows } = this.view;
    return flows && flows.jobs && this.walks ? ["load", "jobs"] : ["load"];
  }

  own(measure) {
    return this.measures.includes(measure) ? measure : "load";
  }

  // Whether values are times: loads over rates, where some channels are faster than others.
  get timed() {
    return !this.network.even && this.view.unit !== "share";
  }

  // The values that color channels, and by which they are the busiest.
  get values() {
    if (!this.found.values) {
      const { rate } = this.network;
      this.found.values = this.timed ? Float64Array.from(this.load, (each, at) => each / rate[at]) : this.load;
    }
    return this.found.values;
  }

  // The job of each channel: 0 none, job + 1 of a single one, LEVELS of several.
  get jobs() {
    if (!this.found.jobs) {
      const { flows } = this.view;
      const found = new Uint8Array(this.network.channels);
      for (let walk = 0; walk < this.walks.many; walk++) {
        const job = 1 + (flows.job_of[flows.source[flowOf(this.walks, walk)]] % (LEVELS - 1));
        for (let at = this.walks.first[walk]; at < this.walks.first[walk + 1]; at++) {
          const channel = this.walks.channel[at];
          found[channel] = found[channel] === 0 || found[channel] === job ? job : LEVELS;
        }
      }
      this.found.jobs = found;
    }
    return this.found.jobs;
  }

  // The channels by their values, the busiest first.
  busiest(many) {
    return order(this.values).slice(0, many);
  }

  // The same in rows: a few that carry as much are named one by one, more of them are one row.
  rows(many) {
    const { values } = this;
    const all = order(values);
    const found = [];
    for (let at = 0; at < all.length && found.length < many && values[all[at]] > 0; ) {
      let end = at + 1;
      while (end < all.length && values[all[end]] >= values[all[at]] * (1 - ALIKE)) end++;
      const tie = all.slice(at, end).sort((one, other) => one - other);
      if (tie.length > FEW) found.push({ channels: tie, name: this.tieName(tie, at === 0) });
      else found.push(...tie.map((channel) => ({ channels: [channel], name: channelName(this.network, channel) })));
      at = end;
    }
    return found.slice(0, many);
  }

  // What channels that carry as much are called: as the verdict calls those that were answered.
  tieName(tie, first) {
    if (first && !this.changed && this.view.tie) return this.view.tie;
    const { channels } = this.network;
    return tie.length === channels ? `all ${counted(channels, "channel")}` : `${tie.length.toLocaleString("en")} of ${counted(channels, "channel")}`;
  }

  // The largest value on the way of each flow.
  get worst() {
    if (!this.found.worst && this.walks) {
      const { values } = this;
      const found = new Float32Array(this.view.flows.source.length);
      for (let walk = 0; walk < this.walks.many; walk++) {
        const flow = flowOf(this.walks, walk);
        for (let at = this.walks.first[walk]; at < this.walks.first[walk + 1]; at++) {
          found[flow] = Math.max(found[flow], values[this.walks.channel[at]]);
        }
      }
      this.found.worst = found;
    }
    return this.found.worst || null;
  }

  // The channel of each flow on which it waits longest; -1 of flows that cross none.
  get waits() {
    if (!this.found.waits) {
      const time = this.values;
      const found = new Int32Array(this.view.flows.source.length).fill(-1);
      for (let walk = 0; walk < this.walks.many; walk++) {
        const flow = flowOf(this.walks, walk);
        for (let at = this.walks.first[walk]; at < this.walks.first[walk + 1]; at++) {
          const channel = this.walks.channel[at];
          if (found[flow] < 0 || time[channel] > time[found[flow]]) found[flow] = channel;
        }
      }
      this.found.waits = found;
    }
    return this.found.waits;
  }

  // The walks of a selection: bool a walk. Null if nothing is selected, or ways are unknown.
  chosen(picked) {
    if (!picked || !this.walks) return null;
    const { flows } = this.view;
    const found = new Uint8Array(this.walks.many);
    const mark = (wanted) => {
      for (let walk = 0; walk < found.length; walk++) if (wanted(flowOf(this.walks, walk))) found[walk] = 1;
    };
    const over = (channel) => {
      for (let at = this.crossing.first[channel]; at < this.crossing.first[channel + 1]; at++) found[this.crossing.walk[at]] = 1;
    };
    const inside = (rank, [first, last]) => rank >= first && rank <= last;
    if (picked.kind === "channel") over(picked.channel);
    else if (picked.kind === "rank") mark((flow) => flows.source[flow] === picked.rank || flows.target[flow] === picked.rank);
    else if (picked.kind === "job") mark((flow) => flows.job_of[flows.source[flow]] === picked.job);
    else if (picked.kind === "pairs") mark((flow) => inside(flows.source[flow], picked.from) && inside(flows.target[flow], picked.to));
    else if (picked.kind === "router" || picked.kind === "loads") for (const channel of this.channelsOf(picked)) over(channel);
    return found;
  }

  // The channels that a selection names by itself.
  channelsOf(picked) {
    if (picked.kind === "channel") return [picked.channel];
    const { source, target, channels } = this.network;
    const all = Array.from({ length: channels }, (_, at) => at);
    if (picked.kind === "router") return all.filter((each) => source[each] === picked.router || target[each] === picked.router);
    if (picked.kind === "loads") {
      const { values } = this;
      return all.filter((each) => values[each] >= picked.low && values[each] <= picked.high);
    }
    return [];
  }

  // What chosen walks put on each channel, and their flows.
  carried(chosen) {
    const load = new Float64Array(this.network.channels);
    const { flows } = this.view;
    for (let walk = 0; walk < chosen.length; walk++) {
      if (!chosen[walk]) continue;
      const amount = flows.amount[flowOf(this.walks, walk)] * shareOf(this.walks, walk);
      for (let at = this.walks.first[walk]; at < this.walks.first[walk + 1]; at++) load[this.walks.channel[at]] += amount;
    }
    return load;
  }

  // The flows over a channel with what each puts there, the largest first.
  flowsOver(channel) {
    const { first, walk } = this.crossing;
    const amounts = new Map();
    for (let at = first[channel]; at < first[channel + 1]; at++) {
      const flow = flowOf(this.walks, walk[at]);
      amounts.set(flow, (amounts.get(flow) || 0) + this.view.flows.amount[flow] * shareOf(this.walks, walk[at]));
    }
    return [...amounts].sort((one, other) => other[1] - one[1] || one[0] - other[0]);
  }
}
