// Two things to draw with, alike: a canvas, and an SVG file.

export class CanvasBrush {
  constructor(context, camera) {
    this.context = context;
    this.camera = camera;
    this.open = null;
  }

  curve(places, at, color, width, dash = null, round = false) {
    const { k, x, y } = this.camera;
    const kind = `${color} ${width} ${dash} ${round}`;
    if (kind !== this.open) {
      this.flush();
      this.context.beginPath();
      this.context.strokeStyle = color;
      this.context.lineWidth = width;
      this.context.lineCap = round ? "round" : "butt";
      this.context.setLineDash(dash || []);
      this.open = kind;
    }
    this.context.moveTo(k * places[at] + x, k * places[at + 1] + y);
    this.context.bezierCurveTo(
      k * places[at + 2] + x, k * places[at + 3] + y, k * places[at + 4] + x, k * places[at + 5] + y,
      k * places[at + 6] + x, k * places[at + 7] + y,
    );
  }

  flush() {
    if (this.open) this.context.stroke();
    this.open = null;
  }

  rect(left, top, width, height, color) {
    const { k, x, y } = this.camera;
    this.flush();
    if (this.context.fillStyle !== color) this.context.fillStyle = color;
    this.context.fillRect(k * left + x, k * top + y, k * width, k * height);
  }

  // Squares of few pixels, pixel by pixel: those that are drawn last, the hottest, win.
  raster(places, ordered, ramp, size) {
    const { k, x, y } = this.camera;
    const sharp = this.context.getTransform().a;
    const [wide, tall] = [Math.round(size.width * sharp), Math.round(size.height * sharp)];
    const pixels = new Uint32Array(wide * tall);
    for (let level = 0; level + 1 < ordered.first.length; level++) {
      const [red, green, blue] = ramp[level].match(/\d+/g).map(Number);
      const color = (255 << 24) | (blue << 16) | (green << 8) | red;
      for (let rank = ordered.first[level]; rank < ordered.first[level + 1]; rank++) {
        const item = ordered.item[rank];
        if (!(item & 1)) continue;
        const at = 3 * (item >> 1);
        const left = Math.round((k * places[at] + x) * sharp);
        const top = Math.round((k * places[at + 1] + y) * sharp);
        const side = Math.max(1, Math.round(k * places[at + 2] * sharp));
        if (left < 0 || top < 0 || left + side > wide || top + side > tall) continue;
        for (let row = top; row < top + side; row++) pixels.fill(color, row * wide + left, row * wide + left + side);
      }
    }
    const image = new ImageData(new Uint8ClampedArray(pixels.buffer), wide, tall);
    const layer = document.createElement("canvas");
    layer.width = wide;
    layer.height = tall;
    layer.getContext("2d", { willReadFrequently: true }).putImageData(image, 0, 0);
    this.context.drawImage(layer, 0, 0, size.width, size.height);
  }

  text(left, top, text, align, color, size, bold) {
    const { k, x, y } = this.camera;
    this.flush();
    this.context.font = `${bold ? 600 : 400} ${size}px system-ui, "DejaVu Sans", sans-serif`;
    this.context.textAlign = align;
    this.context.textBaseline = "middle";
    this.context.fillStyle = color;
    this.context.fillText(text, k * left + x, k * top + y);
  }

  circle(left, top, radius, color, rim) {
    const { k, x, y } = this.camera;
    this.flush();
    this.context.beginPath();
    this.context.arc(k * left + x, k * top + y, radius, 0, 2 * Math.PI);
    this.context.fillStyle = color;
    this.context.fill();
    if (!rim) return;
    this.context.strokeStyle = rim;
    this.context.lineWidth = 1.5;
    this.context.setLineDash([]);
    this.context.stroke();
  }
}

const escaped = (text) => text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);

export class SvgBrush {
  constructor(size, camera) {
    this.size = size;
    this.camera = camera;
    this.parts = [];
  }

  place(x, y) {
    return `${(this.camera.k * x + this.camera.x).toFixed(1)} ${(this.camera.k * y + this.camera.y).toFixed(1)}`;
  }

  curve(places, at, color, width, dash = null, round = false) {
    const point = (each) => this.place(places[at + 2 * each], places[at + 2 * each + 1]);
    const dashed = dash ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    const cap = round ? ' stroke-linecap="round"' : "";
    this.parts.push(
      `<path d="M${point(0)}C${point(1)} ${point(2)} ${point(3)}" fill="none" stroke="${color}" stroke-width="${width.toFixed(2)}"${dashed}${cap}/>`,
    );
  }

  flush() {}

  rect(left, top, width, height, color) {
    const { k, x, y } = this.camera;
    this.parts.push(
      `<rect x="${(k * left + x).toFixed(2)}" y="${(k * top + y).toFixed(2)}" width="${(k * width).toFixed(2)}" height="${(k * height).toFixed(2)}" fill="${color}"/>`,
    );
  }

  text(left, top, text, align, color, size, bold) {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const [x, y] = this.place(left, top).split(" ");
    this.parts.push(
      `<text x="${x}" y="${y}" text-anchor="${anchor}" dominant-baseline="central" font-family="system-ui, sans-serif" font-size="${size.toFixed(1)}" font-weight="${bold ? 600 : 400}" fill="${color}">${escaped(text)}</text>`,
    );
  }

  circle(left, top, radius, color, rim) {
    const [x, y] = this.place(left, top).split(" ");
    const stroke = rim ? ` stroke="${rim}" stroke-width="1.5"` : "";
    this.parts.push(`<circle cx="${x}" cy="${y}" r="${radius}" fill="${color}"${stroke}/>`);
  }

  file(title, paper) {
    const { width, height } = this.size;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">` +
      `<title>${escaped(title)}</title><rect width="${width}" height="${height}" fill="${paper}"/>${this.parts.join("")}</svg>`
    );
  }
}
