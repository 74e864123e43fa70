"""What no routing can beat: traffic that must leave a part of the network, over what leads out.

Packets from a host inside a set of routers to one outside cross some channel that leads out of the
set. If W must cross and the channels that lead out have total bandwidth B, then the busiest of them
works for at least W / B, under every routing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.bounds.demand import Demand, crossing, crossing_stretches
from netloom.bounds.parts import cut_parts, grid_lines, of_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats, Ints
    from netloom.bounds.parts import Line, Parts
    from netloom.topology import Topology

SAME = 1 - 1e-9
"""Of loads that differ by rounding only, the first is named."""

OUT_OF = {"out": "out of", "in": "into"}
"""How each way of a cut is said."""


@dataclass(frozen=True)
class Cut:
    """A part of the network, and what has to leave or enter it.

    Attributes
    ----------
    kind
        ``host``, ``coordinates`` (of a grid, one or several in a row), ``router``, ``subtree`` (of
        a fat tree: a leaf with its hosts is a router), ``group`` (of a dragonfly) or ``half``.
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
    bandwidth: float
    over: str

    @property
    def time(self) -> float:
        """The busiest channel works at least so long."""
        return self.weight / self.bandwidth if self.weight else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        names = "kind", "name", "way", "weight", "bandwidth", "time"
        return {name: getattr(self, name) for name in names}


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
    carried = np.where(sources == targets, 0.0, weights)
    tightest: dict[str, Cut] = {}
    for cut in cuts_of(topology, Demand((), sources, targets, carried)):
        best = tightest.get(cut.kind)
        if cut.time > (best.time if best else 0.0):
            tightest[cut.kind] = cut
    return list(tightest.values())


def cuts_of(topology: Topology, demand: Demand) -> Iterator[Cut]:
    """Yield the tightest cuts out of the parts of each kind and into them.

    In the order of ``Cut.kind``.
    What hosts send themselves crosses a cut where they send and receive by different routers.

    Examples
    --------
    >>> from netloom.bounds.demand import demand_of
    >>> from netloom.topology import topology
    >>> from netloom.workload.traffic import uniform
    >>> [cut.over for cut in cuts_of(topology("mesh:4"), demand_of(uniform(4)))][2:4]
    ['the channel from node 1 to node 2', 'the channel from node 2 to node 1']
    """
    every = cut_parts(topology)
    hosts = next(every)
    yield from _out_and_into(hosts, demand)
    for line in grid_lines(topology):
        yield from _along(topology, line, demand)
    for each in every:
        yield from _out_and_into(each, demand)


def _out_and_into(parts: Parts, demand: Demand) -> Iterator[Cut]:
    ways = crossing(demand, parts.begins, parts.ends, len(parts.leaving))
    rooms = parts.leaving, parts.entering
    for weight, room, way in zip(ways, rooms, ("out", "in"), strict=True):
        at = _fullest(weight, room)
        name = parts.name_of(at)
        said = f"the channels {OUT_OF[way]} {name}, {room[at]:.4g} flits/cycle in all"
        yield Cut(parts.kind, name, way, float(weight[at]), float(room[at]), said)


def _along(topology: Topology, line: Line, demand: Demand) -> Iterator[Cut]:
    """Yield the tightest cuts around coordinates in a row."""
    inside, count = topology.routers, len(line.borders) - 1
    stretches = line.stretches()
    ends = of_hosts(topology, line.place)
    ways = crossing_stretches(demand, *ends, count, stretches)
    channels = Demand((), inside.channel_source, inside.channel_target, inside.channel_bandwidth)
    rooms = crossing_stretches(channels, line.place, line.place, count, stretches)
    numbers = rooms
    if not inside.even:
        ones = channels._replace(weight=np.ones(inside.num_channels))
        numbers = crossing_stretches(ones, line.place, line.place, count, stretches)
    for weight, room, number, way in zip(ways, rooms, numbers, OUT_OF, strict=True):
        at = _fullest(weight, room)
        low, high = (int(line.borders[each[at]]) for each in stretches)
        name = line.several(low, high)
        said = f"{OUT_OF[way]} {name}{line.of}"
        if not line.wraps:
            near, far = (high - 1, high) if way == "out" else (high, high - 1)
            said = f"from {line.word} {near} to {line.word} {far}{line.of}"
        many = f"the {number[at]:.0f} channels" if number[at] > 1 else "the channel"
        rate = "" if room[at] == number[at] else f", {room[at]:.4g} flits/cycle in all"
        cut = float(weight[at]), float(room[at]), f"{many} {said}{rate}"
        yield Cut("coordinates", name + line.of, way, *cut)


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
