"""Kinds of channels, by which packets climb ladders of virtual channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.routing.by_hop.ladders import Ladder
from netloom.routing.up_down import router_ranks
from netloom.routing.ways import dimensions, family_of, is_hyperx
from netloom.topology import Cube
from netloom.topology.family import DragonflyShape, TreeShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.topology import Topology


def rank_kinds(topology: Topology) -> Ladder:
    """Return up (0), towards a lower rank (``up_down.router_ranks``), and down (1).

    Each may be taken again and again on one rung, for ranks only fall, or only rise.
    """
    inside, shape = topology.routers, family_of(topology)
    if isinstance(shape, TreeShape) and not topology.broken:
        widths = [shape.width(level + 1) for level in range(shape.levels)]
        rank = np.empty(topology.num_routers, np.int32)
        rank[slice(None) if shape.router_at is None else shape.router_at] = np.repeat(
            -np.arange(shape.levels), widths
        )
    else:
        rank = router_ranks(topology)
    down = rank[inside.channel_target] > rank[inside.channel_source]
    return Ladder(down.astype(np.int8), (0, 1), (True, True))


def group_kinds(topology: Topology) -> Ladder:
    """Return the kinds on a dragonfly: local (0) and global (1).

    On a dragonfly+ up from leaves to spines (0), global (1), and down to leaves (2).
    """
    shape, inside = family_of(topology), topology.routers
    assert isinstance(shape, DragonflyShape)
    (group, place), (goal, _) = (
        np.divmod(ends, shape.routers) for ends in (inside.channel_source, inside.channel_target)
    )
    if not shape.leaves:
        return Ladder((group != goal).astype(np.int8), (0, 1), (False, False))
    kind = np.where(group != goal, 1, np.where(place < shape.leaves, 0, 2))
    return Ladder(kind.astype(np.int8), (0, 1, 2), (False,) * 3)


def ordered_kinds(topology: Topology, order: Sequence[int] = ()) -> Ladder:
    """Return the kinds for dimension order, the dimension that is corrected first at the bottom.

    A HyperX has one kind per dimension, a k-ary n-cube two. A ring's channels across the dateline,
    from the last coordinate to the first and back, lead from the rung before it to the rung behind
    it (Dally & Seitz 1987). Packets in dimension order never turn back.
    """
    sides, inside = dimensions(topology), topology.routers
    wanted = tuple(order) or tuple(reversed(range(len(sides))))
    here, there = (
        np.array(np.unravel_index(ends, sides))
        for ends in (inside.channel_source, inside.channel_target)
    )
    axis = np.argmax(here != there, axis=0)
    place = np.argsort(wanted)[axis].astype(np.int8)
    if is_hyperx(topology):
        return Ladder(place, tuple(range(len(sides))), (False,) * len(sides))
    steps = np.abs(np.take_along_axis(here - there, axis[None], axis=0)[0])
    whole = inside.whole
    assert isinstance(whole, Cube)
    rungs = [
        kind
        for at, each in enumerate(wanted)
        for kind in ((2 * at, 2 * at + 1, 2 * at) if whole.wraps[each] else (2 * at,))
    ]
    return Ladder(
        (2 * place + (steps > 1)).astype(np.int8), tuple(rungs), (True, False) * len(sides)
    )


def usual_kinds(topology: Topology) -> Ladder:
    """Return the kinds of a family of networks that packets take in any order, or up and down."""
    if isinstance(family_of(topology), DragonflyShape):
        return group_kinds(topology)
    return ordered_kinds(topology) if is_hyperx(topology) else rank_kinds(topology)
