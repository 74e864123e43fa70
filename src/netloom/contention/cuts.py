"""What no routing can beat: traffic that must leave a part of the network, over what leads out.

Packets from a host inside a set of routers to one outside cross some channel that leads out of the
set. If W must cross and the channels that lead out have total bandwidth B, then the busiest of them
works for at least W / B, under every routing. The sets considered are each host, each router, the
subtrees of a fat tree, the groups of a dragonfly, and two halves of the hosts. For the halves, B is
the largest flow between them (Ford & Fulkerson 1956), over the best set of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.contention.channel_loads import BLOCK
from netloom.routing.ways import dimensions
from netloom.topology.core import DragonflyShape, TreeShape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.topology import Topology

MOST_CHANNELS = 2**14
"""Channels of a network up to which the largest flow between halves is looked for (a second)."""

FLOW_UNITS = 2**10
"""Parts of a channel's bandwidth that a flow counts. A bandwidth is rounded up to them."""


@dataclass(frozen=True)
class Cut:
    """A part of the network, and what has to leave or enter it.

    Attributes
    ----------
    kind
        ``host``, ``router``, ``subtree`` (of a fat tree: a leaf with its hosts is a router),
        ``group`` (of a dragonfly) or ``half``.
    name
        What the part is called: a host or router by its name.
    way
        ``out`` or ``in``.
    weight
        Traffic that has to cross.
    bandwidth
        Of all channels that it can cross by, flits/cycle.
    """

    kind: str
    name: str
    way: str
    weight: float
    bandwidth: float

    @property
    def time(self) -> float:
        """The busiest channel works at least so long."""
        return self.weight / self.bandwidth


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


Block = tuple["Ints", "Ints", "Floats"]
"""Pairs of hosts, and what they send."""


def cut_bounds(topology: Topology, sources: Ints, targets: Ints, weights: Floats) -> list[Cut]:
    """Return the tightest cut of each kind, in the order of ``Cut.kind``.

    Parameters
    ----------
    topology
        A network whose hosts have channels of their own.
    sources, targets, weights
        Pairs of hosts, and what they send.

    Examples
    --------
    All eight hosts of a leaf send to the next leaf, over four spines:

    >>> from netloom.topology import topology
    >>> ends = np.arange(8, dtype=np.int32), np.arange(8, 16, dtype=np.int32)
    >>> for cut in cut_bounds(topology("leaf-spine:2x4x8"), *ends, np.ones(8)):
    ...     print(cut.kind, cut.name, cut.way, cut.time)
    host h0 out 1.0
    router leaf0 out 2.0
    half h0 to h7 out 2.0
    """
    cuts = range(0, len(sources), BLOCK)
    parts = (slice(first, first + BLOCK) for first in cuts)
    return cut_bounds_of(topology, ((sources[at], targets[at], weights[at]) for at in parts))


def cut_bounds_of(topology: Topology, blocks: Iterable[Block]) -> list[Cut]:
    """Return what ``cut_bounds`` does, of pairs that come block by block."""
    every = list(cut_parts(topology))
    sums = [(np.zeros(len(each.leaving)), np.zeros(len(each.leaving))) for each in every]
    for source, target, weight in blocks:
        for each, (out, into) in zip(every, sums, strict=True):
            begins, ends = each.begins[source], each.ends[target]
            known = (begins >= 0) & (ends >= 0) & (begins != ends)
            out += np.bincount(begins[known], weight[known], len(out))
            into += np.bincount(ends[known], weight[known], len(into))
    tightest: dict[str, Cut] = {}
    for each, (out, into) in zip(every, sums, strict=True):
        for way, weight, room in (("out", out, each.leaving), ("in", into, each.entering)):
            time = np.divide(weight, room, out=np.zeros(len(weight)), where=room > 0)
            at = int(time.argmax()) if len(time) else 0
            best = tightest.get(each.kind)
            if len(time) and time[at] > (best.time if best else 0.0):
                found = Cut(each.kind, each.name_of(at), way, float(weight[at]), float(room[at]))
                tightest[each.kind] = found
    return list(tightest.values())


def cut_parts(topology: Topology) -> Iterator[Parts]:
    """Yield the parts that are cut off a network whose hosts have channels of their own.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [(each.kind, float(each.leaving[0])) for each in cut_parts(topology("dragonfly:2x4x2"))]
    [('host', 1.0), ('router', 5.0), ('group', 8.0), ('half', 20.0)]
    """
    yield _hosts(topology)
    for kind, part, name_of in router_sets(topology):
        yield parts_of(topology, kind, part, name_of)
    if (halves := _halves(topology)) is not None:
        yield halves


def _hosts(topology: Topology) -> Parts:
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


def grid_sets(topology: Topology) -> Iterator[tuple[str, Ints, Callable[[int], str]]]:
    """Yield sets of routers as ``router_sets`` does, of a network whose routers are a grid.

    In each dimension: the routers of each coordinate, and those below and from each on.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> for _, part, name_of in grid_sets(topology("hyperx:3x2/2")):
    ...     print(name_of(1), part)
    coordinate 1 of dimension 0 [0 0 1 1 2 2]
    coordinates 1 to 2 of dimension 0 [0 0 1 1 1 1]
    coordinates 2 to 2 of dimension 0 [0 0 0 0 1 1]
    coordinate 1 of dimension 1 [0 1 0 1 0 1]
    coordinates 1 to 1 of dimension 1 [0 1 0 1 0 1]
    """
    sides = dimensions(topology)
    places = np.unravel_index(np.arange(topology.num_routers), sides) if sides else ()
    for axis, place in enumerate(places):
        side = sides[axis]
        if side == 1:
            continue

        def one(at: int, axis: int = axis) -> str:
            return f"coordinate {at} of dimension {axis}"

        yield "coordinate", place, one
        for first in range(1, side):

            def several(at: int, axis: int = axis, first: int = first) -> str:
                low, high = (first, sides[axis] - 1) if at else (0, first - 1)
                return f"coordinates {low} to {high} of dimension {axis}"

            yield "coordinates", (place >= first).astype(np.int64), several


def parts_of(topology: Topology, kind: str, part: Ints, name_of: Callable[[int], str]) -> Parts:
    """Return sets of routers as parts, given int64[num_routers] the set of each, -1 for none."""
    inside, count = topology.routers, int(part.max(initial=-1)) + 1
    leaves, enters = part[inside.channel_source], part[inside.channel_target]
    rooms = []
    for own in (leaves, enters):
        across = (leaves != enters) & (own >= 0)
        rooms.append(np.bincount(own[across], inside.channel_bandwidth[across], count))
    leaving, entering = rooms
    begins = _part_of_hosts(topology, part[topology.injection_router])
    ends = _part_of_hosts(topology, part[topology.ejection_router])
    return Parts(kind, begins, ends, leaving, entering, name_of)


def _part_of_hosts(topology: Topology, part_of_port: Ints) -> Ints:
    """Return the set in which all ports of each host are, or -1 if there is none."""
    found = np.full(topology.num_hosts, -1, np.int64)
    found[topology.port_host] = part_of_port
    split = part_of_port != found[topology.port_host]
    found[topology.port_host[split]] = -1
    return found


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
    if not half or topology.num_channels > MOST_CHANNELS:
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
    of_ports = np.ceil(np.minimum(topology.port_bandwidth, between.sum()) * FLOW_UNITS)
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


@dataclass(frozen=True)
class Taper:
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

    router: str
    routers: int
    channels_below: int
    channels_above: int
    below: float
    above: float

    @property
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
    level = _levels(topology)
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
        name = topology.name_of(topology.router_vertex(worst))
        alike = int(np.isclose(ratio[here], ratio[worst]).sum())
        amounts = int(many_below[worst]), int(many_above[worst]), below[worst], above[worst]
        found.append(Taper(name, alike, *amounts[:2], *map(float, amounts[2:])))
    return found


def _levels(topology: Topology) -> Ints:
    """Return the level of each router: of a fat tree its own, elsewhere the same of all."""
    shape, count = topology.family, topology.num_routers
    if not isinstance(shape, TreeShape):
        return np.ones(count, np.int64)
    widths = [shape.width(level) for level in range(1, shape.levels + 1)]
    level = np.repeat(np.arange(1, shape.levels + 1), widths)
    if shape.router_at is not None:
        level[shape.router_at] = level.copy()
    return level
