"""What a run measures, gathered from the packets it delivers, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.simulation.intervals import (
    CORRELATED,
    Batches,
    autocorrelation,
    batch_interval,
    merge_correlated,
    percentiles,
    run_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints

MOST_BATCHES = 128
"""Batches kept. When they are full, pairs are merged, so that there are 64 to 128 from then on."""

PRECISE_BATCHES = 16
"""Batches from which on a run may be called precise."""

PRECISE_PACKETS = 500
"""Packets from which on a run may be called precise: some 30 in each of the fewest batches."""

# Rows of a tally's sums, one column per batch.
ROWS = 6
PACKETS, LATENCY, NETWORK, QUEUE, HOPS, FLITS = range(ROWS)


class Delivered(NamedTuple):
    """Packets that have been delivered: one array a property, int32[packets] each.

    ``number``: how many packets were created before it. ``birth``, ``entry``, ``arrival``: cycles
    in which it was created, its head left the source, and its tail was delivered. ``source``,
    ``target``: nodes. ``hops``: network channels it crossed. ``flits``: its length.
    """

    number: Ints
    birth: Ints
    entry: Ints
    arrival: Ints
    source: Ints
    target: Ints
    hops: Ints
    flits: Ints


class WorstNode(NamedTuple):
    """The sending node that is served worst: accepted flits/cycle, and as a share of its offer."""

    node: int
    share: float
    accepted: float


@dataclass(frozen=True)
class Measured:
    """What was measured of the packets that arrived within the window.

    Latencies are in cycles, traffic in flits/node/cycle. ``_ci95`` is the half-width of a 95 %
    confidence interval from batch means. NaN where there is too little to tell.

    Attributes
    ----------
    cycles, packets
        Length of the window, and packets that arrived in it.
    batches
        Whole batches that the window holds.
    packet_latency, packet_latency_ci95
        Mean from birth to arrival.
    packet_latency_p50, packet_latency_p99, packet_latency_max
        Percentiles by nearest rank, and the largest. Exact.
    network_latency, network_latency_ci95
        Mean from entry to arrival.
    queue_latency
        Mean from birth to entry: the time spent in the source queue.
    hops
        Mean number of network channels crossed.
    accepted, accepted_ci95
        Accepted traffic, mean over the sending nodes.
    precision
        ``packet_latency_ci95`` / ``packet_latency``. NaN, hence below no goal, unless there are
        at least 16 batches and 500 packets, and the batches are long enough to be independent.
    """

    cycles: int
    packets: int
    batches: int
    packet_latency: float
    packet_latency_ci95: float
    packet_latency_p50: float
    packet_latency_p99: float
    packet_latency_max: float
    network_latency: float
    network_latency_ci95: float
    queue_latency: float
    hops: float
    accepted: float
    accepted_ci95: float
    precision: float


class Groups(NamedTuple):
    """Groups of packets that are also measured apart, such as those of several programs.

    ``senders``: how many nodes send packets of each group. ``of``: the group (int[packets]) of
    packets that have been delivered.
    """

    senders: tuple[int, ...]
    of: Callable[[Delivered], Ints]


@dataclass(frozen=True)
class GroupMeasured:
    """What was measured of a group of packets. See ``Measured``.

    ``accepted`` is the mean over the nodes that send packets of this group.
    """

    packets: int
    packet_latency: float
    packet_latency_ci95: float
    accepted: float
    accepted_ci95: float


class Tally:
    """Sums over the packets that arrive within a window of time, which grows as the run goes on.

    Sums are kept for at most 128 batches of equal length. Latencies are counted value by value:
    8 bytes for each cycle of the longest one, so never more than 8 for each cycle of the run.

    Parameters
    ----------
    num_nodes
        Nodes of the network.
    begin
        First cycle of the window: the end of the warm-up.
    batch_cycles
        Length of a batch at first. It doubles whenever there would be more than 128.
    groups
        What packets are told apart by. None: they are not.

    Examples
    --------
    >>> column = lambda *values: np.array(values, np.int32)
    >>> tally = Tally(2, begin=100, batch_cycles=10)
    >>> tally.add(
    ...     Delivered(
    ...         number=column(0, 1, 2),
    ...         birth=column(80, 95, 98),
    ...         entry=column(80, 96, 98),
    ...         arrival=column(99, 105, 112),
    ...         source=column(0, 0, 1),
    ...         target=column(1, 1, 0),
    ...         hops=column(1, 1, 1),
    ...         flits=column(4, 4, 4),
    ...     ),
    ...     until=120,
    ... )
    >>> measured = tally.measured(senders=2)
    >>> measured.packets, measured.packet_latency, measured.queue_latency, measured.accepted
    (2, 12.0, 0.5, 0.2)
    """

    def __init__(
        self, num_nodes: int, *, begin: int, batch_cycles: int, groups: Groups | None = None
    ) -> None:
        assert batch_cycles >= 1
        self._groups = groups
        self.begin = self.until = begin
        self.batch_cycles = batch_cycles
        self.delivered_flits = np.zeros(num_nodes, np.int64)
        """Flits delivered of those that each node sent."""
        num_groups = 1 if groups is None else len(groups.senders)
        self._sums = np.zeros((ROWS, num_groups, MOST_BATCHES), np.int64)
        self.latency_counts = np.zeros(1024, np.int64)
        """How many packets had each latency, from 0 cycles on."""
        self._early: list[Delivered] = []  # packets of which some arrive later

    @property
    def cycles(self) -> int:
        """Length of the window so far."""
        return self.until - self.begin

    @property
    def packets(self) -> int:
        """Packets that arrived within the window so far."""
        return int(self._sums[PACKETS].sum())

    def add(self, delivered: Delivered, until: int) -> None:
        """Extend the window to, and without, the cycle ``until``.

        ``delivered`` are all packets not given before that arrive by then, in any order. Those
        that arrive before the window are left out. Those that arrive after it are kept for later.
        """
        assert until >= self.until, "a window does not shrink"
        since, self.until = self.until, until
        while self.cycles > MOST_BATCHES * self.batch_cycles:
            half = MOST_BATCHES // 2
            self._sums[..., :half] = self._sums[..., 0::2] + self._sums[..., 1::2]
            self._sums[..., half:] = 0
            self.batch_cycles *= 2
        left = [self._count(packets, since, closed=since) for packets in self._early]
        left.append(self._count(delivered, since, closed=self.begin))
        self._early = [packets for packets in left if packets is not None]

    def measured(self, senders: int) -> Measured:
        """Return what has been measured so far. Traffic is the mean of so many senders."""
        whole, sums, spans = self._batches(self._sums.sum(axis=1))
        packets = self.packets
        counts = sums[PACKETS]
        latency, latency_ci95 = run_interval(sums[LATENCY], counts)
        network, network_ci95 = run_interval(sums[NETWORK], counts)
        accepted, accepted_ci95 = run_interval(sums[FLITS], spans * senders)
        precise = (
            whole >= PRECISE_BATCHES
            and packets >= PRECISE_PACKETS
            and autocorrelation(*merge_correlated(sums[LATENCY], counts)) <= CORRELATED
        )
        middle, high, most = (
            percentiles(self.latency_counts, (50, 99, 100)).tolist() if packets else [np.nan] * 3
        )
        return Measured(
            cycles=self.cycles,
            packets=packets,
            batches=whole,
            packet_latency=latency,
            packet_latency_ci95=latency_ci95,
            packet_latency_p50=middle,
            packet_latency_p99=high,
            packet_latency_max=most,
            network_latency=network,
            network_latency_ci95=network_ci95,
            queue_latency=batch_interval(sums[QUEUE], counts)[0],
            hops=batch_interval(sums[HOPS], counts)[0],
            accepted=accepted,
            accepted_ci95=accepted_ci95,
            precision=latency_ci95 / latency if precise else np.nan,
        )

    def measured_by_group(self) -> tuple[GroupMeasured, ...]:
        """Return what has been measured of each group so far. Nothing if there are none."""
        if self._groups is None:
            return ()
        found = []
        for group, senders in enumerate(self._groups.senders):
            _, sums, spans = self._batches(self._sums[:, group])
            latency = run_interval(sums[LATENCY], sums[PACKETS])
            accepted = run_interval(sums[FLITS], spans * senders)
            found.append(GroupMeasured(int(sums[PACKETS].sum()), *latency, *accepted))
        return tuple(found)

    def latency_batches(self) -> tuple[Batches, ...]:
        """Return the packet latencies of each group by batches, or of all packets as one group."""
        groups = range(self._sums.shape[1])
        sums = (self._batches(self._sums[:, group])[1] for group in groups)
        return tuple(Batches(each[LATENCY], each[PACKETS]) for each in sums)

    def _count(self, packets: Delivered, since: int, *, closed: int) -> Delivered | None:
        """Count those that arrive in ``since`` … ``until`` − 1. Return all from a later one on.

        None may arrive in ``closed`` … ``since`` − 1.
        """
        from netloom.simulation.kernels.tally import CLOSED, add_packets

        of_group = np.empty(0, np.int32) if self._groups is None else self._groups.of(packets)
        window = (self.begin, since, self.until, self.batch_cycles, closed)
        given = (*packets[1:5], *packets[6:])  # birth, entry, arrival, source; hops, flits
        done, many = 0, len(packets.arrival)
        later = many
        while True:
            sums = (self._sums, self.delivered_flits, self.latency_counts)
            done, after = add_packets(given, of_group, done, window, *sums)
            assert done != CLOSED, "the batch was closed before"
            later = min(later, after)
            if done == many:
                return Delivered(*(each[later:] for each in packets)) if later < many else None
            latency = int(packets.arrival[done]) - int(packets.birth[done])
            more = max(latency + 1 - len(self.latency_counts), len(self.latency_counts))
            self.latency_counts = np.pad(self.latency_counts, (0, more))

    def _batches(self, all_sums: Ints) -> tuple[int, Ints, Ints]:
        """Return the number of whole batches, the sums of all batches, and their cycles.

        ``all_sums`` is int64[ROWS, MOST_BATCHES], of all packets or of a group. What follows the
        last whole batch is counted with that batch: on its own it would be too short to tell.
        """
        whole, rest = divmod(self.cycles, self.batch_cycles)
        sums = all_sums[:, : max(whole, 1)].copy()
        spans = np.full(sums.shape[1], self.batch_cycles)
        spans[-1] = self.cycles - (sums.shape[1] - 1) * self.batch_cycles
        if whole and rest:
            sums[:, -1] += all_sums[:, whole]
        return whole, sums, spans


def worst_node(delivered_flits: ArrayLike, rate: ArrayLike, cycles: int) -> WorstNode:
    """Return the sending node that gets the least of the traffic that it offers.

    The least of many shares lies below 1 by chance alone when each node sends only few packets.
    Of each node, int[num_nodes] flits were delivered in so many cycles, and its traffic is
    float[num_nodes] flits/cycle. Nodes that offer none are not looked at, but one must offer some.

    Examples
    --------
    >>> worst_node([90, 0, 50], [0.125, 0.0, 0.0625], cycles=1000)
    WorstNode(node=0, share=0.72, accepted=0.09)
    """
    offered = np.asarray(rate, np.float64)
    accepted = np.asarray(delivered_flits) / cycles
    sends = offered > 0
    assert sends.any(), "no node sends"
    share = np.full(len(offered), np.inf)
    np.divide(accepted, offered, out=share, where=sends)
    node = int(np.argmin(share))
    return WorstNode(node, float(share[node]), float(accepted[node]))
