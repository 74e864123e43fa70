"""One large network on several processors: each runs a region of consecutive routers.

A region has wheels, lists, counts and scratch of its own. What belongs to a router, a source or a
packet is touched by the processor alone in whose region it is. What goes to another region (a flit,
a credit) is put into a wheel between the two, which nobody reads before all have come to the next
cycle. The packet that follows a flit there is written at once: it is read when its head arrives.

The answers are those of one processor, bit by bit. Within a cycle, only two things depend on the
order of routers. The packets in the log are in the order of routers. A packet's number is its row
among those born.

Between two calls, all is in the one state of the network, whose arrays regions share.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from netloom.simulation import side_by_side
from netloom.simulation.network import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.simulation.network.engine import Engine

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
    one_port = topology.direct or bool((np.diff(topology.port_offsets) == 1).all())
    return most if one_port and min(setup.flit_delay, setup.credit_delay) > 0 else 1


class Regions:
    """The regions of one network: ``parts`` are the states that their processors are given."""

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

    def run(self, engine: Engine, born: Ints, until: int) -> tuple[int, layout.Records]:
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
        from netloom.simulation.network.kernels.packets import give_free

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
            place = self._credited(engine, what)
            self._deal(self.credits, self.credits_due, bucket, what, place)
        for bucket, what in _due(state.heads, state.heads_due):
            region_of = self._at(engine, what)
            for region, part in enumerate(self.parts):
                _put(part.heads, part.heads_due, bucket, what[region_of == region])

    def _join(self, engine: Engine) -> None:
        """Put into the state of the network what the regions had of it."""
        from netloom.simulation.network.kernels.packets import give_free

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
        self,
        wheel: NDArray[Any],
        due: Ints,
        bucket: int,
        what: NDArray[Any],
        region_of: Ints,
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

    def _credited(self, engine: Engine, places: Ints) -> Ints:
        """Return the region of what each credit comes back to: an output slot, or a source."""
        setup = engine.setup
        region_of = self._of(places // setup.num_slots)
        sources = np.flatnonzero(places >= setup.source_slots)
        region_of[sources] = self._entries[(places[sources] - setup.source_slots) // setup.num_vcs]
        return region_of


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
