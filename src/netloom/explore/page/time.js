// Loads over time: a slider and a button that plays.

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

  said(frame) {
    const { edges, unit } = this.frames;
    const shown = (value) => Number(value.toPrecision(4)).toLocaleString("en");
    return `${shown(edges[frame])} to ${shown(edges[frame + 1])} ${unit}`;
  }
}

export class Player {
  constructor(place, heard) {
    this.place = place;
    this.heard = heard;
    this.slider = place.querySelector("input");
    this.button = place.querySelector("button");
    this.slider.addEventListener("input", () => heard(Number(this.slider.value)));
    this.button.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  }

  show(frames, frame) {
    this.place.hidden = !frames;
    if (!frames) return this.stop();
    this.slider.max = frames.many - 1;
    this.slider.value = frame;
    this.many = frames.many;
    this.place.querySelector("output").textContent = frame < 0 ? "all of the time" : frames.said(frame);
    this.slider.setAttribute("aria-valuetext", frame < 0 ? "all of the time" : frames.said(frame));
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
