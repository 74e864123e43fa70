// All channels by their value, the busiest at the left. Dragging over a part selects those channels.

import { colorOf } from "./scale.js";
import { SMALLEST } from "./scene.js";
import { valued } from "./words.js";

// Pixels of the strip, of what is above and below its bars, and left of them.
const TALL = 128;
const [ABOVE, BELOW, LEFT] = [18, 16, 8];

export class Loads {
  constructor(place, heard) {
    this.canvas = place.querySelector("canvas");
    this.place = place;
    this.heard = heard;
    this.listen();
  }

  show(model, look) {
    this.look = look;
    this.model = model;
    const { values } = model;
    this.sorted = Float64Array.from(values).sort().reverse();
    this.width = Math.max(60, this.place.clientWidth - LEFT);
    const sharp = window.devicePixelRatio || 1;
    this.canvas.width = Math.round((this.width + LEFT) * sharp);
    this.canvas.height = Math.round(TALL * sharp);
    this.canvas.style.width = `${this.width + LEFT}px`;
    this.canvas.style.height = `${TALL}px`;
    this.draw();
  }

  draw() {
    const { colors, scale, picked } = this.look;
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    const sharp = window.devicePixelRatio || 1;
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const most = scale.end || 1;
    const many = this.sorted.length;
    for (let x = 0; x < this.width; x++) {
      const value = this.sorted[Math.min(many - 1, Math.floor((x / this.width) * many))];
      const inside = !picked || picked.kind !== "loads" || (value >= picked.low && value <= picked.high);
      context.fillStyle = inside ? colorOf(this.look, value) : colors.faint;
      const tall = (TALL - ABOVE - BELOW) * (value / most);
      context.fillRect(LEFT + x, TALL - BELOW - tall, 1, Math.max(tall, 0.5));
    }
    context.fillStyle = colors.box;
    context.fillRect(LEFT, ABOVE - 1, this.width, 1);
    context.fillStyle = colors.quiet;
    context.font = `${SMALLEST}px system-ui, "DejaVu Sans", sans-serif`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText(valued(this.model, most), LEFT, ABOVE / 2);
    context.fillText("busiest", LEFT, TALL - 7);
    context.textAlign = "right";
    context.fillText(`${many.toLocaleString("en")} channels`, LEFT + this.width, TALL - 7);
    if (!this.span) return;
    context.strokeStyle = colors.ink;
    context.lineWidth = 1.5;
    context.strokeRect(LEFT + this.span[0], ABOVE, Math.max(2, this.span[1] - this.span[0]), TALL - ABOVE - BELOW);
  }

  valueAt(x) {
    const many = this.sorted.length;
    return this.sorted[Math.max(0, Math.min(many - 1, Math.floor((x / this.width) * many)))];
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return Math.max(0, Math.min(this.width - 1, event.clientX - box.left - LEFT));
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.begun = this.at(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.begun === undefined) return;
      this.span = [this.begun, this.at(event)].sort((one, other) => one - other);
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (this.begun === undefined) return;
      const [left, right] = [this.begun, this.at(event)].sort((one, other) => one - other);
      this.begun = undefined;
      this.span = null;
      if (right - left < 2) this.heard.brushed(null);
      else this.heard.brushed({ low: this.valueAt(right), high: this.valueAt(left) });
    });
    canvas.addEventListener("keydown", (event) => this.keyed(event));
  }

  // Right takes more of the busiest channels, left fewer.
  keyed(event) {
    const step = { ArrowRight: 0.02, ArrowLeft: -0.02 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.share = Math.max(0.02, Math.min(1, (this.share || 0) + step));
    this.heard.brushed({ low: this.valueAt(this.share * this.width), high: this.sorted[0] });
  }
}
