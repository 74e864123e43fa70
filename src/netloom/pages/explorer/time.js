// Loads over time: a slider and a button that plays.

import { colorOf } from "./scale.js";
import { SMALLEST } from "./scene.js";
import { number, percent, seconds } from "./words.js";

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

  // The first frame in which a message is on its way.
  get begins() {
    return Math.max(0, this.peaks.findIndex((peak) => peak > 0));
  }

  said(frame) {
    const [first, last] = [this.frames.edges[frame], this.frames.edges[frame + 1]];
    return this.frames.unit === "seconds" ? `${seconds(first)} to ${seconds(last)}` : `${number(Math.round(first))} to ${this.time(last)}`;
  }

  time(value) {
    const { unit } = this.frames;
    return unit === "seconds" ? seconds(value) : `${number(Math.round(value))} ${unit}`;
  }
}

// Pixels of the strip from top to bottom: words, bars of the busiest channel, the critical path, and
// the axis of time. Between its ticks there are so many at least.
const [WORDS, BARS, PATH, AXIS] = [18, 42, 16, 20];
const STRIP = WORDS + BARS + PATH + AXIS;
const APART = 90;

// A step of time, 1, 2 or 5 of a power of ten, of which a span has so many at most.
function stepOf(span, many) {
  const least = span / Math.max(many, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((each) => each * power >= least * (1 - 1e-9));
}

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
    this.frames = frames;
    this.place.querySelector("output").textContent = frame < 0 ? "all of the time" : frames.said(frame);
    this.slider.setAttribute("aria-valuetext", frame < 0 ? "all of the time" : frames.said(frame));
    const [step] = frame < 0 ? [] : frames.steps(frame);
    this.place.querySelector("p").textContent = step ? stepSaid(step) : frames.frames.critical.length ? "Below the busiest channel: the critical path, dark where it sends." : "";
    return this.strip(frames, frame, look);
  }

  // How busy the busiest channel is over time, below it the critical path, and the time.
  strip(frames, frame, look) {
    const { colors } = look;
    const canvas = this.place.querySelector("canvas");
    const width = this.place.clientWidth;
    const sharp = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(STRIP * sharp);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${STRIP}px`;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, width, STRIP);
    const last = frames.frames.edges[frames.many];
    const at = (time) => (time / last) * width;
    context.fillStyle = colors.box;
    context.fillRect(0, WORDS - 1, width, 1);
    context.fillRect(0, WORDS + BARS + PATH, width, 1);
    frames.peaks.forEach((peak, each) => {
      const [left, right] = [at(frames.frames.edges[each]), at(frames.frames.edges[each + 1])];
      context.fillStyle = colorOf(look, peak);
      context.fillRect(left, WORDS + BARS * (1 - peak), right - left, BARS * peak);
    });
    for (const [, to, first, end] of frames.frames.critical) {
      context.fillStyle = to < 0 ? colors.quiet : colors.ink;
      context.fillRect(at(first), WORDS + BARS + 5, Math.max(1, at(end) - at(first) - 1), 8);
    }
    context.fillStyle = colors.quiet;
    context.font = `${SMALLEST}px system-ui, "DejaVu Sans", sans-serif`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText(`busiest channel, up to ${percent(1)}`, 0, WORDS / 2);
    const step = stepOf(last, Math.floor(width / APART));
    for (let time = 0; time <= last * (1 + 1e-9); time += step) {
      context.fillRect(Math.min(at(time), width - 1), WORDS + BARS + PATH, 1, 4);
      const said = time ? frames.time(time) : "0";
      const half = context.measureText(said).width / 2;
      context.textAlign = time === 0 ? "left" : "center";
      if (time === 0 || at(time) + half <= width) context.fillText(said, at(time), STRIP - 7);
    }
    if (frame < 0) return;
    context.strokeStyle = colors.ink;
    context.lineWidth = 1.5;
    const left = at(frames.frames.edges[frame]);
    context.strokeRect(left, WORDS - 0.75, Math.max(2, at(frames.frames.edges[frame + 1]) - left), BARS + PATH);
  }

  // From the first message on, or from where it was stopped.
  play() {
    const slow = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const at = Number(this.slider.value);
    this.button.textContent = "Stop";
    this.heard(at < 0 || at + 1 >= this.frames.many ? this.frames.begins : at);
    this.timer = setInterval(() => {
      const next = Number(this.slider.value) + 1;
      if (next >= this.frames.many) return this.stop();
      this.heard(next);
    }, slow ? 1000 : 120);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.button.textContent = "Play";
  }
}
