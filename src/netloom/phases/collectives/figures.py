"""Figures of schedules of collectives: how fast, how many steps, and what crosses each channel."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from netloom.base.figures import SHARE, Figures, derived, figure
from netloom.base.words import counted
from netloom.phases.collectives.judged import Judged
from netloom.phases.collectives.schedules import Schedule, least_latency
from netloom.workload.programs.collectives.program import bus_factor

if TYPE_CHECKING:
    from netloom.phases.collectives.few_steps import InSteps

NEAR = 0.99
"""Part of a time from which on it is as good as all of it."""

MOST_LINES = 40
"""Longest proof that is printed."""

BINS = 200
"""Parts of the time for which the use of channels is told."""

MOST_CHANNELS = 24
"""Busiest channels whose use is told."""


class ScheduleSpeed(Figures):
    """A schedule of a collective that breaks no rule: how fast it is, and what none beats.

    Attributes
    ----------
    size
        As nccl-tests count it.
    finish_seconds
        When the last message has arrived.
    bound_seconds, bound
        The time that no schedule beats, and why. It leaves latencies out.
    latency_seconds
        The latency of the longest way that data has to take.
    algorithm_bandwidth
        Size over time.
    bus_bandwidth
        The bandwidth at which a rank's link is used, as nccl-tests define it.
    depth
        The most messages that data takes one after the other.
    """

    collective: str = figure(key=True)
    ranks: int = figure(key=True)
    size: float = figure(unit="bytes", key=True)
    finish_seconds: float = figure("time", "seconds", key=True, lead=True, limit="bound_seconds")
    bound_seconds: float = figure("bound", "seconds", key=True)
    bound: str = figure(table=False)
    latency_seconds: float = figure(unit="seconds", table=False)
    algorithm_bandwidth: float = figure(
        unit="bytes/s", key=True, lead=True, limit="bound_bandwidth"
    )
    bus_bandwidth: float = figure(unit="bytes/s", key=True, lead=True)
    messages: int = figure(lead=True)
    chunks: int = figure(lead=True)
    steps: int = figure(lead=True)
    depth: int = figure("messages that data takes one after the other", lead=True)
    busiest: float = figure("busiest channels are used", SHARE, lead=True)

    @derived(unit="bytes/s", table=False)
    def bound_bandwidth(self) -> float:
        """Size over the bound: no schedule has more algorithm bandwidth."""
        return self.size / self.bound_seconds

    @derived("bound over time", SHARE, key=True)
    def efficiency(self) -> float:
        """The bound over the time."""
        return self.bound_seconds / self.finish_seconds

    @derived("latency over time", SHARE, table=False)
    def latency_share(self) -> float:
        """At most 1."""
        return min(self.latency_seconds / self.finish_seconds, 1.0)

    @property
    def by_latency(self) -> bool:
        """Whether latencies are why it is far from its bound: they take about all of its time."""
        return self.efficiency < NEAR <= self.latency_seconds / self.finish_seconds

    @classmethod
    def of(cls, schedule: Schedule, judged: Judged) -> Self:
        """Return the figures of a schedule that was judged."""
        program, seconds = schedule.program, judged.finish_seconds
        rate, ranks = schedule.size_bytes / seconds, program.num_ranks
        return cls(
            collective=program.collective,
            ranks=ranks,
            size=schedule.size_bytes,
            finish_seconds=seconds,
            bound_seconds=schedule.bound.seconds,
            bound=schedule.bound.why,
            latency_seconds=least_latency(schedule.network, program.collective, program.root),
            algorithm_bandwidth=rate,
            bus_bandwidth=rate * bus_factor(program.collective, ranks),
            messages=program.num_messages,
            chunks=program.num_chunks,
            steps=program.num_steps,
            depth=judged.depth,
            busiest=judged.busiest,
        )


class StepsProven(Figures):
    """What prices prove of schedules of few steps, exactly.

    ``times_slowest``: the time in which the slowest channel carries the data of a rank, or of the
    root, so many times. ``numbers``: how many numbers prove it.
    """

    steps: int
    most_steps: int
    bound_seconds: float = figure(unit="seconds")
    bound_seconds_exact: str
    times_slowest: str
    numbers: int

    @classmethod
    def of(cls, schedule: Schedule, judged: Judged) -> Self | None:
        """Return what the prices of a schedule prove. None if it has none."""
        few, proven = schedule.few, judged.step_seconds
        if few is None or proven is None:
            return None
        program, slowest = schedule.program, Fraction(float(schedule.network.rate.min()))
        parts = 1 if program.collective in ("broadcast", "reduce") else program.num_ranks
        return cls(
            steps=program.num_steps,
            most_steps=few.steps,
            bound_seconds=float(proven),
            bound_seconds_exact=str(proven),
            times_slowest=str(proven / (Fraction(schedule.size_bytes) / parts / slowest)),
            numbers=few.count,
        )


class Point(Figures):
    """A schedule of few steps that none with as few steps and chunks beats."""

    steps: int = figure(key=True, lead=True)
    rounds: int = figure(key=True, lead=True)
    chunks: int = figure("chunks per rank", head="chunks", key=True, lead=True)
    rounds_per_chunk: str = figure(key=True, lead=True, optional=True)
    least_rounds_per_chunk: str = figure("at least", key=True, lead=True)
    proven: bool = figure("proven fewest", key=True, lead=True)
    finish_seconds: float = figure("time", "seconds", key=True, lead=True, optional=True)
    fastest: bool = figure(key=True, lead=True, optional=True)


class StepsBound(Figures):
    """The least rounds per chunk of a number of steps, and its proof in whole numbers.

    ``price``, ``worth`` and ``forwarding`` as ``StepProof`` has them. ``lines`` say it in words.
    """

    steps: int
    least_rounds_per_chunk: str
    by: str
    proven_by_prices: str
    whole: int
    price: tuple[tuple[int, ...], ...]
    worth: tuple[tuple[int, ...], ...]
    forwarding: tuple[tuple[int, ...], ...]
    lines: tuple[str, ...]

    @property
    def numbers(self) -> int:
        """How many numbers prove it."""
        return len(self.price) + len(self.worth) + len(self.forwarding)


class FewSteps(Figures):
    """Schedules of few steps: all that matter, and what is proven of any.

    Attributes
    ----------
    best
        The fastest.
    unlimited_seconds
        The time of a schedule of any number of steps.
    formula
        What times are made of.
    undecided
        Steps, rounds and chunks for whose search the time did not suffice.
    """

    best: Point = figure(at=".")
    rounds_of_step: tuple[int, ...]
    round_bytes_per_second: float = figure(unit="bytes/s")
    unlimited_seconds: float = figure(unit="seconds")
    formula: str | None
    frontier: tuple[Point, ...]
    bounds: tuple[StepsBound, ...]
    undecided: tuple[tuple[int, ...], ...]

    @property
    def proof(self) -> tuple[str, ...]:
        """The proof of the fastest, in lines of text: the first one alone if there are many."""
        bound = next(each for each in self.bounds if each.steps == self.best.steps)
        if bound.by != "prices":
            least = bound.least_rounds_per_chunk
            return (f"The bottleneck cut bounds the rounds per chunk: {least}.",)
        if len(bound.lines) <= MOST_LINES:
            return bound.lines
        many = counted(bound.numbers, "number", ",")
        return (f"{many} prove the rounds per chunk: --json and --out list them.",)

    @classmethod
    def of(cls, found: InSteps, unlimited_seconds: float) -> FewSteps:
        """Return what is known of schedules of few steps."""
        best = found.points[found.best]
        points = tuple(
            Point(
                steps=point.steps,
                rounds=point.rounds,
                chunks=point.chunks,
                rounds_per_chunk=str(point.rounds_per_chunk),
                least_rounds_per_chunk=str(found.bound(point).rounds_per_chunk),
                proven=found.proven(point),
                finish_seconds=timed.finish_seconds,
                fastest=point is best,
            )
            for point, timed in zip(found.points, found.timed, strict=True)
        )
        bounds = tuple(
            StepsBound(
                steps=bound.proof.steps,
                least_rounds_per_chunk=str(bound.rounds_per_chunk),
                by="prices" if bound.prices >= bound.cut else "bottleneck cut",
                proven_by_prices=str(bound.prices),
                whole=bound.whole,
                price=bound.proof.price.tolist(),
                worth=bound.proof.worth.tolist(),
                forwarding=bound.proof.forwarding.tolist(),
                lines=tuple(found.proof_lines(bound)),
            )
            for bound in found.bounds
        )
        return cls(
            best=points[found.best],
            rounds_of_step=best.rounds_of_step.tolist(),
            round_bytes_per_second=found.round_rate,
            unlimited_seconds=unlimited_seconds,
            formula=found.formula,
            frontier=points,
            bounds=bounds,
            undecided=tuple((each.steps, each.rounds, each.chunks) for each in found.undecided),
        )


class Channel(Figures):
    """What crosses a channel."""

    channel: str = figure(key=True)
    bytes: float = figure(unit="bytes", key=True)
    messages: int = figure(key=True)
    rate: float = figure(unit="bytes/s", key=True)
    utilisation: float = figure("used until the end", SHARE, key=True)


class Use(Figures):
    """How much of the rate of a channel is used in a part of the time."""

    channel: str
    begin: float = figure(unit="seconds")
    end: float = figure(unit="seconds")
    use: float = figure("used of its rate", SHARE)


def channels_of(schedule: Schedule) -> dict[str, Any]:
    """Return what crosses each channel, the busiest first, as columns of ``Channel``."""
    network, sent = schedule.network, schedule.carried
    used = sent / network.rate / schedule.finish_seconds
    order = np.argsort(-used, kind="stable")
    return {
        "channel": [network.channel_name(channel) for channel in order.tolist()],
        "bytes": sent[order],
        "messages": np.bincount(schedule.routes.values, minlength=len(sent))[order],
        "rate": network.rate[order],
        "utilisation": used[order],
    }


def use_of(schedule: Schedule) -> dict[str, Any]:
    """Return how much of the busiest channels is used over time, as columns of ``Use``."""
    network = schedule.network
    lasting = schedule.carried / network.rate
    busiest = np.argsort(-lasting, kind="stable")[:MOST_CHANNELS]
    edges = np.linspace(0, schedule.finish_seconds, BINS + 1)
    busiest = busiest[lasting[busiest] > 0].tolist()
    names = [network.channel_name(channel) for channel in busiest]
    return {
        "channel": [name for name in names for _ in range(BINS)],
        "begin": np.tile(edges[:-1], len(names)),
        "end": np.tile(edges[1:], len(names)),
        "use": np.concatenate([schedule.use(channel, edges) for channel in busiest]),
    }
