// From what a channel carries to its color: grey up to the mean, hot above it. One scale for all
// that is compared.

const HEAT_AT_MEAN = 0.2;
export const LEVELS = 32;

export function heatOf(scale, value) {
  if (scale.kind === "jobs") return value / LEVELS;
  if (scale.kind === "change") return 0.5 + 0.5 * Math.max(-1, Math.min(1, value / (scale.high || 1)));
  if (scale.low <= 0) return Math.max(0, Math.min(1, value / (scale.high || 1)));
  if (value <= scale.low) return HEAT_AT_MEAN * (value / scale.low);
  return Math.min(1, HEAT_AT_MEAN + ((1 - HEAT_AT_MEAN) * (value - scale.low)) / (scale.high - scale.low));
}

// How much a channel stands out, 0 … 1: up to the mean it is as thin as can be.
export function strengthOf(scale, heat) {
  if (scale.kind === "jobs") return heat === 0 ? 0 : heat === 1 ? 1 : 0.5;
  if (scale.kind === "change") return Math.abs(2 * heat - 1);
  return scale.low > 0 ? Math.max(0, heat - HEAT_AT_MEAN) / (1 - HEAT_AT_MEAN) : heat;
}

// The scale of some loads: from their mean to the most, twice the mean at least, so that even loads
// do not look hot.
export function scaleOf(values, kind) {
  let most = 0;
  let sum = 0;
  let many = 0;
  for (const each of values) {
    for (const value of each) {
      const size = kind === "change" ? Math.abs(value) : value;
      if (size > most) most = size;
      sum += size;
      many++;
    }
  }
  if (kind === "use") return { kind, low: 0, high: 1, most, mean: sum / (many || 1) };
  if (kind === "change") return { kind, low: 0, high: most, most, mean: 0 };
  const mean = sum / (many || 1);
  return { kind, low: mean, high: Math.max(most, 2 * mean), most, mean };
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

// The colors of jobs: of no job, of each job alone, and of several at once, which is the last.
export function rampOfJobs(colors, { faint, ink }) {
  return Array.from({ length: LEVELS + 1 }, (_, level) => (level === 0 ? faint : level === LEVELS ? ink : colors[(level - 1) % colors.length]));
}
