// A drawing of the network: where every channel is, how to find the one under the pointer, and how
// to draw all of them. Places are those of the drawing; a camera {k, x, y} puts them on the screen.

import { LEVELS, heatOf, levelOf, strengthOf } from "./scale.js";

// The order in which levels of heat are drawn, so that what matters is in front.
const UPWARD = Array.from({ length: LEVELS + 1 }, (_, at) => at);
const OUTWARD = UPWARD.slice().sort((one, other) => Math.abs(2 * one - LEVELS) - Math.abs(2 * other - LEVELS));

// Pixels of a cell that channels are found in again; of how many curves cells are twice as wide; and
// the parts that a curve is cut in to measure how far it is.
const CELL = 14;
const MANY = 30000;
const PARTS = 12;

export class Scene {
  constructor(drawing, network) {
    this.drawing = drawing;
    this.network = network;
    this.width = drawing.width;
    this.height = drawing.height;
    this.turned = Boolean(drawing.depth);
    this.angle = { turn: 0.6, lift: 0.5 };
    this.squares = this.turned ? { channel: new Uint32Array(0), places: new Float32Array(0) } : drawing.squares;
    this.curves = this.turned ? this.projected() : drawing.curves;
    this.grid = null;
    this.rowOf = null;
  }

  // A network of three dimensions, seen from an angle. What goes round the end is a stub.
  projected() {
    const { depth } = this.drawing;
    const { routers, channels, source, target } = this.network;
    const spans = [0, 1, 2].map((axis) => {
      let most = 0;
      for (let at = 0; at < routers; at++) most = Math.max(most, depth[axis * routers + at]);
      return most;
    });
    const unit = 380 / Math.hypot(...spans.map((each) => each / 2 + 0.5));
    this.width = 1000;
    this.height = 720;
    const [cosT, sinT, cosL, sinL] = [
      Math.cos(this.angle.turn), Math.sin(this.angle.turn), Math.cos(this.angle.lift), Math.sin(this.angle.lift),
    ];
    const flat = (x, y, z) => {
      const [dx, dy, dz] = [x - spans[0] / 2, y - spans[1] / 2, z - spans[2] / 2];
      const [across, away] = [dx * cosT - dz * sinT, dx * sinT + dz * cosT];
      return [500 + unit * across, 360 + unit * (dy * cosL - away * sinL)];
    };
    const places = new Float32Array(8 * channels);
    for (let channel = 0; channel < channels; channel++) {
      const from = [0, 1, 2].map((axis) => depth[axis * routers + source[channel]]);
      const to = [0, 1, 2].map((axis) => depth[axis * routers + target[channel]]);
      const end = to.map((each, axis) => {
        const step = each - from[axis];
        return Math.abs(step) <= 1 ? each : from[axis] - 0.45 * Math.sign(step);
      });
      const [x0, y0] = flat(...from);
      const [x1, y1] = flat(...end);
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const [ax, ay] = [(-1.6 * (y1 - y0)) / length, (1.6 * (x1 - x0)) / length];
      const points = [x0 + ax, y0 + ay, x0 + (x1 - x0) / 3 + ax, y0 + (y1 - y0) / 3 + ay,
        x1 - (x1 - x0) / 3 + ax, y1 - (y1 - y0) / 3 + ay, x1 + ax, y1 + ay];
      places.set(points, 8 * channel);
    }
    this.corners = spans.map((span, axis) => ({
      text: "xyz"[axis] + " →",
      at: flat(...[0, 1, 2].map((each) => (each === axis ? span + 0.7 : -0.4))),
    }));
    return { channel: Uint32Array.from({ length: channels }, (_, at) => at), places };
  }

  rotate(turn, lift) {
    this.angle.turn += turn;
    this.angle.lift = Math.max(-1.4, Math.min(1.4, this.angle.lift + lift));
    this.curves = this.projected();
    this.grid = null;
    this.rowOf = null;
  }

  // A place on a channel, a part of the way along it: [x, y].
  middle(channel, part = 0.5) {
    const { curve, square } = this.row(channel);
    if (curve !== undefined) return pointOn(this.curves.places, 8 * curve, part);
    if (square === undefined) return null;
    const at = 3 * square;
    const half = this.squares.places[at + 2] / 2;
    return [this.squares.places[at] + half, this.squares.places[at + 1] + half];
  }

  row(channel) {
    if (!this.rowOf) {
      this.rowOf = { curve: new Int32Array(this.network.channels).fill(-1), square: new Int32Array(this.network.channels).fill(-1) };
      this.curves.channel.forEach((each, at) => (this.rowOf.curve[each] = at));
      this.squares.channel.forEach((each, at) => (this.rowOf.square[each] = at));
    }
    const curve = this.rowOf.curve[channel];
    const square = this.rowOf.square[channel];
    return { curve: curve < 0 ? undefined : curve, square: square < 0 ? undefined : square };
  }

  // Points of all channels in a grid of cells, to be found again by place: no farther apart than a
  // cell is wide.
  indexed() {
    if (this.grid) return this.grid;
    const side = this.curves.channel.length > MANY ? 2 * CELL : CELL;
    const columns = Math.max(1, Math.ceil(this.width / side) + 2);
    const rows = Math.max(1, Math.ceil(this.height / side) + 2);
    const cellOf = (x, y) => {
      const column = Math.max(0, Math.min(columns - 1, Math.floor(x / side) + 1));
      const row = Math.max(0, Math.min(rows - 1, Math.floor(y / side) + 1));
      return row * columns + column;
    };
    const samples = Uint16Array.from(this.curves.channel, (_, at) => Math.max(1, Math.ceil(fastest(this.curves.places, 8 * at) / side)));
    const many = samples.reduce((sum, each) => sum + each, 0) + this.squares.channel.length;
    const cells = new Uint32Array(many);
    const items = new Uint32Array(many);
    let next = 0;
    for (let at = 0; at < this.curves.channel.length; at++) {
      for (let part = 0; part < samples[at]; part++) {
        const [x, y] = pointOn(this.curves.places, 8 * at, (part + 0.5) / samples[at]);
        cells[next] = cellOf(x, y);
        items[next++] = 2 * at;
      }
    }
    for (let at = 0; at < this.squares.channel.length; at++) {
      const half = this.squares.places[3 * at + 2] / 2;
      cells[next] = cellOf(this.squares.places[3 * at] + half, this.squares.places[3 * at + 1] + half);
      items[next++] = 2 * at + 1;
    }
    const first = new Uint32Array(columns * rows + 1);
    for (const cell of cells) first[cell + 1]++;
    for (let cell = 0; cell < columns * rows; cell++) first[cell + 1] += first[cell];
    const free = first.slice();
    const item = new Uint32Array(many);
    for (let at = 0; at < many; at++) item[free[cells[at]]++] = items[at];
    this.grid = { side, columns, rows, first, item };
    return this.grid;
  }

  // The channel nearest to a place, within a reach; -1 for none. Of several as near the busiest.
  hit(x, y, reach, values) {
    const grid = this.indexed();
    const { side } = grid;
    const wide = reach + Math.max(side / 2, this.squares.channel.length ? this.squares.places[2] : 0);
    const [left, right] = [x - wide, x + wide].map((at) => Math.max(0, Math.min(grid.columns - 1, Math.floor(at / side) + 1)));
    const [top, bottom] = [y - wide, y + wide].map((at) => Math.max(0, Math.min(grid.rows - 1, Math.floor(at / side) + 1)));
    let best = -1;
    let least = Infinity;
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) {
        const cell = row * grid.columns + column;
        for (let at = grid.first[cell]; at < grid.first[cell + 1]; at++) {
          const item = grid.item[at];
          const index = item >> 1;
          const channel = item & 1 ? this.squares.channel[index] : this.curves.channel[index];
          const far = item & 1 ? farFromSquare(this.squares.places, 3 * index, x, y) : farFromCurve(this.curves.places, 8 * index, x, y);
          if (far > reach) continue;
          const better = far < least - 0.4 || (far < least + 0.4 && best >= 0 && values[channel] > values[best]);
          if (better || best < 0) {
            best = channel;
            least = Math.min(far, least);
          }
        }
      }
    }
    return best;
  }

  // What is drawn by level of heat, cold first: curves as 2 × row and squares as 2 × row + 1. Kept
  // until values or scale change: the camera moves more often.
  ordered(values, scale) {
    const { curves, squares } = this;
    const kept = this.kept;
    if (kept && kept.values === values && kept.curves === curves && kept.scale === JSON.stringify(scale)) return kept;
    const many = curves.channel.length + squares.channel.length;
    const level = new Uint8Array(many);
    const first = new Uint32Array(LEVELS + 2);
    for (let at = 0; at < many; at++) {
      const channel = at < curves.channel.length ? curves.channel[at] : squares.channel[at - curves.channel.length];
      level[at] = levelOf(heatOf(scale, values[channel]));
      first[level[at] + 1]++;
    }
    for (let at = 0; at <= LEVELS; at++) first[at + 1] += first[at];
    const next = first.slice();
    const item = new Uint32Array(many);
    for (let at = 0; at < many; at++) {
      item[next[level[at]]++] = at < curves.channel.length ? 2 * at : 2 * (at - curves.channel.length) + 1;
    }
    this.kept = { values, curves, scale: JSON.stringify(scale), first, item };
    return this.kept;
  }

  // The router whose box is under a place; -1 for none.
  routerAt(x, y) {
    const { router, places } = this.drawing.routers;
    for (let at = 0; at < router.length; at++) {
      const [left, top, width, height] = places.subarray(4 * at, 4 * at + 4);
      if (x >= left - 1 && x <= left + width + 1 && y >= top && y <= top + height) return router[at];
    }
    return -1;
  }
}

export function pointOn(places, at, part) {
  const rest = 1 - part;
  const weights = [rest ** 3, 3 * part * rest ** 2, 3 * part ** 2 * rest, part ** 3];
  let [x, y] = [0, 0];
  for (let point = 0; point < 4; point++) {
    x += weights[point] * places[at + 2 * point];
    y += weights[point] * places[at + 2 * point + 1];
  }
  return [x, y];
}

// Pixels of a curve where it is drawn fastest: it is no longer than that.
function fastest(places, at) {
  let most = 0;
  for (let point = 0; point < 6; point += 2) {
    most = Math.max(most, Math.hypot(places[at + point + 2] - places[at + point], places[at + point + 3] - places[at + point + 1]));
  }
  return 3 * most;
}

// How far a place is from a curve: near its nearest part this is cut finer.
function farFromCurve(places, at, x, y) {
  const rough = farFromParts(places, at, x, y, 0, 1);
  return farFromParts(places, at, x, y, Math.max(0, rough.part - 1 / PARTS), Math.min(1, rough.part + 1 / PARTS)).least;
}

function farFromParts(places, at, x, y, low, high) {
  const found = { least: Infinity, part: low };
  let [x0, y0] = pointOn(places, at, low);
  for (let part = 1; part <= PARTS; part++) {
    const share = low + ((high - low) * part) / PARTS;
    const [x1, y1] = pointOn(places, at, share);
    const [dx, dy] = [x1 - x0, y1 - y0];
    const along = Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
    const far = Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
    if (far < found.least) Object.assign(found, { least: far, part: share });
    [x0, y0] = [x1, y1];
  }
  return found;
}

function farFromSquare(places, at, x, y) {
  const side = places[at + 2];
  const dx = Math.max(places[at] - x, 0, x - places[at] - side);
  const dy = Math.max(places[at + 1] - y, 0, y - places[at + 1] - side);
  return Math.hypot(dx, dy);
}

// Draw all channels, cold ones first. The brush has four words: curve, rect, text, circle.
export function paint(scene, brush, look, camera, size) {
  const { colors, ramp, scale, values, dim, only } = look;
  const { drawing } = scene;
  const k = camera.k;
  const bounds = {
    left: -camera.x / k - 20 / k, top: -camera.y / k - 20 / k,
    right: (size.width - camera.x) / k + 20 / k, bottom: (size.height - camera.y) / k + 20 / k,
  };
  if (!scene.turned) {
    for (const [x, y, width, height, style] of drawing.boxes) {
      brush.rect(x, y, width, height, style === "bar" ? colors.ink : colors.box);
    }
    paintRims(drawing, brush, colors, k);
    for (let at = 0; at < drawing.gone.length; at += 8) brush.curve(drawing.gone, at, colors.quiet, 1, [3, 4]);
    brush.flush();
  }
  const ordered = scene.ordered(values, scale);
  const thickest = scene.curves.channel.length > 4000 ? 3.2 : 4.5;
  const tiny = scene.squares.channel.length > 5000 && scene.squares.places[2] * k < 4 && brush.raster && !only;
  for (const level of scale.kind === "change" ? OUTWARD : UPWARD) {
    const color = dim ? colors.faint : ramp[level];
    const width = dim ? 0.8 : 0.8 + (thickest - 0.8) * strengthOf(scale, level / LEVELS);
    for (let rank = ordered.first[level]; rank < ordered.first[level + 1]; rank++) {
      const item = ordered.item[rank];
      const at = item >> 1;
      if (item & 1) {
        if (tiny || (only && !only(scene.squares.channel[at]))) continue;
        const [x, y, side] = [scene.squares.places[3 * at], scene.squares.places[3 * at + 1], scene.squares.places[3 * at + 2]];
        if (x + side < bounds.left || x > bounds.right || y + side < bounds.top || y > bounds.bottom) continue;
        const shown = Math.max(side, 1 / k);
        brush.rect(x, y, shown, shown, color);
      } else if (inside(scene.curves.places, 8 * at, bounds) && !(only && !only(scene.curves.channel[at]))) {
        brush.curve(scene.curves.places, 8 * at, color, width);
      }
    }
    brush.flush();
  }
  if (tiny) brush.raster(scene.squares.places, ordered, dim ? null : ramp, size);
  for (const channel of look.out || []) paintOut(scene, brush, channel, colors);
  if (!scene.turned) paintWords(drawing, brush, colors, camera, size);
  else for (const each of scene.corners) brush.text(...each.at, each.text, "center", colors.quiet, 12, false);
  brush.flush();
}

function inside(places, at, bounds) {
  const [x0, y0, x1, y1] = [places[at], places[at + 1], places[at + 6], places[at + 7]];
  if ((x0 < x1 ? x1 : x0) < bounds.left || (x0 < x1 ? x0 : x1) > bounds.right) return false;
  const bow = 0.35 * Math.abs(x1 - x0);
  return (y0 < y1 ? y1 : y0) + bow >= bounds.top && (y0 < y1 ? y0 : y1) - bow <= bounds.bottom;
}

function paintRims(drawing, brush, colors, k) {
  for (let at = 0; at < drawing.rims.length; at += 9) {
    brush.curve(drawing.rims, at, colors.ink, drawing.rims[at + 8] * k, null, true);
  }
  brush.flush();
}

// A channel that was taken out: dashed, with a cross on it.
function paintOut(scene, brush, channel, colors) {
  const { curve } = scene.row(channel);
  if (curve !== undefined) {
    brush.curve(scene.curves.places, 8 * curve, colors.paper, 4);
    brush.curve(scene.curves.places, 8 * curve, colors.ink, 2, [5, 4]);
  }
  const place = scene.middle(channel);
  if (!place) return;
  brush.circle(...place, SMALLEST / 2 + 1, colors.paper, colors.ink);
  brush.text(...place, "×", "center", colors.ink, SMALLEST, true);
}

// Pixels of the smallest letters, and about how wide a letter is in parts of that.
export const SMALLEST = 12;
const WIDE = 0.62;

// Headings first. A word that would meet another one, or the rim, is left out.
function paintWords(drawing, brush, colors, camera, size) {
  const { k } = camera;
  const height = Math.max(SMALLEST, Math.min(15, 11 * k));
  const taken = [];
  for (const heading of [1, 0]) {
    for (const [x, y, text, align, bold] of drawing.words) {
      if (bold !== heading || (!bold && 11 * k < 6)) continue; // too many for their room
      const wide = WIDE * height * text.length;
      const left = k * x + camera.x - { left: 0, center: wide / 2, right: wide }[align];
      const top = k * y + camera.y - height / 2;
      const meets = taken.some((each) => left < each.right && left + wide > each.left && top < each.bottom && top + height > each.top);
      if (meets || left < -2 || left + wide > size.width + 2) continue;
      taken.push({ left, right: left + wide, top, bottom: top + height });
      brush.text(x, y, text, align, bold ? colors.ink : colors.quiet, height, Boolean(bold));
    }
  }
}
