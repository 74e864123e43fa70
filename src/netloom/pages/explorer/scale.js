// From what a channel carries to its color. Loads are colored by how near they are to the load that
// delays, in all parts of the page. Changes, jobs and what is selected have scales of their own.

export const LEVELS = 40;

export function heatOf(scale, value) {
  if (scale.kind === "jobs") return value / LEVELS;
  if (scale.kind === "change") return 0.5 + 0.5 * Math.max(-1, Math.min(1, value / (scale.most || 1)));
  const { delayed, delays, full } = scale;
  if (scale.kind === "part") return delayed * Math.sqrt(value / (scale.most || 1)); // what is little must be seen, too
  if (value <= delays) return delays > 0 ? (delayed * value) / delays : 0;
  return full > delays ? Math.min(1, delayed + ((1 - delayed) * (value - delays)) / (full - delays)) : 1;
}

// How much a channel stands out, 0 … 1: those that delay nothing stay behind.
export function strengthOf(scale, heat) {
  if (scale.kind === "jobs") return heat === 0 ? 0 : heat === 1 ? 1 : 0.5;
  if (scale.kind === "change") return Math.abs(2 * heat - 1);
  const calm = Math.min(1, heat / scale.delayed);
  return scale.kind === "part" ? calm : 0.25 * calm + (0.75 * Math.max(0, heat - scale.delayed)) / (1 - scale.delayed);
}

export function mostOf(values) {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}

// One scale for loads that are compared. Its end is the load that delays where nothing is beyond it.
export function scaleOf(loads, { delays, full }, delayed) {
  const most = Math.max(0, ...loads.map(mostOf));
  let [sum, many] = [0, 0];
  for (const values of loads) {
    for (const value of values) sum += value;
    many += values.length;
  }
  const last = Math.max(full, most);
  return { kind: "load", delayed, delays, full: last, end: most > delays ? last : delays || most, most, mean: sum / (many || 1) };
}

function parsed(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

// The colors of a ramp, LEVELS + 1 of them, evenly from the first to the last.
export function rampOf(colors) {
  const ends = colors.map(parsed);
  const found = [];
  for (let level = 0; level <= LEVELS; level++) {
    const at = (level / LEVELS) * (ends.length - 1);
    const low = Math.min(Math.floor(at), ends.length - 2);
    const mixed = ends[low].map((value, part) => Math.round(value + (at - low) * (ends[low + 1][part] - value)));
    found.push(`rgb(${mixed.join(",")})`);
  }
  return found;
}

export const levelOf = (heat) => Math.round(heat * LEVELS);

export const colorOf = ({ ramp, scale }, value) => ramp[levelOf(heatOf(scale, value))];

// The colors of jobs: of no job, of each job alone, and of several at once, which is the last.
export function rampOfJobs(colors, { faint, ink }) {
  return Array.from({ length: LEVELS + 1 }, (_, level) => (level === 0 ? faint : level === LEVELS ? ink : colors[(level - 1) % colors.length]));
}
