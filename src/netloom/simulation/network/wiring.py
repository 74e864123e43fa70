"""What joins what: the ports of routers, the sources behind them, and how long and fast lines are.

A *line* carries at most a flit per cycle: a channel, or one of the lanes of a faster one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.port_numbers import each_lane, hosted_ports, ports
from netloom.simulation.network.routers import end_channels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology

FINEST = 1000
"""Largest number of cycles in which a line sends a whole number of flits, exactly at its rate."""


class Lines(NamedTuple):
    """Lines of one kind: those between routers, into them, or out of them.

    Attributes
    ----------
    source, out_port
        int64[lines], router and output port. Of a line into the routers, its source and which of
        the injection channels of that it is.
    target, in_port
        int64[lines], router and input port. Of a line out of the routers, the port of the host.
    channel
        int64[lines], the channel that each is a lane of; -1 where a network does not list it.
    cycles
        int64[lines], latency of the channel.
    share, whole
        int64[lines]: it sends ``share`` flits in ``whole`` cycles, at most.
    """

    source: Ints
    out_port: Ints
    target: Ints
    in_port: Ints
    channel: Ints
    cycles: Ints
    share: Ints
    whole: Ints


class Wiring(NamedTuple):
    """A network as its routers see it.

    Attributes
    ----------
    num_routers, num_ports
        Routers, and ports of each: those of the largest.
    network_ports
        Where the ports of hosts begin, if it is the same at all routers. Else ``num_ports``.
    num_sources, entry_channels
        What has a queue of packets: nodes of a direct network, else ports of hosts, and how many
        injection channels each has, at most.
    between, entries, exits
        The lines.
    """

    num_routers: int
    num_ports: int
    network_ports: int
    num_sources: int
    entry_channels: int
    between: Lines
    entries: Lines
    exits: Lines

    @property
    def uneven(self) -> bool:
        """Whether lines differ in latency, or some are slower than a flit per cycle."""
        every = (self.between, self.entries, self.exits)
        return any((each.cycles != 1).any() or (each.share != each.whole).any() for each in every)


def wiring(topology: Topology, router: Router) -> Wiring:
    """Return how the routers of a network are wired.

    Raises
    ------
    InputError
        If a channel of a direct network is faster than a flit per cycle.
    """
    return _direct(topology, router) if topology.direct else _hosted(topology, router)


def _direct(topology: Topology, router: Router) -> Wiring:
    wired, nodes = ports(topology), topology.num_hosts
    first = wired.num_network_ports
    injection, ejection = end_channels(topology, router)
    fast = topology.channel_bandwidth > 1
    if fast.any():
        channel = int(np.argmax(fast))
        rate = topology.channel_bandwidth[channel]
        found = f"channel {topology.channel_name(channel)} of bandwidth {rate:g}"
        raise InputError(topology.name, found, "at most 1 where each node is host and router")
    every = np.arange(topology.num_channels)
    ends = topology.channel_source, wired.out_port, topology.channel_target, wired.in_port
    entry, leave = np.arange(nodes * injection), np.arange(nodes * ejection)
    return Wiring(
        nodes, first + max(injection, ejection), first, nodes, injection,
        between=_lines(topology, ends, every, np.ones_like(every)),
        entries=_alike(*np.divmod(entry, injection), entry // injection, first + entry % injection),
        exits=_alike(leave // ejection, first + leave % ejection, leave // ejection, 0 * leave),
    )  # fmt: skip


def _hosted(topology: Topology, router: Router) -> Wiring:
    for name in ("injection_channels", "ejection_channels"):
        if getattr(router, name) != 1:
            wanted = f"1: {topology.name} says which channels its hosts have"
            raise InputError(name, str(getattr(router, name)), wanted)
    wired, inside = hosted_ports(topology), topology.num_network_channels
    channel, lane = each_lane(wired.lanes)
    many = wired.lanes[channel]
    out_port, in_port = wired.out_port[channel] + lane, wired.in_port[channel] + lane
    source, target = (
        each[channel].astype(np.int64) - topology.num_hosts
        for each in (topology.channel_source, topology.channel_target)
    )
    into = (channel >= inside) & (channel < inside + topology.num_ports)
    out_of = channel >= inside + topology.num_ports

    def chosen(which: Bools, *ends: Ints) -> Lines:
        source, out_port, target, in_port = (each[which] for each in ends)
        joined = source, out_port, target, in_port
        return _lines(topology, joined, channel[which], many[which])

    return Wiring(
        topology.num_routers, wired.num_ports, wired.num_ports, topology.num_ports,
        int(wired.lanes[inside : inside + topology.num_ports].max(initial=1)),
        between=chosen(channel < inside, source, out_port, target, in_port),
        entries=chosen(into, channel - inside, lane, target, in_port),
        exits=chosen(out_of, source, out_port, channel - inside - topology.num_ports, lane),
    )  # fmt: skip


def _lines(
    topology: Topology,
    ends: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]],
    channel: Ints,
    lanes: Ints,
) -> Lines:
    rates, place = np.unique(topology.channel_bandwidth[channel] / lanes, return_inverse=True)
    parts = [Fraction(float(rate)).limit_denominator(FINEST) for rate in rates]
    for rate, part in zip(rates, parts, strict=True):
        if part == 0:
            found = f"a channel of bandwidth {rate:g}"
            raise InputError(topology.name, found, f"at least 1/{FINEST} of the reference rate")
    share = np.array([part.numerator for part in parts], np.int64)
    whole = np.array([part.denominator for part in parts], np.int64)
    source, out_port, target, in_port = (np.asarray(each, np.int64) for each in ends)
    cycles = topology.channel_cycles[channel].astype(np.int64)
    return Lines(source, out_port, target, in_port, channel, cycles, share[place], whole[place])


def _alike(
    source: Ints,
    out_port: Ints,
    target: Ints,
    in_port: Ints,
) -> Lines:
    """Return the lines of nodes that are host and router in one."""
    one = np.ones_like(source)
    return Lines(source, out_port, target, in_port, -one, one, one, one)
