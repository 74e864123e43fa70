"""The loop of every steady-state simulation: what it measures, and how far that is trusted.

A run warms up, is measured, and is judged stable or not. What is simulated has only to advance and
to answer three questions about what it has seen. All decisions depend on cycles and on what was
observed, never on time: the same question has the same answer. Between two steps a run can be
stopped from outside. It keeps what it knows. What it measures is gathered from the packets it
delivers, in bounded memory.

How far a mean of one run can be trusted is said by confidence intervals from batch means.
Successive packets are correlated, so that their own spread says too little. The run is cut into
batches of equal length instead. When these are long enough, their means are all but independent
(A. M. Law, "Simulation Modeling and Analysis", section 9.5). Near saturation they never are, nor
are they normal: what is left of both is corrected for, as Skart does (A. Tafazzoli, J. R. Wilson,
E. K. Lada and N. M. Steiger, "Performance of Skart", INFORMS Journal on Computing 23, 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Floats, Ints
from netloom.base.student import student_t

# -- confidence intervals of means -----------------------------------------------------------------

LEAST_BATCHES = 10
"""Batches are not merged into fewer: Student's t, and the interval with it, would grow too wide."""

CORRELATED = 0.2
"""Lag-1 autocorrelation from which batches count as too short. Intervals of AR(1) series cover
the true mean more often with 0.2 than with 0.3, and lose nothing where batches are independent."""

MOST_CORRELATED = 0.8
"""Correlation of batches beyond which intervals are not widened further: it is a guess by then."""


def batch_interval(batch_sums: ArrayLike, batch_counts: ArrayLike) -> tuple[float, float]:
    """Return the mean over all batches and the half-width of its 95 % confidence interval.

    The mean is the ratio r = Σ sᵢ / Σ cᵢ, so that a batch weighs as much as it holds. Its variance
    is k / (k − 1) · Σ (sᵢ − r cᵢ)² / (Σ cᵢ)² over k batches (the ratio estimator of W. G. Cochran,
    "Sampling Techniques", chapter 6, for a large population), its quantile Student's t with k − 1
    degrees of freedom. K counts the batches that hold something. For equal counts this is the
    common interval of batch means.

    Parameters
    ----------
    batch_sums, batch_counts
        float[k]: the sum of each batch's observations, and their number or another size of the
        batch that the mean is taken over, such as cycles. A batch may be empty.

    Returns
    -------
    mean, half_width
        NaN and NaN if there is no observation. Half-width NaN if fewer than two batches hold any.

    Examples
    --------
    >>> mean, half_width = batch_interval([10.0, 14.0, 12.0], [1, 1, 1])
    >>> round(mean, 3), round(half_width, 3)
    (12.0, 4.968)
    """
    sums, counts = np.asarray(batch_sums, np.float64), np.asarray(batch_counts, np.float64)
    batches, total = int(np.count_nonzero(counts)), counts.sum()
    if total == 0:
        return np.nan, np.nan
    mean = float(sums.sum() / total)
    if batches < 2:
        return mean, np.nan
    off = _off_mean(sums, counts)
    error = np.sqrt(batches / (batches - 1) * (off @ off)) / total
    return mean, student_t(batches - 1) * float(error)


def interval_over_runs(values: ArrayLike) -> tuple[float, float]:
    """Return the mean over runs, all alike, and half its 95 % interval (NaN of one run).

    Examples
    --------
    >>> mean, half = interval_over_runs([1.0, 2.0, 3.0])
    >>> round(mean, 2), round(half, 2)
    (2.0, 2.48)
    """
    given = np.asarray(values, np.float64)
    return batch_interval(given, np.ones(len(given)))


def run_interval(batch_sums: ArrayLike, batch_counts: ArrayLike) -> tuple[float, float]:
    """Return the mean of successive batches of a run and the half-width of its 95 % interval.

    Batches are merged while they are correlated, see :func:`merge_correlated`. To what
    :func:`batch_interval` says of them, two factors come:

    - √((1 + φ) / (1 − φ)) for the correlation φ that is left, as of an AR(1) series. The bias of
      its estimate, −(1 + 3 φ) / k, is taken off, and what is negative counts as 0;
    - where long latencies are rare, the mean of a run without them is low *and* its spread small.
      The further side of N. J. Johnson's interval for skewed means ("Modified t tests and
      confidence intervals for asymmetrical populations", JASA 73, 1978), t + γ (1 + 2 t²) / 6 √k
      standard errors with skewness γ, is the half-width on both.

    Examples
    --------
    >>> latencies, ones = [10.0, 10.0, 13.0, 10.0, 11.0, 16.0], [1] * 6
    >>> round(batch_interval(latencies, ones)[1], 2), round(run_interval(latencies, ones)[1], 2)
    (2.54, 3.57)
    """
    sums, counts = merge_correlated(batch_sums, batch_counts)
    mean, half_width = batch_interval(sums, counts)
    if np.isnan(half_width) or half_width == 0:
        return mean, half_width
    batches = int(np.count_nonzero(counts))
    found = autocorrelation(sums, counts)
    left = min(max(found + (1 + 3 * found) / batches, 0.0), MOST_CORRELATED)
    quantile, off = student_t(batches - 1), _off_mean(sums, counts)
    second = float(off @ off) / batches
    skewness = float(np.sum(np.abs(off) ** 3 * np.sign(off))) / batches / second**1.5
    more = float(abs(skewness) / (6 * np.sqrt(batches)) * (1 + 2 * quantile**2))
    beyond = (quantile + more) / quantile  # the further side of a skewed mean's interval
    return mean, float(half_width * np.sqrt((1 + left) / (1 - left)) * beyond)


def autocorrelation(batch_sums: ArrayLike, batch_counts: ArrayLike) -> float:
    """Return the lag-1 autocorrelation of batches: near 0 if they are long enough.

    Σ eᵢ eᵢ₊₁ / Σ eᵢ², with eᵢ = sᵢ − r cᵢ and r the mean over all batches; 0 if all batches have
    the same mean, or are empty.

    Examples
    --------
    >>> autocorrelation([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1])
    0.25
    """
    sums, counts = np.asarray(batch_sums, np.float64), np.asarray(batch_counts, np.float64)
    if counts.sum() == 0:
        return 0.0
    off = _off_mean(sums, counts)
    spread = float(off @ off)
    if spread <= 1e-24 * float(sums @ sums):  # nothing but rounding
        return 0.0
    return float(off[1:] @ off[:-1]) / spread


def merge_correlated(batch_sums: ArrayLike, batch_counts: ArrayLike) -> tuple[Floats, Floats]:
    """Return batches merged in pairs as long as they are correlated, but never fewer than 10.

    Of an odd number of batches the last three become one. The totals are those given.

    Examples
    --------
    >>> sums, counts = merge_correlated(range(40), [1] * 40)
    >>> sums.tolist(), counts.tolist()[:3]
    ([6.0, 22.0, 38.0, 54.0, 70.0, 86.0, 102.0, 118.0, 134.0, 150.0], [4.0, 4.0, 4.0])
    """
    batches = np.stack([np.asarray(batch_sums, np.float64), np.asarray(batch_counts, np.float64)])
    while batches.shape[1] >= 2 * LEAST_BATCHES and autocorrelation(*batches) > CORRELATED:
        pairs = batches.shape[1] // 2
        batches = np.add.reduceat(batches, np.arange(pairs) * 2, axis=1)
    return batches[0], batches[1]


def percentiles(counts: ArrayLike, percents: Sequence[int]) -> Ints:
    """Return percentiles of whole numbers given by their histogram, by nearest rank, exactly.

    The p-th percentile is the smallest value such that at least p % of all are not larger: the
    ⌈p n / 100⌉-th smallest of n (``inverted_cdf`` in NumPy).

    Parameters
    ----------
    counts
        int[most + 1]: how many there are of each value 0, 1, 2 .... At least one in all.
    percents
        Whole numbers from 1 to 100.

    Returns
    -------
    values
        int64 of as many values.

    Examples
    --------
    >>> percentiles([0, 2, 1, 1], [50, 99]).tolist()
    [1, 3]
    """
    up_to = np.cumsum(np.asarray(counts, np.int64))
    assert up_to.size, "a histogram has values"
    assert up_to[-1] > 0, "nothing has no percentiles"
    ranks = -(-np.asarray(percents, np.int64) * up_to[-1] // 100)
    return np.asarray(np.searchsorted(up_to, ranks), np.int64)


def _off_mean(sums: Floats, counts: Floats) -> Floats:
    """How far the sum of each batch is off what its size and the mean over all would make it."""
    return np.asarray(sums - sums.sum() / counts.sum() * counts)


class Batches(NamedTuple):
    """Sums and counts of observations, batch by batch: float64 or int64[batches] each."""

    sums: NDArray[np.generic]
    counts: NDArray[np.generic]


def paired_ratio(first: Batches, second: Batches) -> tuple[float, float]:
    """Return the ratio of two means, and the half-width of its 95 % confidence interval.

    Two runs with the same packets over the same cycles share their random variation (common random
    numbers; A. M. Law, "Simulation Modeling and Analysis", section 11.2). So the interval of their
    ratio, computed batch by batch, is far narrower than those of the two means if the runs hardly
    differ. It has no width if they are equal.

    With means m and n, the relative deviation of the ratio r = m / n is, to first order, Σ dᵢ with
    dᵢ = (sᵢ − m cᵢ) / Σ s − (tᵢ − n eᵢ) / Σ t. Variation that both runs share cancels. Both are NaN
    if one run has no observation or its mean is 0.

    Examples
    --------
    >>> runs = [Batches(np.array(sums), np.array([10, 10])) for sums in ([50, 70], [100, 140])]
    >>> paired_ratio(runs[1], runs[0])
    (2.0, 0.0)
    """
    assert len(first.sums) == len(second.sums), "batches of other times"
    totals = [float(np.sum(each.sums)) for each in (first, second)]
    if not all(np.sum(each.counts) for each in (first, second)) or not all(totals):
        return np.nan, np.nan
    (mean, deviation), (other, its) = (_deviations(each) for each in (first, second))
    many = np.ones(len(deviation))
    _, half = batch_interval(*merge_correlated(deviation - its, many))
    return mean / other, float(mean / other * half * len(many))


def _deviations(batches: Batches) -> tuple[float, Floats]:
    """Return the mean, and by what part of itself each batch moves it."""
    sums, counts = (np.asarray(values, np.float64) for values in batches)
    mean = float(sums.sum() / counts.sum())
    return mean, np.asarray((sums - mean * counts) / sums.sum())


# -- what the packets of a run come to -------------------------------------------------------------

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
        self._early: Delivered | None = None  # packets that arrive later

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
        from netloom.simulation.kernels.tally import add_packets

        assert until >= self.until, "a window does not shrink"
        since, self.until = self.until, until
        while self.cycles > MOST_BATCHES * self.batch_cycles:
            half = MOST_BATCHES // 2
            self._sums[..., :half] = self._sums[..., 0::2] + self._sums[..., 1::2]
            self._sums[..., half:] = 0
            self.batch_cycles *= 2
        if self._early is not None:
            both = zip(self._early, delivered, strict=True)
            delivered = Delivered(*(np.concatenate(columns) for columns in both))
        arrival = delivered.arrival
        assert not ((self.begin <= arrival) & (arrival < since)).any(), "it was counted before"
        late = arrival >= until
        self._early = Delivered(*(each[late] for each in delivered))
        longest, room = int((arrival - delivered.birth).max(initial=0)), len(self.latency_counts)
        if longest >= room:
            self.latency_counts = np.pad(self.latency_counts, (0, max(longest + 1 - room, room)))
        of_group = np.empty(0, np.int32) if self._groups is None else self._groups.of(delivered)
        given = (*delivered[1:5], *delivered[6:])  # birth, entry, arrival, source; hops, flits
        window = (self.begin, until, self.batch_cycles)
        sums = (self._sums, self.delivered_flits, self.latency_counts)
        add_packets(given, of_group, window, *sums)

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


# -- the loop: warm-up, window and stability -------------------------------------------------------

SLOW = 3.0
"""Latency, in times that of the idle network, from which a network counts as saturated."""


@dataclass(frozen=True)
class Limits:
    """When a run ends.

    Attributes
    ----------
    cycles
        Measured cycles. None: as many as precision needs.
    precision
        Half-width of the 95 % confidence interval of the mean packet latency, as a fraction of it,
        that is narrow enough.
    most_cycles
        Measured cycles after which a run ends whatever its precision, and cycles after which the
        search for the end of the start-up is given up.
    latency
        Mean packet latency, in cycles, that is of no more interest. Infinite by default.
    """

    cycles: int | None = None
    precision: float = 0.02
    most_cycles: int = 200_000
    latency: float = float("inf")

    @property
    def most_measured(self) -> int:
        """The most cycles that are measured."""
        return self.most_cycles if self.cycles is None else self.cycles


class Advancing(Protocol):
    """What can be run on, cycle by cycle."""

    @property
    def cycle(self) -> int:
        """The next cycle to be run."""

    def advance(self, until: int) -> object:
        """Run up to, and without, the cycle ``until``."""


def run_to(
    system: Advancing, until: int, *, step: int, stopped: Callable[[], bool] = lambda: False
) -> bool:
    """Advance to a cycle, ``step`` cycles at a time, and return whether it came so far.

    ``stopped`` is asked before each step: whether to end at once.
    """
    while system.cycle < until and not stopped():
        system.advance(min(system.cycle + step, until))
    return system.cycle >= until


def watched(
    system: Advancing,
    look: Callable[[], bool | None],
    *,
    first: int,
    longer: Callable[[int], int] = lambda cycles: 2 * cycles,
    most: int,
    step: int,
    stopped: Callable[[], bool],
) -> bool | None:
    """Run on, and look now and then, until it is known whether it will do. None if interrupted.

    It has run ``first`` cycles at the first look, ``longer`` says how many at the look after one of
    so many, and ``most`` at the last. A look that finds None goes on. False is what ``most`` cycles
    come to without another answer.
    """
    begin, cycles = system.cycle, min(first, most)
    while run_to(system, begin + cycles, step=step, stopped=stopped):
        found = look()
        if found is not None or cycles >= most:
            return bool(found)
        cycles = min(longer(cycles), most)
    return None


BATCH = 5
"""Observations averaged into one: the 5 of MSER-5."""


def mser5(batch_means: ArrayLike) -> int | None:
    """Return how many leading batches belong to the start-up, or None where it has not ended.

    MSER-5: observations are averaged in fives, and leading averages are dropped as long as this
    makes the mean of the rest more certain. K. P. White, "An effective truncation heuristic for
    bias reduction in simulation output", Simulation 69 (1997). K. P. White, M. J. Cobb and
    S. C. Spratt, "A comparison of five steady-state truncation heuristics for simulation", Proc.
    Winter Simulation Conference (2000).

    Of all d, take the one with the least Σ_{i ≥ d} (Yᵢ − Ȳ_d)² / (n − d)². Ȳ_d is the mean of those
    after the first d. This is the squared standard error of Ȳ_d, were they independent. A least
    value in the second half of the run means that the run is too short to tell.

    The last quarter of the run (at least 5 batches) is never cut. For a d that late, the answer
    would be None anyway. The statistic of the last few batches is also useless. It is 0 if they are
    equal by chance, which is frequent if packets seldom meet.

    Parameters
    ----------
    batch_means
        float[n]: means of 5 successive observations each, or of successive windows of time.

    Returns
    -------
    dropped
        Number of batches to leave out, at most n / 2. The smallest of equally good ones. None if
        n < 10 or the start-up has not ended within the first half.

    Examples
    --------
    >>> mser5([90, 60, 30, 12, 10, 11, 10, 9, 10, 11, 9, 10])
    4
    >>> print(mser5(range(12)))
    None
    """
    means = np.asarray(batch_means, np.float64)
    assert means.ndim == 1, "one mean a batch"
    assert np.isfinite(means).all(), "an empty batch has no mean"
    count = len(means)
    if count < LEAST_BATCHES:
        return None
    # Measured from the last value, equal batches at the end sum to exactly 0.
    backwards = (means - means[-1])[::-1]
    kept = np.arange(1, count + 1)
    squares = np.cumsum(backwards**2) - np.cumsum(backwards) ** 2 / kept
    error = (np.maximum(squares, 0) / kept**2)[::-1]
    spared = max(5, -(-count // 4))
    dropped = int(np.argmin(error[: count - spared + 1]))
    return dropped if 2 * dropped <= count else None


def warmup_packets(latencies: ArrayLike) -> int | None:
    """Return how many packets of a run belong to its start-up, or None where it has not ended.

    It is a multiple of 5, see :func:`mser5`. ``latencies`` are in order of arrival, cycles. Up to 4
    at the end that do not fill a batch are not looked at.

    Examples
    --------
    >>> warmup_packets([100] * 10 + [20, 21, 20, 19, 20] * 20)
    10
    """
    observed = np.asarray(latencies, np.float64)
    whole = len(observed) // BATCH * BATCH
    dropped = mser5(observed[:whole].reshape(-1, BATCH).mean(axis=1))
    return None if dropped is None else BATCH * dropped


LEAST_SAMPLES = 16
"""With these or more, R² > 0.6 means a slope of over 4.5 standard errors."""

STRAIGHT = 0.6
"""R² above which a backlog is taken to grow along a line."""

BEHIND = 0.01
"""Growth of the backlog above which a network is behind, as a fraction of the traffic offered."""

CHANCE, SURE = 2.0, 5.0
"""Largest growth of the backlog by chance, in square roots of the packets offered: in a long
window, and in a look before the end of a run."""

SURE_NODE = 6.0
"""The same for the queue of one node, of many, and the packets that it offers."""

NODE_BEHIND = 0.05
"""The same for the queue of one node, as a fraction of the traffic that it offers."""

NODE_PACKETS = 8
"""Packets by which a node's queue must grow in each half of the window: fewer come and go."""


SAME = 1e-9
"""Relative difference up to which a load is at a limit: they differ by rounding only."""


class Stability(NamedTuple):
    """Whether a run is stable, and the sentence that says why.

    Attributes
    ----------
    growth
        What piles up in the whole network, as a fraction of the traffic offered, or None if that is
        not known. Near 0 if the run is stable.
    node, node_growth
        The node whose queue keeps growing, and by what fraction of the traffic that it offers. Both
        are None if there is no such node.
    """

    stable: bool
    reason: str
    growth: float | None = None
    node: int | None = None
    node_growth: float | None = None


def past_limit(load: float, limit: float, what: str, *, by_chance: bool) -> Stability | None:
    """Return that a load is past saturation by a proven limit, or None if the limit allows it.

    A run may be too short to show it, because the backlog has yet to build up. If packets arrive at
    random, the limit itself is past saturation, too. Queues at a resource with a load of 100 % grow
    slowly without end, because a random walk without drift has no steady state.

    Both are flits/node/cycle of the average sender. ``what`` is the resource that limits it, in
    words. ``by_chance`` says whether packets of every sender come by chance.

    Examples
    --------
    >>> past_limit(0.15, 1 / 7, "channel 0 -> 1", by_chance=True).reason
    'the load is above 0.1429, the most that can be carried (limited by channel 0 -> 1)'
    >>> past_limit(1.0, 1.0, "injection at node 0", by_chance=False) is None
    True
    """
    if load > limit * (1 + SAME):
        where = "above"
    elif by_chance and load >= limit * (1 - SAME):
        where = "at"
    else:
        return None
    reason = f"the load is {where} {limit:.4g}, the most that can be carried (limited by {what})"
    return Stability(stable=False, reason=reason)


def stability(
    cycle: ArrayLike,
    backlog_flits: ArrayLike,
    node_packets: ArrayLike,
    rate: ArrayLike,
    packet_flits: float,
    *,
    interim: bool = False,
) -> Stability:
    """Return whether a run was stable within its window, with the reason.

    It is unstable if either

    - the backlog of the network grows linearly (least squares, R² > 0.6), also in the second half
      of the window, by more than min(1 %, 2 / √N) of the N packets offered, or
    - the queue of one node grows by more than 5 % of what that node offers, and by at least 8
      packets, in the first *and* in the second half of the window. (When a permutation starves
      one node of many, the whole hardly shows it.)

    ``interim`` is for looks before the end of a run, which may end it. Each look is a chance to be
    wrong, so the thresholds are higher: at least 5 / √N of the whole, and at least 6 / √n of a
    node's n packets. This is Haybittle and Peto's rule for trials that may be stopped early.

    The limits are chosen on M/D/1 queues with packets of 1 and of 8 flits, alone and 64 together.
    At ρ = 0.5, 0.8, 0.9 and 0.95, in windows of 20 / (1 − ρ)² service times, fewer than 1 in 100
    are called unstable. At ρ = 1.05 and 1.2, in 8000 service times, more than 99 in 100. At
    ρ = 1.02 a queue alone is found out in some 3 of 4 such windows, and in 9 of 10 of 32 000. In a
    window much shorter than these a busy network may be called unstable: what one sees is growth.
    ``benchmarks/stability.py`` prints how often networks near saturation are called unstable.

    Parameters
    ----------
    cycle
        int[samples], at least 16, ascending: when samples were taken, at regular distances in the
        measured window.
    backlog_flits
        int[samples]: flits of all packets born but not delivered.
    node_packets
        int[3, num_nodes]: packets that wait in each node's source queue (those on their way may be
        counted as well) at the first sample, sample ``samples // 2`` and the last.
    rate
        float[num_nodes]: traffic that each node offers, flits/cycle. Some must.
    packet_flits
        Mean length of a packet.
    interim
        Whether the run goes on if this look finds it stable.

    Examples
    --------
    >>> when = np.arange(0, 10_000, 500)
    >>> stability(when, 40 + when // 10, [[0, 5], [0, 60], [0, 115]], [0.5, 0.5], 8).reason
    'the backlog grows by 0.1 flits/cycle, 10 % of the traffic offered'
    >>> stability(when, 40 + when % 3, [[0, 5], [1, 3], [2, 4]], [0.5, 0.5], 8).stable
    True
    """
    times, backlog = np.asarray(cycle, np.float64), np.asarray(backlog_flits, np.float64)
    offered = np.asarray(rate, np.float64)
    total = float(offered.sum())
    assert len(times) == len(backlog) >= LEAST_SAMPLES, "too few samples"
    assert total > 0, "no node sends"
    born = total / packet_flits * (times[-1] - times[0])
    least = max(BEHIND, SURE / born**0.5) if interim else min(BEHIND, CHANCE / born**0.5)
    slope, straight = fitted_line(times, backlog)
    half = len(times) // 2
    late, _ = fitted_line(times[half:], backlog[half:])
    if slope > least * total and straight > STRAIGHT and late > 0:
        reason = f"the backlog grows by {slope:.3g} flits/cycle, {100 * slope / total:.3g} % "
        reason += "of the traffic offered"
        return Stability(stable=False, reason=reason, growth=slope / total)
    # the node whose queue grows most, by the half of the window in which it grows less
    births = offered / packet_flits
    growth = np.diff(np.asarray(node_packets).astype(np.float64), axis=0)
    born_there = np.diff(times[[0, half, -1]])[:, None] * births
    sure = SURE_NODE if interim else 0.0
    enough = np.maximum(NODE_PACKETS, sure * np.sqrt(born_there))
    grows = (births > 0) & (growth >= enough).all(axis=0)
    fraction = np.zeros_like(growth)
    np.divide(growth, born_there, out=fraction, where=grows)
    node = int(np.argmax(fraction.min(axis=0)))
    behind = float(fraction[:, node].min())
    if behind > NODE_BEHIND:
        reason = f"the queue of node {node} grows by {100 * behind:.3g} % of the traffic that "
        reason += "it offers, or more, in both halves of the window"
        found = Stability(stable=False, reason=reason, growth=slope / total)
        return found._replace(node=node, node_growth=behind)
    reason = f"the backlog changes by {100 * slope / total:.2g} % of the traffic offered, and no "
    reason += "node's queue keeps growing"
    return Stability(stable=True, reason=reason, growth=slope / total)


def fitted_line(times: Floats, values: Floats) -> tuple[float, float]:
    """Return the slope of the least-squares line and its R², 0 where all values are equal.

    Examples
    --------
    >>> fitted_line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    (2.0, 1.0)
    """
    late, high = times - times.mean(), values - values.mean()
    slope = float(late @ high / (late @ late))
    spread = float(high @ high)
    return slope, slope**2 * float(late @ late) / spread if spread > 0 else 0.0
