"""Networks as squares, one per channel: tori by plane, HyperX by line and dimension."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.words import counted
from netloom.drawing.networks.isometric import with_key
from netloom.drawing.networks.panels import Band, Look, Panel, panels_scene
from netloom.topology import Cube
from netloom.topology.family import HyperXShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.drawing.networks.scene import Scene
    from netloom.drawing.networks.traffic import Traffic

TALL, COLUMN = 600.0, 500.0
"""Pixels of a picture from top to bottom, about. Of many lines twice as many below this width."""

AXES = "xyz"
"""What the dimensions of a cube are called, the last first."""

ARROWS = {"x+": "x+ →", "x-": "x− ←", "y+": "y+ ↓", "y-": "y− ↑", "z+": "z+", "z-": "z−"}
"""The directions of a cube, as panels name them."""


def planes_scene(traffic: Traffic, width: float, tall: float = TALL) -> Scene | None:
    """Return the scene of a cube of two or three dimensions: a raster a direction and plane.

    A square is the channel that leaves the node there in that direction. None where squares would
    be too small.
    """
    cube = traffic.topology.routers
    assert isinstance(cube, Cube)
    axes = [axis for axis, side in enumerate(cube.sides) if side > 1]
    *across, down, along = axes
    shape = cube.sides[down], cube.sides[along]
    panels: dict[int, list[Panel]] = {}
    for name, axis in zip(AXES, reversed(axes), strict=False):
        for way, sign in enumerate("+-"):
            first = int(cube.line_base[axis, way])
            channel = first + np.arange(int(cube.direction_channels[axis]))
            node = cube.channel_source[channel]
            at = [node // cube.strides[each] % cube.sides[each] for each in (*across, down, along)]
            plane = at[0] if across else np.zeros_like(node)
            for each in range(cube.sides[across[0]] if across else 1):
                here = plane == each
                places = channel[here], at[-2][here], at[-1][here]
                panels.setdefault(each, []).append(Panel(ARROWS[name + sign], *places, *shape))
    named = [f"z = {each}" if across else "" for each in panels]
    bands = [Band(heading, each) for heading, each in zip(named, panels.values(), strict=True)]
    if across:
        bands = [
            Band(
                band.heading,
                band.panels if place == 0 else [p._replace(label="") for p in band.panels],
            )
            for place, band in enumerate(bands)
        ]
    node_at = "(z,y,x)" if across else "(y,x)"
    note = f"a square is the channel that leaves node {node_at}: row y, column x"
    note += "" if across else "; strips are means of rows and columns"
    look = Look(width, tall, note, beside=bool(across), means=not across, rim=True)
    scene = panels_scene(traffic, bands, look)
    if scene is None or not across:
        return scene
    return with_key(traffic, scene, width)


def hyperx_scene(traffic: Traffic, width: float, tall: float = TALL) -> Scene | None:
    """Return the scene of a HyperX: a matrix of senders and receivers a line and dimension.

    Of several lanes the busiest is shown. None where squares would be too small.
    """
    shape = traffic.topology.family
    assert isinstance(shape, HyperXShape)
    routers, sides = traffic.topology.routers, shape.sides
    strides = [prod(sides[axis + 1 :]) for axis in range(len(sides))]
    shown = traffic.between  # the busiest last
    source = routers.channel_source[shown].astype(np.int64)
    target = routers.channel_target[shown].astype(np.int64)
    bands = []
    for axis in reversed(range(len(sides))):
        side, stride = sides[axis], strides[axis]
        row, column = (end // stride % side for end in (source, target))
        mine = (source - row * stride == target - column * stride) & (source != target)
        line = source // (stride * side) * stride + source % stride
        keys = (line * side + row) * side + column
        last = np.full(prod(sides) * side, -1)
        last[keys[mine]] = shown[mine]
        panels = []
        for number in range(prod(sides) // side):
            cells = np.arange(number * side**2, (number + 1) * side**2)
            cells = cells[last[cells] >= 0]
            cells = cells[np.argsort(traffic.weight[last[cells]], kind="stable")]
            at = cells // side % side, cells % side
            label = _line(number, axis, sides)
            panels.append(Panel(label, last[cells], *at, side, side))
        bands.append(
            Band(f"dimension {axis}: {counted(len(panels), 'line', ',')} of {side}", panels)
        )
    lanes = "; the busiest of the lanes" if shape.lanes > 1 else ""
    note = f"in each matrix rows send, columns receive, along the ·{lanes}"
    return panels_scene(traffic, bands, Look(width, tall if width > COLUMN else 2 * tall, note))


def _line(number: int, axis: int, sides: Sequence[int]) -> str:
    """Return the name of a line: the coordinates of its routers, a dot for the one that differs."""
    rest = [side for place, side in enumerate(sides) if place != axis]
    at = [str(each) for each in np.unravel_index(number, rest)] if rest else []
    return "(" + ",".join([*at[:axis], "·", *at[axis:]]) + ")"
