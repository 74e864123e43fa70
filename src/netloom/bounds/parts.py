"""Parts of a network, and what leads out of them.

They are each host, each router, the subtrees of a fat tree, the groups of a dragonfly, coordinates
of a grid in a row, and two halves of the hosts. What leads out of a half is the largest flow to the
other (Ford & Fulkerson 1956), which is over the best set of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.figures import Figures, derived, figure
from netloom.bounds.demand import leading_out
from netloom.routing.ways import dimensions
from netloom.topology import Cube
from netloom.topology.core import DragonflyShape, TreeShape, joined
from netloom.topology.measures import heights, router_heights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.topology import Topology

MOST_PARTS = 1024
"""Most parts of a dimension between which cuts are made: their traffic is a square table."""

MOST_CHANNELS = 2**14
"""Channels between routers up to which the largest flow between halves is looked for (a second)."""

FLOW_UNITS = 2**10
"""Parts of a channel's bandwidth that a flow counts. A bandwidth is rounded up to them."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Disjoint parts of a network, of one kind: see ``Cut.kind``.

    ``begins`` and ``ends`` are int[num_hosts], the part in which all ports of a host are by which
    it sends, or receives, or -1 for none. ``leaving`` and ``entering`` are float64[parts], the
    bandwidth of what leads out of each and into it, or 0 if it is not known. ``name_of`` names a
    part.
    """

    kind: str
    begins: NDArray[Any]
    ends: NDArray[Any]
    leaving: NDArray[Any]
    entering: NDArray[Any]
    name_of: Callable[[int], str]


def cut_parts(topology: Topology) -> Iterator[Parts]:
    """Yield the disjoint parts of a network with routers, kind by kind.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [(each.kind, float(each.leaving[0])) for each in cut_parts(topology("dragonfly:2x4x2"))]
    [('router', 5.0), ('group', 8.0), ('half', 20.0)]
    """
    inside = topology.routers
    channels = inside.channel_source, inside.channel_target, inside.channel_bandwidth
    for kind, part, name_of in router_sets(topology):
        rooms = leading_out(part, *channels)
        yield Parts(kind, *of_hosts(topology, part), *rooms, name_of)
    if (halves := _halves(topology)) is not None:
        yield halves


def each_host(topology: Topology) -> Parts:
    """Return each host as a part of its own."""
    rates = np.split(topology.port_bandwidth, 2)
    host = np.arange(topology.num_hosts)
    leaving, entering = (np.bincount(topology.port_host, rate, len(host)) for rate in rates)
    return Parts("host", host, host, leaving, entering, topology.name_of)


def router_sets(topology: Topology) -> Iterator[tuple[str, Ints, Callable[[int], str]]]:
    """Yield disjoint sets of routers, kind by kind: each one alone, and those of its family.

    Each with its kind (see ``Cut``), int64[num_routers] the set of each router (-1 for none), and
    what names a set.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [(kind, int(part.max()) + 1) for kind, part, _ in router_sets(topology("dragonfly:2x4x2"))]
    [('router', 36), ('group', 9)]
    """
    shape = topology.family
    each = np.arange(topology.num_routers)
    yield "router", each, lambda at: topology.name_of(topology.router_vertex(at))
    if isinstance(shape, DragonflyShape):
        yield "group", each // shape.routers, lambda at: f"group {at}"
    if not isinstance(shape, TreeShape):
        return
    for height in range(2, shape.levels):
        part = subtree_of(shape, height)
        if shape.router_at is not None:
            moved = np.full(topology.num_routers, -1, np.int64)
            moved[shape.router_at] = part
            part = moved

        def name_of(at: int, height: int = height) -> str:
            return f"subtree {at} of level {height}"

        yield "subtree", part, name_of


class Line(NamedTuple):
    """A dimension of a network whose routers are a grid, whose coordinates are parts in a row.

    Attributes
    ----------
    place
        int64[num_routers], the part of each router.
    borders
        int64[parts + 1], the coordinates at which parts begin, and where the last one ends.
    wraps
        Whether the last leads to the first, or each to all others, too.
    word, of
        What the routers of a coordinate are called, and of which dimension.
    """

    place: Ints
    borders: Ints
    wraps: bool
    word: str
    of: str

    def stretches(self) -> tuple[Ints, Ints]:
        """Return the first part of each row of parts that may be a cut, and that after its last.

        An open line needs only those that begin at coordinate 0, because traffic that leaves a
        piece in the middle leaves it at one of its two ends.
        """
        count = len(self.borders) - 1
        first, after = np.triu_indices(count + 1, 1)
        kept = (after - first < count) & ((first == 0) | self.wraps)
        return first[kept], after[kept]

    def several(self, low: int, after: int) -> str:
        """Return what the coordinates from ``low`` up to, but excluding, ``after`` are called."""
        return f"{self.word}s {low} to {after - 1}" if after - low > 1 else f"{self.word} {low}"


def grid_lines(topology: Topology) -> Iterator[Line]:
    """Yield the dimensions of a network whose routers are a grid, if they are.

    A side above ``MOST_PARTS`` is cut in that many places only.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> for line in grid_lines(topology("hyperx:3x2/2")):
    ...     print(line.several(0, 2), line.place)
    rows 0 to 1 [0 0 1 1 2 2]
    columns 0 to 1 [0 1 0 1 0 1]
    """
    sides, whole = dimensions(topology), topology.routers.whole
    places = np.unravel_index(np.arange(topology.num_routers), sides) if sides else ()
    alone = "node" if topology.num_hosts == topology.num_routers else "router"
    for axis, place in enumerate(places):
        parts = min(sides[axis], MOST_PARTS)
        if parts == 1:
            continue
        borders = -(-np.arange(parts + 1) * sides[axis] // parts)
        wraps = whole.wraps[axis] if isinstance(whole, Cube) else True
        word = {1: alone, 2: ("row", "column")[axis % 2]}.get(len(sides), "coordinate")
        of = f" of dimension {axis}" if len(sides) > 2 else ""
        yield Line(place * parts // sides[axis], borders, wraps, word, of)


def of_hosts(topology: Topology, part: Ints) -> tuple[Ints, Ints]:
    """Return in which set of routers each host sends, and in which it receives.

    int64[num_hosts]: where all its ports are, or -1 if there is no such set.
    """
    ways = part[topology.injection_router], part[topology.ejection_router]
    if topology.num_ports == topology.num_hosts and np.diff(topology.port_host).all():
        return ways
    begins, ends = (np.full(topology.num_hosts, -1, np.int64) for _ in ways)
    for found, here in zip((begins, ends), ways, strict=True):
        found[topology.port_host] = here
        split = here != found[topology.port_host]
        found[topology.port_host[split]] = -1
    return begins, ends


def pods(near: Bools, source: Ints, target: Ints) -> Iterator[Ints]:
    """Yield what hangs together up to each height, from 0: leaves, pods, pods of pods.

    int64[vertices], -1 for what is higher. ``near``: the vertices of height 0, that of others is
    how many channels lead there. The last is the whole network.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2").routers
    >>> for part in pods(np.array([True, True, False]), net.channel_source, net.channel_target):
    ...     print(part)
    [ 0  1 -1]
    [0 0 0]
    """
    count = len(near)
    height = heights(near, source, target, count)
    for most in range(int(height[height < count].max(initial=-1)) + 1):
        inside = height <= most
        kept = inside[source] & inside[target]
        yield np.where(inside, joined(count, source[kept], target[kept]), -1)


def subtree_of(shape: TreeShape, height: int) -> Ints:
    """Return int64[num_routers], the subtree of each place; -1 above its root's level.

    Routers of a level have the label (a_h … a_{l+1}, b_l … b_1), and those of one subtree the same
    a_h … a_{height+1}.
    """
    found = []
    for level in range(1, shape.levels + 1):
        places = np.arange(shape.width(level))
        within = int(np.prod(shape.children[level:height]) * np.prod(shape.parents[:level]))
        found.append(places // within if level <= height else np.full(len(places), -1))
    return np.concatenate(found)


def _halves(topology: Topology) -> Parts | None:
    """Return two halves of the hosts, by number, and what can flow between them."""
    half = topology.num_hosts // 2
    if not half or topology.num_network_channels > MOST_CHANNELS:
        return None
    shape = topology.family
    place = np.arange(topology.num_hosts)
    if isinstance(shape, TreeShape) and shape.host_at is not None:
        place[shape.host_at] = np.arange(topology.num_hosts)
    first = place < half
    ends = np.flatnonzero(first)
    name = f"{topology.name_of(int(ends[0]))} to {topology.name_of(int(ends[-1]))}"
    if np.any(np.diff(ends) != 1):
        name = "half of the hosts"
    out, into = (np.array([_largest_flow(topology, inside), 0.0]) for inside in (first, ~first))
    other = (~first).astype(np.int64)  # what leaves one half enters the other
    return Parts("half", other, other, out, into, lambda _: name)


def _largest_flow(topology: Topology, inside: Bools) -> float:
    """Return the largest flow from these hosts to all others, flits/cycle, or 0 if too large."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    routers, ports = topology.routers, topology.num_ports
    between = np.ceil(routers.channel_bandwidth * FLOW_UNITS)
    # what hosts without a speed can use: one each has its router for itself
    away = np.bincount(routers.channel_source, between, topology.num_routers)
    come = np.bincount(routers.channel_target, between, topology.num_routers)
    most = np.append(away[topology.injection_router], come[topology.ejection_router])
    speed = topology.port_bandwidth
    of_ports = np.where(np.isinf(speed), most, np.ceil(np.minimum(speed, 2**31) * FLOW_UNITS))
    if between.sum() + of_ports.sum() >= 2**31:  # which the flow does not count
        return 0.0
    start, stop = routers.num_routers, routers.num_routers + 1
    sends = np.flatnonzero(inside[topology.port_host])
    receives = np.flatnonzero(~inside[topology.port_host])
    begins, ends = topology.injection_router[sends], topology.ejection_router[receives]
    tails = np.concatenate([routers.channel_source, np.full(len(begins), start), ends])
    heads = np.concatenate([routers.channel_target, begins, np.full(len(ends), stop)])
    room = np.concatenate([between, of_ports[sends], of_ports[ports + receives]])
    values = room.astype(np.int32)
    graph = coo_array((values, (tails, heads)), shape=(stop + 1, stop + 1)).tocsr()
    return float(maximum_flow(graph, start, stop).flow_value) / FLOW_UNITS


class Taper(Figures):
    """What a router has below it, towards hosts, and above it, towards the rest of the network.

    Attributes
    ----------
    router
        The name of the router with the highest ratio.
    routers
        How many of its level have that ratio.
    channels_below, channels_above
        Channels that come from below, and those that lead up.
    below, above
        Their bandwidth in all, flits/cycle.
    """

    router: str = figure(lead=True)
    routers: int = figure("routers like it", head="like it", lead=True)
    channels_below: int = figure(lead=True)
    channels_above: int = figure(head="uplinks", lead=True)
    below: float = figure("bandwidth below", lead=True)
    above: float = figure("bandwidth above", lead=True)

    @derived("oversubscription", head="over- subscribed", lead=True)
    def ratio(self) -> float:
        """Oversubscription: above 1, not all that is below can send upwards at once."""
        return self.below / self.above


def tapers(topology: Topology) -> list[Taper]:
    """Return the oversubscription of each level of a fat tree. Elsewhere of routers with hosts.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [(each.router, each.routers, each.ratio) for each in tapers(topology("leaf-spine:8x4x8"))]
    [('leaf0', 8, 2.0)]
    """
    inside, count = topology.routers, topology.num_routers
    tree = isinstance(topology.family, TreeShape)
    level = router_heights(topology) if tree else np.zeros(count, np.int64)
    into = topology.injection_router
    below = np.bincount(into, topology.port_bandwidth[: len(into)], count)
    many_below = np.bincount(into, minlength=count)
    up = level[inside.channel_target] > level[inside.channel_source] - (not tree)
    raised = inside.channel_target[up], inside.channel_source[up], inside.channel_bandwidth[up]
    if tree:
        below = below + np.bincount(raised[0], raised[2], count)
        many_below = many_below + np.bincount(raised[0], minlength=count)
    above = np.bincount(raised[1], raised[2], count)
    many_above = np.bincount(raised[1], minlength=count)
    ratio = np.divide(below, above, out=np.zeros(count), where=above > 0)
    found = []
    for height in np.unique(level[ratio > 0]).tolist():
        here = np.flatnonzero((level == height) & (ratio > 0))
        worst = int(here[ratio[here].argmax()])
        found.append(
            Taper(
                router=topology.name_of(topology.router_vertex(worst)),
                routers=int(np.isclose(ratio[here], ratio[worst]).sum()),
                channels_below=int(many_below[worst]),
                channels_above=int(many_above[worst]),
                below=float(below[worst]),
                above=float(above[worst]),
            )
        )
    return found
