"""What no routing can beat: traffic that must leave a part of the network, over what leads out.

Packets from a host inside a set of routers to one outside cross some channel that leads out of the
set. If W must cross and the channels that lead out have total bandwidth B, then the busiest of them
works for at least W / B, under every routing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.figures import Figures, derived, figure, unseen
from netloom.base.words import number
from netloom.bounds.demand import Demand, crossing, crossing_stretches
from netloom.bounds.parts import cut_parts, each_host, grid_lines, of_hosts
from netloom.contention.mapped import carried
from netloom.topology.names import short_switch_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.bounds.parts import Line, Parts
    from netloom.topology import Topology

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
    for cut in cuts_of(topology, Demand((), sources, targets, carried)):
        best = tightest.get(cut.kind)
        if cut.time > (best.time if best else 0.0):
            tightest[cut.kind] = cut
    return list(tightest.values())


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
        yield from _out_and_into(each_host(topology), demand)
    for line in grid_lines(topology):
        yield from _along(topology, line, demand)
    for each in cut_parts(topology):
        yield from _out_and_into(each, demand)


def _out_and_into(parts: Parts, demand: Demand) -> Iterator[Cut]:
    ways = crossing(demand, parts.begins, parts.ends, len(parts.leaving))
    rooms = parts.leaving, parts.entering
    for weight, room, way in zip(ways, rooms, ("out", "in"), strict=True):
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
