// Numbers, names and sentences, as the commands write them.

const SPACE = "\u00a0";

// Three digits that count; whole numbers whole; k, M, G from a million on.
export function number(value) {
  const size = Math.abs(value);
  if (size >= 1e6) {
    const step = Math.min(Math.floor(Math.log10(size) / 3), 5);
    return `${digits(value / 1000 ** step)}${SPACE}${["", "k", "M", "G", "T", "P"][step]}`;
  }
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return size >= 1000 ? Math.round(value).toLocaleString("en") : digits(value);
}

const digits = (value) => String(Number(value.toPrecision(3)));

export function bytes(value) {
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
  let step = 0;
  let left = value;
  while (Math.abs(left) >= 999.5 && step < units.length - 1) {
    left /= 1000;
    step++;
  }
  return `${step ? digits(left) : number(left)}${SPACE}${step ? units[step] : value === 1 ? "byte" : "bytes"}`;
}

export const percent = (share) => `${digits(100 * share)}${SPACE}%`;

export function amount(value, unit) {
  if (unit === "bytes") return bytes(value);
  if (unit === "share") return percent(value);
  return `${number(value)} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
}

export const counted = (many, one) => `${many.toLocaleString("en")} ${one}${many === 1 ? "" : "s"}`;

// As commands name it: by its ports, or by its number among the channels that join the same two.
export function channelName(network, channel) {
  const [from, to] = [network.router_names[network.source[channel]], network.router_names[network.target[channel]]];
  const ports = network.out_port && [network.out_port[channel], network.in_port[channel]];
  if (ports && ports[0] && ports[1]) return `${from} port ${ports[0]} → ${to} port ${ports[1]}`;
  const number = network.parallel[channel];
  return `${from} → ${to}${number ? `#${number}` : ""}`;
}

export function rankName(model, rank) {
  const host = model.hostOf(rank);
  const name = model.network.host_names[host];
  return model.view.flows.of_hosts ? name : `rank ${rank} on ${name}`;
}

// What a value is, with its unit: a load, or a time where some channels are faster.
export function valued(model, value) {
  const { unit } = model.view;
  if (!model.timed) return amount(value, unit);
  if (unit === "bytes" && model.network.rate_unit === "Gb/s") return seconds((8 * value) / 1e9);
  if (model.network.rate_unit === "Gb/s") return `${number(value)} ${unit} per Gb/s`;
  return unit === "bytes" ? `${bytes(value)} at full rate` : `${number(value)} ${unit} at full rate`;
}

export function seconds(value) {
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
  const [size, unit] = units.find(([least]) => value >= least) || units[3];
  return `${digits(value / size)}${SPACE}${unit}`;
}

// The first line about a channel: what it carries, and how that compares with the mean of its own
// view, whatever is shown beside it.
export function channelSaid(model, channel, compared = true) {
  const { values } = model;
  const mean = compared && values.reduce((sum, each) => sum + each, 0) / values.length;
  const times = mean ? `, ${digits(values[channel] / mean)}× the mean` : "";
  const carried = model.view.unit === "share" ? `${percent(model.load[channel])} busy` : `carries ${amount(model.load[channel], model.view.unit)}`;
  return `${channelName(model.network, channel)} ${model.view.unit === "share" ? "is " : ""}${carried}${times}`;
}

// All that is told of a channel that was clicked: a sentence, and rows of its largest flows.
export function channelTold(model, channel) {
  const lines = [`${channelSaid(model, channel)}.`];
  const { network } = model;
  if (!network.even) lines.push(`It runs at ${number(network.rate[channel])} ${network.rate_unit}.`);
  if (!model.walks) return { lines: [...lines, model.view.missing], rows: [] };
  const over = model.flowsOver(channel);
  const { flows } = model.view;
  const senders = new Set(over.map(([flow]) => flows.source[flow]));
  const receivers = new Set(over.map(([flow]) => flows.target[flow]));
  lines.push(`${counted(over.length, "pair")}: ${counted(senders.size, "sender")}, ${counted(receivers.size, "receiver")}.`);
  if (flows.jobs) lines.push(jobsSaid(flows, over));
  const rows = over.map(([flow, part]) => flowRow(model, flow, part));
  return { lines, rows };
}

function jobsSaid(flows, over) {
  const totals = new Map();
  for (const [flow, part] of over) {
    const job = flows.jobs[flows.job_of[flows.source[flow]]];
    totals.set(job, (totals.get(job) || 0) + part);
  }
  const whole = [...totals.values()].reduce((sum, each) => sum + each, 0);
  return `${[...totals].map(([job, part]) => `${job} ${percent(part / whole)}`).join(", ")} of it.`;
}

// A flow as a row: who, how much, and how many times its own data the channel carries on which it
// waits longest.
export function flowRow(model, flow, part) {
  const { flows, unit } = model.view;
  const waits = model.waits[flow];
  return {
    flow,
    from: rankName(model, flows.source[flow]),
    to: rankName(model, flows.target[flow]),
    amount: amount(part, unit),
    value: part,
    slower: waits < 0 || !flows.amount[flow] ? 1 : model.load[waits] / flows.amount[flow],
  };
}
