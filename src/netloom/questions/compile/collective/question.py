"""When does each rank send what to whom, so that this collective is fastest on this network?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.progress import patience, tell_so_far
from netloom.base.units import LARGEST, LONGEST_SECONDS, parse_bytes
from netloom.base.words import counted, listed
from netloom.drawing.save import make_folder
from netloom.mapping.allocation import allocated_hosts
from netloom.mapping.placements import read_hosts
from netloom.phases.collectives.few_steps import in_steps
from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.network import RankNetwork, rank_network
from netloom.phases.collectives.on_tables import on_tables, timed_on_tables
from netloom.phases.collectives.schedule_files import MOST_STEPS, write_schedule
from netloom.phases.collectives.schedules import least_latency
from netloom.phases.collectives.synthesis import (
    IN_STEPS,
    ON_TABLES,
    SYNTHESISED,
    TRANSLATES,
    method_of,
    proven,
    synthesised,
)
from netloom.questions.base import Question, argument, option
from netloom.questions.columns import Column, Columns, table
from netloom.questions.fields import (
    BrokenParts,
    HostNames,
    NodeList,
    OnePath,
    OnNetwork,
    Seeded,
    Timing,
    assumed,
    assumed_clock,
    refuse,
)
from netloom.questions.named import find_network, provenance_of
from netloom.questions.outputs import PLOT, Output
from netloom.questions.register import Answer, asks, by_verb
from netloom.questions.shown import percent
from netloom.questions.timelines import PERFETTO, Crossed, Happened, timeline_of
from netloom.routing import parse_routing
from netloom.topology.faults import broken_parts
from netloom.workload.programs.collectives.costs import bus_factor
from netloom.workload.programs.collectives.sent import waits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction
    from pathlib import Path

    import polars as pl

    from netloom.base.arrays import Floats, Ints
    from netloom.base.provenance import Provenance
    from netloom.drawing.timelines import Timeline
    from netloom.phases.collectives.few_steps import InSteps, RoundBound
    from netloom.phases.collectives.judged import Judged
    from netloom.phases.collectives.pipelines import Timed
    from netloom.phases.collectives.schedules import Schedule
    from netloom.questions.fields import Clock
    from netloom.questions.shown import Verdict
    from netloom.routing import Routing
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


def _write_plan(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    make_folder(path.parent)
    answer.write(path)
    return f"Plan: {path}"


def _write_msccl(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    from netloom.workload.programs.collectives.msccl import write_msccl

    make_folder(path.parent)
    write_msccl(path, answer.schedule.program)
    return f"MSCCL XML: {path}"


def _refuse_msccl(question: Any, ready: Any, _: Mapping[str, str]) -> None:
    """Refuse a collective that MSCCL XML has no name for before any work is done."""
    from netloom.workload.programs.collectives.msccl import NAMES

    del ready
    if question.collective not in NAMES:
        raise InputError("msccl", question.collective, f"one of {', '.join(NAMES)}")


FILES = (
    Output("out", "Plan file: messages, times and routes (.json, .json.gz).", _write_plan),
    Output("msccl", "Program as MSCCL XML.", _write_msccl, refuse=_refuse_msccl),
    PERFETTO,
    PLOT,
)


MOST_RANKS = 4096
"""Most ranks of a schedule."""

ROOTED = ("broadcast", "reduce")


class WhichSchedule(Question, panel="Collective"):
    """The collective, and how it is cut."""

    collective: str = argument(f"Collective: {listed(SYNTHESISED)}.", kw_only=False)
    size: Annotated[float, Field(gt=0, le=LARGEST)] | str = option(
        "Size as nccl-tests count it, such as 64MB.", default="1GB"
    )
    ranks: Annotated[int, Field(ge=2, le=MOST_RANKS)] | None = option(
        "Number of ranks, one per host.", default=None, shown_default="as many as there are hosts"
    )
    root: int = option("Root of broadcast or reduce.", default=0, ge=0, le=MOST_RANKS - 1)
    chunks: Annotated[int, Field(ge=1, le=2**16)] | None = option(
        "Number of chunks sent down each tree (with --steps: most per rank).",
        default=None,
        shown_default="as many as end first",
    )
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] | None = option(
        "Most steps, for short messages; with proofs of fewest rounds.",
        default=None,
        shown_default="as many as end first",
    )
    seconds: float | None = option(
        "Time after which the best schedule so far suffices.",
        unit="seconds",
        default=None,
        gt=0,
        le=LONGEST_SECONDS,
        shown_default="until more chunks are no better",
    )
    routing: OnePath | None = option(
        "Routing of messages, such as lfts:FILE (all-gather and reduce-scatter).",
        default=None,
        shown_default="any routes",
        file=True,
        flags=("--routing", "--routes"),
        panel="Network",
    )


class CompileCollectiveQuestion(
    HostNames, Seeded, Timing, NodeList, BrokenParts, OnNetwork, WhichSchedule
):
    """A collective, and the network that a schedule is made for."""


@dataclass(frozen=True, eq=False)
class PreparedSchedule:
    """The network as schedules see it, its clock, and the size."""

    network: RankNetwork
    clock: Clock
    size: float
    routing: Routing | None


def prepare(question: CompileCollectiveQuestion) -> PreparedSchedule:
    """Build the network, choose the ranks, and read bytes and seconds."""
    if question.collective not in SYNTHESISED:
        wanted = ", ".join(SYNTHESISED)
        raise InputError("collective", f"'{question.collective}'", wanted)
    if question.root and question.collective not in ROOTED:
        raise InputError("root", f"{question.root} of {question.collective}", "none")
    size = parse_bytes(question.size, where="size")
    if not size > 0:
        raise InputError("size", f"{question.size}", "above 0, such as 1GB")
    topology, machine = find_network(
        question.on, failed_channels=question.failed_channels, failed_nodes=question.failed_nodes,
        switches=True, count_inside_nodes=question.count_inside_nodes,
    )  # fmt: skip
    refuse(question, ("overhead",), "none: schedules leave what processors take out of account")
    clock = assumed_clock(question, topology, machine)
    hosts = _hosts(question, topology)
    network = rank_network(
        topology, hosts,
        bytes_per_second=clock.bytes_per_second,
        latency_seconds=clock.latency_seconds * topology.channel_cycles,
        even=True,
        free_inside=_free_inside(question, topology, hosts),
    )  # fmt: skip
    if network.num_ranks > MOST_RANKS:
        wanted = f"at most {MOST_RANKS}: fewer ranks or nodes"
        raise InputError("ranks", f"{network.num_ranks}", wanted)
    if question.root >= network.num_ranks:
        wanted = f"a rank from 0 to {network.num_ranks - 1}"
        raise InputError("root", f"{question.root}", wanted)
    return PreparedSchedule(network, clock, size, _routing(question, topology))


def _free_inside(question: CompileCollectiveQuestion, topology: Topology, hosts: Ints) -> bool:
    """Return whether hosts of one node send each other data at no cost. Not on given routes."""
    groups = np.unique(topology.local_group[hosts])
    if question.routing or len(groups) == len(hosts):
        return False
    if len(groups) == 1:
        node = int(topology.node_of_host[hosts[0]])
        found = f"all {len(hosts)} ranks on node {topology.computer_name(node)}"
        raise InputError("ranks", found, "ranks on two nodes or more, or --count-inside-nodes")
    return True


def _routing(question: CompileCollectiveQuestion, topology: Topology) -> Routing | None:
    asked = question.routing
    if asked is None:
        return None
    if question.steps is not None:
        raise InputError("routing", "one for few steps, which use channels between ranks", "none")
    if question.collective not in ("all-gather", "reduce-scatter"):
        wanted = "all-gather or reduce-scatter, or no routing"
        raise InputError("routing", f"one for {question.collective}", wanted)
    return parse_routing(asked, topology) if isinstance(asked, str) else asked


def _hosts(question: CompileCollectiveQuestion, topology: Topology) -> Any:
    """Return the host of each rank: those of the nodes that run tasks, in their order."""
    names = None if question.hosts is None else read_hosts(str(question.hosts))
    hosts = allocated_hosts(question.nodes, topology, names)
    if question.nodes is None:
        hosts = np.setdiff1d(hosts, topology.switches)
    if question.ranks is None:
        return hosts
    if question.ranks > len(hosts):
        wanted = f"at most {len(hosts)}: one per host of {topology.name} that may be used"
        raise InputError("ranks", f"{question.ranks}", wanted)
    return hosts[: question.ranks]


def _untimed(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields as files ask them: what is found must not depend on the machine's speed."""
    if "seconds" in fields:
        wanted = "chunks instead: what is found must not depend on how fast the machine is"
        raise InputError("seconds", f"{fields['seconds']}", wanted)
    return fields


@asks(
    CompileCollectiveQuestion,
    prepare=prepare,
    repeatable=_untimed,
    title="Compiled collective",
    example="netloom compile collective all-gather --on examples/ndv2-2.toml --size 1GB "
    "--out plan.json",
    page="compile-a-collective.md",
    outputs=FILES,
)
def compile_collective(
    question: CompileCollectiveQuestion, ready: PreparedSchedule
) -> CollectiveSchedule:
    """Make a schedule of a collective for a network, and prove how close to optimal.

    Ranks send, receive and pass on chunks. Switches only forward. All-gather, reduce-scatter,
    broadcast and reduce reach the bound of the network's bottleneck cut along packed trees.
    All-reduce and all-to-all reach the bound of a linear program. Separate code executes the
    schedule on data and judges it. By default, channels have 200 Gb/s and a latency of 500 ns.

    Examples
    --------
    >>> found = compile_collective("all-gather", "examples/ndv2-2.toml", size="1GB")
    >>> found.proven, found.efficiency > 0.999, found.bound_seconds
    (True, True, 0.04)
    """
    network, begin = ready.network, perf_counter()
    with patience(f"Compiling {question.collective} on {network.topology.name}"):
        few = _in_steps(question, ready)
        timed, method, rounds = _made(question, ready, begin + (question.seconds or np.inf))
        schedule = proven(timed)
        if few is not None:
            schedule, method = few.schedule, IN_STEPS
            rounds = few.frontier.points[few.best].rounds
        made = perf_counter() - begin
        tell_so_far(f"{schedule.bound.seconds / schedule.finish_seconds:.2%} of the bound; judging")
        judged = judge(schedule)
    return CollectiveSchedule(
        topology=network.topology,
        clock=ready.clock,
        schedule=schedule,
        judged=judged,
        method=method,
        rounds=rounds,
        seconds=made,
        few=few,
        unlimited_seconds=None if few is None else timed.finish_seconds,
        inside_nodes=_inside_nodes(timed) if len(network.inside) else None,
        provenance=provenance_of(question, "compile_collective", network.topology),
    )


def _inside_nodes(timed: Timed) -> float:
    """Return the part of all bytes sent that goes from host to host inside nodes."""
    program, routes = timed.program, timed.routes
    last = routes.values[routes.offsets[1:] - 1]
    first = routes.values[routes.offsets[:-1]]
    inside = np.minimum(first, last) >= timed.network.topology.num_channels
    size = program.message_size
    return float(size[inside].sum() / size.sum())


def _in_steps(question: CompileCollectiveQuestion, ready: PreparedSchedule) -> InSteps | None:
    """Return the schedules of few steps, if some were asked for."""
    if question.steps is None:
        return None
    return in_steps(
        ready.network, question.collective, ready.size,
        steps=question.steps, chunks=question.chunks, root=question.root,
    )  # fmt: skip


def _made(
    question: CompileCollectiveQuestion, ready: PreparedSchedule, until: float
) -> tuple[Timed, str, int | None]:
    """Return a schedule, what it is made of, and its rounds, if it has some."""
    network = ready.network
    if ready.routing is not None:
        found = on_tables(
            network, ready.routing,
            collective=question.collective, chunks=question.chunks or 1, seed=question.seed,
        )  # fmt: skip
        return timed_on_tables(found, ready.size), ON_TABLES, found.rounds
    chunks = None if question.steps is not None else question.chunks
    timed = synthesised(
        network, question.collective, ready.size, root=question.root, chunks=chunks, until=until
    )
    method = method_of(network, question.collective)
    return timed, method, timed.program.num_steps if method == TRANSLATES else None
