"""What a page draws, read back: every stroke, square and word of its canvases, and its legends."""

import re

import numpy as np

RECORDER = """() => {
  const drawn = (window.drawn = {});
  const own = CanvasRenderingContext2D.prototype, paths = new WeakMap();
  const on = ({ canvas }) => {
    const named = canvas.closest('[id]');
    return named ? `${named.id} ${canvas.className}`.trim() : '';
  };
  const heard = (name, note) => {
    const plain = own[name];
    own[name] = function (...given) { note(this, given); return plain.apply(this, given); };
  };
  const kept = (context, kind, at, more) =>
    (drawn[on(context)] ??= []).push({ kind, on: on(context), at, ...more });
  heard('clearRect', (context) => (drawn[on(context)] = []));
  heard('beginPath', (context) => paths.set(context, []));
  heard('moveTo', (context, at) => paths.get(context).push([...at]));
  heard('bezierCurveTo', (context, at) => paths.get(context).at(-1).push(...at));
  heard('arc', (context, at) => paths.get(context).push(at.slice(0, 3)));
  heard('stroke', (context) => paths.get(context).filter((at) => at.length === 8).forEach((at) =>
    kept(context, 'curve', at, { color: context.strokeStyle, width: context.lineWidth,
      dash: context.getLineDash(), cap: context.lineCap })));
  heard('fill', (context) => paths.get(context).filter((at) => at.length === 3).forEach((at) =>
    kept(context, 'circle', at, { color: context.fillStyle })));
  heard('fillRect', (context, at) =>
    kept(context, 'square', at, { color: context.fillStyle, alpha: context.globalAlpha }));
  heard('fillText', (context, [text, ...at]) => kept(context, 'word', at, { text,
    size: parseFloat(/([\\d.]+)px/.exec(context.font)[1]), align: context.textAlign }));
}"""
"""Keeps what is drawn on each canvas since it was last cleared, in ``window.drawn``."""

LEGENDS = """() => [...document.querySelectorAll('#legends .legend')].map((row) => ({
  kind: row.dataset.kind || 'jobs', text: row.textContent,
  least: row.querySelector('.least')?.textContent, most: row.querySelector('.most')?.textContent,
  marked: parseFloat(row.querySelector('.ramp i')?.style.left) / 100,
  said: row.querySelector('.means')?.textContent,
  colors: getComputedStyle(row.querySelector('.ramp') || row).backgroundImage }))"""

PLACES = """(given) => {
  const panel = netloom.explorer.panels[given], { scene } = panel, { k, x, y } = panel.lens();
  const curves = Array.from(scene.curves.places, (each, at) => k * each + (at % 2 ? y : x));
  const squares = Array.from(scene.squares.places,
    (each, at) => k * each + (at % 3 === 0 ? x : at % 3 === 1 ? y : 0));
  return { curves, squares, width: panel.size.width, height: panel.size.height,
    curved: [...scene.curves.channel], squared: [...scene.squares.channel] };
}"""

SMALLEST = 12
"""Pixels of letters."""

PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
NUMBER = re.compile(r"(?P<sign>[+−-]?)(?P<digits>[\d,.]+(?:e[+-]?\d+)?)\s*(?P<unit>\S*)")


def told(text):
    """Return the number that a label tells: of percent a share, of kB and µs in bytes and s."""
    found = NUMBER.match(text.replace("\u00a0", " "))
    value = float(found["digits"].replace(",", ""))
    unit = found["unit"]
    if unit == "%":
        value /= 100
    elif unit in {f"{each}{of}" for each in PREFIXES for of in ("B", "s", "")}:
        value *= PREFIXES[unit[:-1] if unit[-1:] in ("B", "s") else unit]
    less = found["sign"] in ("−", "-") or text.endswith("less")
    return -value if less else value


def rgb(color):
    """Return a color as three numbers."""
    if color.startswith("#"):
        return [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    return [int(each) for each in re.findall(r"\d+", color)[:3]]


class Legend:
    """What the colors of one legend mean, by what it says alone."""

    def __init__(self, given):
        self.kind = given["kind"]
        self.low, self.high = told(given["least"]), told(given["most"])
        self.colors = np.array([rgb(each) for each in re.findall(r"rgb\([^)]*\)", given["colors"])])
        self.marked, self.said = given["marked"], given["said"]

    def values(self, color):
        """Return the least and the largest value that a color can mean."""
        far = np.abs(self.colors - rgb(color)).sum(axis=1)
        near = np.flatnonzero(far <= far.min() + 1) / (len(self.colors) - 1)
        span = self.high - self.low
        return self.low + near.min() * span, self.low + near.max() * span


class Drawn:
    """All that a page shows now, or its marks of one kind."""

    def __init__(self, visit, kind=None):
        self.marks = visit.tab.evaluate(
            "(kind) => Object.values(window.drawn).flat().filter(e => !kind || e.kind === kind)",
            kind,
        )
        self.legends = {
            each["kind"]: Legend(each)
            for each in visit.tab.evaluate(LEGENDS)
            if each["kind"] != "jobs"
        }

    def of(self, kind, on):
        return [each for each in self.marks if each["kind"] == kind and each["on"] == on]


def record(visit):
    """Have a page keep what it draws from now on."""
    visit.tab.evaluate(f"window.drawn ? 0 : ({RECORDER})()")


def colors_of(visit, drawn, on, panel=0):
    """Return the color of each channel that is drawn on a canvas, where it has to be.

    Of several marks in one place the last counts.
    """
    places = visit.tab.evaluate(PLACES, panel)
    found, where = {}, {}
    for channel, at in zip(
        places["curved"], np.reshape(places["curves"], (-1, 8)).round(2).tolist(), strict=True
    ):
        where["curve", *at] = channel
    for channel, at in zip(
        places["squared"], np.reshape(places["squares"], (-1, 3)).round(2).tolist(), strict=True
    ):
        where["square", *at] = channel
    for each in drawn.marks:
        if each["on"] == on and each["kind"] in ("curve", "square"):
            at = np.round(each["at"][:3] if each["kind"] == "square" else each["at"], 2).tolist()
            if (channel := where.get((each["kind"], *at))) is not None:
                found[channel] = each["color"]
    return found, set(where.values())


def check_words(drawn):
    """Check that all letters can be read."""
    assert all(each["size"] >= SMALLEST for each in drawn.marks if each["kind"] == "word")
