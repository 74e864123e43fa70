"""Open-loop traffic: all packets that nodes send, whatever the network makes of them.

All randomness of the traffic is drawn here, in streams of its own. It does not depend on the
network: two routers with the same traffic, load and seed get the same packets.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.traffic.arrivals import (
    LAST_CYCLE,
    LEAST_RATE,
    Arrivals,
    arrival_blocks,
    parse_arrivals,
)
from netloom.workload.traffic.lengths import Lengths, parse_lengths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netloom.base.arrays import Floats, Ints
    from netloom.workload.traffic import Traffic


class Packets(NamedTuple):
    """Packets in the order of their birth, those of one cycle by source. int32[num_packets] each.

    ``birth``: the cycle of creation. ``source``, ``target``: nodes. ``flits``: length.
    """

    birth: Ints
    source: Ints
    target: Ints
    flits: Ints


Columns: TypeAlias = "tuple[Ints, ...]"


class Due:
    """Packets that come block by block, ``PacketStream.blocks``, handed out up to any cycle."""

    def __init__(self, blocks: Iterator[tuple[int, Columns]]) -> None:
        self._blocks, self._end = blocks, 0
        self._ahead: deque[Columns] = deque()

    def until(self, cycle: int) -> list[Columns]:
        """Return the packets born before ``cycle`` that no earlier call has returned, in parts.

        Raises InputError if ``cycle`` is above 2³¹ − 1: times are int32.
        """
        if cycle > LAST_CYCLE:
            raise InputError("cycles", f"{cycle}", f"at most {LAST_CYCLE}")
        while self._end < cycle:
            self._end, columns = next(self._blocks)
            self._ahead.append(columns)
        parts = []
        while self._ahead:
            columns = self._ahead.popleft()
            due = int(np.searchsorted(columns[0], np.int32(cycle)))
            parts.append(tuple(column[:due] for column in columns))
            if due < len(columns[0]):
                self._ahead.appendleft(tuple(column[due:] for column in columns))
                break
        return parts


class PacketStream:
    """The packets that the nodes of a network create, from cycle 0 on.

    A node of rate r offers ``load * r`` flits per cycle: ``load * r / lengths.mean`` packets.
    Births, targets and lengths of packets have random streams of their own. So the k-th packet's
    target does not depend on the distribution of lengths. Two distributions with the same mean give
    the same packets, apart from their flits.

    Parameters
    ----------
    traffic
        Who sends to whom.
    load
        Offered traffic of a node of rate 1, in flits per cycle. Above 0, at most 1.
    lengths
        The law of the packets' lengths, or its name; 1 flit by default.
    arrivals
        When packets come, or its name. Bernoulli by default.
    seed
        The same seed makes the same packets.

    Raises
    ------
    InputError
        If the load is out of range, or a node would have to create more packets per cycle than the
        arrival process can.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> stream = PacketStream(uniform(64), 1.0, lengths=1)  # a packet of every node in every cycle
    >>> stream.until(10).birth.shape, stream.until(12).birth.shape
    ((640,), (128,))
    """

    def __init__(
        self,
        traffic: Traffic,
        load: float,
        *,
        lengths: Lengths | str | int = 1,
        arrivals: Arrivals | str = "bernoulli",
        seed: int = 1,
    ) -> None:
        if not 0 < load <= 1:  # NaN is neither
            raise InputError("load", f"{load}", "above 0, at most 1 (flits/node/cycle)")
        if seed < 0:
            raise InputError("seed", f"{seed}", "a whole number that is not negative")
        self.traffic = traffic
        self.load = load
        self.lengths = parse_lengths(lengths) if isinstance(lengths, str | int) else lengths
        self.arrivals = parse_arrivals(arrivals) if isinstance(arrivals, str) else arrivals
        self.seed = seed
        self.rates = _packet_rates(traffic, load, self.lengths, self.arrivals)
        self._due = Due(self.blocks())

    def until(self, cycle: int) -> Packets:
        """Return the packets born before ``cycle`` that no earlier call has returned.

        However the calls are split, together they return the same packets.

        Raises
        ------
        InputError
            If ``cycle`` is above 2³¹ − 1: times are int32.
        """
        parts = self._due.until(cycle)
        if len(parts) == 1:
            return Packets(*parts[0])
        none = tuple(np.empty((4, 0), np.int32))
        return Packets(*map(np.concatenate, zip(*(parts or [none]), strict=True)))

    def blocks(
        self, columns: Callable[[Packets], Columns] = tuple
    ) -> Iterator[tuple[int, Columns]]:
        """Yield all packets from cycle 0 on: the cycle after each block, and what is made of it.

        That are columns, int32[num_packets] each, births first.
        """
        children = np.random.SeedSequence(self.seed).spawn(3)
        times, targets, flits = (np.random.default_rng(child) for child in children)
        senders = np.flatnonzero(self.traffic.rate).astype(np.int32)
        for block in arrival_blocks(self.arrivals, self.rates[senders], times):
            source = senders.take(block.sender)
            target = self.traffic.draw_targets(targets, source)
            length = self.lengths.draw(flits, len(source))
            yield block.end, columns(Packets(block.birth, source, target, length))


def _packet_rates(traffic: Traffic, load: float, lengths: Lengths, arrivals: Arrivals) -> Floats:
    """Packets that each node creates a cycle (float64[num_nodes])."""
    rates = load * traffic.rate / lengths.mean
    node = int(np.argmax(rates))
    if rates[node] > arrivals.most * (1 + 1e-9):
        found = f"{load:g}, with which node {node} creates {rates[node]:.4g} packets per cycle"
        wanted = f"a load at which none creates more than {arrivals.most:g} ({arrivals.name})"
        raise InputError("load", found, wanted)
    sent = np.clip(rates, LEAST_RATE, arrivals.most)
    return np.where(traffic.rate > 0, sent, 0.0)
