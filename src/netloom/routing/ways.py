"""Dimension order, and ways with choices: which channels lead a packet on.

Dimension order corrects one coordinate after the other, each the shorter way.

Ways with choices are shortest paths by the channels that a routing allows. Of the channels that
lead one hop nearer to the goal, all of the lowest rank are equally good. Paths that are listed,
drawn or walked choose among them. ``Ways`` holds the data that the kernels need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Ints
from netloom.base.errors import InputError
from netloom.routing.ragged import Paths
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, HyperXShape

# -- dimension order -------------------------------------------------------------------------------


@dataclass(frozen=True)
class DimensionOrder:
    """Dimension-order routing (e-cube, XY): minimal, deterministic, on k-ary n-cubes only.

    Attributes
    ----------
    order
        The dimensions (0 is the slowest varying) in the order in which they are corrected. Empty
        means last to first: within a row first, which the thesis calls "row channels first". Half
        way round a ring, where both ways are as short, the + direction is taken.
    """

    several: ClassVar[bool] = False

    order: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "dimension-order" + (":" + ",".join(map(str, self.order)) if self.order else "")


def full_order(order: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the order of so many dimensions: last to first if none is given.

    Raises
    ------
    InputError
        If it does not name each once.
    """
    wanted = tuple(order) or tuple(reversed(range(count)))
    if sorted(wanted) != list(range(count)):
        named = f"each of the dimensions {[*range(count)]} once"
        raise InputError("routing", f"order {wanted}", named)
    return wanted


class CubeTables(NamedTuple):
    """A cube and an order as flat arrays, for the kernels."""

    sides: Ints
    strides: Ints
    wraps: Bools
    line_channels: Ints
    line_base: Ints
    order: Ints


def cube_tables(topology: Topology, routing: DimensionOrder) -> CubeTables:
    """Return the kernels' tables, checking that this routing exists on this network.

    Raises
    ------
    InputError
        If the network is not a k-ary n-cube, or ``order`` does not name each dimension once.
    """
    if not isinstance(topology, Cube):
        wanted = "shortest-path or routes:FILE on a graph"
        raise InputError("routing", f"{routing} on {topology.name}", wanted)
    return CubeTables(
        np.array(topology.sides, np.int64),
        topology.strides,
        np.array(topology.wraps, np.bool_),
        topology.line_channels,
        topology.line_base,
        np.array(full_order(routing.order, len(topology.sides)), np.int64),
    )


def dimension_order_paths(
    topology: Topology, routing: DimensionOrder, sources: Ints, targets: Ints
) -> Paths:
    """Return the dimension-order path of every pair (see ``paths``)."""
    from netloom.routing.kernels.dimension_order import fill_paths, path_offsets

    tables = cube_tables(topology, routing)
    offsets = path_offsets(tables, sources, targets)
    return Paths(offsets, fill_paths(tables, sources, targets, offsets))


def half_way_round(cube: Cube, source: Ints, target: Ints) -> Bools:
    """Return which pairs of nodes are half-way round a ring from each other in some dimension.

    Both ways are as short there: ``DimensionOrder`` takes the + direction, simulated packets draw
    one of the two.

    Parameters
    ----------
    cube
        The network.
    source, target
        int32[num_pairs], nodes.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> half_way_round(torus(4, 4), np.array([0, 0]), np.array([2, 5])).tolist()
    [True, False]
    """
    found = np.zeros(len(source), np.bool_)
    for side, stride, wraps in zip(cube.sides, cube.strides, cube.wraps, strict=True):
        if wraps and side > 2:  # between two nodes there is one channel each way
            ahead = (target // stride - source // stride) % side
            found |= 2 * ahead == side
    return found


# -- ways ------------------------------------------------------------------------------------------


WHOLE, DIGITS, DRAWN, HASHED, SALTED = range(5)
"""How a number picks channels: see ``kernels.several.walk_paths``."""

JOINED = "a way by the channels that this routing may use"


class Ways(NamedTuple):
    """Which channels lead packets on, as flat arrays.

    Attributes
    ----------
    group
        int32[num_routers], the group of each router. A channel may be used if it stays in its
        group, enters the group of the goal, or enters group 0.
    goal
        int32[num_routers], what each router is for packets to any router of a group: its group,
        unless something else is said.
    rank
        int32[num_channels], the rank of each channel.
    source, target
        int32[num_channels], the routers that each channel leaves and enters.
    in_offsets, in_channels, out_offsets, out_channels
        The channels that enter and leave each router (see ``Topology.incoming``).
    """

    group: Ints
    goal: Ints
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
    rank = np.zeros(topology.num_channels, np.int32)
    wires = topology.source_end, topology.target_end, *topology.incoming(), *topology.outgoing()
    return Ways(group, group, rank, *wires)


def legal_ways(net: Topology, up: Bools) -> tuple[Ways, Ints]:
    """Return the ways that lead up and then down, and the channel of the network that each takes.

    Vertices are routers that packets come to before they have gone down, then those that they come
    to after. To a group is to a router, by its number.

    Parameters
    ----------
    net
        A network of two-way links.
    up
        bool[num_channels], which of them lead up, towards the root.
    """
    count, down = net.num_routers, np.flatnonzero(~up).astype(np.int32)
    source = np.append(net.channel_source, net.channel_source[down] + np.int32(count))
    target = net.channel_target + np.int32(count) * ~up
    both = Topology(net.name, 2 * count, source, np.append(target, target[down]))
    goal = np.tile(np.arange(count, dtype=np.int32), 2)
    return shortest_ways(both)._replace(goal=goal), np.append(np.arange(len(up)), down)


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
    return shortest_ways(topology.routers)._replace(group=group, goal=group)


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
