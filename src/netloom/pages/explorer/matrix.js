// Who sends to whom: a square a pair of ranks, or of neighbors where they are many, colored by the
// busiest channel on the way. Dragging over it selects pairs.

import { colorOf } from "./scale.js";
import { SMALLEST } from "./scene.js";

const MARGIN = { left: 44, top: 22 };

export class Matrix {
  constructor(place, heard) {
    this.canvas = place.querySelector("canvas");
    this.place = place;
    this.heard = heard;
    this.cell = null;
    this.listen();
  }

  show(model, look) {
    this.model = model;
    this.look = look;
    const { flows } = model.view;
    const width = this.place.clientWidth;
    this.side = Math.max(60, Math.min(width - MARGIN.left - 4, 560));
    this.ranks = flows.ranks;
    this.blocks = Math.min(this.ranks, Math.floor(this.side));
    const sharp = window.devicePixelRatio || 1;
    const [wide, tall] = [this.side + MARGIN.left + 4, this.side + MARGIN.top + 4];
    this.canvas.width = Math.round(wide * sharp);
    this.canvas.height = Math.round(tall * sharp);
    this.canvas.style.width = `${wide}px`;
    this.canvas.style.height = `${tall}px`;
    this.draw();
  }

  // The largest value of the flows of each square: never the mean, which hides what is looked for.
  pooled(values) {
    const { flows } = this.model.view;
    const found = new Float32Array(this.blocks * this.blocks).fill(-1);
    const step = this.blocks / this.ranks;
    for (let flow = 0; flow < values.length; flow++) {
      const at = Math.floor(flows.source[flow] * step) * this.blocks + Math.floor(flows.target[flow] * step);
      if (values[flow] > found[at]) found[at] = values[flow];
    }
    return found;
  }

  draw() {
    const { colors, chosen } = this.look;
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    const sharp = window.devicePixelRatio || 1;
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.fillStyle = colors.card;
    context.fillRect(MARGIN.left, MARGIN.top, this.side, this.side);
    const worst = this.model.worst;
    const every = this.pooled(worst);
    const selected = chosen ? this.pooled(Float32Array.from(worst, (each, flow) => (chosen[flow] ? each : -1))) : null;
    const cell = this.side / this.blocks;
    for (let row = 0; row < this.blocks; row++) {
      for (let column = 0; column < this.blocks; column++) {
        const value = every[row * this.blocks + column];
        if (value < 0) continue;
        const shown = !selected || selected[row * this.blocks + column] >= 0;
        context.fillStyle = shown ? colorOf(this.look, value) : colors.faint;
        const size = Math.max(cell - (cell > 4 ? 0.5 : 0), 1);
        context.fillRect(MARGIN.left + column * cell, MARGIN.top + row * cell, size, size);
      }
    }
    this.paintRim(context, colors);
    if (this.box) this.paintBox(context, colors);
  }

  paintRim(context, colors) {
    context.font = `${SMALLEST}px system-ui, "DejaVu Sans", sans-serif`;
    context.fillStyle = colors.quiet;
    context.textBaseline = "middle";
    const step = niceStep(this.ranks);
    for (let rank = 0; rank < this.ranks; rank += step) {
      const at = ((rank + 0.5) / this.ranks) * this.side;
      context.textAlign = "center";
      context.fillText(String(rank), MARGIN.left + at, MARGIN.top - 9);
      context.textAlign = "right";
      context.fillText(String(rank), MARGIN.left - 5, MARGIN.top + at);
    }
    const { jobs, job_of: jobOf } = this.model.view.flows;
    if (!jobs) return;
    for (let rank = 1; rank < this.ranks; rank++) {
      if (jobOf[rank] === jobOf[rank - 1]) continue;
      const at = (rank / this.ranks) * this.side;
      context.fillRect(MARGIN.left + at, MARGIN.top, 1, this.side);
      context.fillRect(MARGIN.left, MARGIN.top + at, this.side, 1);
    }
  }

  paintBox(context, colors) {
    const { from, to } = this.box;
    const scale = this.side / this.ranks;
    context.strokeStyle = colors.ink;
    context.lineWidth = 2;
    context.strokeRect(
      MARGIN.left + to[0] * scale, MARGIN.top + from[0] * scale,
      Math.max(3, (to[1] - to[0] + 1) * scale), Math.max(3, (from[1] - from[0] + 1) * scale),
    );
  }

  rankAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const rank = (at) => Math.max(0, Math.min(this.ranks - 1, Math.floor((at / this.side) * this.ranks)));
    return { source: rank(event.clientY - box.top - MARGIN.top), target: rank(event.clientX - box.left - MARGIN.left) };
  }

  between(one, other) {
    const span = (first, last) => [Math.min(first, last), Math.max(first, last)];
    return { from: span(one.source, other.source), to: span(one.target, other.target) };
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.begun = this.rankAt(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      const here = this.rankAt(event);
      this.heard.pointed(here, event);
      if (!this.begun) return;
      this.box = this.between(this.begun, here);
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!this.begun) return;
      const box = this.between(this.begun, this.rankAt(event));
      this.begun = null;
      this.heard.brushed(box);
    });
    canvas.addEventListener("pointerleave", (event) => this.heard.pointed(null, event));
    canvas.addEventListener("keydown", (event) => this.keyed(event));
  }

  // Arrows move a square, Shift makes it larger, Enter selects it.
  keyed(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const box = this.box || { from: [0, 0], to: [0, 0] };
    if (event.key === "Enter") this.heard.brushed(box);
    if (!step) return;
    event.preventDefault();
    const clamp = (rank) => Math.max(0, Math.min(this.ranks - 1, rank));
    const move = ([first, last], by) => (event.shiftKey ? [first, Math.max(first, clamp(last + by))] : [clamp(first + by), clamp(first + by)]);
    this.box = { from: move(box.from, step[0]), to: move(box.to, step[1]) };
    this.heard.pointed({ source: this.box.from[0], target: this.box.to[0] }, null);
    this.draw();
  }
}

function niceStep(many) {
  for (const step of [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000]) {
    if (many / step <= 9) return step;
  }
  return 1000 * Math.ceil(many / 9000);
}
