// Loads over time: a slider and a button that plays.

import { number, seconds } from "./words.js";

export class Frames {
  constructor(frames, channels) {
    this.frames = frames;
    this.channels = channels;
    this.many = frames.edges.length - 1;
    this.at = 0;
    this.shares = frames.changes.slice(0, channels);
  }

  // The share of each channel that is busy in a frame: changes are added one after the other.
  busy(frame) {
    if (frame < this.at) {
      this.at = 0;
      this.shares = this.frames.changes.slice(0, this.channels);
    }
    while (this.at < frame) {
      this.at++;
      const first = this.at * this.channels;
      for (let channel = 0; channel < this.channels; channel++) this.shares[channel] += this.frames.changes[first + channel];
    }
    return Float64Array.from(this.shares, (each) => each / this.frames.most);
  }

  // The steps of the critical path in a frame, the longest there first.
  steps(frame) {
    const [start, end] = [this.frames.edges[frame], this.frames.edges[frame + 1]];
    const part = ([, , first, last]) => Math.min(last, end) - Math.max(first, start);
    return this.frames.critical.filter((step) => part(step) > 0).sort((one, other) => part(other) - part(one));
  }

  // The largest share of each frame.
  get peaks() {
    if (!this.found) this.found = Array.from({ length: this.many }, (_, at) => this.busy(at).reduce((most, each) => Math.max(most, each), 0));
    return this.found;
  }

  said(frame) {
    const { edges, unit } = this.frames;
    const [first, last] = [edges[frame], edges[frame + 1]];
    if (unit === "seconds") return `${seconds(first)} to ${seconds(last)}`;
    return `${number(Math.round(first))} to ${number(Math.round(last))} ${unit}`;
  }
}

const STRIP = 58;
const PEAK = 42;

const stepSaid = ([node, to, , , name]) => `Critical path: ${name}, ${to < 0 ? `node ${node} computes` : `node ${node} sends to node ${to}`}.`;

export class Player {
  constructor(place, heard) {
    this.place = place;
    this.heard = heard;
    this.slider = place.querySelector("input");
    this.button = place.querySelector("button");
    this.slider.addEventListener("input", () => heard(Number(this.slider.value)));
    this.button.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  }

  show(frames, frame, look) {
    this.place.hidden = !frames;
    if (!frames) return this.stop();
    this.slider.max = frames.many - 1;
    this.slider.value = frame;
    this.many = frames.many;
    this.place.querySelector("output").textContent = frame < 0 ? "all of the time" : frames.said(frame);
    this.slider.setAttribute("aria-valuetext", frame < 0 ? "all of the time" : frames.said(frame));
    const [step] = frame < 0 ? [] : frames.steps(frame);
    this.place.querySelector("p").textContent = step ? stepSaid(step) : frames.frames.critical.length ? "Above: the busiest channel. Below: the critical path, in color where it sends." : "";
    return this.strip(frames, frame, look);
  }

  // How busy the busiest channel is over time, and below it the critical path.
  strip(frames, frame, { colors, ramp }) {
    const canvas = this.place.querySelector("canvas");
    const width = this.place.clientWidth;
    const sharp = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(STRIP * sharp);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${STRIP}px`;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    const last = frames.frames.edges[frames.many];
    const at = (time) => (time / last) * width;
    frames.peaks.forEach((peak, each) => {
      const [left, right] = [at(frames.frames.edges[each]), at(frames.frames.edges[each + 1])];
      context.fillStyle = ramp[Math.round(Math.min(1, peak) * (ramp.length - 1))];
      context.fillRect(left, PEAK * (1 - Math.min(1, peak)), right - left, PEAK * Math.min(1, peak) + 1);
    });
    for (const [, to, first, end] of frames.frames.critical) {
      context.fillStyle = to < 0 ? colors.ink : ramp[Math.round(0.7 * (ramp.length - 1))];
      context.fillRect(at(first), PEAK + 5, Math.max(1, at(end) - at(first) - 1), 8);
    }
    if (frame < 0) return;
    context.strokeStyle = colors.ink;
    context.lineWidth = 1.5;
    const left = at(frames.frames.edges[frame]);
    context.strokeRect(left, 0.75, Math.max(2, at(frames.frames.edges[frame + 1]) - left), STRIP - 1.5);
  }

  play() {
    const slow = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.button.textContent = "Stop";
    this.timer = setInterval(() => {
      const next = Number(this.slider.value) + 1;
      if (next >= this.many) return this.stop();
      this.heard(next);
    }, slow ? 1000 : 120);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.button.textContent = "Play";
  }
}
