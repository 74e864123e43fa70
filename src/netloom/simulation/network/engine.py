"""A network of routers that can be run, cycle by cycle, with packets given from outside.

If nothing moves any more, the error names the channels whose packets block each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.simulation.network import layout
from netloom.simulation.network.layout import chain, make_setup, make_state, port_places, wiring
from netloom.simulation.network.routers import MOST_PACKET
from netloom.simulation.steady import Delivered

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.routing.virtual_channel_tables import VirtualChannelRouting
    from netloom.simulation.network.routers import Router
    from netloom.topology import Topology


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
    ) -> None:
        self.topology, self.routing, self.router = topology, routing, router
        self.shortest_packet = shortest_packet
        self.born_packets, self.born_flits, self.delivered_packets = np.zeros(
            (3, topology.num_hosts), np.int64
        )
        """What each node was given to send, and how many of these packets were delivered."""
        self.wiring = wiring(topology, router)
        self.setup = make_setup(topology, self.wiring, routing, router, shortest_packet)
        self.state = make_state(topology, self.wiring, self.setup, router, connections)

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
        from netloom.simulation.network.kernels.network import runs
        from netloom.simulation.network.kernels.sources import count_born, take_columns

        kernel, given = runs[self.kind], self.given
        clock, logs, came_back = self.state.clock, [], None
        assert packets.shape[1:] == (len(layout.BORN),)
        assert not len(packets) or self.cycle <= packets[0, 0] <= packets[-1, 0] < until
        born = np.ascontiguousarray(packets, np.int32)
        self.check_lengths(*count_born(born, self.born_packets, self.born_flits))
        clock["taken"] = 0
        while came_back != layout.DONE:
            came_back = kernel(given, self.routing.tables, self.state, born, until)
            if came_back == layout.PACKETS_FULL:
                self.make_room(len(packets))
            elif came_back == layout.STUCK:
                raise deadlock(self)
            else:
                noted = self.state.log[: self.count("logged")]
                columns = np.empty((len(layout.DELIVERED), len(noted)), np.int32)
                table = noted.view(np.int32).reshape(-1, layout.LOG.itemsize // 4)
                take_columns(table, columns, self.delivered_packets)
                logs.append(columns)
                clock["logged"] = 0
        return Delivered(*(logs[0] if len(logs) == 1 else np.concatenate(logs, axis=1)))

    @property
    def kind(self) -> type[layout.Setup]:
        """The kind of its routers, for which a kernel is compiled."""
        told = ((kind, layout.known_of(kind)) for kind in layout.KINDS)
        many = len(self.setup)
        return next(kind for kind, known in told if self.setup[many - len(known) :] == known)

    @property
    def given(self) -> tuple[int, ...]:
        """What that kernel is given of ``setup``."""
        return self.setup[: len(self.setup) - len(layout.known_of(self.kind))]

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
        found: Ints = self.buffered()[between.target, between.in_port].sum(axis=0)
        return found


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
