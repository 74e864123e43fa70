"""What can be measured on a picture as SVG: its words, where they are, and the axes they are of."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from math import cos, radians, sin

from netloom.drawing.names import width_of

SVG = "{http://www.w3.org/2000/svg}"
MEASURED, LEAST = 0.86, 0.72
"""Widths of letters are guessed as those of a wide font. Others need less, down to the second."""


@dataclass(frozen=True)
class Text:
    """A text: what it says, its box (left, top, right, bottom), and the groups that it is in."""

    said: str
    box: tuple[float, float, float, float]
    groups: tuple[str, ...]
    size: float

    @property
    def of_axis(self):
        return next((each for each in self.groups if "role-axis-label" in each), "")


def read(svg):
    """Return the size of a picture, and all its texts."""
    root = ET.fromstring(svg)
    size = float(root.get("width")), float(root.get("height"))
    texts = []
    _walk(root, (1.0, 0.0, 0.0, 1.0, 0.0, 0.0), (), texts)
    return size, texts


def _walk(node, matrix, groups, texts):
    matrix = _times(matrix, _matrix(node.get("transform", "")))
    if node.tag == f"{SVG}g" and node.get("class"):
        groups = (*groups, f"{node.get('class')} {node.get('aria-label') or ''}{id(node)}")
    if node.tag == f"{SVG}text" and float(node.get("opacity", 1)) > 0:
        lines = [each.text or "" for each in node if each.tag == f"{SVG}tspan"] or [node.text or ""]
        size = float(node.get("font-size", "11px").removesuffix("px"))
        for place, said in enumerate(lines):
            if said.strip():
                texts.append(Text(said, _box(node, said, size, place, matrix), groups, size))
    for each in node:
        _walk(each, matrix, groups, texts)


def _box(node, said, size, line, matrix):
    bold = node.get("font-weight") in ("bold", "600", "700")
    wide = MEASURED * width_of(said, bold=bold, size=size)
    left = {"start": 0.0, "middle": -wide / 2, "end": -wide}[node.get("text-anchor", "start")]
    top = -0.72 * size + line * 1.2 * size
    corners = [_at(matrix, x, y) for x in (left, left + wide) for y in (top, top + 0.74 * size)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _matrix(text):
    found = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    for kind, inside in re.findall(r"(\w+)\(([^)]*)\)", text):
        values = [float(each) for each in re.split(r"[ ,]+", inside.strip())]
        if kind == "translate":
            found = _times(found, (1, 0, 0, 1, values[0], values[1] if len(values) > 1 else 0))
        elif kind == "rotate":
            turn = radians(values[0])
            found = _times(found, (cos(turn), sin(turn), -sin(turn), cos(turn), 0, 0))
        elif kind == "scale":
            found = _times(found, (values[0], 0, 0, values[-1], 0, 0))
    return found


def _times(one, other):
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return (
        a * g + c * h,
        b * g + d * h,
        a * i + c * j,
        b * i + d * j,
        a * k + c * m + e,
        b * k + d * m + f,
    )


def _at(matrix, x, y):
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def overlapping(texts, slack=1.0):
    """Return pairs of texts whose boxes overlap by more than some pixels."""
    found = []
    for at, one in enumerate(texts):
        for other in texts[at + 1 :]:
            wide = min(one.box[2], other.box[2]) - max(one.box[0], other.box[0])
            high = min(one.box[3], other.box[3]) - max(one.box[1], other.box[1])
            if wide > slack and high > slack:
                found.append((one.said, other.said))
    return found


def outside(texts, size, slack=2.0):
    """Return texts that leave the picture."""
    width, height = size
    return [
        each.said
        for each in texts
        if each.box[1] < -slack
        or each.box[3] > height + slack
        or max(-each.box[0], each.box[2] - width)
        > slack + (1 - LEAST / MEASURED) * (each.box[2] - each.box[0])
    ]


def labels_of_axes(texts):
    """Return the labels of each axis."""
    found = {}
    for each in texts:
        if each.of_axis:
            found.setdefault(each.of_axis, []).append(each.said)
    return list(found.values())
