"""The packets of a run: those of one traffic, or of several programs, as one table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.routing import draw_aux
from netloom.simulation.network.layout import BORN
from netloom.simulation.tally import Groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints
    from netloom.routing import VirtualChannelRouting
    from netloom.simulation.network.reservations import Reservation
    from netloom.simulation.tally import Delivered
    from netloom.workload import Arrivals, Lengths, Packets, PacketStream, Traffic


FIRST = 2**16
"""Packets that there is room for at first."""

MOST_SENDERS = 2**15
"""Most programs: their numbers are int16."""


@dataclass(frozen=True, eq=False)
class Sender:
    """What makes packets, with chance of its own. See ``workload.PacketStream``.

    The same seed makes the same packets, and the same coins of their routing. ``node_of`` is
    int32[num_tasks], the node of each task, if the traffic is of tasks: so a program has the same
    packets under every mapping. None if it is of nodes.
    """

    traffic: Traffic
    load: float
    seed: int
    node_of: Ints | None = None


class SentPackets:
    """The packets of all senders, born cycle by cycle. Those of one cycle sender by sender.

    Routing, or reservation, says what packets carry for it. Lengths and arrivals are those of
    ``workload.PacketStream``. Raises InputError if there are too many senders.
    """

    def __init__(
        self,
        senders: Sequence[Sender],
        routing: VirtualChannelRouting,
        reservation: Reservation | None,
        lengths: Lengths,
        arrivals: Arrivals,
    ) -> None:
        from netloom.workload import PacketStream
        from netloom.workload.traffic.stream import Due

        if len(senders) > MOST_SENDERS:
            raise InputError("app", f"{len(senders)} programs", f"at most {MOST_SENDERS}")
        self._senders, self._routing, self._reservation = senders, routing, reservation
        self._streams: list[PacketStream] = [
            PacketStream(
                each.traffic, each.load, lengths=lengths, arrivals=arrivals, seed=each.seed
            )
            for each in senders
        ]
        self._coins = [
            np.random.default_rng(np.random.SeedSequence(each.seed, spawn_key=(7,)))
            for each in senders
        ]
        # An aux that is drawn comes from the stream of the coins: after those of a call, not of a
        # block, which are cut elsewhere.
        self._call_by_call = routing.needs_aux and routing.routes is None and reservation is None
        self._due = [
            Due(stream.blocks(partial(self._columns, number)))
            for number, stream in enumerate(self._streams)
        ]
        self.by_chance = not all(
            arrivals.kind == "bernoulli" and stream.rates.max() >= 1 for stream in self._streams
        )
        """Whether chance decides when packets are born: none does if there is one every cycle."""
        self._owner = np.zeros(FIRST, np.int16)  # the sender of each packet, by its number
        self._created = 0

    @property
    def a_cycle(self) -> float:
        """Packets that are created in a cycle, on average."""
        return float(sum(stream.rates.sum() for stream in self._streams))

    def until(self, cycle: int) -> Ints:
        """Return int32[n, 6], the packets born before a cycle that were not returned before.

        The columns are those of ``layout.BORN``.
        """
        tables = [self._of(number, cycle) for number in range(len(self._senders))]
        if len(tables) == 1:
            return tables[0]
        owner = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        table = np.concatenate(tables)
        order = np.argsort(table[:, BORN.index("birth")], kind="stable")
        after = self._created + len(owner)
        if after > len(self._owner):  # the room for them doubles when needed
            self._owner = np.concatenate([self._owner, np.zeros(after, np.int16)])
        self._owner[self._created : after] = owner[order]
        self._created = after
        return table[order]

    def groups(self) -> Groups:
        """Return how packets are told apart by their senders."""

        def of(packets: Delivered) -> Ints:
            if len(self._senders) == 1:
                return np.zeros(len(packets.number), np.int32)
            return self._owner[packets.number].astype(np.int32)

        rates = (each.traffic.rate for each in self._senders)
        return Groups(tuple(int(np.count_nonzero(rate)) for rate in rates), of)

    def _of(self, number: int, cycle: int) -> Ints:
        from netloom.simulation.network.kernels.packets import write_rows

        parts = self._due[number].until(cycle)
        rows = np.empty((sum(len(part[0]) for part in parts), len(BORN)), np.int32)
        first = 0
        for part in parts:
            after = first + len(part[0])
            write_rows(part, rows[first:after])
            first = after
        if self._call_by_call:
            _, source, target, *_ = rows.T
            drawn = draw_aux(self._routing, self._coins[number], source, target)
            rows[:, 4], rows[:, 5] = drawn
        return rows

    def _columns(self, number: int, packets: Packets) -> tuple[Ints, ...]:
        """Return the columns of ``layout.BORN``. Nothing yet in those drawn call by call."""
        node_of = self._senders[number].node_of
        if node_of is not None:
            ends = (node_of[packets.source], node_of[packets.target])
            packets = packets._replace(source=ends[0], target=ends[1])
        if self._call_by_call:
            drawn = (packets.birth, packets.birth)
        elif self._reservation is None:
            coins = self._coins[number]
            drawn = draw_aux(self._routing, coins, packets.source, packets.target)
        else:
            aux = self._reservation.aux_of(packets.source, packets.target)
            drawn = (np.zeros_like(aux), aux)
        return tuple(np.ascontiguousarray(each, np.int32) for each in (*packets, *drawn))
