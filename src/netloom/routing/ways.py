"""Ways with choices: which channels lead a packet on, where several are equally good.

Packets take shortest paths by the channels that a routing allows. Of the channels that lead one hop
nearer to the goal, all of the lowest rank are equally good. Paths that are listed, drawn or walked
choose among them. ``Ways`` holds the data that the kernels need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.dimension_order import full_order
from netloom.topology import Cube
from netloom.topology.core import DragonflyShape, HyperXShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints
    from netloom.topology import Topology

WHOLE, DIGITS, DRAWN = 0, 1, 2
"""How a number picks channels: see ``kernels.several.walk_paths``."""

JOINED = "a way by the channels that this routing may use"


class Ways(NamedTuple):
    """Which channels lead packets on, as flat arrays.

    Attributes
    ----------
    group
        int32[num_routers], the group of each router. A channel may be used if it stays in its
        group, enters the group of the goal, or enters group 0.
    rank
        int32[num_channels], the rank of each channel.
    source, target
        int32[num_channels], the routers that each channel leaves and enters.
    in_offsets, in_channels, out_offsets, out_channels
        The channels that enter and leave each router (see ``Topology.incoming``).
    """

    group: Ints
    rank: Ints
    source: Ints
    target: Ints
    in_offsets: Ints
    in_channels: Ints
    out_offsets: Ints
    out_channels: Ints


def shortest_ways(topology: Topology) -> Ways:
    """Return all shortest paths between the vertices of a network, of which hosts never forward.

    Each host is a group of its own, so that packets may use any port of it.
    """
    group = np.zeros(topology.num_ends, np.int32)
    apart = topology.num_ends - topology.num_routers  # hosts that are no routers
    group[:apart] = np.arange(1, apart + 1)
    return Ways(
        group, np.zeros(topology.num_channels, np.int32),
        topology.source_end, topology.target_end,
        *topology.incoming(), *topology.outgoing(),
    )  # fmt: skip


def ordered_ways(topology: Topology, order: Sequence[int] = ()) -> Ways:
    """Return the ways of dimension order between the routers of a k-ary n-cube or a HyperX.

    ``order`` is as in ``DimensionOrder``. Half-way round a ring, both directions are as good.

    Raises
    ------
    InputError
        If ``order`` does not name each of the dimensions once.
    """
    sides = dimensions(topology)
    assert sides, f"{topology.name} has no dimensions"
    wanted, ways = full_order(order, len(sides)), shortest_ways(topology.routers)
    axis, _ = channel_axes(ways.source, ways.target, sides)
    return ways._replace(rank=np.argsort(wanted).astype(np.int32)[axis])


def channel_axes(source: Ints, target: Ints, sides: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Return the dimension that each channel of a grid lies in, and by how much it leads on."""
    here, there = (np.array(np.unravel_index(ends, sides)) for ends in (source, target))
    axis = np.argmax(here != there, axis=0)
    return axis, np.take_along_axis(there - here, axis[None], axis=0)[0]


def group_ways(topology: Topology, asked: str) -> Ways:
    """Return the ways between the routers of a dragonfly that visit no third group.

    Raises
    ------
    InputError
        If the network is no dragonfly, naming the routing that is ``asked`` for.
    """
    shape = family_of(topology)
    if not isinstance(shape, DragonflyShape):
        raise InputError("routing", f"{asked} on {topology.name}", "a dragonfly or dragonfly+")
    group = 1 + np.arange(topology.num_routers, dtype=np.int32) // np.int32(shape.routers)
    return shortest_ways(topology.routers)._replace(group=group)


def usual_ways(topology: Topology) -> Ways:
    """Return the ways that packets usually take between routers.

    On dragonflies those of ``group_ways``, on k-ary n-cubes and HyperX those of dimension order,
    elsewhere all shortest paths.
    """
    if isinstance(family_of(topology), DragonflyShape):
        return group_ways(topology, "")
    return ordered_ways(topology) if dimensions(topology) else shortest_ways(topology.routers)


def is_hyperx(topology: Topology) -> bool:
    """Whether the routers of a network are, or were before anything broke, those of a HyperX."""
    return isinstance(family_of(topology), HyperXShape)


def dimensions(topology: Topology) -> tuple[int, ...]:
    """Return the sides of the grid of a network's routers. None where they have no dimensions."""
    routers, shape = topology.routers.whole, family_of(topology)
    if isinstance(routers, Cube):
        return routers.sides
    return shape.sides if isinstance(shape, HyperXShape) else ()


def family_of(topology: Topology) -> object:
    """Return the family of a network, or of its routers, before anything broke."""
    return topology.whole.family or topology.routers.whole.family
