// A network on the screen: a picture that is drawn anew when the camera moves, and a layer above it
// for what is pointed at or selected, so that a hover costs little.

import { CanvasBrush, SvgBrush } from "./brushes.js";
import { SMALLEST, Scene, paint } from "./scene.js";
import { colorOf } from "./scale.js";

// Pixels between the pointer and a channel that it points at, and above the picture.
const REACH = 7;
const TOP = 6;

// Curves that take too long to be drawn anew while the camera moves, and the milliseconds after
// which it rests.
const MOST_MOVED = 5000;
const REST = 140;

// Where on a channel its number may be.
const ALONG = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

export class Panel {
  constructor(place, network, heard) {
    this.network = network;
    this.heard = heard;
    this.place = place;
    this.base = place.querySelector(".base");
    this.top = place.querySelector(".top");
    this.camera = { k: 1, x: 0, y: 0 };
    this.pointers = new Map();
    this.listen();
  }

  show(drawing, look) {
    if (!this.scene || this.scene.drawing !== drawing) this.scene = new Scene(drawing, this.network);
    this.look = look;
    this.sized();
    this.draw();
  }

  sized() {
    const width = this.place.clientWidth;
    const fitted = width / this.scene.width;
    const room = Math.min(Math.max(this.scene.height * fitted, 220), 0.9 * Math.max(window.innerHeight, 500));
    const height = Math.round(room) + TOP;
    this.fit = Math.min(fitted, (height - TOP) / this.scene.height);
    const sharp = window.devicePixelRatio || 1;
    for (const canvas of [this.base, this.top]) {
      if (canvas.width === Math.round(width * sharp) && canvas.height === Math.round(height * sharp)) continue;
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.place.style.height = `${height}px`;
    this.size = { width, height };
  }

  // The camera in pixels: that of the state counts from where all is seen.
  lens() {
    const { k, x, y } = this.camera;
    const left = (this.size.width - this.scene.width * this.fit) / 2;
    return { k: k * this.fit, x: x * this.size.width + left * k, y: y * this.size.width + TOP };
  }

  context(canvas) {
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const sharp = window.devicePixelRatio || 1;
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    return context;
  }

  // While the camera moves over a picture that takes long, the last picture is moved and scaled. The
  // new one comes as soon as the camera rests.
  move() {
    if (!this.kept) return this.draw();
    const before = this.kept.lens;
    const lens = this.lens();
    const times = lens.k / before.k;
    const context = this.context(this.base);
    const { width, height } = this.size;
    context.drawImage(this.kept.picture, lens.x - times * before.x, lens.y - times * before.y, times * width, times * height);
    this.context(this.top);
    clearTimeout(this.rests);
    this.rests = setTimeout(() => this.draw(), REST);
    return undefined;
  }

  keep(lens) {
    if (this.scene.curves.channel.length < MOST_MOVED) {
      this.kept = null;
      return;
    }
    const picture = document.createElement("canvas");
    picture.width = this.base.width;
    picture.height = this.base.height;
    picture.getContext("2d", { willReadFrequently: true }).drawImage(this.base, 0, 0);
    this.kept = { picture, lens };
  }

  draw() {
    clearTimeout(this.rests);
    const begun = performance.now();
    const lens = this.lens();
    const brush = new CanvasBrush(this.context(this.base), lens);
    paint(this.scene, brush, this.look, lens, this.size);
    this.paintNumbers(brush);
    this.drawn = performance.now() - begun;
    this.keep(lens);
    this.mark();
  }

  // Discs on the channels that are listed, with their numbers there.
  paintNumbers(brush) {
    const { colors } = this.look;
    const taken = [];
    const near = (place) => taken.some(([x, y]) => Math.hypot(x - place[0], y - place[1]) * brush.camera.k < 20);
    for (const [channel, label] of this.look.listed || []) {
      const place = ALONG.map((part) => this.scene.middle(channel, part)).find((each) => each && !near(each));
      if (!place) continue;
      taken.push(place);
      brush.circle(...place, 9, colors.ink, colors.paper);
      brush.text(...place, String(label), "center", colors.paper, SMALLEST, true);
    }
  }

  // Draw what is selected, and what is pointed at, on the upper layer.
  mark() {
    const context = this.context(this.top);
    const { selected, pointed, colors } = this.look;
    const lens = this.lens();
    const brush = new CanvasBrush(context, lens);
    if (selected) {
      context.globalAlpha = 0.82;
      context.fillStyle = colors.paper;
      context.fillRect(0, 0, this.size.width, this.size.height);
      context.globalAlpha = 1;
      const { values } = selected;
      paint(this.scene, brush, { ...this.look, ...selected, only: (channel) => values[channel] > 0 }, lens, this.size);
    }
    const shown = selected || this.look;
    for (const channel of [...(selected ? selected.channels : []), ...(this.look.thread || []), pointed]) {
      if (channel === undefined || channel < 0) continue;
      this.outline(brush, channel, colors, colorOf(shown, shown.values[channel]));
    }
    brush.flush();
  }

  outline(brush, channel, colors, color) {
    const { curve, square } = this.scene.row(channel);
    if (curve !== undefined) {
      brush.curve(this.scene.curves.places, 8 * curve, colors.ink, 8, null, true);
      brush.curve(this.scene.curves.places, 8 * curve, color, 4.5, null, true);
      const [x, y] = [6, 7].map((part) => this.scene.curves.places[8 * curve + part]);
      brush.circle(x, y, 4, colors.ink, colors.paper);
    } else if (square !== undefined) {
      const [x, y, side] = this.scene.squares.places.subarray(3 * square, 3 * square + 3);
      const rim = Math.max(2 / brush.camera.k, 0.12 * side);
      brush.rect(x - rim, y - rim, side + 2 * rim, side + 2 * rim, colors.ink);
      brush.rect(x, y, side, side, color);
    }
  }

  at(event) {
    const box = this.top.getBoundingClientRect();
    const lens = this.lens();
    return [(event.clientX - box.left - lens.x) / lens.k, (event.clientY - box.top - lens.y) / lens.k];
  }

  hit(event) {
    const [x, y] = this.at(event);
    const channel = this.scene.hit(x, y, REACH / this.lens().k, this.look.values);
    return { channel, router: channel < 0 ? this.scene.routerAt(x, y) : -1 };
  }

  // Where a channel is on the screen: for tests, and to bring it into view.
  screen(channel) {
    const place = this.scene.middle(channel);
    if (!place) return null;
    const lens = this.lens();
    return [lens.k * place[0] + lens.x, lens.k * place[1] + lens.y];
  }

  listen() {
    const { top } = this;
    top.addEventListener("pointermove", (event) => this.moved(event));
    top.addEventListener("pointerdown", (event) => {
      top.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, event);
      this.start = { x: event.clientX, y: event.clientY, far: false };
      this.apart = this.pointers.size === 2 ? this.between() : null;
    });
    const release = (event) => {
      const clicked = this.pointers.size === 1 && this.start && !this.start.far && event.type === "pointerup";
      this.pointers.delete(event.pointerId);
      this.apart = null;
      if (clicked) this.heard.clicked(this.hit(event), event);
    };
    top.addEventListener("pointerup", release);
    top.addEventListener("pointercancel", release);
    top.addEventListener("pointerleave", (event) => this.heard.pointed({ channel: -1, router: -1 }, event, this));
    top.addEventListener("dblclick", () => this.heard.moved({ k: 1, x: 0, y: 0 }));
    top.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), event);
    }, { passive: false });
  }

  zoom(times, event) {
    const box = this.top.getBoundingClientRect();
    const [px, py] = event ? [event.clientX - box.left, event.clientY - box.top] : [this.size.width / 2, this.size.height / 2];
    const k = Math.max(1, Math.min(200, this.camera.k * times));
    const lens = this.lens();
    const [x, y] = [(px - lens.x) / lens.k, (py - lens.y) / lens.k];
    const left = (this.size.width - this.scene.width * this.fit) / 2;
    const next = { k, x: (px - x * k * this.fit - left * k) / this.size.width, y: (py - TOP - y * k * this.fit) / this.size.width };
    this.heard.moved(k === 1 ? { k: 1, x: 0, y: 0 } : next);
  }

  // Pixels between two fingers.
  between() {
    const [one, other] = [...this.pointers.values()];
    return Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
  }

  moved(event) {
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType === "mouse") this.heard.pointed(this.hit(event), event, this);
      return;
    }
    const before = this.pointers.get(event.pointerId);
    this.pointers.set(event.pointerId, event);
    if (this.pointers.size === 2) {
      const [one, other] = [...this.pointers.values()];
      const apart = this.between();
      if (this.apart) this.zoom(apart / this.apart, { clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2 });
      this.apart = apart;
      this.start.far = true;
      return;
    }
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    if (Math.hypot(event.clientX - this.start.x, event.clientY - this.start.y) > 4) this.start.far = true;
    if (!this.start.far) return;
    if (this.scene.turned && !event.shiftKey) {
      this.scene.rotate(dx / 150, dy / 150);
      this.draw();
    } else if (this.camera.k > 1) {
      this.heard.moved({ ...this.camera, x: this.camera.x + dx / this.size.width, y: this.camera.y + dy / this.size.width });
    }
  }

  svg(title) {
    const lens = this.lens();
    const brush = new SvgBrush(this.size, lens);
    paint(this.scene, brush, this.look, lens, this.size);
    this.paintNumbers(brush);
    return brush.file(title, this.look.colors.paper);
  }
}
