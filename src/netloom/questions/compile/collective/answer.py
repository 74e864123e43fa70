"""The answer of ``compile_collective``: when each message leaves, and how near the bound it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base import units
from netloom.base.words import counted
from netloom.phases.collectives.schedule_files import write_schedule
from netloom.phases.collectives.schedules import least_latency
from netloom.phases.collectives.synthesis import ON_TABLES
from netloom.questions.columns import Column, Columns, table
from netloom.questions.register import Answer, by_verb
from netloom.questions.shown import percent
from netloom.questions.timelines import Crossed, Happened, timeline_of
from netloom.questions.timing import assumed
from netloom.topology.faults import broken_parts
from netloom.workload.programs.collectives.costs import bus_factor
from netloom.workload.programs.collectives.waits import waits

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    import polars as pl

    from netloom.base.arrays import Floats, Ints
    from netloom.base.provenance import Provenance
    from netloom.drawing.timelines import Timeline
    from netloom.phases.collectives.few_steps import RoundBound
    from netloom.phases.collectives.in_steps import InSteps
    from netloom.phases.collectives.judged import Judged
    from netloom.phases.collectives.schedules import Schedule
    from netloom.questions.timing import Clock
    from netloom.questions.verdict import Verdict
    from netloom.topology import Topology


MOST_LINES = 40
"""Longest proof that is printed."""

FRONTIER = Columns(
    Column("steps", kind=int, key=True),
    Column("rounds", kind=int, key=True),
    Column("chunks", "chunks per rank", kind=int, key=True),
    Column("rounds_per_chunk", kind=str, key=True),
    Column("least_rounds_per_chunk", "at least", kind=str, key=True),
    Column("proven", "proven fewest", kind=bool, key=True),
    Column("finish_seconds", "time", unit="s", key=True),
    Column("fastest", kind=bool, key=True),
)


def frontier_rows(found: InSteps) -> list[dict[str, Any]]:
    """Return the points of the frontier, by steps, then chunks."""
    frontier = found.frontier
    return [
        {
            "steps": point.steps, "rounds": point.rounds, "chunks": point.chunks,
            "rounds_per_chunk": str(point.rounds_per_chunk),
            "least_rounds_per_chunk": str(frontier.bound(point.steps).rounds_per_chunk),
            "proven": frontier.proven(point), "finish_seconds": timed.finish_seconds,
            "fastest": place == found.best,
        }
        for place, (point, timed) in enumerate(zip(frontier.points, found.timed, strict=True))
    ]  # fmt: skip


def plain_steps(found: InSteps, unlimited_seconds: float) -> dict[str, Any]:
    """Return all that is known of schedules of few steps as plain data.

    Attributes of a point, then ``frontier``, ``bounds`` with their proofs in whole numbers, and
    ``undecided``: (steps, rounds, chunks) for whose search the time did not suffice.
    """
    point = found.frontier.points[found.best]
    return {
        "steps": point.steps, "rounds": point.rounds, "chunks": point.chunks,
        "rounds_of_step": point.rounds_of_step.tolist(),
        "least_rounds_per_chunk": str(found.frontier.bound(point.steps).rounds_per_chunk),
        "proven": found.frontier.proven(point),
        "round_bytes_per_second": found.round_rate,
        "unlimited_seconds": unlimited_seconds,
        "frontier": frontier_rows(found),
        "bounds": [_bound(found, each) for each in found.frontier.bounds],
        "undecided": [
            [each.steps, each.rounds, each.chunks] for each in found.frontier.undecided
        ],
    }  # fmt: skip


def _bound(found: InSteps, bound: RoundBound) -> dict[str, Any]:
    proof = bound.prices.proof
    return {
        "steps": proof.steps,
        "least_rounds_per_chunk": str(bound.rounds_per_chunk),
        "by": "prices" if by_prices(bound) else "bottleneck cut",
        "proven_by_prices": str(bound.prices.bound),
        "whole": bound.prices.whole,
        "price": proof.price.tolist(),
        "worth": proof.worth.tolist(),
        "forwarding": proof.forwarding.tolist(),
        "lines": proof_lines(found, bound),
    }


def by_prices(bound: RoundBound) -> bool:
    """Whether prices prove a bound, not the bottleneck cut."""
    return bound.prices.bound == bound.rounds_per_chunk


def _rounds(least: Fraction) -> str:
    return "1 round" if least == 1 else f"{least} rounds"


def formula(found: InSteps) -> str:
    """Return what times are made of."""
    latency = found.network.latency
    parts = 1 if found.collective in ("broadcast", "reduce") else found.network.num_ranks
    chunk = found.size_bytes / parts
    alpha = units.seconds(float(latency.max()))
    if (latency != latency[0]).any():
        alpha = f"{alpha} at most"
    each, speed = units.seconds(chunk / found.round_rate), units.rate(found.round_rate)
    return f"time = steps x {alpha} + rounds / chunks x {each} ({units.size(chunk)} at {speed})"


def proof_lines(found: InSteps, bound: RoundBound) -> list[str]:
    """Return the proof of a bound as text, which a person can check by hand."""
    prices, steps = bound.prices, counted(bound.prices.steps, "step")
    names = [found.network.name_of(rank) for rank in range(found.network.num_ranks)]
    total = int(prices.worth.sum())
    cost = (found.network.capacity[:, None] * prices.price).sum(axis=0).tolist()
    backwards = found.collective in ("reduce-scatter", "reduce")
    head = f"At most {steps} need {_rounds(prices.bound)} per chunk, as these numbers prove"
    if backwards:
        head += "; channels and steps are those of the same schedule run backwards"
    return [
        f"{head}:",
        *prices.proof.lines(names),
        "No send pays: worth at its target, with the forwarding values from there in later steps, "
        "is at most its price, with the forwarding values of its channel from its step on.",
        f"A round costs at most {max(cost)} in a step: the sum of price x rate / "
        f"({units.rate(found.round_rate)}). All worths are {total} together, and "
        f"{total}/{max(cost)} = {prices.bound}.",
    ]


SECONDS, BYTES, RATE = "s", "bytes", "bytes/s"

ROUNDING = 1e-9
"""A chunk this near to whole bytes, relative to its size, is of whole bytes."""

BINS = 200
"""Parts of the time for which the use of channels is told."""

MOST_CHANNELS = 24
"""Busiest channels whose use is told."""

CHANNELS = Columns(
    Column("channel", kind=str, key=True),
    Column("bytes", unit=BYTES, key=True),
    Column("messages", kind=int, key=True),
    Column("rate", unit=RATE, key=True),
    Column("utilisation", "used until the end", key=True),
)

USE = Columns(
    Column("channel", kind=str),
    Column("begin", unit=SECONDS),
    Column("end", unit=SECONDS),
    Column("use", "used of its rate"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class CollectiveSchedule(Answer):
    """A schedule of a collective that has been executed on data and judged.

    Attributes
    ----------
    topology, clock
        The network that it was made for, in bytes and seconds.
    schedule
        The messages, their times and routes, and the bound.
    judged
        What the judge found.
    method
        What the schedule is made of, in words.
    rounds
        Parts of the time in which each channel carries one message or none. None if it has none.
    seconds
        That making it took.
    few
        Schedules of few steps, if those were asked for: this is the fastest.
    unlimited_seconds
        The time of a schedule of any number of steps, if those were asked for.
    inside_nodes
        The part of all bytes sent that goes from host to host inside nodes, at no cost. None if
        that counts.
    """

    topology: Topology
    clock: Clock
    schedule: Schedule
    judged: Judged
    method: str
    rounds: int | None
    seconds: float
    provenance: Provenance
    few: InSteps | None = None
    unlimited_seconds: float | None = None
    inside_nodes: float | None = None

    columns: ClassVar = Columns(
        Column("collective", kind=str, key=True),
        Column("ranks", kind=int, value="num_ranks", key=True),
        Column("size", unit=BYTES, value="schedule.size_bytes", key=True),
        Column("padded_size", "size if chunks are whole bytes", BYTES, "padded_bytes"),
        Column("algorithm_bandwidth", unit=RATE, key=True),
        Column("bus_bandwidth", unit=RATE, key=True),
        Column("finish_seconds", "time", SECONDS, key=True),
        Column("bound_seconds", "bound", SECONDS, key=True),
        Column("ratio", "time over bound"),
        Column("efficiency", "bound over time", key=True),
        Column("proven", kind=bool, key=True),
        Column("method", kind=str),
        Column("rounds", kind=int),
        Column("steps", kind=int, value="schedule.program.num_steps"),
        Column("chunks", kind=int, value="schedule.program.num_chunks"),
        Column("messages", kind=int, value="schedule.program.num_messages"),
        Column("depth", kind=int, value="judged.depth"),
        Column("busiest", "busiest channels are used", value="judged.busiest"),
        Column("inside_nodes", "bytes that stay inside nodes"),
    )
    about: ClassVar = Columns(
        Column("topology", kind=str, value="topology.name"),
        Column("failures", kind=dict, value=lambda found: broken_parts(found.topology)),
        Column("clock", kind=dict, value="clock_dict"),
        Column("root", kind=int, value="schedule.program.root"),
        Column("bound", kind=str, value="schedule.bound.why"),
        Column("bound_bandwidth", unit=RATE),
        Column("latency_seconds", unit=SECONDS),
        Column("proof", kind=str),
        Column("note", kind=str),
        Column("few_steps", kind=dict),
        Column("seconds", unit=SECONDS),
    )

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return self.schedule.program.num_ranks

    @property
    def collective(self) -> str:
        """What ranks do."""
        return self.schedule.program.collective

    @property
    def finish_seconds(self) -> float:
        """When the last message has arrived."""
        return self.judged.finish_seconds

    @property
    def bound_seconds(self) -> float:
        """The time that no schedule beats."""
        return self.schedule.bound.seconds

    @property
    def algorithm_bandwidth(self) -> float:
        """Size over time, in bytes/s."""
        return self.schedule.size_bytes / self.finish_seconds

    @property
    def bus_bandwidth(self) -> float:
        """The bandwidth at which a rank's link is used, as nccl-tests define it."""
        return self.algorithm_bandwidth * bus_factor(self.collective, self.num_ranks)

    @property
    def bound_bandwidth(self) -> float:
        """Size over the bound: no schedule has more algorithm bandwidth."""
        return self.schedule.size_bytes / self.bound_seconds

    @property
    def ratio(self) -> float:
        """The time over its bound."""
        return self.finish_seconds / self.bound_seconds

    @property
    def efficiency(self) -> float:
        """The bound over the time."""
        return self.bound_seconds / self.finish_seconds

    @cached_property
    def latency_seconds(self) -> float:
        """The latency of the longest way that data has to take. The bound leaves it out."""
        schedule = self.schedule
        return least_latency(schedule.network, self.collective, schedule.program.root)

    @property
    def proven(self) -> bool:
        """Whether the judge found no fault, and the bound is an exact optimum: always, or it fails.

        A schedule that breaks a rule is an error, and each bound is that of a bottleneck cut or of
        a linear program that was solved.
        """
        return self.finish_seconds >= self.bound_seconds * (1 - 1e-6)

    @property
    def proof(self) -> str:
        """What is proven, and how."""
        done = "The schedule was executed on data and fits all channels."
        if self.method == ON_TABLES:
            return f"{done} The bound is that of the bottleneck cut, whatever the routes."
        if len(self.schedule.bound.inside):
            return f"{done} The bound is that of the bottleneck cut, which trees reach exactly."
        return (
            f"{done} The bound is the optimum of a linear program, and prices of channels prove it."
        )

    @property
    def clock_dict(self) -> dict[str, Any]:
        """The clock as plain data."""
        return self.clock.to_dict()

    @cached_property
    def few_steps(self) -> dict[str, Any] | None:
        """Schedules of few steps as plain data. None if others were asked for."""
        if self.few is None or self.unlimited_seconds is None:
            return None
        return plain_steps(self.few, self.unlimited_seconds)

    @property
    def verdict(self) -> Verdict:
        """How near the best possible the schedule is, and what sets that."""
        return by_verb(self.provenance.verb).verdict(self.to_dict())

    @property
    def note(self) -> str | None:
        """What was assumed, and what size chunks of whole bytes need. None if there is nothing."""
        said = assumed(self.clock)
        words = [f"{said}."] if said else []
        if self.inside_nodes is not None:
            words.append(
                "Messages inside nodes are taken as free, by links that never limit: "
                f"{percent(self.inside_nodes)} of the bytes (--count-inside-nodes counts them)."
            )
        elif self.topology.num_nodes < self.topology.num_hosts:
            words.append("Messages between hosts of one node are counted on the network.")
        if self.padded_bytes > self.schedule.size_bytes:
            words.append(f"For chunks of whole bytes, pad the size to {self.padded_bytes:,} B.")
        return " ".join(words) or None

    @cached_property
    def padded_bytes(self) -> int:
        """The size with blocks of equally many whole bytes. The times are of the size given."""
        program, ranks = self.schedule.program, self.num_ranks
        exact = program.chunk_size * self.schedule.size_bytes
        near = np.rint(exact)
        whole = np.where(np.abs(exact - near) <= ROUNDING * exact, near, np.ceil(exact))
        block = {
            "all-gather": program.first_owner, "reduce-scatter": program.final_owner,
            "all-to-all": program.first_owner.astype(np.int64) * ranks + program.final_owner,
        }.get(self.collective)  # fmt: skip
        if block is None:
            return int(whole.sum())
        return ranks * int(np.bincount(block, whole).max())

    def write(self, path: str | Path) -> None:
        """Write the schedule as a plan file. See ``docs/plan-file.md``."""
        write_schedule(path, self.schedule, self.provenance)

    @cached_property
    def _loads(self) -> tuple[Ints, Floats]:
        """Return the message of each place in the routes, and its bytes."""
        program, routes = self.schedule.program, self.schedule.routes
        message = np.repeat(np.arange(program.num_messages), routes.lengths)
        return message, (program.message_size * self.schedule.size_bytes)[message]

    def timeline(self) -> Timeline:
        """Return when each message leaves and arrives, rank by rank."""
        return schedule_timeline(self.schedule)

    @table(FRONTIER)
    def frontier(self) -> pl.DataFrame:
        """Return the schedules of few steps that matter. No rows if others were asked for."""
        return FRONTIER.frame_of([] if self.few is None else frontier_rows(self.few))

    @table(CHANNELS)
    def channels(self) -> pl.DataFrame:
        """Return what crosses each channel, the busiest first."""
        network, values = self.schedule.network, self.schedule.routes.values
        sent = np.bincount(values, self._loads[1], minlength=len(network.rate))
        many = np.bincount(values, minlength=len(network.rate))
        used = sent / network.rate / self.finish_seconds
        return CHANNELS.frame_of(
            [
                {
                    "channel": network.channel_name(channel), "bytes": float(sent[channel]),
                    "messages": int(many[channel]), "rate": float(network.rate[channel]),
                    "utilisation": float(used[channel]),
                }
                for channel in np.argsort(-used, kind="stable").tolist()
            ]
        )  # fmt: skip

    @table(USE)
    def use(self) -> pl.DataFrame:
        """Return how much of the busiest channels is used in each part of the time."""
        schedule, (message, size) = self.schedule, self._loads
        network, values = schedule.network, schedule.routes.values
        sent = np.bincount(values, size, minlength=len(network.rate))
        busiest = np.argsort(-sent / network.rate, kind="stable")[:MOST_CHANNELS]
        edges = np.linspace(0, self.finish_seconds, BINS + 1)
        rows = []
        for channel in busiest.tolist():
            here = values == channel
            begin = schedule.start[message[here]]
            lasting = schedule.sending[message[here]]
            used = _carried(edges, begin, lasting, size[here])
            part = np.diff(used) / np.diff(edges) / network.rate[channel]
            name = network.channel_name(channel)
            rows += [
                {"channel": name, "begin": one, "end": other, "use": min(float(value), 1.0)}
                for one, other, value in zip(
                    edges[:-1].tolist(), edges[1:].tolist(), part, strict=True
                )
            ]
        return USE.frame_of(rows)

    def __repr__(self) -> str:
        head = f"<{self.collective} of {self.num_ranks} ranks on {self.topology.name}>"
        return "\n".join([head, self.verdict.marked, self.proof])


def _carried(
    edges: Floats, begin: Floats, lasting: Floats,
    size: Floats,
) -> Floats:  # fmt: skip
    """Return what a channel has carried at some times, float64[…], bytes.

    Each message adds a slope where it begins and takes it away where it ends.
    """
    slope = size / lasting
    time = np.concatenate([begin, begin + lasting])
    order = np.argsort(time, kind="stable")
    time, change = time[order], np.concatenate([slope, -slope])[order]
    rate = np.cumsum(change)
    carried = np.append(0.0, np.cumsum(rate[:-1] * np.diff(time)))
    found: Floats = np.interp(edges, time, carried, left=0.0, right=carried[-1])
    return found


def schedule_timeline(schedule: Schedule) -> Timeline:
    """Return when each message leaves and arrives, and what the busiest channels carry."""
    program, network, routes = schedule.program, schedule.network, schedule.routes
    none, every = np.zeros(program.num_messages), np.ones(program.num_messages, np.bool_)
    awaited = np.zeros(program.num_messages, np.bool_)
    awaited[waits(program, stepwise=False)[1]] = True
    happened = Happened(
        names=network.labels, source=program.source, target=program.target,
        ready=schedule.start, sent=schedule.start, entered=schedule.start,
        arrived=schedule.end, complete=schedule.end,
        delay=none, run=none, hold=none, receive=none,
        size=program.message_size * schedule.size_bytes, moved=every, awaited=awaited,
    )  # fmt: skip
    crossed = Crossed(
        routes, np.ones(len(routes.values)), network.rate, network.channel_name, schedule.sending
    )
    return timeline_of(
        happened, program=f"{program.collective} on {network.name}", unit="seconds",
        size="bytes", unit_us=1e6, crossed=crossed,
    )  # fmt: skip
