"""A network of routers that can be run, cycle by cycle, with packets given from outside.

A large one may be run on several processors, each of which runs a region of consecutive routers.
If nothing moves any more, the error names the channels whose packets block each other.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.simulation import side_by_side
from netloom.simulation.network import layout
from netloom.simulation.network.layout import chain, make_setup, make_state, port_places, wiring
from netloom.simulation.network.routers import MOST_PACKET
from netloom.simulation.side_by_side import extra_processors
from netloom.simulation.steady import Delivered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints, Records
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
        self._last_regions: Regions | None = None
        self.seconds_beside = 0.0
        """Processor time of other threads than those that called ``advance``."""

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
            with extra_processors(most_regions(self) - 1) as extra:
                if extra:
                    came_back, noted = self._regions(extra + 1).run(self, born, until)
                else:
                    came_back = kernel(given, self.routing.tables, self.state, born, until)
                    noted = self.state.log[: self.count("logged")]
            if came_back == layout.PACKETS_FULL:
                self.make_room(len(packets))
            elif came_back == layout.STUCK:
                raise deadlock(self)
            else:
                columns = np.empty((len(layout.DELIVERED), len(noted)), np.int32)
                table = noted.view(np.int32).reshape(-1, layout.LOG.itemsize // 4)
                take_columns(table, columns, self.delivered_packets)
                logs.append(columns)
                clock["logged"] = 0
        return Delivered(*(logs[0] if len(logs) == 1 else np.concatenate(logs, axis=1)))

    def _regions(self, count: int) -> Regions:
        if self._last_regions is None or len(self._last_regions.parts) != count:
            self._last_regions = Regions(self, count)
        return self._last_regions

    @property
    def kind(self) -> type[layout.Setup]:
        """The kind of its routers, for which a kernel is compiled."""
        told = ((kind, layout.known_of(kind)) for kind in layout.KINDS)
        return next(kind for kind, known in told if self.setup[-len(known) :] == known)

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


if TYPE_CHECKING:
    Array = TypeVar("Array", bound=NDArray[Any])


LEAST_ROUTERS = 2048
"""Routers of a region for which another processor is worth its while."""

LINE = 64
"""Bytes of a line of the cache, which two processors had better not write both."""

AT_END = 2**62
"""The sign of a region that nobody runs: others need not wait for it."""

ADDED = ("delivered", "injected", "ejected", "link_hops")
"""What is counted in every region."""

OWN = (
    "clock", "log", "active", "sources", "heads", "heads_due", "wakes", "wakes_due", "fronts",
    "winners", *layout.OF_WORDS, *layout.OF_SLOTS, "best", "requests", "guesses", "outs", "named",
    "taken",
)  # fmt: skip
"""The arrays of ``State`` that each region has of its own."""


def most_regions(engine: Engine) -> int:
    """Return the most processors that are worth their while for a network; 1 where one must do."""
    setup, topology = engine.setup, engine.topology
    most = min(side_by_side.processors(), setup.num_nodes // LEAST_ROUTERS)
    if most < 2 or engine.kind is not layout.PlainSetup or not hasattr(os, "sched_yield"):
        return 1
    one_port = bool((np.diff(topology.port_offsets) == 1).all())
    return most if one_port and min(setup.flit_delay, setup.credit_delay) > 0 else 1


class Regions:
    """The regions of one network: ``parts`` are the states that their processors are given.

    A region has wheels, lists, counts and scratch of its own. What belongs to a router, a source or
    a packet is touched by the processor alone in whose region it is. What goes to another region (a
    flit, a credit) is put into a wheel between the two, which nobody reads before all have come to
    the next cycle. The packet that follows a flit there is written at once: it is read when its
    head arrives.

    The answers are those of one processor, bit by bit. Within a cycle, only two things depend on
    the order of routers. The packets in the log are in the order of routers. A packet's number is
    its row among those born.

    Between two calls, all is in the one state of the network, whose arrays regions share.
    """

    def __init__(self, engine: Engine, count: int) -> None:
        setup, state = engine.setup, engine.state
        self.borders = np.arange(count + 1) * setup.num_nodes // count
        self.arrivals, self.arrivals_due = _between(state.arrivals, state.arrivals_due, count)
        self.credits, self.credits_due = _between(state.credits, state.credits_due, count)
        signs = _apart(np.zeros(count * layout.SIGN, np.int64))
        shared = state._replace(
            borders=self.borders, signs=signs, arrivals=self.arrivals, credits=self.credits,
            arrivals_due=self.arrivals_due, credits_due=self.credits_due,
        )  # fmt: skip
        self.signs = signs
        self.parts = [
            shared._replace(**{name: _apart(getattr(state, name)) for name in OWN})
            for _ in range(count)
        ]
        for part in self.parts:
            part.heads_due[:] = 0
        nodes = self._of(np.arange(setup.num_nodes))
        first = state.entries["first"][:: setup.entry_channels]
        sources = self._of(first >> setup.slot_bits)
        self.node_sets = [_bits(nodes == region) for region in range(count)]
        self.source_sets = [_bits(sources == region) for region in range(count)]
        self._entries = self._of(state.entries["first"] >> setup.slot_bits)

    def run(self, engine: Engine, born: Ints, until: int) -> tuple[int, Records]:
        """Run up to, and without, a cycle. Return why the kernel came back, and the log."""
        from netloom.simulation.network.kernels.network import run_region

        parts = self.parts
        need = max(len(born), 1)
        if engine.count("free_packets") < need * len(parts):
            engine.make_room(need * len(parts))
        self._part(engine, need)

        def one(region: int) -> tuple[int, float]:
            start = time.thread_time()
            try:
                setup = engine.setup._replace(region=region, regions=len(parts))
                given = setup[: len(setup) - len(layout.RegionSetup.KNOWN)]
                why = run_region(given, engine.routing.tables, self.parts[region], born, until)
            finally:
                self.signs[region * layout.SIGN] = AT_END
            return why, time.thread_time() - start

        try:
            with ThreadPoolExecutor(len(parts)) as pool:
                try:
                    waiting = [pool.submit(one, region) for region in range(len(parts))]
                except BaseException:
                    self.signs[:] = AT_END
                    raise
                ended = [future.result() for future in waiting]
        finally:
            self._join(engine)
        engine.seconds_beside += sum(seconds for _, seconds in ended)
        assert len({why for why, _ in ended}) == 1
        log = np.concatenate([part.log[: int(part.clock["logged"][0])] for part in self.parts])
        return ended[0][0], log[np.argsort(log["arrival"], kind="stable")]

    def _part(self, engine: Engine, need: int) -> None:
        """Give every region what is its own of the state of the network."""
        from netloom.simulation.network.kernels.sources import give_free

        setup, state, clock = engine.setup, engine.state, engine.state.clock
        inside = len(state.packets) - int(clock["free_packets"][0])
        room = inside + need + setup.num_nodes * setup.num_ports
        fronts = state.fronts[: int(clock["fronts"][0])]
        fronts_in = self._at(engine, fronts)
        for region, part in enumerate(self.parts):
            if len(part.log) < room:
                self.parts[region] = part._replace(log=_apart(np.zeros(2 * room, layout.LOG)))
            part = self.parts[region] = self.parts[region]._replace(packets=state.packets)
            part.clock[:] = clock
            if region:
                part.clock["free_packet"], part.clock["free_packets"] = -1, 0
                give_free(state.packets, self.parts[0].clock, part.clock, need)
                for name in ADDED:
                    part.clock[name] = 0
            mine = fronts[fronts_in == region]
            part.fronts[: len(mine)] = mine
            part.clock["fronts"] = len(mine)
            part.active[:] = state.active & self.node_sets[region]
            part.sources[:] = state.sources & self.source_sets[region]
        self.signs[:] = -1
        for bucket, what in _due(state.arrivals, state.arrivals_due):
            self._deal(self.arrivals, self.arrivals_due, bucket, what, self._at(engine, what))
        for bucket, what in _due(state.credits, state.credits_due):
            region_of = self._of(what // setup.num_slots)  # of an output slot, or of a source
            sources = np.flatnonzero(what >= setup.source_slots)
            entries = (what[sources] - setup.source_slots) // setup.num_vcs
            region_of[sources] = self._entries[entries]
            self._deal(self.credits, self.credits_due, bucket, what, region_of)
        for bucket, what in _due(state.heads, state.heads_due):
            region_of = self._at(engine, what)
            for region, part in enumerate(self.parts):
                _put(part.heads, part.heads_due, bucket, what[region_of == region])

    def _join(self, engine: Engine) -> None:
        """Put into the state of the network what the regions had of it."""
        from netloom.simulation.network.kernels.sources import give_free

        state, clocks = engine.state, [part.clock for part in self.parts]
        rest = clocks[1:]
        for other in rest:
            if other["free_packets"][0]:
                give_free(state.packets, other, clocks[0], int(other["free_packets"][0]))
        state.clock[:] = clocks[0]
        for name in ADDED:
            state.clock[name] = sum(int(clock[name][0]) for clock in clocks)
        state.clock["last_move"] = max(int(clock["last_move"][0]) for clock in clocks)
        fronts = [part.fronts[: int(part.clock["fronts"][0])] for part in self.parts]
        count = sum(map(len, fronts))
        state.fronts[:count] = np.concatenate(fronts)
        state.clock["fronts"] = count
        state.active[:] = np.bitwise_or.reduce([part.active for part in self.parts])
        state.sources[:] = np.bitwise_or.reduce([part.sources for part in self.parts])
        many = len(state.arrivals_due)
        for bucket, what in _due(self.arrivals, self.arrivals_due):
            _put(state.arrivals, state.arrivals_due, bucket % many, what)
        for bucket, what in _due(self.credits, self.credits_due):
            _put(state.credits, state.credits_due, bucket % many, what)
        for part in self.parts:
            for bucket, what in _due(part.heads, part.heads_due):
                _put(state.heads, state.heads_due, bucket, what)

    def _deal(
        self, wheel: NDArray[Any], due: Ints, bucket: int, what: NDArray[Any], region_of: Ints
    ) -> None:
        """Put what is due into the wheels from each region to itself."""
        count = len(self.parts)
        each = len(due) // count**2
        for region in range(count):
            own = (region * count + region) * each + bucket
            _put(wheel, due, own, what[region_of == region])

    def _of(self, nodes: NDArray[Any]) -> Ints:
        """Return the region of each router."""
        region_of = np.zeros(len(nodes), np.int64)
        for border in self.borders[1:-1]:
            region_of += nodes >= border
        return region_of

    def _at(self, engine: Engine, addresses: NDArray[Any]) -> Ints:
        """Return the region of each address."""
        return self._of(addresses >> engine.setup.slot_bits)


def _due(wheel: NDArray[Any], due: Ints) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield what is due in each bucket of a wheel, and empty it."""
    each = len(wheel) // len(due)
    for bucket in np.flatnonzero(due).tolist():
        count, due[bucket] = int(due[bucket]), 0
        yield bucket, wheel[bucket * each : bucket * each + count]


def _put(wheel: NDArray[Any], due: Ints, bucket: int, what: NDArray[Any]) -> None:
    """Append to what is due in a bucket."""
    first = len(wheel) // len(due) * bucket + int(due[bucket])
    wheel[first : first + len(what)] = what
    due[bucket] += len(what)


def _between(wheel: NDArray[Any], due: Ints, count: int) -> tuple[NDArray[Any], Ints]:
    """Return empty wheels from each region to each."""
    return np.zeros(len(wheel) * count**2, wheel.dtype), np.zeros(len(due) * count**2, np.int64)


def _apart(array: Array) -> Array:
    """Return a copy that shares no line of the cache with anything else."""
    room = np.zeros(array.nbytes + 3 * LINE, np.uint8)
    first = LINE + -(room.ctypes.data + LINE) % LINE
    copy: Any = room[first : first + array.nbytes].view(array.dtype)
    copy[:] = array
    return copy  # type: ignore[no-any-return]


def _bits(members: Bools) -> Ints:
    """Return a set as words of 64 bits."""
    padded = np.zeros(-(-len(members) // 64) * 64, np.bool_)
    padded[: len(members)] = members
    return np.packbits(padded, bitorder="little").view(np.int64)


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
