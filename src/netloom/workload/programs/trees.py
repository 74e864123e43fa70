"""Spanning trees of one-hop messages, by which a node reaches all others, or some of them.

A broadcast without hardware support is sent to neighbours, who send copies on to theirs (Bose,
Broeg, Kwon & Ashir 1995; Shahrabi, Ould-Khaoua & Mackenzie 2002). Every node is reached on a
shortest path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError, NoRouteError
from netloom.topology import Cube, Topology
from netloom.topology.alike import check_direct
from netloom.workload.programs.messages import Messages, messages

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Bools, Floats, Ints


MOST_TEMPLATES = 64
"""Most trees that are kept to be moved from root to root. A torus of two dimensions has eight."""


@dataclass(frozen=True, eq=False)
class Orientation:
    """Which trees of shortest paths. ``row_first`` and ``balanced_orientation`` make one."""

    # On k-ary n-cubes: all dimensions, in the order in which a copy crosses them.
    order: tuple[int, ...] = ()
    # On k-ary n-cubes, for each dimension: whether the node just half-way round a ring is reached
    # by growing coordinates (0) or falling ones (1).
    lean: tuple[int, ...] = ()
    # On other networks, float64[num_channels]: of the channels that could bring a node its copy,
    # the one of least preference does.
    preference: Floats | None = None


class Branches(NamedTuple):
    """The messages of a tree, each to a neighbour. Those that bring a copy before those it becomes.

    ``source``, ``target``: int32[], nodes. ``after``: int32[], the message that brings the copy to
    the source, −1 where the source is the root. ``asked``: bool[], whether the target is one of
    those that the copies are for, or just on the way.
    """

    source: Ints
    target: Ints
    after: Ints
    asked: Bools

    @property
    def leaves(self) -> Bools:
        """Which messages no other waits for: when these have arrived, all have."""
        last = np.ones(len(self.after), bool)
        last[self.after[self.after >= 0]] = False
        return last


class _Spread(NamedTuple):
    """Nodes in the order in which they are reached, and the place of each one's parent."""

    node: Ints  # the root first
    parent: Ints  # −1 for the root


def row_first(topology: Topology) -> Orientation:
    """Return the orientation of the tree that goes along rows first, the same for every root.

    The root sends along its row both ways, each node of the row along its column both ways, and
    so on through the dimensions, the last first. The farthest node of an even ring is reached by
    growing coordinates. In a k x k torus 2k nodes send no copy on, k² − 3k one, 2 two and
    k − 3 three (Shahrabi et al. 2002, eq. 2). On networks that are no k-ary n-cubes, a
    breadth-first tree over the channels of lowest number.
    """
    if isinstance(topology, Cube):
        dimensions = len(topology.sides)
        return Orientation(tuple(reversed(range(dimensions))), (0,) * dimensions)
    return Orientation(preference=np.arange(topology.num_channels, dtype=np.float64))


def balanced_orientation(topology: Topology, rng: np.random.Generator) -> Orientation:
    """Return an orientation drawn anew: order of the dimensions, and leans of the even rings.

    The row-first tree of a k x k torus loads columns k times as much as rows. If the orientation is
    drawn for each broadcast, all channels of a torus with equal sides carry the same mean traffic,
    as in the model of Shahrabi et al. (2002, eq. 4). On networks other than k-ary n-cubes, each
    node gets its copy from a neighbour drawn among those nearer to the root.
    """
    if isinstance(topology, Cube):
        dimensions = len(topology.sides)
        drawn = rng.random(2 * dimensions)
        order = np.argsort(drawn[:dimensions])
        return Orientation(
            tuple(order.tolist()), tuple((drawn[dimensions:] < 0.5).astype(int).tolist())
        )
    return Orientation(preference=rng.random(topology.num_channels))


def tree(topology: Topology, root: int, orientation: Orientation | None = None) -> Ints:
    """Return int32[num_nodes], the node from which each node gets its copy; −1 for the root.

    The orientation is row-first by default. In a network that is not connected, nodes out of
    reach have −1 too.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> tree(mesh(3, 3), 4).reshape(3, 3)
    array([[ 3,  4,  5],
           [ 4, -1,  4],
           [ 3,  4,  5]], dtype=int32)
    """
    node, parent = _spread(topology, root, orientation or row_first(topology))
    found = np.full(topology.num_hosts, -1, np.int32)
    found[node[1:]] = node[parent[1:]]
    return found


def branches(
    topology: Topology,
    root: int,
    targets: Ints | None = None,
    orientation: Orientation | None = None,
) -> Branches:
    """Return the messages of a tree, or of the part of it that leads to ``targets``.

    ``targets``: int[], nodes, all by default. The root among them changes nothing. The
    orientation is row-first by default.

    Raises
    ------
    NoRouteError
        If a target is out of reach.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> part = branches(mesh(3, 3), 4, np.array([0]))
    >>> part.source, part.target, part.after, part.asked
    (array([4, 3], dtype=int32), array([3, 0], dtype=int32), array([-1,  0], dtype=int32),
     array([False,  True]))
    """
    node, parent = _spread(topology, root, orientation or row_first(topology))
    if targets is None:
        used = np.arange(1, len(node))
        asked = np.ones(len(node), bool)
    else:
        place = np.full(topology.num_hosts, -1)
        place[node] = np.arange(len(node))
        asked_places = place[targets]
        if len(targets) and asked_places.min() < 0:
            lost = int(targets[int(np.argmin(asked_places))])
            raise NoRouteError(root, lost, "a network in which all targets can be reached")
        asked = np.zeros(len(node), bool)
        asked[asked_places] = True
        used = _ways(parent, asked)
    number = np.full(len(node) + 1, -1, np.int32)  # of the message that reaches a place
    number[used] = np.arange(len(used), dtype=np.int32)
    above = parent[used]
    return Branches(node[above], node[used], number[above], asked[used])


def straight(root: int, targets: Ints) -> Branches:
    """Return a message from the root to each of the other targets, in their order.

    Hosts that hang on routers do not forward: there are no neighbours to send copies on.

    Examples
    --------
    >>> straight(4, np.array([3, 4, 7])).target
    array([3, 7], dtype=int32)
    """
    others = targets[targets != root].astype(np.int32)
    count = len(others)
    return Branches(
        np.full(count, root, np.int32), others, np.full(count, -1, np.int32), np.ones(count, bool)
    )


def multicast(
    topology: Topology,
    root: int,
    targets: ArrayLike | None,
    flits: int,
    *,
    orientation: Orientation | None = None,
    startup_cycles: int = 0,
    first: int = 0,
) -> Messages:
    """Return the messages by which ``root`` reaches nodes, each node sending copies on.

    ``targets`` are nodes. None for all others. Every message, from one node to the next, takes
    ``startup_cycles`` before it is sent. ``first`` is the number of the first row.

    Raises
    ------
    InputError
        If the root or a target is no node, or out of reach.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> table = multicast(torus(8, 8), 0, [3, 24], flits=32)
    >>> table.source, table.target
    (array([ 0,  0,  1,  8,  2, 16], dtype=int32), array([ 1,  8,  2, 16,  3, 24], dtype=int32))
    """
    nodes = None if targets is None else np.atleast_1d(np.asarray(targets, np.int64))
    last = topology.num_hosts - 1
    for name, some in (("root", np.array([root])), ("targets", nodes)):
        if some is not None and len(some) and not 0 <= some.min() <= some.max() <= last:
            wrong = some.min() if some.min() < 0 else some.max()
            raise InputError(name, f"node {wrong}", f"0 to {last}")
    part = branches(topology, root, nodes, orientation)
    return messages(
        topology.num_hosts,
        source=part.source,
        target=part.target,
        flits=np.full(len(part.source), flits),
        after=[[first + row] if row >= 0 else [] for row in part.after.tolist()],
        first=first,
        delay=np.full(len(part.source), startup_cycles),
    )


def _ways(parent: Ints, asked: Bools) -> Ints:
    """Places but the root's that lie on a way from the root to a place that is asked for."""
    needed = np.zeros(len(parent), bool)
    needed[0] = True
    reached = np.flatnonzero(asked)
    while len(reached):
        needed[reached] = True
        reached = np.unique(parent[reached])
        reached = reached[reached >= 0]
        reached = reached[~needed[reached]]
    return np.flatnonzero(needed[1:]) + 1


def _spread(topology: Topology, root: int, orientation: Orientation) -> _Spread:
    check_direct(topology, "trees of messages between neighbours", "messages to each target")
    if not isinstance(topology, Cube):
        return _graph_spread(topology, root, orientation)
    shape = (topology.sides, topology.wraps, orientation.order, orientation.lean)
    at = topology.coordinates(root)
    around = [wrap or side <= 2 for side, wrap in zip(topology.sides, topology.wraps, strict=True)]
    if not all(around):
        return _cube_spread(*shape, at)
    origin = _origin_spread(*shape)  # every node of a torus sees the same
    node = np.zeros(topology.num_hosts, np.int32)
    for along, shift, side in zip(_coordinates(topology.sides), at, topology.sides, strict=True):
        node *= side
        node += (along[origin.node] + shift) % side
    return _Spread(node, origin.parent)


@lru_cache(MOST_TEMPLATES)
def _origin_spread(
    sides: tuple[int, ...], wraps: tuple[bool, ...], order: tuple[int, ...], lean: tuple[int, ...]
) -> _Spread:
    return _cube_spread(sides, wraps, order, lean, (0,) * len(sides))


@lru_cache(MOST_TEMPLATES)
def _coordinates(sides: tuple[int, ...]) -> tuple[Ints, ...]:
    """Coordinates of all nodes, dimension by dimension."""
    return tuple(along.ravel() for along in np.indices(sides, np.int32))


def _cube_spread(
    sides: tuple[int, ...],
    wraps: tuple[bool, ...],
    order: tuple[int, ...],
    lean: tuple[int, ...],
    root: tuple[int, ...],
) -> _Spread:
    """A node's parent is one step back in the last dimension that is crossed on the way to it."""
    coordinates = _coordinates(sides)
    number = np.arange(len(coordinates[0]), dtype=np.int32)
    parent = np.full(len(number), -1, np.int32)
    turn = np.zeros(len(number), np.int32)  # which of the dimensions in order is crossed last
    depth = np.zeros(len(number), np.int32)
    for place, axis in enumerate(order):
        side, at, along = sides[axis], root[axis], coordinates[axis]
        offset = along - at
        if wraps[axis]:
            offset %= side
            far = 2 * offset > side - lean[axis]
            offset[far] -= side
        moved = offset != 0
        back = (along - np.sign(offset)) % side
        stride = int(np.prod(sides[axis + 1 :]))
        parent[moved] = (number + (back - along) * stride)[moved]
        turn[moved] = place
        depth += np.abs(offset)
    return _ordered(parent, np.lexsort((number, turn, depth)))


def _graph_spread(topology: Topology, root: int, orientation: Orientation) -> _Spread:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    source, target = topology.channel_source, topology.channel_target
    shape = (topology.num_hosts, topology.num_hosts)
    links = csr_array((np.ones(topology.num_channels), (source, target)), shape=shape)
    depth = dijkstra(links, indices=np.array([root]), unweighted=True)[0]
    nearer = np.flatnonzero((depth[source] + 1 == depth[target]) & np.isfinite(depth[source]))
    assert orientation.preference is not None
    best = np.lexsort((orientation.preference[nearer], target[nearer]))
    reached, which = np.unique(target[nearer][best], return_index=True)
    parent = np.full(topology.num_hosts, -1, np.int32)
    parent[reached] = source[nearer][best][which]
    order = np.argsort(depth, kind="stable")
    return _ordered(parent, order[: len(reached) + 1])


def _ordered(parent: Ints, order: Ints) -> _Spread:
    """Nodes in order, and the places of their parents in it."""
    place = np.full(len(parent) + 1, -1, np.int32)  # one more, for the parent of the root
    place[order] = np.arange(len(order), dtype=np.int32)
    return _Spread(order.astype(np.int32), place[parent[order]])
