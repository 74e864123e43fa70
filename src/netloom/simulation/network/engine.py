"""A network of routers that can be run, cycle by cycle, with packets given from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import DeadlockError, InputError
from netloom.routing.port_numbers import ports
from netloom.simulation.network import layout
from netloom.simulation.network.layout import Setup, State
from netloom.simulation.network.routers import MOST_FLITS, end_channels
from netloom.simulation.tally import Delivered
from netloom.topology.alike import check_alike, check_direct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.routing.virtual_channels import VirtualChannelRouting
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology

FIRST_LOG = 8192
"""Delivered packets that are noted before the kernel comes back, beyond what one cycle can make."""

FIRST_PACKETS = 1024
"""Packets on their way that there is room for at first; more is made when needed."""

SCRATCH = ("wanted", "granted", "requests", "early", "taken")

PATIENCE = 2_000
"""Cycles without any movement after which a network that holds packets is stuck; more than any
delay of its parts. The acknowledgement of a circuit may take longer."""

MOST_NODES = 2**20
"""Most nodes: a node, a port and a slot share 32 bits."""

MOST_PACKETS = 255
"""Most packets that have a place in one buffer at once: their places are uint8."""


class Engine:
    """The routers, buffers, channels and source queues of one network, and the cycle they are at.

    Parameters
    ----------
    topology, routing, router
        The network, ``routing.virtual_channel_routing``'s answer for it, and its routers.
    shortest_packet
        Least flits of any packet that will be given; bounds how many packets a buffer can hold.
    connections
        For reserved VCs: the connection that owns each VC of each injection channel,
        int32[num_nodes, injection channels, vcs], -1 where none does; otherwise None.

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
        connections: NDArray[np.int32] | None = None,
    ) -> None:
        self.topology, self.routing, self.router = topology, routing, router
        self.shortest_packet = shortest_packet
        check_direct(topology, "simulation flit by flit")
        check_alike(topology, "simulation flit by flit")
        if topology.num_hosts > MOST_NODES:
            raise InputError(topology.name, f"{topology.num_hosts} nodes", f"at most {MOST_NODES}")
        if _places(router, shortest_packet) > MOST_PACKETS:
            found = f"{router.buffer_flits}, for packets of {shortest_packet} flits"
            most = (MOST_PACKETS - 1) * shortest_packet
            wanted = f"at most {most}, room for {MOST_PACKETS} packets"
            raise InputError("buffer_flits", found, wanted)
        self.setup = _setup(topology, routing, router, shortest_packet)
        self.state = _state(topology, self.setup, router.buffer_flits, connections)

    @property
    def cycle(self) -> int:
        """The next cycle to be run."""
        return self.count("cycle")

    def advance(self, packets: NDArray[np.int32], until: int) -> Delivered:
        """Run up to, and without, the cycle ``until``; return the packets delivered meanwhile.

        Those may have an ``arrival`` of a few cycles later: their tail is on the ejection channel.
        ``packets`` is int32[n, 6], ``layout.BORN`` of the packets born in these cycles, by birth.

        Raises
        ------
        InputError
            If a packet is too long: for a buffer, where packets move only as a whole.
        DeadlockError
            If packets block each other for good; names the channels.
        """
        from netloom.simulation.network.kernels.network import run, run_plain

        kernel, given = (run_plain, self.plain) if self.plain else (run, tuple(self.setup))
        clock = self.state.clock
        assert packets.shape[1:] == (len(layout.BORN),)
        assert not len(packets) or self.cycle <= packets[0, 0] <= packets[-1, 0] < until
        self.check_lengths(packets[:, layout.BORN.index("flits")])
        clock["taken"] = 0
        born = np.ascontiguousarray(packets, np.int32)
        logs = []
        came_back = None
        while came_back != layout.DONE:
            came_back = kernel(given, self.routing.tables, self.state, born, until)
            if came_back == layout.PACKETS_FULL:
                self.make_room(len(packets))
            elif came_back == layout.STUCK:
                raise deadlock(self.topology, self.setup, self.state, self.cycle)
            else:
                logs.append(self._logged())
                clock["logged"] = 0
        return Delivered(*(logs[0] if len(logs) == 1 else np.concatenate(logs, axis=1)))

    def _logged(self) -> NDArray[np.int32]:
        """Return int32[8, packets], the columns of ``layout.DELIVERED`` that were noted."""
        noted = self.state.log[: int(self.state.clock["logged"][0])]
        table = noted.view(np.int32).reshape(-1, layout.LOG.itemsize // 4)
        return np.ascontiguousarray(table[:, : len(layout.DELIVERED)].T)

    @property
    def plain(self) -> tuple[int, ...] | None:
        """What a plain router's kernel is given of ``setup``; None for routers of other kinds."""
        sizes, specials = self.setup[: -len(layout.PLAIN)], self.setup[-len(layout.PLAIN) :]
        return sizes if specials == layout.PLAIN else None

    def check_lengths(self, flits: NDArray[np.integer]) -> None:
        """Raise InputError where a packet is too long."""
        router, most = self.router, int(flits.max(initial=0))
        if router.whole_packets and most > router.buffer_flits:
            wanted = f"at most buffer_flits = {router.buffer_flits} with {router.switching}"
            raise InputError("packet length", f"{most} flits", wanted)
        if most + self.setup.circuit > MOST_FLITS:
            raise InputError("packet length", f"{most} flits", f"less than {MOST_FLITS}")
        assert flits.min(initial=MOST_FLITS) >= self.shortest_packet

    def make_room(self, least: int) -> None:
        """Make the table of packets larger: at least twice as large."""
        old, clock = self.state.packets, self.state.clock
        more = max(len(old), least)
        packets = np.concatenate([old, np.zeros(more, layout.PACKET)])
        _chain(packets["next"], len(old), int(clock["free_packet"][0]))
        clock["free_packet"] = len(old)
        clock["free_packets"] += more
        self.state = self.state._replace(packets=packets)

    # What a run may look at between two calls.

    def count(self, name: str) -> int:
        """Return one of the counts of ``layout.CLOCK``, such as ``link_hops``."""
        return int(self.state.clock[name][0])

    def flits(self) -> dict[str, int]:
        """Return the flits injected, ejected, in buffers and on channels; they must balance."""
        flits = {"injected": self.count("injected"), "ejected": self.count("ejected")}
        flits["buffered"] = int(self.state.inputs["count"].sum(dtype=np.int64))
        flits["flying"] = int(self.state.arrivals_due.sum())
        balance = flits["ejected"] + flits["buffered"] + flits["flying"]
        assert flits["injected"] == balance, f"flits were lost or made: {flits}"
        return flits

    def channel_flits(self) -> NDArray[np.int64]:
        """Return the flits that have crossed each network channel (int64[num_channels])."""
        at = self.topology.channel_source * self.setup.num_ports + ports(self.topology).out_port
        crossed: NDArray[np.int64] = self.state.ports["crossed"][at].astype(np.int64)
        return crossed

    def buffered(self) -> NDArray[np.int16]:
        """Return the flits in every buffer, int16[num_nodes, ports, vcs]."""
        shape = (self.topology.num_hosts, self.setup.num_ports, self.setup.num_vcs)
        return self.state.inputs["count"].reshape(shape).copy()

    @property
    def bytes_per_node(self) -> float:
        """Bytes of state a node, without the packets on their way and the log."""
        arrays = self.state._replace(packets=self.state.clock, log=self.state.clock)
        total: int = sum(array.nbytes for array in arrays)
        return total / self.topology.num_hosts


def _places(router: Router, shortest_packet: int) -> int:
    """Most packets that own a buffer or have flits in it: the first's tail, whole ones, a head."""
    return (router.buffer_flits - 1) // shortest_packet + 2


def _setup(
    topology: Topology, routing: VirtualChannelRouting, router: Router, shortest_packet: int
) -> Setup:
    times = router.timing()
    network_ports = ports(topology).num_network_ports
    entry, leave = end_channels(topology, router)
    num_ports = network_ports + max(entry, leave)
    num_slots = num_ports * router.vcs
    longest = max(times.head_wait + 1, *times)
    adaptive = routing.tables.adaptive_vcs
    preferred = sum(adaptive << port * router.vcs for port in range(network_ports))
    circuit = router.switching == "circuit"
    every = (1 << network_ports * router.vcs) - 1
    # A head behind another packet in an adaptive VC holds the escape VCs behind it for as long as
    # that packet, on a way of its own, waits: so it goes where it fits, or nothing is before it.
    roomy = every if router.whole_packets else preferred
    exact_credits = roomy != 0 or routing.uses_credits
    return Setup(
        num_nodes=topology.num_hosts,
        num_ports=num_ports,
        network_ports=network_ports,
        num_vcs=router.vcs,
        num_slots=num_slots,
        source_slots=topology.num_hosts * num_slots,
        ring=_places(router, shortest_packet),
        entry_channels=entry,
        head_wait=times.head_wait,
        flit_delay=times.flit,
        credit_delay=times.credit,
        entry_delay=times.injection,
        entry_credit_delay=times.injection_credit,
        exit_delay=times.ejection,
        wheel=(1 << longest.bit_length()) - 1,
        arrivals_each=topology.num_hosts * (network_ports + entry),
        credits_each=topology.num_hosts * num_ports,
        heads_each=2 * topology.num_hosts * num_ports if times.head_wait else 0,
        lazy=2**15 if exact_credits else 2 * max(times.credit, times.injection_credit),
        patience=PATIENCE + 2 * topology.num_hosts * times.credit * circuit,
        preferred=preferred,
        roomy=roomy,
        buffer_flits=router.buffer_flits,
        all_vcs=(1 << router.vcs) - 1,
        whole_packets=router.whole_packets,
        whole_first=router.switching == "store-and-forward",
        circuit=circuit,
        reserved=router.switching == "reserved",
        speculative=router.speculative,
        oldest_first=router.oldest_first,
        choose_order=routing.uses_credits,
    )


def _state(
    topology: Topology, setup: Setup, buffer_flits: int, connections: NDArray[np.int32] | None
) -> State:
    nodes, slots, ports_of = setup.num_nodes, setup.num_slots, setup.num_ports
    if connections is None:
        connections = np.zeros((0,), np.int32)
    entry_vcs = nodes * setup.entry_channels * setup.num_vcs
    entries = entry_vcs if setup.reserved else nodes * setup.entry_channels
    queues = int(connections.max(initial=-1)) + 1 if setup.reserved else nodes
    buckets, words = setup.wheel + 1, (nodes + 63) // 64
    state = State(
        clock=np.zeros(1, layout.CLOCK),
        masks=np.zeros(nodes, layout.MASKS),
        inputs=np.zeros(nodes * slots, layout.INPUT),
        outputs=np.zeros(nodes * slots + entry_vcs, layout.OUTPUT),
        ports=np.zeros(nodes * ports_of, layout.PORT),
        entries=np.zeros(entries, layout.ENTRY),
        packets=np.zeros(FIRST_PACKETS, layout.PACKET),
        log=np.zeros(FIRST_LOG + 2 * nodes * ports_of, layout.LOG),
        allowed=np.zeros(nodes * slots, np.int64),
        rings=np.zeros(nodes * slots * setup.ring, np.int32),
        queue_front=np.full(queues, -1, np.int32),
        queue_back=np.full(queues, -1, np.int32),
        connections=np.ascontiguousarray(connections.ravel()),
        active=np.zeros(words, np.int64),
        sources=np.zeros(words, np.int64),
        arrivals=np.zeros(buckets * setup.arrivals_each, np.uint32),
        arrivals_due=np.zeros(buckets, np.int64),
        credits=np.zeros(buckets * setup.credits_each, np.int32),
        credits_due=np.zeros(buckets, np.int64),
        heads=np.zeros(buckets * setup.heads_each, np.uint32),
        heads_due=np.zeros(buckets, np.int64),
        fronts=np.zeros(2 * nodes * ports_of, np.uint32),
        winners=np.zeros(nodes * ports_of, np.uint32),
        port_of=np.arange(64, dtype=np.int64) // setup.num_vcs,
        **{name: np.zeros(64, np.int64) for name in SCRATCH},
    )
    _fill(topology, setup, state, buffer_flits)
    return state


def _fill(topology: Topology, setup: Setup, state: State, buffer_flits: int) -> None:
    """Set what is not zero at the start."""
    every_slot = (1 << setup.num_slots) - 1
    state.masks["free"] = state.masks["open"] = every_slot
    state.outputs["credits"] = buffer_flits
    state.entries["packet"] = -1
    state.entries["vc"] = setup.num_vcs - 1  # the first packet looks from VC 0 on
    wired = ports(topology)
    nodes, to, by = topology.channel_source, topology.channel_target, wired.in_port
    state.ports["down"] = -1
    state.ports["down"][nodes * setup.num_ports + wired.out_port] = to << 6 | by * setup.num_vcs
    state.ports["up"][to * setup.num_ports + by] = (
        nodes * setup.num_slots + wired.out_port * setup.num_vcs
    )
    up = state.ports["up"].reshape(setup.num_nodes, setup.num_ports)
    entries = np.arange(setup.num_nodes * setup.entry_channels).reshape(-1, setup.entry_channels)
    first, after = setup.network_ports, setup.network_ports + setup.entry_channels
    up[:, first:after] = setup.source_slots + entries * setup.num_vcs
    _chain(state.packets["next"], 0, -1)
    state.clock["free_packets"] = FIRST_PACKETS


def _chain(following: NDArray[np.int32], first: int, then: int) -> None:
    """Chain the free records from ``first`` on, and ``then`` behind the last."""
    following[first:] = np.arange(first + 1, len(following) + 1)
    following[-1] = then


def deadlock(topology: Topology, setup: Setup, state: State, cycle: int) -> DeadlockError:
    """Return the error that names a cycle of channels whose packets block each other.

    A head waits for the packet that owns an output slot it asks for (of several, the lowest: where
    nothing moves, none is nearer to being free than another); a packet without credit waits for
    the front of the buffer at the other end.
    """
    held = np.flatnonzero(state.inputs["count"])
    place = int(held[0]) if len(held) else -1
    seen: dict[int, int] = {}
    while place >= 0 and place not in seen:
        seen[place] = len(seen)
        place = _waits_for(setup, state, *divmod(place, setup.num_slots))
    knot = list(seen)[seen[place] :] if place >= 0 else []
    where = f"{topology.name}, cycle {cycle}"
    return DeadlockError(where, tuple(filter(None, (_name(topology, setup, at) for at in knot))))


def _waits_for(setup: Setup, state: State, node: int, slot: int) -> int:
    """Return the slot whose packet must move before that of ``slot`` can; -1 if none is known."""
    first = node * setup.num_slots
    active, free = (int(state.masks[name][node]) for name in ("active", "free"))
    if active >> slot & 1:
        return _other_end(setup, state, node, int(state.inputs["out"][first + slot]))
    asked = int(state.allowed[first + slot])
    for out in range(setup.num_slots):
        if asked >> out & 1:
            if free >> out & 1:  # without room for a whole packet
                return _other_end(setup, state, node, out)
            return first + int(state.outputs["owner"][first + out])
    return -1


def _other_end(setup: Setup, state: State, node: int, out: int) -> int:
    port, vc = divmod(out, setup.num_vcs)
    down = int(state.ports["down"][node * setup.num_ports + port])
    return (down >> 6) * setup.num_slots + (down & 63) + vc if down >= 0 else -1


def _name(topology: Topology, setup: Setup, place: int) -> str:
    """Name the channel and VC that a buffer is at the end of; empty for a source's."""
    node, slot = divmod(place, setup.num_slots)
    port, vc = divmod(slot, setup.num_vcs)
    into = (topology.channel_target == node) & (ports(topology).in_port == port)
    channels = np.flatnonzero(into)
    return f"{topology.channel_name(int(channels[0]))} (VC {vc})" if len(channels) else ""
