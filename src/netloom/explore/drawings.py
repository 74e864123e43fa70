"""The pictures of a network that an explorer moves in: where every channel and router is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.drawing.networks.columns import every_curve
from netloom.drawing.networks.cubes import cube_scene
from netloom.drawing.networks.grid import MOST_SIDE, grid_scene
from netloom.drawing.networks.levels import in_columns
from netloom.drawing.networks.rasters import hyperx_scene, planes_scene
from netloom.drawing.networks.ring import every_chord
from netloom.drawing.networks.traffic import Traffic
from netloom.explore.blobs import packed
from netloom.topology import Cube
from netloom.topology.family import DragonflyShape, HyperXShape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Floats
    from netloom.drawing.networks.scene import Scene
    from netloom.topology import Topology

WIDTH = 1000.0
"""Pixels of a picture before anybody moves in it."""

LARGE = 1000.0, 1600.0, 3200.0, 6400.0
"""Widths that are tried until squares have room."""

MOST_CHANNELS = 400_000
"""Most channels of a network that is drawn."""

STEP, LOWEST, HIGHEST = 19.0, 320.0, 900.0
"""Pixels of columns: from router to router, and of all, at least and at most."""

FINEST = 16
"""Parts of a pixel that places are rounded to."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """One way to draw a network.

    Attributes
    ----------
    label
        What it is called.
    scene
        Its curves, squares, boxes and words. Channels are those of the whole network.
    routers
        float64[n, 5]: router, left, top, width and height of each that can be pointed at.
    depth
        float64[num_routers, 3], coordinates of a picture that can be turned. None of flat ones.
    """

    label: str
    scene: Scene
    routers: Floats
    depth: Floats | None = None


def drawings_of(topology: Topology) -> list[Drawing]:
    """Return how a network is drawn, the best way first.

    Raises
    ------
    InputError
        If it has too many channels, or none.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [each.label for each in drawings_of(topology("torus:32x32"))]
    ['squares', 'lines']
    >>> [each.label for each in drawings_of(topology("fat-tree:4x3"))]
    ['levels']
    """
    whole = topology.whole
    many = whole.num_network_channels
    if not 0 < many <= MOST_CHANNELS:
        wanted = f"1 to {MOST_CHANNELS:,} channels between routers to draw"
        raise InputError(whole.name, f"{many:,} channels", wanted)
    return list(_drawings(Traffic(whole, np.zeros(many))))


def _drawings(traffic: Traffic) -> Iterator[Drawing]:
    topology = traffic.topology
    none = np.zeros((0, 5))
    if isinstance(topology.routers, Cube):
        yield from _of_cube(traffic, topology.routers)
    elif isinstance(topology.family, DragonflyShape):
        yield Drawing("ring", every_chord(traffic, 0.86 * WIDTH), none)
    else:
        if isinstance(topology.family, HyperXShape):
            scene = _roomy(hyperx_scene, traffic)
            if scene is not None:
                yield Drawing("lines of routers", scene, none)
        laid = in_columns(topology)
        most = max(len(column.routers) for column in laid.columns)
        tall = float(np.clip(STEP * most, LOWEST, HIGHEST))
        yield Drawing("levels", *every_curve(traffic, laid, WIDTH, tall))


def _of_cube(traffic: Traffic, cube: Cube) -> Iterator[Drawing]:
    sides = [side for side in cube.sides if side > 1]
    flat = len(sides) <= 2
    lines = Drawing("lines", *_grid(traffic, cube)) if flat else None
    if lines is not None and (max(sides) <= MOST_SIDE or len(sides) == 1):
        yield lines
        return
    if len(sides) == 3:
        yield Drawing("planes", _needed(planes_scene, traffic), np.zeros((0, 5)))
        at = np.stack(np.unravel_index(np.arange(cube.num_vertices), cube.sides), axis=1)
        spread = at[:, [axis for axis, side in enumerate(cube.sides) if side > 1]]
        turned = _needed(planes_scene, traffic)
        yield Drawing("space", turned, np.zeros((0, 5)), spread[:, ::-1].astype(np.float64))
    elif flat:
        yield Drawing("squares", _needed(planes_scene, traffic), np.zeros((0, 5)))
        assert lines is not None
        yield lines
    else:
        yield Drawing("dimensions", _needed(cube_scene, traffic), np.zeros((0, 5)))


def _grid(traffic: Traffic, cube: Cube) -> tuple[Scene, Floats]:
    """Return a grid of lines, as wide as it needs, and squares round its nodes."""
    widest = max(cube.sides[-1], 8)
    scene = grid_scene(traffic, max(WIDTH, 30.0 * widest))
    (dots,) = scene.dots
    side = float(dots.width[0]) * 1.6
    corner = dots.points[:, 0] - side / 2
    many = np.arange(len(corner), dtype=np.float64)
    return scene, np.column_stack([many, corner, np.full((len(corner), 2), side)])


def _roomy(shown: Any, traffic: Traffic) -> Scene | None:
    """Return a picture of squares at the least width at which it has room. None if at none."""
    for width in LARGE:
        scene: Scene | None = shown(traffic, width)
        if scene is not None:
            return scene
    return None


def _needed(shown: Any, traffic: Traffic) -> Scene:
    scene = _roomy(shown, traffic)
    if scene is None:
        raise InputError(
            traffic.topology.name, "more squares than a picture has room for", "fewer nodes"
        )
    return scene


def drawing_json(drawing: Drawing, topology: Topology) -> dict[str, Any]:
    """Return a drawing as JSON. Its channels are those of ``topology``; broken ones are apart."""
    known = np.full(topology.whole.num_channels, -1)
    known[topology.whole_channel] = np.arange(topology.num_channels)
    scene = drawing.scene
    curves, squares, gone = [], [], []
    for part in scene.channels:
        if part.again:
            continue
        channel = known[part.channel]
        up = channel >= 0
        if part.points is not None:
            points = part.points.reshape(-1, 8)
            curves.append((channel[up], points[up]))
            gone.append(points[~up])
        elif part.squares is not None:
            squares.append((channel[up], part.squares[up]))
    found: dict[str, Any] = {
        "label": drawing.label,
        "width": round(scene.width, 1),
        "height": round(scene.height, 1),
        "note": scene.note,
        "curves": _placed(curves, 8),
        "squares": _placed(squares, 3),
        "gone": _fine(np.concatenate(gone) if gone else np.zeros((0, 8))),
        "routers": {
            "router": packed(drawing.routers[:, 0].astype(np.int64)),
            "places": _fine(drawing.routers[:, 1:]),
        },
        "boxes": [
            [*(round(each, 2) for each in box[:4]), box.style.removeprefix("network-")]
            for box in scene.boxes
        ],
        "words": [
            [round(word.x, 2), round(word.y, 2), word.text, word.align, int(word.bold)]
            for word in scene.words
        ],
        "rims": _fine(np.concatenate([
            np.concatenate([each.points.reshape(-1, 8), each.width[:, None]], axis=1)
            for each in (*scene.bundles, *scene.dots)
        ]) if scene.bundles or scene.dots else np.zeros((0, 9))),
    }  # fmt: skip
    if drawing.depth is not None:
        found["depth"] = packed(drawing.depth.T)
    return found


def _placed(parts: list[tuple[NDArray[Any], Floats]], width: int) -> dict[str, Any]:
    """Return channels and their places as JSON, the channels ascending."""
    channel = np.concatenate([each for each, _ in parts]) if parts else np.zeros(0, np.int64)
    places = np.concatenate([each for _, each in parts]) if parts else np.zeros((0, width))
    order = np.argsort(channel, kind="stable")
    return {"channel": packed(channel[order], delta=True), "places": _fine(places[order])}


def _fine(places: Floats) -> dict[str, Any]:
    """Return places, column by column, in parts of a pixel from the least that occurs."""
    many, columns = places.shape
    low = float(np.floor(places.min())) if many else 0.0
    parts = np.rint((places - low) * FINEST).astype(np.int64)
    return {"low": low, "fine": FINEST, "columns": columns, "values": packed(parts.T)}
