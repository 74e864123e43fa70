"""Channels that are equally busy, named as what they share in place of a few members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.words import counted, listed
from netloom.topology import Cube
from netloom.topology.core import DragonflyShape
from netloom.topology.measures import router_heights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology

FEW = 3
"""Most channels of a tie that are named one by one."""

ALIKE = 1e-9
"""Relative difference up to which channels are equally busy."""

AXES = "xyz"
"""What dimensions are called, the last first."""


def tied(time: NDArray[Any]) -> Ints:
    """Return the channels that work longest, ascending: the busiest and all that equal it.

    Examples
    --------
    >>> tied(np.array([1.0, 3.0, 2.0, 3.0])).tolist(), tied(np.zeros(2)).tolist()
    ([1, 3], [])
    """
    most = time.max(initial=0.0)
    return np.flatnonzero((time >= most * (1 - ALIKE)) & (time > 0))


def tie_named(topology: Topology, channels: NDArray[Any]) -> str:
    """Return what equally busy channels are called together. "" of a few, which have names.

    Parameters
    ----------
    channels
        int64[n], ascending. Those of hosts come after those between routers.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> torus = topology("torus:8x8")
    >>> tie_named(torus, np.arange(128, 192)), tie_named(torus, np.arange(8))
    ('all + channels of 8 rows', 'all + channels of column 0')
    >>> tie_named(torus, np.arange(256)), tie_named(torus, np.arange(3))
    ('all 256 channels', '')
    >>> tie_named(torus, np.arange(130, 135))
    '5 of 64 + channels of rows'
    >>> tree = topology("leaf-spine:4x2x4")
    >>> up = np.flatnonzero(tree.routers.channel_source < 4)
    >>> tie_named(tree, up), tie_named(tree, np.arange(16, 32))
    ('all 8 channels that lead up', 'the own channels of all 16 hosts')
    """
    if len(channels) <= FEW:
        return ""
    inside, total = topology.num_network_channels, topology.num_channels
    if len(channels) == inside and channels[-1] < inside:
        return f"all {inside:,} channels" + " between routers" * (total > inside)
    if channels[0] >= inside:
        host = topology.port_host[(channels - inside) % topology.num_ports]
        mine, hosts = len(np.unique(host)), counted(topology.num_hosts, "host", ",")
        whose = f"all {hosts}" if mine == topology.num_hosts else f"{mine:,} of {hosts}"
        return f"the own channels of {whose}"
    if channels[-1] < inside:
        whole = topology.whole
        found = (
            _of_cube(whole.routers, topology.whole_channel[channels])
            if isinstance(whole.routers, Cube)
            else _of_class(topology, channels)
        )
        if found:
            return found
        total = inside
    some = "all" if len(channels) == total else f"{len(channels):,} of"
    return f"{some} {total:,} channels"


def _of_cube(cube: Cube, channels: NDArray[Any]) -> str:
    """Return the name of whole lines, or of some channels of one direction. "" of all others."""
    lines, parts = dict[int, list[set[int]]](), list[tuple[int, str, int, bool]]()
    for axis, way, mine in _directions(cube, channels):
        line, many = np.unique(mine // cube.line_channels[axis], return_counts=True)
        lines.setdefault(axis, [set(), set()])[way] = set(line.tolist())
        parts.append((axis, "+−"[way], len(mine), bool((many == cube.line_channels[axis]).all())))
    if len(parts) == 1 and not parts[0][3]:
        axis, sign, some, _ = parts[0]
        every = int(cube.direction_channels[axis])
        return f"{some:,} of {every:,} {sign} channels of {_line(cube, axis)}s"
    if not all(whole for *_, whole in parts):
        return ""
    signs = {sign for _, sign, *_ in parts}
    both = all(plus == minus for plus, minus in lines.values())
    if len(signs) > 1 and not both:
        return ""
    if sum(side > 1 for side in cube.sides) == 1:
        return f"all {len(channels):,} {min(signs)} channels"
    named = [
        _lines(cube, axis, each[0] | each[1]) for axis, each in sorted(lines.items(), reverse=True)
    ]
    return f"all {'' if both else min(signs) + ' '}channels of {listed(named)}"


def _directions(cube: Cube, channels: NDArray[Any]) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Yield dimension, direction, and the channels there as counted from their first."""
    for axis, many in enumerate(cube.direction_channels):
        for way in range(2):
            mine = channels - cube.line_base[axis, way]
            mine = mine[(mine >= 0) & (mine < many)]
            if len(mine):
                yield axis, way, mine


def _line(cube: Cube, axis: int) -> str:
    """Return what a line along a dimension is called."""
    axes = [each for each, side in enumerate(cube.sides) if side > 1]
    if len(axes) == 2:
        return "row" if axis == axes[1] else "column"
    if len(axes) <= len(AXES):
        return f"{AXES[axes[::-1].index(axis)]} line"
    return f"dimension-{axis} line"


def _lines(cube: Cube, axis: int, lines: set[int]) -> str:
    kind = _line(cube, axis)
    if len(lines) == 1 and kind in ("row", "column"):
        return f"{kind} {min(lines)}"
    return counted(len(lines), kind)


def _of_class(topology: Topology, channels: NDArray[Any]) -> str:
    """Return the name of channels that lead the same way. "" where they lead different ones."""
    source, target = topology.routers.channel_source, topology.routers.channel_target
    family = topology.family
    if isinstance(family, DragonflyShape):
        kind = (source // family.routers == target // family.routers).astype(np.int64)
        words = {1: "local channels", 0: "global channels"}
    else:
        heights = router_heights(topology)
        deep, climb = int(heights.max(initial=0)) > 1, heights[target] - heights[source]
        kind = 3 * np.minimum(heights[source], heights[target]) + np.sign(climb)
        words = {
            3 * level + way: f"channels that lead {word}" + (f" from level {start}" if deep else "")
            for level in range(int(heights.max(initial=0)))
            for way, word, start in ((1, "up", level + 1), (-1, "down", level + 2))
        }
    kinds = np.unique(kind[channels]).tolist()
    if len(kinds) > 1 or kinds[0] not in words:
        return ""
    word, every = words[kinds[0]], np.flatnonzero(kind == kinds[0])
    if len(every) == len(channels):
        return f"all {len(every):,} {word}"
    for ends, way in ((source, "out of"), (target, "into")):
        one = np.unique(ends[channels])
        if len(one) == 1 and (ends[every] == one[0]).sum() == len(channels):
            router = topology.name_of(topology.router_vertex(int(one[0])))
            return f"all {len(channels):,} {word}, {way} {router}"
    return f"{len(channels):,} of {len(every):,} {word}"
