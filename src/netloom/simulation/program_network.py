"""A network that runs programs, on any engine, and what messages take in it while it is idle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from netloom.base.arrays import Ints, Records
from netloom.routing import Routing, VirtualChannelRouting, hosted_ports
from netloom.routing.by_hop.tables import HopTables
from netloom.routing.virtual_channel_tables import TABLE
from netloom.simulation.agenda import ProgramEngine
from netloom.simulation.network.routers import Router, end_channels
from netloom.topology import Topology

MOST_STEPS = 2**30
"""Most sources times channels through which the quickest ways are looked for."""

SOURCES_AT_ONCE = 256

TINY = 1e-6
"""Cycles that channels are taken to be longer, so that none is of length 0."""


class Rules(Protocol):
    """By what a network without virtual-channel routers runs programs, as a dataclass.

    Its fields are what answers say of it. Flows have ``FlowRules``.
    """

    engine_name: ClassVar[str]

    def words(self) -> str:
        """Return them as a person says them."""

    def make_engine(
        self, topology: Topology, routing: Routing, *, switch_cycles: int
    ) -> ProgramEngine:
        """Return an engine that has not begun. ``switch_cycles``: see ``NetworkProgram``."""

    def zero_load_latency(self, topology: Topology, hops: float, flits: float) -> float:
        """Return a message's latency over so many hops of the idle network. Both may be means."""

    def zero_load_latencies(self, rows: Records) -> Ints:
        """Return the latency of each message, exactly. See ``ProgramNetwork``."""


@dataclass(frozen=True, eq=False)
class ProgramNetwork:
    """A network and the engine that runs programs on it.

    It has virtual-channel routers, or rules of another engine. The routing is made for the
    routers' VCs, or gives the paths of each pair of nodes. The other fields are those of
    ``NetworkProgram``.
    """

    topology: Topology
    router: Router | Rules
    routing: VirtualChannelRouting | Routing
    packet_flits: int
    switch_cycles: int
    seed: int

    @property
    def engine_name(self) -> str:
        """What ``--engine`` calls it."""
        return "network" if isinstance(self.router, Router) else self.router.engine_name

    @property
    def routing_name(self) -> str:
        """The routing, as a person calls it."""
        return str(getattr(self.routing, "name", self.routing))

    @property
    def router_name(self) -> str:
        """What switches, as a person says it."""
        if not isinstance(self.router, Router):
            return self.router.words()
        vcs, flits = self.router.vcs, self.router.buffer_flits
        return f"{self.router.switching} routers of {vcs} VCs of {flits} flits"

    def make_engine(self, *, by_node: bool = False) -> ProgramEngine:
        """Return an engine that has not begun. ``by_node``: see ``NetworkProgram``."""
        if not isinstance(self.router, Router):
            assert not isinstance(self.routing, VirtualChannelRouting)
            return self.router.make_engine(
                self.topology, self.routing, switch_cycles=self.switch_cycles
            )
        from netloom.simulation.network.engine import NetworkProgram

        flits, switch = self.packet_flits, self.switch_cycles
        made = partial(NetworkProgram, self.topology, self.routing, self.router)  # type: ignore[arg-type]
        return made(packet_flits=flits, switch_cycles=switch, seed=self.seed, by_node=by_node)

    def zero_load_latency(self, hops: float, flits: float) -> float:
        """Return a message's latency over so many hops of the idle network. Both may be means.

        The packets of a message that is cut follow each other without a gap.
        """
        if not isinstance(self.router, Router):
            return self.router.zero_load_latency(self.topology, hops, flits)
        first = min(flits, self.packet_flits)
        return self.router.zero_load_cycles(hops, first) + flits - first

    def zero_load_latencies(self, rows: Records) -> Ints:
        """Return the latency of each message over the hops it took, were the network idle.

        Exact without routers. With them, it is exact for messages of one packet if buffers let a
        channel be used in every cycle (see ``Router.zero_load_cycles``). For longer messages
        it is a lower bound. The last or last but one packet in its source's queue waits only for
        its predecessors there. All flits must pass the target's ejection channels. It is also a
        lower bound if channels differ, because the hops take at least as long as on the quickest
        path.

        ``rows`` are records of rows that sent a message which has arrived: int64[len(rows)] cycles.

        Examples
        --------
        >>> from netloom.routing import virtual_channel_routing
        >>> from netloom.simulation.network.routers import router
        >>> from netloom.topology import mesh
        >>> net, single = mesh(4, 4), router("single-cycle")
        >>> routing = virtual_channel_routing(net, "default", num_vcs=single.vcs)
        >>> network = ProgramNetwork(net, single, routing, 5, switch_cycles=0, seed=0)
        >>> rows = np.array([(3, 5), (3, 12)], [("hops", "i4"), ("flits", "i4")])
        >>> network.zero_load_latencies(rows)
        array([14, 21])
        """
        if not isinstance(self.router, Router):
            return self.router.zero_load_latencies(rows)
        flits, hops = rows["flits"].astype(np.int64), rows["hops"].astype(np.int64)
        router, packet_flits = self.router, self.packet_flits
        packets = -(-flits // packet_flits)
        if _ways_differ_in_length(self.routing):
            hops = np.where(packets > 1, 1, hops)
        injection, ejection = end_channels(self.topology, router)
        if self.topology.ports_listed:  # the lanes of a host's port
            lanes = hosted_ports(self.topology).lanes[self.topology.num_network_channels :]
            injection, ejection = (int(each.max(initial=1)) for each in np.split(lanes, 2))
        last_flits = flits - (packets - 1) * packet_flits
        short = _alone(router, hops, last_flits)
        last = (packets - 1) // injection * _taken(router, hops, packet_flits) + short
        before = (packets - 2) // injection * _taken(router, hops, packet_flits)
        before += _alone(router, hops, packet_flits)
        ejected = short - last_flits + -(-flits // ejection)
        cut = np.maximum(np.maximum(last, before), ejected)
        found = np.where(packets > 1, cut, short)
        return found + _longer(self.topology, router, rows)


def _longer(topology: Topology, router: Router, rows: Records) -> Ints:
    """Return how much longer than with channels of a cycle each message takes at least, int64[].

    By the quickest way between its hosts, if that has as many hops as the message took. Nothing
    where there are too many hosts and channels to look for it.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    none, inside = np.zeros(len(rows), np.int64), topology.num_network_channels
    if (topology.channel_cycles == 1).all():
        return none
    sources, row = np.unique(rows["source"], return_inverse=True)
    if len(sources) * topology.num_channels > MOST_STEPS:
        return none
    longer = np.zeros(len(rows))
    cycles = topology.channel_cycles.astype(np.float64)
    cycles[:inside] *= router.channel_cycles
    key = topology.source_end.astype(np.int64) * topology.num_ends + topology.target_end
    quickest = np.lexsort([cycles, key])
    quickest = quickest[np.unique(key[quickest], return_index=True)[1]]
    ends = topology.source_end[quickest], topology.target_end[quickest]
    shape = (topology.num_ends,) * 2
    graph = csr_array((cycles[quickest] + TINY, ends), shape=shape)
    for first in range(0, len(sources), SOURCES_AT_ONCE):
        some = slice(first, first + SOURCES_AT_ONCE)
        away = dijkstra(graph, indices=sources[some])
        here = (row >= first) & (row < first + SOURCES_AT_ONCE)
        longer[here] = away[row[here] - first, rows["target"][here]]
    plain = rows["hops"].astype(np.int64) * router.channel_cycles + 2 * topology.ports_listed
    return np.asarray(np.maximum(np.floor(longer).astype(np.int64) - plain, 0))


def _alone(router: Router, hops: Ints, flits: Any) -> Ints:
    """Latency of a packet in an idle network."""
    return np.asarray(router.zero_load_cycles(hops, flits), np.int64)  # type: ignore[arg-type]


def _taken(router: Router, hops: Ints, flits: int) -> Ints:
    """Cycles for which a packet has an injection channel for itself."""
    if router.switching != "circuit":
        return np.full(len(hops), flits)
    times = router.timing()
    flight = times.injection + hops * times.flit + times.ejection
    return _alone(router, hops, flits) - flight + 1  # until its last flit has left the source


def _ways_differ_in_length(routing: VirtualChannelRouting | Routing) -> bool:
    """Whether packets of one message may cross different numbers of channels.

    Of routings by rule, table or path only those of a table may: the others are minimal, or draw
    one path for a message. Of those by hop, those that make detours.
    """
    assert isinstance(routing, VirtualChannelRouting)
    tables = routing.tables
    if isinstance(tables, HopTables):
        return not routing.minimal and routing.routes is None
    if tables.kind != TABLE or routing.minimal:
        return False
    ports = np.bitwise_count(tables.next_slots) // tables.num_vcs
    np.fill_diagonal(ports, 0)
    return bool((ports > 1).any())
