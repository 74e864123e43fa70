"""A network of routers that can be run, cycle by cycle, with packets from outside or a program.

A program is messages that wait for each other. If nothing moves any more, the error names the
channels whose packets block each other.

If virtual channels are reserved, every connection owns one VC of each channel of its path, for
good. So iWarp's logical channels work: connections share the bandwidth of a channel, flit by flit,
but no buffer. None can wait for another, whatever the paths: nothing has to be asked about
deadlock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Ints
from netloom.base.errors import DeadlockError, InputError, NoRouteError
from netloom.bounds.demand import listed_pairs
from netloom.routing import (
    Paths,
    Routing,
    SourceRoutes,
    UpDown,
    draw_aux,
    hosted_ports,
    parse_routing,
    paths,
    ports,
    virtual_channel_routing,
)
from netloom.routing.by_hop.listed import port_lists, states
from netloom.routing.by_hop.tables import GIVEN, hop_tables
from netloom.routing.parse import ROUTINGS
from netloom.routing.virtual_channel_tables import PATHS, RULES, VirtualChannelRouting, empty_tables
from netloom.routing.virtual_channels import VirtualRouting, check_slots
from netloom.simulation.agenda import LAST_CYCLE, CycleEngine
from netloom.simulation.network import layout
from netloom.simulation.network.layout import chain, make_setup, make_state, port_places, wiring
from netloom.simulation.network.routers import MOST_PACKET, Router, end_channels
from netloom.simulation.steady import Delivered
from netloom.topology import Topology
from netloom.workload import Traffic
from netloom.workload.counter_random import uniforms
from netloom.workload.programs.messages import Messages
from netloom.workload.traffic.stream import LONGEST

EARNED = 500_000_000
"""Flit-hops of networks of one router after which it is given a kernel of its own: half a minute.
To compile it takes about what it has saved after as many more."""

RUN: Counter[str] = Counter()
"""Flit-hops run by this process, by what a kernel of the router's own knows."""

KEPT: dict[tuple[str, Callable[[str], Any]], bool] = {}
"""Whether such a kernel was compiled before."""


class Engine:
    """The routers, buffers, channels and source queues of one network, and the cycle they are at.

    Parameters
    ----------
    topology, routing, router
        The network, ``routing.virtual_channel_routing``'s answer for it, and its routers.
    shortest_packet
        Least flits of any packet that will be given. Bounds how many packets a buffer can hold.
    connections
        For reserved VCs: the connection that owns each VC of each injection channel,
        int32[num_nodes, injection channels, vcs], -1 where none does. Otherwise None.
    specialize
        Whether a kernel is compiled for its router alone: some 5 s once, for a tenth to a third
        less time. None: if networks of the router run long enough.

    Raises
    ------
    InputError
        If there are too many nodes, or a buffer may have to hold too many packets.
    """

    def __init__(
        self,
        topology: Topology,
        routing: VirtualChannelRouting,
        router: Router,
        *,
        shortest_packet: int = 1,
        connections: Ints | None = None,
        specialize: bool | None = None,
    ) -> None:
        self.topology, self.routing, self.router = topology, routing, router
        self.specialize, self._hops = specialize, 0
        self.shortest_packet = shortest_packet
        self.wiring = wiring(topology, router)
        self.setup = make_setup(topology, self.wiring, routing, router, shortest_packet)
        self.state = make_state(topology, self.wiring, self.setup, router, connections)
        hosts = self.state.hosts
        self.born_packets, self.born_flits = hosts["born"], hosts["born_flits"]
        """What each node was given to send."""
        self.delivered_packets = hosts["delivered"]
        """How many of these packets were delivered."""
        known = partial(layout.known_of, self.setup, routing.tables)
        self._known = known(own=True), known(own=False)

    @property
    def cycle(self) -> int:
        """The next cycle to be run."""
        return self.count("cycle")

    def advance(self, packets: Ints, until: int) -> Delivered:
        """Run up to, and without, the cycle ``until``. Return the packets delivered meanwhile.

        Those may have an ``arrival`` of a few cycles later: their tail is on the ejection channel.
        ``packets`` is int32[n, 6], ``layout.BORN`` of the packets born in these cycles, by birth.

        Raises
        ------
        InputError
            If a packet is too long: for a buffer, where packets move only as a whole.
        DeadlockError
            If packets block each other for good. Names the channels.
        """
        from netloom.simulation.network.kernels.network import compiled

        clock, logs, came_back = self.state.clock, [], None
        assert packets.shape[1:] == (len(layout.BORN),)
        assert not len(packets) or self.cycle <= packets[0, 0] <= packets[-1, 0] < until
        born = np.ascontiguousarray(packets, np.int32)
        flits = born[:, 3]
        self.check_lengths(*((flits.min(), flits.max()) if len(born) else (MOST_PACKET, 0)))
        clock["taken"] = 0
        kernel = self.compiled(compiled, born, until)
        while came_back != layout.DONE:
            came_back = kernel(self.setup, self.routing.tables, self.state, born, until)
            if came_back == layout.PACKETS_FULL:
                self.make_room(len(packets))
            elif came_back == layout.STUCK:
                raise deadlock(self)
            else:
                noted = self.state.log[: self.count("logged")]
                logs.append(np.array([noted[name] for name in layout.DELIVERED]))
                clock["logged"] = 0
        return Delivered(*(logs[0] if len(logs) == 1 else np.concatenate(logs, axis=1)))

    def compiled(self, compiled: Callable[[str], Any], *given: Any) -> Any:
        """Return the kernel that runs it, which takes its setup, tables and state, and ``given``.

        Which one is a matter of time, not of answers. One of its own is compiled once networks of
        its router have been run for ``EARNED`` flit-hops, and taken at once where it is kept.
        """
        own, usual = self._known
        hops, mine = self.count("link_hops"), compiled(own)
        RUN[own] += hops - self._hops
        self._hops, special = hops, self.specialize
        if special is None:
            special = RUN[own] >= EARNED or KEPT.get((own, compiled))
        if special is None:
            from netloom.base.compilation import is_kept

            arguments = self.setup, self.routing.tables, self.state, *given
            special = KEPT[own, compiled] = is_kept(mine, *arguments)
        return mine if special else compiled(usual)

    def check_lengths(self, least: int, most: int) -> None:
        """Raise InputError where the longest packet is too long."""
        router = self.router
        if router.whole_packets and most > router.buffer_flits:
            wanted = f"at most buffer_flits = {router.buffer_flits} with {router.switching}"
            raise InputError("packet length", f"{most} flits", wanted)
        if most + self.setup.circuit > MOST_PACKET:
            raise InputError("packet length", f"{most} flits", f"less than {MOST_PACKET}")
        assert least >= self.shortest_packet

    def make_room(self, least: int) -> None:
        """Make the table of packets larger: at least twice as large."""
        old, clock = self.state.packets, self.state.clock
        more = max(len(old), least)
        packets = np.concatenate([old, np.zeros(more, layout.PACKET)])
        chain(packets["next"], len(old), int(clock["free_packet"][0]))
        clock["free_packet"] = len(old)
        clock["free_packets"] += more
        self.state = self.state._replace(packets=packets)

    # What a run may look at between two calls.

    def count(self, name: str) -> int:
        """Return one of the counts of ``layout.CLOCK``, such as ``link_hops``."""
        return int(self.state.clock[name][0])

    def flits(self) -> dict[str, int]:
        """Return the flits injected, ejected, in buffers and on channels. They must balance."""
        flits = {"injected": self.count("injected"), "ejected": self.count("ejected")}
        flits["buffered"] = int(self.state.inputs["count"].sum(dtype=np.int64))
        flits["flying"] = int(self.state.arrivals_due.sum())
        balance = flits["ejected"] + flits["buffered"] + flits["flying"]
        assert flits["injected"] == balance, f"flits were lost or made: {flits}"
        return flits

    def channel_flits(self) -> Ints:
        """Return the flits that have crossed each network channel (int64[num_network_channels])."""
        between = self.wiring.between
        crossed = self.state.ports["crossed"]
        here = crossed[port_places(self.setup, between.source, between.out_port)]
        count = self.topology.num_network_channels
        return np.bincount(between.channel, here, count).astype(np.int64)

    def buffered(self) -> Ints:
        """Return the flits in every input buffer, int64[num_routers, ports, vcs]."""
        setup, count = self.setup, self.state.inputs["count"].astype(np.int64)
        used = count.reshape(-1, setup.num_slots)
        return used.reshape(len(used), setup.num_ports, setup.vc_stride)[:, :, : setup.num_vcs]

    def vc_flits(self) -> Ints:
        """Return the flits in the buffers of each VC of all channels between routers."""
        between = self.wiring.between
        return np.asarray(self.buffered()[between.target, between.in_port].sum(axis=0))


WORD = 64


def deadlock(engine: Engine) -> DeadlockError:
    """Return the error that names a cycle of channels whose packets block each other.

    A head waits for the packet that owns an output slot it asks for (of several, the lowest: where
    nothing moves, none is nearer to being free than another). A packet without credit waits for
    the front of the buffer at the other end.
    """
    held = np.flatnonzero(engine.state.inputs["count"])
    place = int(held[0]) if len(held) else -1
    seen: dict[int, int] = {}
    while place >= 0 and place not in seen:
        seen[place] = len(seen)
        place = _waits_for(engine, place)
    knot = list(seen)[seen[place] :] if place >= 0 else []
    where = f"{engine.topology.name}, cycle {engine.cycle}"
    return DeadlockError(where, tuple(filter(None, (_name(engine, at) for at in knot))))


def _waits_for(engine: Engine, place: int) -> int:
    """Return the slot whose packet must move before that of a slot can; -1 if none is known."""
    setup, state = engine.setup, engine.state
    node, slot = divmod(place, setup.num_slots)
    first = node * setup.num_slots

    def is_in(name: str, of: int) -> bool:
        word, bit = divmod(of, WORD)
        return bool(int(state.masks[name][node * setup.words + word]) >> bit & 1)

    if is_in("active", slot):
        return _other_end(engine, node, int(state.inputs["out"][place]))
    for out in range(setup.num_slots):
        word, bit = divmod(out, WORD)
        if int(state.allowed[place * setup.words + word]) >> bit & 1:
            if is_in("free", out):  # without room for a whole packet
                return _other_end(engine, node, out)
            return first + int(state.outputs["owner"][first + out])
    return -1


def _other_end(engine: Engine, node: int, out: int) -> int:
    setup = engine.setup
    port, vc = divmod(out, setup.vc_stride)
    down = int(engine.state.ports["down"][node * setup.num_ports + port])
    there, slot = divmod(down, 1 << setup.slot_bits)
    return there * setup.num_slots + slot + vc if down >= 0 else -1


def _name(engine: Engine, place: int) -> str:
    """Name the channel and VC that a buffer is at the end of. Empty for a source's."""
    setup, between = engine.setup, engine.wiring.between
    node, slot = divmod(place, setup.num_slots)
    port, vc = divmod(slot, setup.vc_stride)
    into = np.flatnonzero((between.target == node) & (between.in_port == port))
    if not len(into):
        return ""
    return f"{engine.topology.channel_name(int(between.channel[into[0]]))} (VC {vc})"


MOST_CONNECTIONS = 2**20
"""Most pairs of nodes that connections are sought for."""


@dataclass(frozen=True, eq=False)
class Reservation:
    """The connections of a network and what they own.

    A packet's ``aux`` is the number of its connection.

    Attributes
    ----------
    routing
        The path of each connection, one VC at a time. Its ``tables`` are the engine's.
    connections
        int32[num_nodes, injection channels, vcs], the connection that owns each VC of each
        injection channel, −1 where none does: the engine's ``connections``. If hosts hang on
        routers, their ports are the first index.
    sources, targets
        int32[num_connections] nodes.
    """

    routing: VirtualChannelRouting
    connections: Ints
    sources: Ints
    targets: Ints

    def aux_of(self, sources: ArrayLike, targets: ArrayLike) -> Ints:
        """Return int32[num_packets], the connection of each packet by its nodes.

        Of several between the same two nodes, the first.

        Raises
        ------
        NoRouteError
            If a pair of nodes has no connection.
        """
        num_nodes = self.routing.topology.num_hosts
        start, end = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
        pairs, wanted = self.sources.astype(np.int64) * num_nodes, start * num_nodes + end
        pairs += self.targets
        order = np.argsort(pairs, kind="stable")
        known = pairs[order]
        place = np.searchsorted(known, wanted)
        missing = np.append(known, -1)[place] != wanted
        if missing.any():
            packet = int(np.argmax(missing))
            pair = int(start[packet]), int(end[packet])
            raise NoRouteError(*pair, "a connection for every pair that sends", "reserved VCs")
        return order[place].astype(np.int32)


def routing_for(topology: Topology, asked: VirtualRouting, router: Router) -> VirtualChannelRouting:
    """Return a routing for the VCs of a router, and for the channels that it has for hosts."""
    into, out_of = end_channels(topology, router)
    return virtual_channel_routing(
        topology, asked, num_vcs=router.vcs, injection_channels=into, ejection_channels=out_of
    )


def reserve(
    topology: Topology, routing: str | Routing, traffic: Traffic, router: Router
) -> Reservation:
    """Return a connection for every pair of nodes with traffic, on VCs of its own.

    Connections are numbered by source, then target. Each takes the path of its routing, and the
    lowest free VC of each of its channels.
    The connections of a source take turns on its injection channels, those of a target on its
    ejection channels.

    Parameters
    ----------
    routing
        The name of a routing with one path for each pair, or such a routing: ``default``,
        ``dimension-order``, ``shortest-path`` or ``routes:FILE``. Half-way round a ring, the
        growing direction is taken.

    Raises
    ------
    InputError
        If the routing leaves a choice, or a channel has more connections than VCs.
    NoRouteError
        If the routing has no path for a pair.

    Examples
    --------
    >>> from netloom.simulation.network.routers import Router
    >>> from netloom.topology import mesh
    >>> from netloom.workload import parse_traffic
    >>> net, few = mesh(4), Router(vcs=2, switching="reserved")
    >>> reserve(net, "default", parse_traffic("pairs:0-2,1-3", net), few).aux_of([1], [3])
    array([1], dtype=int32)
    >>> reserve(net, "default", parse_traffic("pairs:0-2,1-3,1-2,2-0", net), few)
    Traceback (most recent call last):
        ...
    netloom.InputError: reserved VCs: found 3 connections on channel 1 -> 2; expected at
    most 2, one a VC
    """
    if isinstance(routing, str) and routing in RULES and routing != "dimension-order":
        wanted = f"one path for each pair of nodes, as reserved VCs need: {ROUTINGS}"
        raise InputError(f"routing '{routing}'", "a routing with a choice", wanted)
    named = parse_routing(routing, topology) if isinstance(routing, str) else routing
    if named.several:
        found = "a routing of several paths for each pair of nodes"
        raise InputError(f"routing '{named}'", found, f"one path, as reserved VCs need: {ROUTINGS}")
    if not topology.ports_listed:
        check_slots(topology, router.vcs, *end_channels(topology, router))
    if listed_pairs(traffic) > MOST_CONNECTIONS:
        found = f"{listed_pairs(traffic)} pairs of nodes in {traffic.name}"
        raise InputError("reserved VCs", found, f"at most {MOST_CONNECTIONS} connections")
    source, target, _ = traffic.matrix()
    routed = paths(topology, named, source, target)
    made = reserve_paths(topology, source, target, routed, router, name=str(named))
    pairs = source.astype(np.int64) * topology.num_ends + target
    routes = SourceRoutes(str(named), pairs, routed)
    minimal = not isinstance(named, SourceRoutes | UpDown)
    return replace(made, routing=replace(made.routing, routes=routes, minimal=minimal))


def reserve_paths(
    topology: Topology,
    source: Ints,
    target: Ints,
    routed: Paths,
    router: Router,
    *,
    name: str = "given paths",
) -> Reservation:
    """Return given connections with given paths, on VCs of their own. See ``reserve``.

    ``source`` and ``target`` are int32[num_connections] nodes, of which several connections may
    join the same two. ``routed`` has the path of each, and ``name`` is what to call the paths.

    Examples
    --------
    >>> from netloom.routing import Paths
    >>> from netloom.simulation.network.routers import Router
    >>> from netloom.topology import mesh
    >>> twice = Paths(np.array([0, 1, 2]), np.array([0, 0], np.int32))
    >>> ends = np.array([0, 0], np.int32), np.array([1, 1], np.int32)
    >>> reserve_paths(mesh(2), *ends, twice, Router(vcs=2, switching="reserved")).connections[0]
    array([[0, 1]], dtype=int32)
    """
    assert len(source) == len(target) == len(routed)
    if topology.ports_listed:
        return _between_hosts(topology, source, target, routed, router, name)
    injection, ejection = end_channels(topology, router)
    check_slots(topology, router.vcs, injection, ejection)
    node = topology.name_of
    _check(source, injection * router.vcs, lambda at: f"at the injection of node {node(at)}")
    _check(target, ejection * router.vcs, lambda at: f"at the ejection of node {node(at)}")
    _check(routed.channels, router.vcs, lambda at: f"on channel {topology.channel_name(at)}")

    wired, entry, leave = ports(topology), rank(source), rank(target)
    hop_port = wired.out_port[routed.channels].astype(np.int64)
    hop_slot = hop_port * router.vcs + rank(routed.channels)
    last_port = wired.num_network_ports + leave % ejection
    last_slot = last_port * router.vcs + leave // ejection
    slots = np.insert(hop_slot, routed.offsets[1:], last_slot)
    tables = empty_tables(topology, PATHS, router.vcs, ejection)._replace(
        path_offsets=routed.offsets + np.arange(len(routed.offsets)),
        path_slots=np.int64(1) << slots,
    )
    connections = np.full((topology.num_hosts, injection, router.vcs), -1, np.int32)
    connections[source, entry % injection, entry // injection] = np.arange(len(source))
    routing = VirtualChannelRouting(name, topology, tables, needs_aux=True, minimal=False)
    return Reservation(routing, connections, source, target)


def _between_hosts(
    topology: Topology, source: Ints, target: Ints, routed: Paths, router: Router, name: str
) -> Reservation:
    """Return connections between hosts that hang on routers. See ``reserve_paths``.

    The lanes of a bundle have each VC once more.
    """
    first, ports = topology.num_network_channels, topology.num_ports
    lanes = hosted_ports(topology).lanes.astype(np.int64)
    port, sink = routed.ports
    for channels in (first + port, routed.channels, first + ports + sink):
        _check(channels, lanes * router.vcs, lambda at: f"on channel {topology.channel_name(at)}")
    lists, vcs = port_lists(topology), np.int64(1) << np.arange(router.vcs)
    each, channels = states(topology, vcs, router.vcs), routed.channels
    layer = (rank(channels) // lanes[channels]).astype(np.uint8)
    ends = {"path_entry": port.astype(np.int32), "path_sink": sink.astype(np.int32)}
    hops = {"path_offsets": routed.offsets, "path_starts": lists.start[channels]}
    given = hops | ends | {"path_layer": layer, "ports": lists.ports}
    tables = hop_tables(topology, router.vcs, [], each, choice=GIVEN, **given)
    entry, own = rank(port), lanes[first + port]
    most = int(lanes[first : first + ports].max(initial=1))
    connections = np.full((ports, most, router.vcs), -1, np.int32)
    connections[port, entry % own, entry // own] = np.arange(len(source))
    routing = VirtualChannelRouting(name, topology, tables, needs_aux=True, minimal=False)
    return Reservation(routing, connections, source, target)


def rank(owner: Ints) -> Ints:
    """Return how many of those before each one have the same owner, int64[len(owner)]."""
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner)
    firsts = np.cumsum(counts) - counts
    found = np.empty(len(owner), np.int64)
    found[order] = np.arange(len(owner)) - firsts[owner[order]]
    return found


def _check(owners: Ints, most: Ints | int, place: Callable[[int], str]) -> None:
    counts = np.bincount(owners, minlength=np.size(most))
    most = np.broadcast_to(most, len(counts))
    at = int(np.argmax(counts / most))
    if counts[at] > most[at]:
        found = f"{counts[at]} connections {place(at)}"
        raise InputError("reserved VCs", found, f"at most {most[at]}, one a VC")


COINS = 20
"""First stream of chance of ``NodeChance``."""

MOST_PACKETS = 2**24
"""Most packets that a cycle may send. They take 48 bytes each."""


class NodeChance:
    """Chance of messages by their node, and by how many that has sent before.

    ``of`` returns what stands for a generator of NumPy: each call of ``integers`` draws one number
    for each message, whatever other messages there are.
    """

    def __init__(self, seed: int, num_nodes: int) -> None:
        self._seed, self._sent = seed, np.zeros(num_nodes, np.int64)
        self._calls, self._node, self._index = 0, self._sent[:0], self._sent[:0]

    def of(self, source: Ints) -> NodeChance:
        """Go on to messages of these nodes, in the order in which each sends them."""
        self._index = rank(source) + self._sent[source]
        self._calls, self._node = 0, source.astype(np.int64)
        self._sent += np.bincount(source, minlength=len(self._sent))
        return self

    def integers(
        self, low: int, high: Any, size: int | None = None, dtype: Any = np.int64
    ) -> NDArray[Any]:
        """Return whole numbers from ``low`` on, below ``high``, one for each message."""
        assert size in (None, len(self._node))
        drawn = uniforms(self._seed, COINS + self._calls, self._node, self._index)
        self._calls += 1
        return np.asarray(low + np.floor(drawn * (np.asarray(high) - low)), dtype)


class NetworkProgram(CycleEngine):
    """The routers of one network, a program, and the cycle it is at.

    Parameters
    ----------
    topology, routing, router
        The network, ``routing.virtual_channel_routing``'s answer for it, and its routers.
    packet_flits
        Most flits of a packet: longer messages are cut, and all their packets are queued at their
        source at once.
    switch_cycles, seed
        See ``ProgramEngine``. The seed is that of what routing leaves to chance.
    reservation
        For reserved VCs: the connections. ``routing`` is its own.
    by_node
        Whether random choices of the routing depend on a message's node and on the number of
        messages that the node has sent before. They are then the same whatever other nodes do.
        Otherwise they depend on the order of rows.

    Raises
    ------
    InputError
        If packets can be longer than a buffer that must hold all of one, or VCs are to be reserved
        and nothing says for whom.

    Examples
    --------
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.simulation.network.routers import router
    >>> from netloom.topology import mesh
    >>> from netloom.workload.programs.messages import messages
    >>> net, single = mesh(4, 4), router("single-cycle")
    >>> routing = virtual_channel_routing(net, "default", num_vcs=single.vcs)
    >>> engine = NetworkProgram(net, routing, single, packet_flits=5)
    >>> engine.append(messages(16, source=[0, 3], target=[3, 0], flits=5, after=[[], [0]]))
    >>> engine.advance(1000)
    >>> engine.rows["complete"].tolist(), single.zero_load_cycles(hops=3, flits=5)
    ([14, 28], 14)
    """

    def __init__(
        self,
        topology: Topology,
        routing: VirtualChannelRouting,
        router: Router,
        *,
        packet_flits: int,
        switch_cycles: int = 0,
        seed: int = 0,
        reservation: Reservation | None = None,
        by_node: bool = False,
    ) -> None:
        if router.switching == "reserved" and reservation is None:
            raise InputError("switching", "'reserved'", "one without connections, for a program")
        assert reservation is None or reservation.routing is routing
        if not 1 <= packet_flits <= LONGEST:
            raise InputError("packet_flits", f"{packet_flits}", f"1 to {LONGEST} flits")
        super().__init__(topology, switch_cycles=switch_cycles)
        self.packet_flits, self.reservation = packet_flits, reservation
        connections = None if reservation is None else reservation.connections
        self.network = Engine(topology, routing, router, connections=connections)
        self.network.check_lengths(packet_flits, packet_flits)
        self._coins = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7,)))
        self._by_node = NodeChance(seed, topology.num_hosts) if by_node else None

    def crossed(self) -> Ints:
        """Return the flits that have crossed each channel. See ``ProgramEngine``.

        Hosts' are those of messages that have arrived. Not known where hosts have several ports.
        """
        inside, ports = self.network.channel_flits(), self.topology.num_ports
        if ports != self.topology.num_hosts:
            return inside
        gone = self.rows[(self.rows["arrived"] >= 0) & (self.rows["path"] >= 0)]
        ends = (np.bincount(gone[end], gone["flits"], ports) for end in ("source", "target"))
        return np.concatenate([inside, *ends]).astype(np.int64)

    def append(self, messages: Messages, connections: Ints | None = None) -> None:
        """Append rows to the program. See ``ProgramEngine``.

        ``connections`` is the connection of each row that is a message, where VCs are reserved and
        their nodes do not tell it.
        """
        if self.reservation is None:
            assert connections is None
            start, end = messages.source, messages.target
            coins: Any = self._coins if self._by_node is None else self._by_node.of(start)
            coin, aux = draw_aux(self.network.routing, coins, start, end)
        else:
            coin = np.zeros(len(messages), np.int32)
            aux = np.zeros(len(messages), np.int32) if connections is None else connections
            if connections is None:  # any connection will do for a row that sends nothing
                sends = messages.moving
                ends = messages.source[sends], messages.target[sends]
                aux[sends] = self.reservation.aux_of(*ends)
        self._append(messages, np.asarray(aux, np.int32) + 1, 0)
        self.rows["coin"][messages.first :] = coin

    def advance(self, until: int) -> None:
        """Run up to, and without, a cycle. See ``ProgramEngine``."""
        from netloom.simulation.network.kernels.network import compiled_program

        assert until <= LAST_CYCLE, "a run is too long"
        network, agenda = self.network, self.agenda
        tables, came_back = network.routing.tables, None
        given = agenda, self.packet_flits, self.num_rows, until
        kernel = network.compiled(compiled_program, *given)
        while came_back != layout.DONE:
            came_back = kernel(network.setup, tables, network.state, *given)
            if came_back == layout.PACKETS_FULL:
                waiting = agenda.sent[: int(agenda.clock["sent"][0])]
                flits = agenda.rows["flits"][waiting]
                packets = int(np.sum(-(-flits // self.packet_flits), dtype=np.int64))
                if packets > MOST_PACKETS:
                    found = f"{self.packet_flits}, for {packets} packets at once"
                    raise InputError("packet_flits", found, f"so many that {MOST_PACKETS} will do")
                network.make_room(packets)
            elif came_back == layout.STUCK:
                raise deadlock(network)
