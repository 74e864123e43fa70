"""A small key of a network of three dimensions, in which the busiest channel is."""

from __future__ import annotations

from dataclasses import replace
from math import degrees
from typing import TYPE_CHECKING

import numpy as np

from netloom.drawing.networks.letters import LINE
from netloom.drawing.networks.scene import DISC, Arrow, Bundles, Channels, Disc, Scene, Word
from netloom.topology import Cube

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from netloom.base.arrays import Floats
    from netloom.drawing.networks.traffic import Traffic

    Placing: TypeAlias = Callable[[Floats], Floats]

WIDE, HIGH = 170.0, 110.0
"""Pixels of the key, without its words."""

SLANT = np.array([[0.0, 1.0], [-0.5, 0.42], [1.0, 0.0]])
"""Steps along z, y and x: planes lie below each other, as the panels do."""

ASIDE = 560.0
"""Pixels of the narrowest picture that has its key beside the list of the busiest channels."""


def with_key(traffic: Traffic, scene: Scene, width: float) -> Scene:
    """Return a scene of a network of three dimensions with its key, beside or below its names."""
    if not traffic.busiest:
        return scene
    listed = [disc.y for disc in scene.discs][-len(traffic.busiest) :]
    top = listed[0] - LINE / 2 if width >= ASIDE else scene.height + 4
    left = min(scene.width, width) - WIDE - 40 if width >= ASIDE else 24.0
    return _with(traffic, scene, (left, top + LINE))


def _with(traffic: Traffic, scene: Scene, at: tuple[float, float]) -> Scene:
    """Return a scene with the key at a place."""
    cube = traffic.topology.routers
    assert isinstance(cube, Cube)
    axes = [axis for axis, side in enumerate(cube.sides) if side > 1]
    most = np.array([cube.sides[axis] for axis in axes]) - 1.0
    ends = np.array(
        [[most[0], most[1], most[2]], [0, 0, 0], [most[0], most[1], 0], [0, 0, most[2]]]
    )
    flat = ends @ SLANT
    low, span = flat.min(axis=0), np.ptp(flat, axis=0)
    scale = np.array([WIDE, HIGH]) / span
    corner = np.array(at)

    def placed(points: Floats) -> Floats:
        return np.asarray(corner + scale * (points @ SLANT - low), np.float64)

    channel = traffic.busiest[0]
    node = cube.channel_source[channel], cube.channel_target[channel]
    start, end = (
        np.array([n // cube.strides[a] % cube.sides[a] for a in axes], float) for n in node
    )
    step = end - start
    if np.abs(step).max() > 1:  # the way round: a stub that leaves the network
        end = start - 0.5 * np.sign(step)
    first, last = placed(np.stack([start, end]))
    way = (last - first) / max(float(np.hypot(*(last - first))), 1e-9)
    last = first + max(float(np.hypot(*(last - first))), 14.0) * way
    third = (last - first) / 3
    hot = Channels(
        np.array([channel]), points=np.array([[first, first + third, last - third, last]]),
        thinnest=3.0, thickest=4.5, again=True,
    )  # fmt: skip
    across = np.array([-way[1], way[0]])
    x, y = (first + last) / 2 + (DISC + 6) * across
    disc = Disc(float(x), float(y), 1)
    arrow = Arrow(float(last[0]), float(last[1]), degrees(float(np.arctan2(way[0], -way[1]))))
    return replace(
        scene,
        height=max(scene.height, at[1] + HIGH + 2 * DISC + 6),
        channels=(*scene.channels, hot),
        bundles=(*scene.bundles, _planes(most, placed)),
        arrows=(*scene.arrows, arrow),
        discs=(disc, *scene.discs),
        words=(*scene.words, *_axes(most, placed)),
    )


def _planes(most: Floats, placed: Placing) -> Bundles:
    """Return the outlines of the planes, and the edges between them."""
    z, y, x = most
    corners = np.array([[0, 0], [0, x], [y, x], [y, 0]])
    lines = [
        ((plane, *corners[at]), (plane, *corners[(at + 1) % 4]))
        for plane in range(int(z) + 1)
        for at in range(4)
    ]
    lines += [((0, *corner), (z, *corner)) for corner in corners]
    start, end = (placed(np.array([line[side] for line in lines])) for side in (0, 1))
    third = (end - start) / 3
    points = np.stack([start, start + third, end - third, end], axis=1)
    return Bundles(points, np.full(len(lines), 1.0))


def _axes(most: Floats, placed: Placing) -> list[Word]:
    """Return the names of the axes at the ends of edges, and what the key is."""
    z, y, x = most
    ends = placed(np.array([[0, 0, x], [0, y, 0], [z, y, 0], [0, 0, 0]]))
    heads = ends + np.array([[10, 0], [-10, 0], [-10, 0], [0, 0]])
    words = [Word(float(at), float(up), name, "center")
             for (at, up), name in zip(heads, "xyz", strict=False)]  # fmt: skip
    left, top = ends[1, 0] - 14, ends[3, 1] - LINE
    return [*words, Word(float(left), float(top), "the busiest channel", style="network-heading")]
