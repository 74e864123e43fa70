"""When does each rank send what to whom, so that this collective is fastest on this network?"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from netloom.base.errors import InputError
from netloom.base.progress import patience, tell_so_far
from netloom.base.units import LARGEST, LONGEST_SECONDS, parse_bytes
from netloom.base.words import listed
from netloom.drawing.save import make_folder
from netloom.mapping.allocation import allocated_hosts
from netloom.mapping.files.rank_files import read_hosts
from netloom.phases.collectives.in_steps import in_steps
from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.network import RankNetwork, rank_network
from netloom.phases.collectives.on_tables import on_tables
from netloom.phases.collectives.schedule_files import MOST_STEPS
from netloom.phases.collectives.synthesis import (
    IN_STEPS,
    ON_TABLES,
    SYNTHESISED,
    TRANSLATES,
    method_of,
    proven,
    synthesised,
)
from netloom.phases.collectives.table_times import timed_on_tables
from netloom.questions.base import Question, argument, option
from netloom.questions.compile.collective.answer import CollectiveSchedule
from netloom.questions.fields import (
    BrokenParts,
    HostNames,
    NodeList,
    OnePath,
    OnNetwork,
    Seeded,
    Timing,
    refuse,
)
from netloom.questions.named import find_network, provenance_of
from netloom.questions.outputs import PLOT, Output
from netloom.questions.register import asks
from netloom.questions.timelines import PERFETTO
from netloom.questions.timing import assumed_clock
from netloom.routing import parse_routing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from netloom.base.arrays import Ints
    from netloom.phases.collectives.in_steps import InSteps
    from netloom.phases.collectives.listed import Timed
    from netloom.questions.timing import Clock
    from netloom.routing import Routing
    from netloom.topology import Topology


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
