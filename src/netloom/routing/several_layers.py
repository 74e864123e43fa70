"""How many layers of virtual channels keep routings with choices free of deadlock.

A packet begins in the lowest layer and never goes back to a lower one. If the graph of
(channel, layer) has no circle, packets cannot deadlock, whatever they choose (Dally & Seitz 1987).
Layers by hops: Günther, *Prevention of deadlocks in packet-switched data transport systems*, 1981.
By global channels, on dragonflies: Kim, Dally, Scott & Abts 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError, NoRouteError
from netloom.routing.cycles import cycle_of_waits
from netloom.routing.dimension_order import DimensionOrder
from netloom.routing.several import (
    Minimal,
    MinimalGroup,
    Valiant,
    detour,
    host_routers,
    ways_of,
)
from netloom.routing.ways import JOINED, is_hyperx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools, Ints
    from netloom.routing.parse import Routing
    from netloom.routing.ways import Ways
    from netloom.topology import Topology

MOST_FLAGS = 2**28
"""Most flags of (channel, layer, next channel) that are looked at."""

PLAIN, GLOBALS, HOPS = "one layer", "one more behind a global channel", "one for each hop"


class Part(NamedTuple):
    """The layers of one part of packets' ways: all of it, or one side of a drawn router or group.

    Attributes
    ----------
    rule
        How packets go from layer to layer.
    layers
        How many there are.
    rises
        bool[num_network_channels], the channels behind which packets are one layer higher.
    circle
        Channels that packets of this part could wait for in a circle if they had one layer. Empty
        if they could not.
    """

    rule: str
    layers: int
    rises: Bools
    circle: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Layering:
    """Layers of virtual channels in which a routing is free of deadlock.

    Attributes
    ----------
    routing
        The routing's name.
    parts
        One part, or two where packets travel by way of a drawn router or group: the second one's
        layers are above the first one's.
    """

    routing: str
    parts: tuple[Part, ...]

    @property
    def layers(self) -> int:
        """How many layers there are in all: the virtual channels that suffice."""
        return sum(part.layers for part in self.parts)

    def __repr__(self) -> str:
        rules = "; ".join(f"{part.layers}: {part.rule}" for part in self.parts)
        return f"<{self.routing}: {self.layers} layers ({rules})>"


def layers_needed(topology: Topology, routing: Routing) -> Layering:
    """Return layers of virtual channels that keep a routing with choices free of deadlock.

    The first of three rules is taken that leaves no circle: one layer. On dragonflies one more
    behind each global channel. One for each hop, which never has one. The first two are proved by
    following packets between all routers of hosts through all choices. There may be rules of fewer
    layers: on rings, datelines (``virtual_channel_routing``).

    Parameters
    ----------
    topology
        The network.
    routing
        ``Minimal``, ``MinimalGroup``, ``Valiant``, or dimension order on a HyperX. For others,
        ``find_deadlock`` answers.

    Raises
    ------
    InputError
        If the routing is another or does not fit the network, or the network is too large.
    NoRouteError
        If there is no way between two routers of hosts.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> layers_needed(topology("dragonfly:2x4x2"), Valiant("groups"))
    <valiant-group: 3 layers (1: one layer; 2: one more behind a global channel)>
    """
    hosts = np.zeros(topology.num_routers, np.bool_)
    hosts[host_routers(topology)] = True
    if isinstance(routing, Valiant):
        trip = detour(topology, routing)
        first, arrived = _part(topology, trip.ways, hosts, trip.goals, to_group=trip.to_group)
        goals = host_routers(topology)
        second, _ = _part(topology, trip.ways, hosts | arrived, goals)
        return Layering(str(routing), (first, second))
    if isinstance(routing, Minimal | MinimalGroup) or (
        isinstance(routing, DimensionOrder) and is_hyperx(topology)
    ):
        ways = ways_of(topology, routing)
        return Layering(str(routing), (_part(topology, ways, hosts, host_routers(topology))[0],))
    wanted = "minimal, minimal-group, valiant, or dimension order on a hyperx"
    raise InputError("routing", f"{routing} on {topology.name}", wanted)


def _part(
    topology: Topology,
    ways: Ways,
    entries: Bools,
    goals: Ints,
    *,
    to_group: bool = False,
) -> tuple[Part, Bools]:
    """Return the layers of packets from some routers to goals, and where they arrive."""
    from netloom.routing.kernels.several_layers import layered_waits

    hops, in_one = 0, tuple[int, ...]()
    for rule, rises, most in _rules(ways):
        flags = len(rises) * most * int(np.diff(ways.out_offsets).max(initial=0))
        if flags > MOST_FLAGS:
            raise InputError(
                topology.name, f"{flags:,} pairs of channels", f"at most {MOST_FLAGS:,}"
            )
        waits, arrived, used, hops = layered_waits(ways, entries, goals, to_group, rises, most)
        if hops < 0:
            raise NoRouteError(int(np.argmax(entries)), int(goals[0]), JOINED)
        held, layer, slot = np.nonzero(waits)
        asked = ways.out_channels[ways.out_offsets[ways.target[held]] + slot]
        next_layer = layer + rises[held]
        circle = cycle_of_waits(held * most + layer, asked * most + next_layer, len(rises) * most)
        in_one = circle if rule == PLAIN else in_one
        if used <= most and not circle:
            return Part(rule, max(used, 1), rises, in_one), arrived
    return Part(HOPS, max(hops, 1), np.ones(len(ways.source), np.bool_), in_one), arrived


def _rules(ways: Ways) -> Iterator[tuple[str, Bools, int]]:
    """Yield rules, the channels behind which packets rise, and the most layers to look at."""
    crossing = ways.group[ways.source] != ways.group[ways.target]
    yield PLAIN, np.zeros(len(crossing), np.bool_), 1
    if crossing.any():
        yield GLOBALS, crossing, 2
