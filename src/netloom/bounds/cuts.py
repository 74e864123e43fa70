"""Parts of a network, and what no routing can beat, from what must leave them.

Parts are each host, each router, the subtrees of a fat tree, the groups of a dragonfly, coordinates
of a grid in a row, and two halves of the hosts. What leads out of a half is the largest flow to the
other (Ford & Fulkerson 1956), which is over the best set of all.

Packets from a host inside a set of routers to one outside cross some channel that leads out of the
set. If W must cross and the channels that lead out have total bandwidth B, then the busiest of them
works for at least W / B, under every routing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.figures import Figures, derived, figure, unseen
from netloom.base.words import number
from netloom.bounds.demand import Demand, crossing, crossing_stretches, leading_out
from netloom.contention.mapped import carried
from netloom.routing.ragged import legs
from netloom.routing.rules import dimensions
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, TreeShape, joined
from netloom.topology.inside import with_ports
from netloom.topology.measures import heights, router_heights
from netloom.topology.names import short_switch_name

# -- parts -----------------------------------------------------------------------------------------


MOST_PARTS = 1024
"""Most parts of a dimension between which cuts are made: their traffic is a square table."""

MOST_CHANNELS = 2**14
"""Channels between routers up to which the largest flow between halves is looked for (a second).

Above, the channels between them stand for it.
"""

FLOW_UNITS = 2**10
"""Parts of a channel's bandwidth that a flow counts. A bandwidth is rounded up to them."""


class Parts(NamedTuple):
    """Disjoint parts of a network, of one kind: see ``Cut.kind``.

    Attributes
    ----------
    kind
        What each is.
    hosts
        int[num_hosts] twice, the part in which all ports of a host are by which it sends, and by
        which it receives; -1 for none.
    rooms
        float64[parts] twice, the bandwidth of what leads out of each and into it, or 0 if it is
        not known.
    name_of
        What names a part.
    """

    kind: str
    hosts: tuple[Ints, Ints]
    rooms: tuple[Floats, Floats]
    name_of: Callable[[int], str]


def cut_parts(topology: Topology) -> Iterator[Parts]:
    """Yield the disjoint parts of a network with routers, kind by kind.

    Of halves of the hosts, by number, what can flow between them is known.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [(each.kind, float(each.rooms[0][0])) for each in cut_parts(topology("dragonfly:2x4x2"))]
    [('router', 5.0), ('group', 8.0), ('half', 20.0)]
    """
    inside = topology.routers
    channels = inside.channel_source, inside.channel_target, inside.channel_bandwidth
    for kind, part, name_of in router_sets(topology):
        yield Parts(kind, of_hosts(topology, part), leading_out(part, *channels), name_of)
    half = topology.num_hosts // 2
    if not half:
        return
    shape = topology.family
    place = np.arange(topology.num_hosts)
    if isinstance(shape, TreeShape) and shape.host_at is not None:
        place[shape.host_at] = np.arange(topology.num_hosts)
    first = place < half
    ends = np.flatnonzero(first)
    name = f"{topology.name_of(int(ends[0]))} to {topology.name_of(int(ends[-1]))}"
    if np.any(np.diff(ends) != 1):
        name = "half of the hosts"
    out, into = (np.array([_largest_flow(topology, hosts), 0.0]) for hosts in (first, ~first))
    other = (~first).astype(np.int64)  # what leaves one half enters the other
    yield Parts("half", (other, other), (out, into), lambda _: name)


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
        yield "group", topology.switch_of // shape.routers, lambda at: f"group {at}"
    if not isinstance(shape, TreeShape):
        return
    for height in range(2, shape.levels):
        part = subtree_of(shape, height)
        if shape.router_at is not None:
            moved = np.full(topology.num_routers, -1, np.int64)
            moved[shape.router_at] = part
            part = moved
        yield "subtree", part, f"subtree {{}} of level {height}".format


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
    router = topology.switch_of
    places = np.unravel_index(np.maximum(router, 0), sides) if sides else ()
    alone = "node" if topology.num_hosts == topology.num_routers else "router"
    for axis, place in enumerate(places):
        parts = min(sides[axis], MOST_PARTS)
        if parts == 1:
            continue
        borders = -(-np.arange(parts + 1) * sides[axis] // parts)
        wraps = whole.wraps[axis] if isinstance(whole, Cube) else True
        word = {1: alone, 2: ("row", "column")[axis % 2]}.get(len(sides), "coordinate")
        of = f" of dimension {axis}" if len(sides) > 2 else ""
        of_router = np.where(router < 0, -1, place * parts // sides[axis])
        yield Line(of_router, borders, wraps, word, of)


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


def _largest_flow(topology: Topology, inside: Bools) -> float:
    """Return the largest flow from these hosts to all others, flits/cycle, or 0 if too large.

    If a network is too large but has hosts of one side only on each router, it is at most what the
    channels from side to side carry.
    """
    routers, ports = topology.routers, topology.num_ports
    between = np.ceil(routers.channel_bandwidth * FLOW_UNITS)
    # what hosts without a speed can use: one each has its router for itself
    away = np.bincount(routers.channel_source, between, topology.num_routers)
    come = np.bincount(routers.channel_target, between, topology.num_routers)
    most = np.append(away[topology.injection_router], come[topology.ejection_router])
    speed = topology.port_bandwidth
    of_ports = np.where(np.isinf(speed), most, np.ceil(np.minimum(speed, 2**31) * FLOW_UNITS))
    start, stop = routers.num_routers, routers.num_routers + 1
    sends = np.flatnonzero(inside[topology.port_host])
    receives = np.flatnonzero(~inside[topology.port_host])
    begins, ends = topology.injection_router[sends], topology.ejection_router[receives]
    # where hosts of one side alone hang on each router, channels from side to side are all there is
    here, there = (np.bincount(each, minlength=start) > 0 for each in (begins, ends))
    across = here[routers.channel_source] & there[routers.channel_target]
    out = np.bincount(routers.channel_source, between * across, start)
    into = np.bincount(routers.channel_target, between * across, start)
    filled = (out <= np.bincount(begins, of_ports[sends], start)).all()
    filled &= (into <= np.bincount(ends, of_ports[ports + receives], start)).all()
    large = topology.num_network_channels > MOST_CHANNELS
    large |= between.sum() + of_ports.sum() >= 2**31  # which the flow does not count
    if (here != there).all() and (filled or large):
        return float(out.sum()) / FLOW_UNITS
    if large:
        return 0.0

    from scipy.sparse import coo_array  # SciPy's start takes as long as a small network's answer
    from scipy.sparse.csgraph import maximum_flow

    tails = np.concatenate([routers.channel_source, np.full(len(begins), start), ends])
    heads = np.concatenate([routers.channel_target, begins, np.full(len(ends), stop)])
    room = np.concatenate([between, of_ports[sends], of_ports[ports + receives]])
    graph = coo_array((room.astype(np.int32), (tails, heads)), shape=(stop + 1, stop + 1)).tocsr()
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


# -- cuts ------------------------------------------------------------------------------------------


SAME = 1 - 1e-9
"""Of loads that differ by rounding only, the first is named."""

OUT_OF = {"out": "out of", "in": "into"}
"""How each way of a cut is said."""


class Cut(Figures):
    """A part of the network, and what has to leave or enter it.

    Attributes
    ----------
    kind
        ``host``, ``coordinates`` (of a grid, one or several in a row), ``router``, ``subtree`` (of
        a fat tree), ``group`` (of a dragonfly) or ``half``. A leaf with its hosts is a router.
    name
        What the part is called: a host or router by its name.
    way
        ``out`` or ``in``.
    weight
        Traffic that has to cross.
    bandwidth
        Of all channels that it can cross by, flits/cycle.
    over
        What these channels are called.
    """

    kind: str
    name: str
    way: str
    weight: float
    bandwidth: float = figure(unit="flits/cycle")
    over: str = unseen()

    @derived("weight over bandwidth")
    def time(self) -> float:
        """The busiest channel works at least so long. 0 where nothing leads out."""
        return self.weight / self.bandwidth if self.bandwidth > 0 else 0.0


CLOSE = 1.005
"""Times the bound up to which a channel works for no longer than it must."""

PARTS = {
    "host": "what host {name} {sends} over its own channels",
    "router": "what {leaves} {name} {to} other routers",
    "half": "what {leaves} {name} {to} the other half of the hosts",
}
"""What a cut is, in words. All others: what leaves a part, or enters it."""

WAYS = {
    "out": {"sends": "sends", "leaves": "leaves", "to": "for"},
    "in": {"sends": "receives", "leaves": "enters", "to": "from"},
}
"""Words for both ways over a cut."""

INSIDE = {"coordinates": "this part", "half": "each half"}
"""What keeps more inside, if a cut's load is to fall. All others: the kind of the cut."""


class Bounds(Figures):
    """What no routing can beat for one mapping of a program, cut by cut.

    Attributes
    ----------
    time
        That of the tightest cut.
    ratio
        How many times longer the busiest channel works.
    tightest
        The kind of the tightest cut.
    """

    time: float
    ratio: float
    tightest: str
    cuts: tuple[Cut, ...]

    @property
    def limit(self) -> Cut:
        """The tightest cut."""
        return next(each for each in self.cuts if each.kind == self.tightest)

    def said(self, unit: str) -> str:
        """Say which cut is the limit, and what would help. ``unit``: what loads are counted in."""
        cut, name = self.limit, short_switch_name(self.limit.name)
        part = PARTS.get(cut.kind, "what {leaves} {name}").format(name=name, **WAYS[cut.way])
        over = f"{carried(unit, cut.weight)} over bandwidth {number(cut.bandwidth)}"
        bound = f"The bound is {part}: {over}."
        if self.ratio > CLOSE:
            better = "A routing that spreads paths more evenly, or another mapping,"
            return f"{bound} {better} may come nearer."
        helps = "less traffic of this host, or more bandwidth at it,"
        if cut.kind != "host":
            more = "between them" if cut.kind == "half" else "from it"
            inside = INSIDE.get(cut.kind, f"the {cut.kind}")
            helps = f"a mapping that keeps more inside {inside}, or more channels {more}"
        return f"{bound} No routing can do better; {helps} would help."


def bounds_of(
    topology: Topology, sources: Ints, targets: Ints, weights: Floats, busiest: float
) -> Bounds:
    """Return the tightest cuts of what is sent, beside the time of the busiest channel.

    Parameters are those of ``cut_bounds``.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> ends = np.arange(8, dtype=np.int32), np.arange(8, 16, dtype=np.int32)
    >>> found = bounds_of(topology("leaf-spine:2x4x8"), *ends, np.ones(8), busiest=3.0)
    >>> found.tightest, found.time, found.ratio
    ('router', 2.0, 1.5)
    """
    cuts = cut_bounds(topology, sources, targets, weights)
    limit = max(cuts, key=lambda each: each.time)
    return Bounds(
        time=limit.time, ratio=busiest / limit.time, tightest=limit.kind, cuts=tuple(cuts)
    )


def cut_bounds(topology: Topology, sources: Ints, targets: Ints, weights: Floats) -> list[Cut]:
    """Return the tightest cut of each kind, in the order of ``Cut.kind``.

    Parameters
    ----------
    topology
        The network.
    sources, targets, weights
        Pairs of hosts, and what they send. What a host sends itself takes no channel.

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
    own = sources == targets
    carried = np.where(own, 0.0, weights) if own.any() else weights
    tightest: dict[str, Cut] = {}
    for net, some in _inside_and_outside(topology, sources, targets):
        demand = Demand((), sources[some], targets[some], carried[some])
        for cut in cuts_of(net, demand):
            best = tightest.get(cut.kind)
            if cut.time > (best.time if best else 0.0):
                tightest[cut.kind] = cut
    return list(tightest.values())


def _inside_and_outside(
    topology: Topology, sources: Ints, targets: Ints
) -> Iterator[tuple[Topology, Bools]]:
    """Yield what of a network pairs of hosts use, and which pairs: inside computers, then beyond.

    The whole network, where it draws no insides.
    """
    every = np.ones(len(sources), np.bool_)
    if topology.inside_and_out is None:
        yield topology, every
        return
    mates = topology.inner_part[legs(topology, sources, targets).entry] >= 0
    inner = topology.inner_part[topology.injection_router] >= 0
    for ports, some in ((~inner, ~mates), (inner, mates)):
        if some.any():
            yield with_ports(topology, ports), some


def cuts_of(topology: Topology, demand: Demand) -> Iterator[Cut]:
    """Yield the tightest cuts out of the parts of each kind and into them.

    In the order of ``Cut.kind``. Hosts are parts if their channels' speed is said.
    What hosts send themselves crosses a cut where they send and receive by different routers.

    Examples
    --------
    >>> from netloom.bounds.demand import demand_of
    >>> from netloom.topology import topology
    >>> from netloom.workload.traffic import uniform
    >>> [cut.over for cut in cuts_of(topology("mesh:4"), demand_of(uniform(4)))][:2]
    ['the channel from node 1 to node 2', 'the channel from node 2 to node 1']
    """
    if np.array_equal(topology.injection_router, topology.ejection_router):
        apart = demand.source != demand.target
        if not apart.all():
            demand = Demand(demand.products, *(each[apart] for each in demand[1:]))
    if topology.ports_listed:
        host = np.arange(topology.num_hosts)
        out, into = (
            np.bincount(topology.port_host, rate, len(host)).astype(np.float64)
            for rate in np.split(topology.port_bandwidth, 2)
        )
        yield from _out_and_into(Parts("host", (host, host), (out, into), topology.name_of), demand)
    for line in grid_lines(topology):
        yield from _along(topology, line, demand)
    for each in cut_parts(topology):
        yield from _out_and_into(each, demand)


def _out_and_into(parts: Parts, demand: Demand) -> Iterator[Cut]:
    ways = crossing(demand, *parts.hosts, len(parts.rooms[0]))
    for weight, room, way in zip(ways, parts.rooms, OUT_OF, strict=True):
        at = _fullest(weight, room)
        name = parts.name_of(at)
        said = f"the channels {OUT_OF[way]} {name}, {room[at]:.4g} flits/cycle in all"
        yield Cut(
            kind=parts.kind,
            name=name,
            way=way,
            weight=float(weight[at]),
            bandwidth=float(room[at]),
            over=said,
        )


def _along(topology: Topology, line: Line, demand: Demand) -> Iterator[Cut]:
    """Yield the tightest cuts around coordinates in a row."""
    inside = topology.routers
    channels = Demand((), inside.channel_source, inside.channel_target, inside.channel_bandwidth)
    found = fullest_rows(line, demand, of_hosts(topology, line.place), channels)
    for way, (weight, room, here) in zip(OUT_OF, found, strict=True):
        row = line.place[here]
        low, high = int(line.borders[row.min()]), int(line.borders[row.max() + 1])
        name = line.several(low, high)
        said = f"{OUT_OF[way]} {name}{line.of}"
        if not line.wraps:
            near, far = (high - 1, high) if way == "out" else (high, high - 1)
            said = f"from {line.word} {near} to {line.word} {far}{line.of}"
        number = int(room)
        if not inside.even:
            ends = here[inside.channel_source], here[inside.channel_target]
            number = int(np.count_nonzero(ends[way == "in"] & ~ends[way == "out"]))
        many = f"the {number} channels" if number > 1 else "the channel"
        rate = "" if room == number else f", {room:.4g} flits/cycle in all"
        yield Cut(
            kind="coordinates",
            name=name + line.of,
            way=way,
            weight=weight,
            bandwidth=room,
            over=f"{many} {said}{rate}",
        )


def fullest_rows(
    line: Line, demand: Demand, ends: tuple[Ints, Ints], channels: Demand
) -> Iterator[tuple[float, float, Bools]]:
    """Yield the tightest cut out of some coordinates of a grid in a row, and the one into some.

    What crosses, the room of the channels it can cross by, and bool[num_routers], which are in it.

    Parameters
    ----------
    line
        The dimension.
    demand, ends
        Who sends how much to whom, and in which part of the line each sends and receives.
    channels
        The routers that each channel joins, and what it carries.
    """
    parts, rows = len(line.borders) - 1, line.stretches()
    ways = crossing_stretches(demand, *ends, parts, rows)
    rooms = crossing_stretches(channels, line.place, line.place, parts, rows)
    for weight, room in zip(ways, rooms, strict=True):
        at = _fullest(weight, room)
        here = (line.place >= rows[0][at]) & (line.place < rows[1][at])
        yield float(weight[at]), float(room[at]), here


def undivided(
    owner: Ints, weights: Floats, channels: Ints | int, skipped: int = 0
) -> tuple[Floats, Ints]:
    """Return what some channel of each owner carries at least, if each of its flows takes one.

    float64[owners], and how many flows share that channel. Of j k + 1 flows over k channels, j + 1
    are on the same one: it carries the least j + 1 of them, or more.

    Parameters
    ----------
    owner, weights
        Of each flow: where it begins, and what it carries.
    channels
        int64[owners], how many channels each has.
    skipped
        How many of the heaviest flows of each may stay where they are.

    Examples
    --------
    >>> undivided(np.array([0, 0, 0]), np.array([4.0, 2.0, 1.0]), 2)
    (array([4.]), array([1]))
    """
    order = np.lexsort((-weights, owner))
    sums = np.append(0.0, np.cumsum(weights[order]))
    last = np.cumsum(np.bincount(owner, minlength=np.size(channels)))
    first = np.minimum(np.append(0, last[:-1]) + skipped, last)
    busiest, sharing = (sums[last] - sums[first]) / channels, np.zeros(len(last), np.int64)
    at, others = first, 0
    while len(open_ := np.flatnonzero(at < last)):
        heavy = sums[at[open_] + 1] - sums[at[open_] - others]
        sharing[open_[heavy > busiest[open_]]] = others + 1
        busiest[open_] = np.maximum(busiest[open_], heavy)
        at, others = at + channels, others + 1
    return busiest, sharing


def _fullest(weight: Floats, room: Floats) -> int:
    """Return where the weight takes longest. What nothing leads out of is no cut."""
    return first_largest(np.divide(weight, room, out=np.zeros(len(weight)), where=room > 0))


def first_largest(values: Floats) -> int:
    """Return the place of the first of the values that are largest but for rounding.

    Examples
    --------
    >>> first_largest(np.array([0.1 + 0.2, 0.3]))
    0
    """
    return int(np.argmax(values >= values.max() * SAME))
