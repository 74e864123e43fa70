"""What a picture says, read back from its SVG: values from positions, lengths and colors.

``untrue`` lists what is drawn otherwise than it is labelled. It knows nothing of any kind of
picture: scales come from the labels of ticks and legends, values from the descriptions that marks
have for people who do not see them.
"""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from itertools import pairwise
from math import isclose, log10

from tests.drawing.svg import SVG, _at, _matrix, _times

PIXELS = 1.6
"""How far a mark may be off its number: words have three digits, and strokes are as thick."""

NUMBER = re.compile(r"(?<![\w.,/:])([+−-]?)(\d[\d,]*\.?\d*)(?:\s?(%|×|[kMGTmµn]?[a-zA-Z][\w/]*))?")
SIZES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
SCALED = re.compile(r"([kMGTmµn])(B|s|cycles)|(B|s|bytes|kB)")
WIDE_STROKE = re.compile(r"M(\S+?),(\S+?)h(\S+)")


@dataclass
class Mark:
    """A mark: what is said of it, its points on the picture, its stroke and its shape."""

    said: dict
    points: list
    colour: str
    width: float
    shape: str
    clipped: bool


@dataclass
class Axis:
    """An axis, by its labels: its title, its way, and values with their pixels."""

    title: str
    across: bool
    log: bool
    ticks: list = field(default_factory=list)

    @property
    def unit(self):
        found = re.search(r"\(([^()]*)\)\s*$", self.title)
        return found[1] if found else ""

    @property
    def share(self):
        return any(label.endswith("%") for label, _, _ in self.ticks)

    def _even(self, of):
        """Whether pixels rise evenly with values."""
        (_, one, start), *_, (_, other, end) = self.ticks
        return all(
            abs(start + (of(value) - of(one)) / (of(other) - of(one)) * (end - start) - at) < 1
            for _, value, at in self.ticks
        )

    @property
    def true(self):
        """Whether its labels stand where a linear or a logarithmic scale has them."""
        return self._even(log10 if self.log else float)

    def at(self, value):
        """Return where a value is in pixels."""
        of = log10 if self.log else float
        if self.log and value <= 0:
            return None
        (_, one, start), *_, (_, other, end) = self.ticks
        return start + (of(value) - of(one)) / (of(other) - of(one)) * (end - start)


@dataclass
class Scope:
    """A chart of a picture: its frame, axes, legends of colors, marks, words and title."""

    name: str = ""
    title: str = ""
    frame: tuple = (0.0, 0.0, 0.0, 0.0)
    axes: list = field(default_factory=list)
    legends: list = field(default_factory=list)
    marks: list = field(default_factory=list)
    words: list = field(default_factory=list)


def scopes(svg):
    """Return the charts of a picture that have marks."""
    root = ET.fromstring(svg)
    gradients = {
        each.get("id"): [(float(stop.get("offset")), stop.get("stop-color")) for stop in each]
        for each in root.iter(f"{SVG}linearGradient")
    }
    found = []
    _walk(root, (1.0, 0.0, 0.0, 1.0, 0.0, 0.0), None, found, gradients, clipped=False)
    return [each for each in found if each.marks or each.words]


def _walk(node, matrix, scope, found, gradients, *, clipped):
    matrix = _times(matrix, _matrix(node.get("transform", "")))
    kind = node.get("class") or ""
    clipped = clipped or node.get("clip-path") is not None
    if "role-scope" in kind or "role-frame" in kind:
        for group in node:
            inside = Scope(group.get("aria-label") or "")
            found.append(inside)
            _walk(group, matrix, inside, found, gradients, clipped=clipped)
        return
    if scope is not None:
        if kind == "background" and not any(scope.frame):
            scope.frame = _frame(node, matrix)
        if "role-axis " in f"{kind} ":
            if (axis := _axis(node, matrix)) is not None:
                scope.axes.append(axis)
            return
        if "role-legend" in kind:
            scope.legends += _legend(node, gradients)
            return
        if "role-title" in kind:
            scope.title = " ".join(
                said for each in node.iter(f"{SVG}text") for said in _lines(each)
            )
            return
        if node.tag == f"{SVG}text" and float(node.get("opacity", 1)) > 0:
            scope.words += [(said, node.get("font-weight")) for said in _lines(node)]
            return
        if node.get("role") == "graphics-symbol" and node.tag in (f"{SVG}path", f"{SVG}line"):
            scope.marks.append(_mark(node, matrix, clipped=clipped))
            return
    for each in node:
        _walk(each, matrix, scope, found, gradients, clipped=clipped)


def _lines(text):
    return [each.text or "" for each in text if each.tag == f"{SVG}tspan"] or [text.text or ""]


def _frame(node, matrix):
    size = re.search(r"h(-?[\d.]+)v(-?[\d.]+)", node.get("d") or "")
    wide, high = (float(size[1]), float(size[2])) if size else (0.0, 0.0)
    left, top = _at(matrix, 0, 0)
    return left, top, left + wide, top + high


def _mark(node, matrix, *, clipped):
    said = {}
    for part in (node.get("aria-label") or "").split("; "):
        name, _, value = part.partition(": ")
        said[name] = value
    shape = node.get("d") or ""
    moved = node.get("transform") or ""
    if node.tag == f"{SVG}line":
        ends = [(0.0, 0.0), (float(node.get("x2", 0)), float(node.get("y2", 0)))]
    elif "rotate" in moved or ("translate" in moved and "A" in shape):  # a symbol
        ends = [(0.0, 0.0)]
    else:
        ends = _points(shape)
    points = [_at(matrix, *each) for each in ends]
    colour = node.get("stroke") if node.get("stroke") not in (None, "none") else node.get("fill")
    return Mark(said, points, colour or "", float(node.get("stroke-width") or 0), shape, clipped)


def _points(shape):
    """Return the corners of a path of straight lines."""
    x = y = 0.0
    found = []
    for command, inside in re.findall(r"([MLHVhvlZ])([^MLHVhvlZA-Ca-c]*)", shape):
        values = [float(each) for each in re.findall(r"-?[\d.]+(?:e-?\d+)?", inside)]
        if command in "ML" and len(values) >= 2:
            x, y = values[:2]
        elif command == "l" and len(values) >= 2:
            x, y = x + values[0], y + values[1]
        elif command in "Hh" and values:
            x = values[0] + (x if command == "h" else 0)
        elif command in "Vv" and values:
            y = values[0] + (y if command == "v" else 0)
        found.append((x, y))
    return found


def _axis(node, matrix):
    """Return a linear or logarithmic axis by its ticks: their labels may stand beside them."""
    said = node.get("aria-label") or ""
    name = re.match(r"([XY])-axis(?: titled '(.*?)')? for a (\w+) scale", said)
    if name is None or name[3] == "discrete":
        return None
    axis, places, labels = Axis(name[2] or "", name[1] == "X", name[3] == "log"), [], []

    def walk(each, matrix, kind):
        kind = each.get("class") or kind
        place = _at(matrix, 0, 0)[not axis.across]
        if each.tag == f"{SVG}line" and "role-axis-tick" in kind:
            places.append(place)
        if each.tag == f"{SVG}text" and "role-axis-label" in kind:
            labels.append((_lines(each)[0], place))
        for more in each:
            walk(more, _times(matrix, _matrix(more.get("transform", ""))), kind)

    walk(node, matrix, "")
    if len(places) != len(labels):  # an axis without ticks
        places = [place for _, place in labels]
    for (label, _), place in zip(labels, places, strict=True):
        if (value := amount(label)) is not None:
            axis.ticks.append((label, value, place))
    return axis if len(axis.ticks) > 1 else None


def amount(label):
    """Return the number of a label in its basic unit. None if there is none."""
    found = NUMBER.search(label.replace("\u00a0", " "))
    return None if found is None else _value(found)


def _value(found):
    sign, digits, unit = found.groups()
    value = float(digits.replace(",", "")) * (-1 if sign in ("−", "-") else 1)
    scaled = SCALED.fullmatch(unit or "")
    return value * SIZES.get(scaled[1] or ("k" if unit == "kB" else ""), 1) if scaled else value


def _legend(node, gradients):
    """Return the gradient of a legend as its title, stops, and labels with their places, 0 … 1."""
    found = []
    for each in node.iter(f"{SVG}path"):
        name = re.match(r"url\(#(.*)\)", each.get("fill") or "")
        wide = re.search(r"h([\d.]+)", each.get("d") or "")
        if name and wide and name[1] in gradients:
            found.append((gradients[name[1]], float(wide[1])))
    labels, title = [], []
    for group in node.iter(f"{SVG}g"):
        for text in group.findall(f"{SVG}text"):
            if "role-legend-label" in (group.get("class") or ""):
                labels.append((_lines(text)[0], _matrix(text.get("transform", ""))[4]))
            elif "role-legend-title" in (group.get("class") or ""):
                title += _lines(text)
    return [
        (" ".join(title), stops, [(said, at / wide) for said, at in labels if said])
        for stops, wide in found
    ]


def untrue(svg):
    """Return what of a picture is not as its labels say, in words."""
    found, bars = [], {}
    for scope in scopes(svg):
        wrong = [
            f"the ticks of '{axis.title}' are on no scale"
            for axis in scope.axes
            if len({at for _, _, at in axis.ticks}) > 1 and not axis.true
        ]
        for look in (_places, _names, _colours, _mosts):
            wrong += look(scope)
        found += [f"{scope.title}: {each}" for each in [*wrong, *_lengths(scope, bars)]]
    for measure, each in bars.items():
        found += [
            f"{said}: a bar of another scale than others of '{measure}'"
            for said, rate in each
            if not isclose(rate, each[0][1], rel_tol=0.01)
        ]
    return found


def _places(scope):
    """Yield marks that do not stand where the value that they are described by is on an axis."""
    left, top, right, bottom = scope.frame
    for mark in scope.marks:
        for axis in scope.axes:
            said = mark.said.get(axis.title)
            low, high = (left, right) if axis.across else (top, bottom)
            seen = [point[not axis.across] for point in mark.points]
            if said is None or not seen:
                continue
            if not mark.clipped and not all(low - 8 <= each <= high + 8 for each in seen):
                yield f"{mark.said} is outside of the axes"
            value = _plain(said)
            if value is None:
                continue
            at = axis.at(100 * value if axis.share else value)
            if at is None or (mark.clipped and not low <= at <= high):
                continue
            if not axis.across and mark.shape.endswith("Z"):  # a bar may be around its value
                seen.append((min(seen) + max(seen)) / 2)
            if min(abs(at - each) for each in seen) > PIXELS:
                yield f"'{axis.title}: {said}' is drawn at {seen[0]:.1f}, not at {at:.1f}"


def _plain(said):
    try:
        return float(said.replace(",", "").replace("−", "-"))
    except ValueError:
        return None


def _names(scope):
    """Yield words inside of axes whose numbers no mark stands at."""
    series = {value for mark in scope.marks for value in mark.said.values()}
    for said, _ in scope.words:
        said = said.removeprefix("= ").removeprefix("≈ ")
        text = said.replace("\u00a0", " ")
        if "→" in text:
            yield from _ratio(scope, text)
            continue
        if said in series and "%" not in said:  # the name of a line has numbers of its own
            continue
        for number in NUMBER.finditer(text.partition("max ")[0]):
            fits = [axis for axis in scope.axes if _fits(axis, number[3] or "")]
            if _coloured(scope, number) or not fits:
                continue
            if not any(_marked(scope, axis, number) for axis in fits):
                yield f"nothing stands at the {number[0].strip()} of '{said}'"


def _fits(axis, unit):
    """Whether a number with a unit may be one of an axis."""
    if unit in ("%", "×"):
        return any(label.endswith(unit) for label, _, _ in axis.ticks)
    if axis.share or any(label.endswith("×") for label, _, _ in axis.ticks):
        return False
    return not unit or unit == axis.unit


def _coloured(scope, number):
    """Whether a number is what some mark is described by, where colors are numbers."""
    told = [_plain(said) for mark in scope.marks for said in mark.said.values()]
    value = float(number[2].replace(",", ""))
    return bool(scope.legends) and any(
        isclose(each, value, rel_tol=0.006) for each in told if each is not None
    )


def _marked(scope, axis, number):
    """Whether some mark is at a number, to the digits that it has."""
    digits = number[2].replace(",", "")
    value = float(digits) * (-1 if number[1] in ("−", "-") else 1)
    half = 0.5 * 10.0 ** -len(digits.partition(".")[2]) if "." in digits else 0.0
    if not half:  # three digits are said of larger ones
        half = 0.5 * 10.0 ** max(len(digits.lstrip("0")) - 3, 0) if value >= 100 else 0.5
    ends = [axis.at(max(value - half, 1e-9)), axis.at(value + half)]
    low, high = min(ends) - PIXELS, max(ends) + PIXELS
    seen = [[point[not axis.across] for point in mark.points] for mark in scope.marks]
    if any(low <= each <= high for places in seen for each in places):
        return True
    if axis.log:
        return False
    low, high = sorted(abs(end - axis.at(0)) for end in ends)
    long = (max(places) - min(places) for places in seen if places)  # of a part of a bar
    return any(low - PIXELS <= each <= high + PIXELS for each in long)


def _ratio(scope, text):
    """Yield a change in words that is drawn at another ratio, or nowhere, in the same row."""
    mine = [
        each for each in scope.marks if each.said.get("said", "").replace("\u00a0", " ") == text
    ]
    before, after = (amount(part) for part in text.split("→"))
    if None in (before, after) or not any("said" in each.said for each in scope.marks):
        return
    for axis in scope.axes:
        drawn = [point[0] for each in mine if axis.title in each.said for point in each.points]
        if not axis.across or not before or (axis.log and not after):
            continue  # an arrow at the edge
        at = axis.at(after / before * (100 if axis.share else 1))
        if not drawn or min(abs(each - at) for each in drawn) > 0.02 * abs(at) + PIXELS:
            yield f"'{text}' is not drawn at {after / before:.3g}"


def _colours(scope):
    """Yield channels whose color is another value of the legend than the one they carry."""
    for title, stops, labels in scope.legends:
        known = [(at, amount(said)) for said, at in labels if amount(said) is not None]
        if known and known[0][0] > 0.01:  # what is idle needs no label
            known = [(0.0, 0.0), *known]
        if len(known) < 2:
            continue
        for mark in scope.marks:
            value = _carried(mark, title)
            if value is None or "heat" not in mark.said:
                continue
            drawn = _value_of(mark.colour, stops, known)
            span = known[-1][1] - known[0][1]
            if drawn is None or not _near(value, drawn, span, known):
                yield f"{mark.said} has the color of {drawn}"


def _carried(mark, title):
    """Return what a channel carries by its description: the field that the legend is of."""
    timed = "time on the channel" in title
    for name, said in mark.said.items():
        load = name.endswith(("on the channel", "% of the channel")) or name.startswith("change, ")
        if name == "time" if timed else load:
            return _plain(said)
    return None


def _value_of(colour, stops, known):
    """Return the value of a color: where it is on the gradient, between the labels there."""
    mine = _rgb(colour)
    best = None
    for (start, one), (end, other) in pairwise(stops):
        first, last = _rgb(one), _rgb(other)
        way = [b - a for a, b in zip(first, last, strict=True)]
        long = sum(each * each for each in way) or 1.0
        part = sum((m - a) * w for m, a, w in zip(mine, first, way, strict=True)) / long
        part = min(max(part, 0.0), 1.0)
        off = sum((m - a - part * w) ** 2 for m, a, w in zip(mine, first, way, strict=True))
        if best is None or off < best[0]:
            best = off, start + part * (end - start)
    if best is None or best[0] > 30:
        return None
    place = best[1]
    for (start, low), (end, high) in pairwise(known):
        if place <= end + 1e-9:
            return low + (place - start) / (end - start) * (high - low)
    return known[-1][1]


def _near(value, drawn, span, known):
    """Whether a value read off a color is the one that is said, to the digits of labels."""
    rough = 0.006 * max(abs(each) for _, each in known)
    return abs(value - drawn) <= 0.03 * abs(span) + rough


def _rgb(colour):
    if colour.startswith("#"):
        return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return [int(each) for each in re.findall(r"\d+", colour)[:3]]


def _mosts(scope):
    """Yield titles that say up to which share something goes, if another mark goes further."""
    found = re.search(r"up to ([\d.]+)\s?%", scope.title.replace("\u00a0", " "))
    if found is None:
        return
    shares = [amount(mark.said["percent"]) for mark in scope.marks if "percent" in mark.said]
    if shares and not isclose(max(shares), float(found[1]), rel_tol=0.01):
        yield f"something is at {max(shares)} %"


def _lengths(scope, bars):
    """Collect how long bars of channels are for what they carry, by their legend.

    Return those that go to the wrong side of nothing: it is where the bars of changes meet.
    """
    sides = []
    for mark in scope.marks:
        line = WIDE_STROKE.fullmatch(mark.said.get("path", ""))
        name, title = mark.said.get("channels", ""), next((each[0] for each in scope.legends), "")
        value = _carried(mark, "")
        if line is None or not value or " % of channels" not in name:
            continue
        what, middle, half = f"{scope.title}: {name}", float(line[2]), mark.width / 2
        bars.setdefault(title, []).append((what, mark.width / abs(value)))
        sides.append((what, middle - half if value < 0 else middle + half))
    return [f"{what} goes to the wrong side" for what, end in sides if abs(end - sides[0][1]) > 1]
