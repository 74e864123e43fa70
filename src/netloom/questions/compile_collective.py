"""Make a schedule of a collective for a network, and prove how close to optimal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

import numpy as np
from pydantic import Field

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, derived, figure, leaves, unseen
from netloom.base.progress import patience, tell_so_far
from netloom.base.units import LONGEST_SECONDS, parse_bytes
from netloom.base.words import arrows, counted, folded, listed, number, percent
from netloom.drawing.save import make_folder
from netloom.drawing.timelines import Timeline
from netloom.machines.named_machines import Clock, clock_of
from netloom.phases.collectives import figures
from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.network import RankNetwork, rank_network
from netloom.phases.collectives.schedules import Schedule
from netloom.questions import fields, terminal
from netloom.questions.answers import Answer, Columns, Verdict, table
from netloom.questions.base import Question, argument, option
from netloom.questions.named import allocated, check_apart, network_of, provenance_of, routing_of
from netloom.questions.outputs import PERFETTO, PLOT, Output
from netloom.questions.plans import part_of, plan_output, schedule_timeline
from netloom.questions.register import asks
from netloom.questions.terminal import size_of, subject
from netloom.routing import Routing
from netloom.topology.faults import broken_parts
from netloom.workload.programs.collectives.algorithms import ROOTED

if TYPE_CHECKING:
    from netloom.drawing.frame import Part

LATENCY = 0.1
"""Part of the time from which on latencies are said."""

MOST_RANKS = 4096
"""Most ranks of a schedule."""

MOST_STEPS = 64
"""Most steps, as plan files have them."""

Collective: TypeAlias = Literal[
    "all-gather", "reduce-scatter", "broadcast", "reduce", "all-reduce", "all-to-all"
]
"""What schedules are made of, as ``synthesised`` does."""


class WhichSchedule(Question, panel="Collective"):
    """The collective, and how it is cut."""

    collective: Collective = argument(f"Collective: {listed(get_args(Collective))}.", kw_only=False)
    size: fields.Size = option("Size as nccl-tests count it, such as 64MB.", default="1GB")
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
    routing: fields.OnePath | None = fields.routing_option(
        "Routing of messages, such as lfts:FILE (all-gather and reduce-scatter).",
        default=None,
        shown_default="any routes",
    )


class CompileCollectiveQuestion(
    fields.HostNames,
    fields.Seeded,
    fields.Timing,
    fields.NodeList,
    fields.BrokenParts,
    fields.OnNetwork,
    WhichSchedule,
):
    """A collective, and the network that a schedule is made for."""


class CollectiveSchedule(Answer):
    """A schedule of a collective that has been executed on data and judged.

    Attributes
    ----------
    speed
        How fast it is, and what no schedule beats.
    padded_size
        The size with blocks of equally many whole bytes.
    method
        What the schedule is made of, in words.
    rounds
        Parts of the time in which each channel carries one message or none. None if it has none.
    proof
        What is proven, and how.
    note
        What was assumed, and what size chunks of whole bytes need.
    few_steps
        Schedules of few steps, if those were asked for: this is the fastest.
    seconds
        That making it took.
    inside_nodes
        The part of all bytes sent that goes from host to host inside nodes, at no cost. None if
        that counts.
    schedule, network
        The messages, their times and routes, and the network that they were made for.
    """

    topology: str
    failures: dict[str, object] | None
    clock: Clock = figure("bytes and seconds", table=False)
    speed: figures.ScheduleSpeed = figure(at=".")
    root: int
    padded_size: float = figure("size if chunks are whole bytes", "bytes")
    method: str = figure("made of")
    rounds: int | None = figure()
    proof: str
    note: str | None
    few_steps: figures.FewSteps | None
    seconds: float = figure(unit="seconds", table=False)
    inside_nodes: float | None = figure("bytes that stay inside nodes", SHARE)
    schedule: Schedule = unseen()
    network: RankNetwork | None = unseen()

    @derived("time over bound")
    def ratio(self) -> float:
        """The time over its bound."""
        return self.speed.finish_seconds / self.speed.bound_seconds

    @derived(key=True)
    def proven(self) -> bool:
        """Whether the judge found no fault, and the bound was proven: always, or it fails.

        A schedule that breaks a rule is an error, and each bound is that of a bottleneck cut, of
        groups of hosts, or of a linear program that was solved.
        """
        return self.speed.finish_seconds >= self.speed.bound_seconds * (1 - 1e-6)

    @property
    def of(self) -> str:
        """The collective, its ranks and the network."""
        ranks = counted(self.speed.ranks, "rank", ",")
        return subject(f"{self.speed.collective} of {ranks}", self.topology)

    @property
    def slower(self) -> bool:
        """Whether few steps take longer than any number of them."""
        few = self.few_steps
        return few is not None and few.unlimited_seconds < self.speed.finish_seconds

    @property
    def cut(self) -> bool:
        """Whether a limit of time may be why it is far from the bound."""
        limited = self.asked["seconds"] is not None and not self.few_steps
        return limited and self.speed.efficiency < figures.NEAR

    def judged(self) -> Verdict:
        """Return how fast the schedule is, beside the best possible, and what that is set by."""
        mark, said = self._said()
        following = self.again(out="plan.json")
        if self.slower or self.cut:
            following = self.again(steps=None) if self.slower else self.again(seconds=None)
        note = f"* {self.note[0].lower()}{self.note[1:]}" if self.note else ""
        speed, why = self.speed, ""
        long = speed.latency_share >= LATENCY and not speed.by_latency
        if long and not self.few_steps and speed.efficiency < figures.NEAR:
            took = units.seconds(speed.finish_seconds)
            why = f"latencies alone take {units.seconds(speed.latency_seconds)} of {took}"
        limits = ""
        if few := self.few_steps:
            which = "less" if self.slower else "no less"
            free = units.seconds(few.unlimited_seconds)
            limits = f"{which} with any number of steps ({free})"
        elif self.cut:
            limit = number(self.asked["seconds"])
            limits = f"what is found in {limit} s: more time may find a better one"
        lines = {
            "where": arrows(speed.bound),
            "why": why,
            "limits": limits,
            "proven": "" if self.cut and why else self.proof,
        }
        return Verdict(mark, said, lines, following, note)

    def _said(self) -> tuple[str, str]:
        from netloom.phases.collectives.synthesis import BY_TREES, ON_TABLES

        speed, few = self.speed, self.few_steps
        took = units.seconds(speed.finish_seconds)
        if few is not None:
            best, rooted = few.best, speed.collective in ROOTED
            chunks = counted(best.chunks, "chunk") + ("" if rooted else " per rank")
            rounds = f"{counted(best.rounds, 'round')} of {chunks}"
            proven = f"at least {best.least_rounds_per_chunk} per chunk are needed"
            if best.proven:
                proven = "proven to be the fewest rounds per chunk"
            mark = "limited" if self.slower or not best.proven else "fine"
            return mark, f"Takes {took} in {counted(best.steps, 'step')}, {rounds}: {proven}."
        if speed.by_latency:
            part = part_of(speed.latency_share)
            return "fine", f"As fast as latencies allow: {took}, {part} of it latency."
        what, mark = "best possible", "fine" if speed.efficiency >= figures.NEAR else "limited"
        if speed.bound.startswith(BY_TREES):
            what = "best that pairs of trees can reach"
        elif mark == "limited" and (self.method == ON_TABLES or "groups of" in speed.bound):
            what = "bound"  # which may be out of reach
        fast, most = (
            units.rate(each, 4) for each in (speed.algorithm_bandwidth, speed.bound_bandwidth)
        )
        return mark, f"{part_of(speed.efficiency)} of the {what}: {fast} of {most}."

    def figure_lines(self, width: int) -> list[str]:
        """Return how fast it is, and the schedules of few steps."""
        few = terminal.table(self.few_steps.frontier, self, width) if self.few_steps else []
        return super().figure_lines(width) + [""] * bool(few) + few

    def remark_lines(self, width: int) -> list[str]:
        """Return remarks, and the proof of few steps line by line."""
        proof = ["", *self.few_steps.proof] if self.few_steps else []
        said = [folded(each, width, "", "  ") or [""] for each in proof]
        return super().remark_lines(width) + [line for lines in said for line in lines]

    def remarks(self) -> Iterator[str]:
        """Yield the network, what the schedule is made of, and what else holds of few steps."""
        if self.network:
            topology = self.network.topology
            yield f"{size_of(topology)}; {self.clock.words}"
        yield f"made of {self.method}"
        if (few := self.few_steps) is None:
            return
        waits = ", less than in steps that wait for each other" if self.slower else ""
        yield from filter(None, [few.formula])
        yield f"without --steps: {units.seconds(few.unlimited_seconds, 4)}{waits}"
        if few.undecided:
            some = ", ".join(f"({', '.join(map(str, each))})" for each in few.undecided[:4])
            yield f"the time did not suffice for {some} (steps, rounds, chunks)"

    def write(self, path: str | Path) -> None:
        """Write the schedule as a plan file. See ``docs/plan-file.md``."""
        from netloom.phases.collectives.schedules import write_schedule

        write_schedule(path, self.schedule, self.provenance)

    def timeline(self) -> Timeline:
        """Return when each message leaves and arrives, rank by rank."""
        return schedule_timeline(self.schedule)

    @table(figures.Point)
    def frontier(self) -> Columns:
        """Return the schedules of few steps that matter. No rows if others were asked for."""
        rows = self.few_steps.frontier if self.few_steps else ()
        return {each.name: [each.of(row) for row in rows] for each in leaves(figures.Point)}

    @table(figures.Channel)
    def channels(self) -> Columns:
        """Return what crosses each channel, the busiest first."""
        return figures.channels_of(self.schedule)

    @table(figures.Use)
    def use(self) -> Columns:
        """Return how much of the busiest channels is used in each part of the time."""
        return figures.use_of(self.schedule)

    def footer(self) -> list[str]:
        """Return how near the bound the schedule is, and what limits it."""
        speed = self.speed
        took = f"{units.size(speed.size)} on {counted(speed.ranks, 'rank')} in "
        took += f"{units.seconds(speed.finish_seconds)}, {units.rate(speed.algorithm_bandwidth)}"
        part = f"{percent(speed.efficiency)} of the bound"
        return [f"{speed.collective} on {self.topology}: {took}, {part}", speed.bound]

    def parts(self) -> dict[str, Part]:
        """Return the parts of the picture, by name."""
        from netloom.drawing.programs import use_over_time

        return {"use of channels": use_over_time(self.use(), self.speed.finish_seconds)}


def _write_msccl(answer: Any, path: Path) -> str:
    from netloom.workload.programs.collectives.msccl import write_msccl

    make_folder(path.parent)
    write_msccl(path, answer.schedule.program)
    return f"MSCCL XML: {path}"


def _refuse_msccl(question: Any, _: Any) -> None:
    """Refuse a collective that MSCCL XML has no name for before any work is done."""
    from netloom.workload.programs.collectives.msccl import NAMES

    if question.collective not in NAMES:
        raise InputError("msccl", question.collective, f"one of {', '.join(NAMES)}")


FILES = (
    plan_output("Plan file: messages, times and routes (.json, .json.gz)."),
    Output("msccl", "Program as MSCCL XML.", _write_msccl, refuse=_refuse_msccl),
    PERFETTO,
    PLOT,
)


@dataclass(frozen=True, eq=False)
class PreparedSchedule:
    """The network as schedules see it, its clock, and the size."""

    network: RankNetwork
    clock: Clock
    size: float
    routing: Routing | None
    switches_add: bool


def prepare(question: CompileCollectiveQuestion) -> PreparedSchedule:
    """Build the network, choose the ranks, and read bytes and seconds."""
    if question.root and question.collective not in ROOTED:
        raise InputError("root", f"{question.root} of {question.collective}", "none")
    size = parse_bytes(question.size, where="size")
    if not size > 0:
        raise InputError("size", f"{question.size}", "above 0, such as 1GB")
    topology, machine = network_of(question, switches=True)
    fields.refuse(
        question, ("overhead",), "none: schedules leave what processors take out of account"
    )
    clock = clock_of(question, topology, machine, assume=True)
    hosts = allocated(question, topology)  # of each rank: those that run tasks, in their order
    if question.ranks is not None:
        if question.ranks > len(hosts):
            wanted = f"at most {len(hosts)}: one per host of {topology.name} that may be used"
            raise InputError("ranks", f"{question.ranks}", wanted)
        hosts = hosts[: question.ranks]
    # hosts of one node send each other data at no cost, but on given routes
    free = not question.routing and len(np.unique(topology.local_group[hosts])) < len(hosts)
    if free:
        check_apart(topology, hosts)
    network = rank_network(
        topology,
        hosts,
        bytes_per_second=clock.bytes_per_second,
        latency_seconds=clock.latency_seconds * topology.channel_cycles,
        even=True,
        free_inside=free,
    )
    if network.num_ranks > MOST_RANKS:
        wanted = f"at most {MOST_RANKS}: fewer ranks or nodes"
        raise InputError("ranks", f"{network.num_ranks}", wanted)
    if question.root >= network.num_ranks:
        wanted = f"a rank from 0 to {network.num_ranks - 1}"
        raise InputError("root", f"{question.root}", wanted)
    asked, routing = question.routing, None
    if asked is not None:
        if question.steps is not None:
            few = "one for few steps, which use channels between ranks"
            raise InputError("routing", few, "none")
        if question.collective not in ("all-gather", "reduce-scatter"):
            wanted = "all-gather or reduce-scatter, or no routing"
            raise InputError("routing", f"one for {question.collective}", wanted)
        routing = routing_of(asked, topology)
    adds = question.collective == "all-reduce" and machine is not None and machine.adding_inside > 0
    return PreparedSchedule(network, clock, size, routing, adds)


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
    All-to-all and, on all but large networks, all-reduce reach the bound of a linear program or of
    groups of hosts. Separate code executes the
    schedule on data and judges it. By default, channels have 200 Gb/s and a latency of 500 ns.

    Examples
    --------
    >>> made = compile_collective("all-gather", "examples/ndv2-2.toml", size="1GB")
    >>> made.proven, made.speed.efficiency > 0.999, made.speed.bound_seconds
    (True, True, 0.04)
    """
    from netloom.phases.collectives.few_steps import in_steps
    from netloom.phases.collectives.pipelines import Asked, on_tables
    from netloom.phases.collectives.synthesis import (
        BY_TREES,
        IN_STEPS,
        ON_TABLES,
        TRANSLATES,
        method_of,
        proven,
        synthesised,
    )

    network, topology, begin = ready.network, ready.network.topology, perf_counter()
    with patience(f"Compiling {question.collective} on {topology.name}"):
        asked = Asked(
            network,
            question.collective,
            ready.size,
            question.root,
            question.chunks,
            begin + (question.seconds or np.inf),
        )
        few, rounds = None, None
        if question.steps is not None:
            few = in_steps(asked, question.steps)
            asked = asked._replace(chunks=None)
        if ready.routing is not None:
            method = ON_TABLES
            timed, rounds = on_tables(asked, ready.routing, seed=question.seed)
        else:
            method, timed = method_of(asked), synthesised(asked)
            rounds = timed.program.num_steps if method == TRANSLATES else None
        schedule = proven(timed)
        if few is not None:
            schedule, method = few.schedule, IN_STEPS
            rounds = few.points[few.best].rounds
        made = perf_counter() - begin
        tell_so_far(f"{schedule.bound.seconds / schedule.finish_seconds:.2%} of the bound; judging")
        judged = judge(schedule)
    words, assumed = [], ready.clock.assumed()
    if assumed:
        words.append(f"{assumed}.")
    if timed.inside_nodes is not None:
        free = f"{percent(timed.inside_nodes)} of the bytes (--count-inside-nodes counts them)."
        words.append(f"Messages inside nodes are taken as free, by links that never limit: {free}")
    elif topology.num_nodes < topology.num_hosts and (topology.inner_part < 0).all():
        words.append("Messages between hosts of one node are counted on the network.")
    if ready.switches_add:
        words.append("Switches inside computers add, which may be faster than this bound of sends.")
    if schedule.padded_bytes > schedule.size_bytes:
        words.append(f"For chunks of whole bytes, pad the size to {schedule.padded_bytes:,} B.")
    how = "the optimum of a linear program, and prices of channels prove it"
    if method == ON_TABLES:
        how = "that of the bottleneck cut, whatever the routes"
    elif len(schedule.bound.inside):
        how = "that of the bottleneck cut, which trees reach exactly"
    elif schedule.program.collective == "all-reduce" and BY_TREES not in schedule.bound.why:
        how = "that of groups of hosts, and prices of channels prove it"
    return CollectiveSchedule(
        topology=topology.name,
        failures=broken_parts(topology),
        clock=ready.clock,
        speed=figures.ScheduleSpeed.of(schedule, judged),
        root=schedule.program.root,
        padded_size=schedule.padded_bytes,
        method=method,
        rounds=rounds,
        proof=f"The schedule was executed on data and fits all channels. The bound is {how}.",
        note=" ".join(words) or None,
        few_steps=figures.FewSteps.of(few, timed.finish_seconds) if few else None,
        seconds=made,
        inside_nodes=timed.inside_nodes,
        schedule=schedule,
        network=network,
        provenance=provenance_of(question, "compile_collective", topology),
    )
