"""Which algorithm of a collective is fastest on this network, and at which sizes?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, SkipValidation

from netloom.errors import InputError
from netloom.mapping import check_rank_file
from netloom.mapping.allocation import allocated_hosts, places_of
from netloom.mapping.named import place_program
from netloom.phases.collectives.least_time import least_time
from netloom.progress import counting
from netloom.questions.base import Question, argument, option
from netloom.questions.collective.answer import CollectiveTimes, Point
from netloom.questions.collective.order import Reordered, reordered
from netloom.questions.collective.runs import Algorithm, Runner, alike, refusal
from netloom.questions.collective.sizes import parse_sizes
from netloom.questions.fields import (
    BrokenParts,
    HostNames,
    OnNetwork,
    PathRouting,
    Placed,
    Seeded,
    Timing,
)
from netloom.questions.mapping_files import SAVE_MAPPING, rank_file_output
from netloom.questions.named import find_network, mapping_name, placing
from netloom.questions.outputs import PLOT, Output, check_in_folder, table_output
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.engines import PreparedFlows
from netloom.questions.timing import assumed_clock
from netloom.routing import VirtualChannelRouting, parse_routing
from netloom.simulation.flow import flow_network
from netloom.topology.faults import working_nodes
from netloom.units import size as size_words
from netloom.workload import ring
from netloom.workload.programs.collectives.algorithms import (
    MOST_RANKS,
    ROOTED,
    algorithms_of,
    collective_program,
)
from netloom.workload.programs.collectives.goal_files import write_goal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from netloom.phases.collectives.least_time import LeastTime
    from netloom.questions.collective.runs import Timed
    from netloom.questions.timing import Clock
    from netloom.topology import Topology

SIZES = "1KB:1GB"
Sizes = Annotated[str | float | list[Any], SkipValidation]


class WhichCollective(Question, panel="Collective"):
    """The collective, its sizes and its algorithms."""

    collective: str = argument(
        "Collective: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, "
        "gather, scatter or barrier.",
        kw_only=False,
    )
    size: Sizes = option(
        "Sizes as nccl-tests count them: 64MB, 1KB,1MB, or 1KB:1GB (by 4; 1KB:1GB:2 by 2).",
        default=SIZES,
    )
    algorithm: str = option(
        "Algorithms: all, or some by name (ring,bruck,swing).",
        default="all",
    )
    ranks: Annotated[int, Field(ge=1, le=MOST_RANKS)] | None = option(
        "Number of ranks.", default=None, shown_default="as many as the nodes take"
    )
    root: int = option(
        "Root of broadcast, reduce, gather or scatter.", default=0, ge=0, lt=MOST_RANKS
    )
    chunks: Annotated[int, Field(ge=1, le=2**16)] | None = option(
        "Number of chunks per vector.",
        default=None,
        shown_default="for chains and trees those that suit a size, else 1",
    )
    reorder: bool = option("Search for a better rank order too.", default=False)
    engine: Literal["flow", "network", "worm"] = option(
        "Engine: flow (simulate trace runs schedules on others).", default="flow"
    )
    injection: Literal["in-order", "shared"] = option(
        "Order of a node's messages: in-order (one by one) or shared.", default="in-order"
    )
    end_channels: int = option(
        "Own channels per node of a mesh or torus: 1, or 0 to use all its links at once.",
        default=0,
        ge=0,
        le=1,
    )


class CollectiveQuestion(
    HostNames, Seeded, Timing, Placed, BrokenParts, PathRouting, OnNetwork, WhichCollective
):
    """A collective on a network, by each algorithm and size."""


@dataclass(frozen=True, eq=False)
class PreparedCollective:
    """What a question names, read and built once.

    Attributes
    ----------
    flows
        The network, for flows.
    host_of
        int32[num_ranks], the host of each rank.
    placing
        Where ranks may run, as ``place_program`` takes it.
    sizes
        Bytes, rising.
    algorithms
        Those that are run.
    left_out
        Those that are not, and why.
    """

    flows: PreparedFlows
    host_of: NDArray[np.int32]
    placing: dict[str, Any]
    sizes: tuple[float, ...]
    algorithms: tuple[Algorithm, ...]
    left_out: dict[str, str]

    @property
    def network(self) -> Topology:
        """The network."""
        return self.flows.topology

    @property
    def clock(self) -> Clock:
        """Bytes and seconds."""
        assert self.flows.clock is not None
        return self.flows.clock

    def bound(self, collective: str, root: int, host_of: NDArray[np.int32]) -> LeastTime:
        """Return what no algorithm, order or routing can beat."""
        clock, links = self.clock, self.flows.links
        return least_time(
            collective, self.network, host_of,
            root=root,
            bytes_per_second=clock.bytes_per_second,
            latency_seconds=clock.latency_seconds * self.network.channel_cycles,
            overhead=clock.overhead_seconds,
            port=clock.bytes_per_second if links.end_channels else np.inf,
        )  # fmt: skip


def prepare(question: CollectiveQuestion) -> PreparedCollective:
    """Build the network and its routing, place the ranks, and choose the algorithms."""
    known = algorithms_of(question.collective)
    if question.engine != "flow":
        wanted = f"flow; --goal writes a schedule for simulate trace --engine {question.engine}"
        raise InputError("engine", question.engine, wanted)
    if question.collective == "barrier" and question.size != SIZES:
        raise InputError("size", f"{question.size} for a barrier", "none: it moves no data")
    if question.root and question.collective not in ROOTED:
        raise InputError("root", f"{question.root} of {question.collective}", "none")
    sizes = (0.0,) if question.collective == "barrier" else parse_sizes(question.size)
    flows = _flows(question)
    where = _placing(question, flows.topology)
    ranks = question.ranks
    if ranks is None:
        allocated = allocated_hosts(where["nodes"], flows.topology, where["hosts"])
        ranks = places_of(allocated, flows.topology, question.tasks_per_node).count
    if ranks < 2:
        raise InputError("ranks", f"{ranks}", "at least 2")
    if question.root >= ranks:
        raise InputError("root", f"{question.root}", f"a rank from 0 to {ranks - 1}")
    host_of = place_program(question.mapping, ring(ranks), flows.topology, **where)
    if (host_of == host_of[0]).all():
        found = f"all {ranks} ranks on {flows.topology.name_of(int(host_of[0]))}"
        raise InputError("ranks", found, "ranks on two hosts or more, so that something is sent")
    algorithms, left_out = _algorithms(question, known, flows.topology, host_of, len(sizes))
    return PreparedCollective(flows, host_of, where, sizes, algorithms, left_out)


def _placing(question: CollectiveQuestion, topology: Topology) -> dict[str, Any]:
    """Return where ranks may run: by default on all hosts that work and are no switches."""
    found = placing(question)
    if found["nodes"] is None and len(topology.switches):
        found["nodes"] = np.setdiff1d(working_nodes(topology), topology.switches)
    return found


def _flows(question: CollectiveQuestion) -> PreparedFlows:
    topology, machine = find_network(
        question.on,
        failed_channels=question.failed_channels,
        failed_nodes=question.failed_nodes,
        switches=True,
    )
    if isinstance(question.routing, VirtualChannelRouting):
        found = f"the table {question.routing.name}"
        raise InputError("routing", found, "paths for each pair of nodes")
    clock = assumed_clock(question, topology, machine)
    routing = question.routing
    return PreparedFlows(
        topology=topology,
        routing=parse_routing(routing, topology) if isinstance(routing, str) else routing,
        links=flow_network(
            topology,
            bandwidth=clock.bytes_per_second,
            latency=clock.latency_seconds,
            end_channels=question.end_channels == 1,
        ),
        clock=clock,
        injection=question.injection,
        sharing="max-min",
        tolerance=0.0,
        seed=question.seed,
    )


def _algorithms(
    question: CollectiveQuestion,
    known: Sequence[str],
    topology: Topology,
    host_of: NDArray[np.int32],
    sizes: int,
) -> tuple[tuple[Algorithm, ...], dict[str, str]]:
    """Return the algorithms that are run, and why others are not."""
    named = question.algorithm != "all"
    names = [each.strip() for each in question.algorithm.split(",")] if named else known
    unknown = [each for each in names if each not in known]
    if unknown:
        wanted = f"for {question.collective}: all, {', '.join(known)}"
        raise InputError("algorithm", f"'{unknown[0]}'", wanted)
    fits: dict[str, Any] = {
        "root": question.root,
        "torus": _torus(topology, host_of),
        "ranks_per_node": _ranks_per_node(topology, host_of),
    }
    made, found, left_out = list[Any](), list[Algorithm](), dict[str, str]()
    for name in dict.fromkeys(names):
        each = Algorithm(question.collective, name, len(host_of), fits, question.chunks)
        try:
            own = each.outline()
        except InputError as refused:
            if named:
                raise
            left_out[name] = f"found {refused.found}"
            continue
        same = [other.name for other, its in zip(found, made, strict=True) if alike(own, its)]
        why = refusal(own, sizes) or (same and f"here the same as {same[0]}")
        if why and not named:
            left_out[name] = str(why)
            continue
        found.append(each)
        made.append(own)
    if not found:
        why = "; ".join(f"{name}: {said}" for name, said in left_out.items())
        raise InputError(
            "algorithm", f"none that can be run ({why})", "fewer ranks, or one by name"
        )
    return tuple(found), left_out


def _torus(topology: Topology, host_of: NDArray[np.int32]) -> tuple[int, ...] | None:
    """Return the sides of the torus on which ranks are numbered row by row; None if not so."""
    sides, wraps = getattr(topology.whole, "sides", None), getattr(topology.whole, "wraps", ())
    if sides is None or not topology.direct or len(host_of) != topology.num_hosts:
        return None
    whole = all(wrap or side <= 2 for side, wrap in zip(sides, wraps, strict=True))
    in_order = (host_of == np.arange(len(host_of))).all()
    return tuple(map(int, sides)) if whole and in_order else None


def _ranks_per_node(topology: Topology, host_of: NDArray[np.int32]) -> int | None:
    """Return how many ranks follow each other on each computer; None if that differs."""
    owner = topology.node_of_host[host_of]
    blocks = np.flatnonzero(np.diff(owner, prepend=-1))
    lengths = np.diff(blocks, append=len(owner))
    alike_ = (lengths == lengths[0]).all() and len(np.unique(owner[blocks])) == len(blocks)
    return int(lengths[0]) if alike_ else None


def _refuse_ranks(ready: PreparedCollective, form: str, hosts: Sequence[str] | None) -> None:
    """Raise InputError if no rank file of this form can have the ranks."""
    computers = np.unique(ready.network.node_of_host[ready.host_of])
    places = -(-len(ready.host_of) // len(computers))
    check_rank_file(form, len(ready.host_of), computers, places, hosts)


def _write_goal(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    """Write the fastest algorithm at the largest size, as it was run."""
    best = answer.at(answer.sizes[-1])[0]
    known = answer.known[best.algorithm]
    program = collective_program(
        known.collective, known.name, known.num_ranks, chunks=best.run.chunks, **known.fits
    )
    write_goal(program, best.size, path)
    said = f"{best.algorithm} of {size_words(best.size)}" if best.size else best.algorithm
    return f"Schedule: {path}, {said}; run it with simulate trace"


GOAL = Output(
    "goal",
    "GOAL schedule of the fastest algorithm at the largest size.",
    _write_goal,
    check_in_folder,
)


@asks(
    CollectiveQuestion,
    prepare=prepare,
    title="Algorithms of a collective",
    example="netloom collective all-reduce --size 1KB:1GB --on torus:8x8x8",
    page="which-all-reduce.md",
    outputs=(
        PLOT,
        table_output("save_times", "Each algorithm at each size, .csv or .parquet.", "table"),
        GOAL,
        SAVE_MAPPING,
        rank_file_output(_refuse_ranks, lambda answer: answer.allocated),
    ),
)
def compare_collectives(question: CollectiveQuestion, ready: PreparedCollective) -> CollectiveTimes:
    """Time each algorithm of a collective on a network, by size, with a lower bound.

    Ranks send by steps, as flows that share channels max-min fairly: a rank goes on when all that
    it sent and received in a step is complete. Sizes and bus bandwidth are those of nccl-tests. If
    nothing says a bandwidth, channels have 200 Gb/s; if nothing says a latency, 500 ns each.

    Examples
    --------
    >>> found = compare_collectives("all-reduce", "torus:4x4", size="1KB:64MB", latency="1us")
    >>> found.verdict
    'Fastest all-reduce: recursive-doubling below 7.6 kB, swing from 7.6 kB.'
    """
    bound = ready.bound(question.collective, question.root, ready.host_of)
    runner = Runner(ready.flows, ready.host_of)
    points = _timed(runner, ready, ready.algorithms, ready.sizes, bound, "given")
    better: Reordered | None = None
    if question.reorder:
        size = ready.sizes[-1]
        best = min((each for each in points if each.size == size), key=lambda each: each.seconds)
        algorithm = next(each for each in ready.algorithms if each.name == best.algorithm)
        better = reordered(algorithm, runner, size, best.seconds, placing=ready.placing)
        if better.better:
            other = Runner(ready.flows, better.node_of)
            least = ready.bound(question.collective, question.root, better.node_of)
            points += _timed(other, ready, (algorithm,), ready.sizes, least, "found")
    return CollectiveTimes(
        network=ready.flows,
        collective=question.collective,
        host_of=ready.host_of,
        mapping=mapping_name(question.mapping),
        points=points,
        bound=bound,
        reordered=better,
        left_out=ready.left_out,
        graph=ring(len(ready.host_of)),
        known={each.name: each for each in ready.algorithms},
        provenance=provenance_of(question, "compare_collectives", ready.network),
    )


def _timed(
    runner: Runner,
    ready: PreparedCollective,
    algorithms: Sequence[Algorithm],
    sizes: Sequence[float],
    bound: LeastTime,
    order: str,
) -> list[Point]:
    """Return what each algorithm takes at each size."""
    links, found = ready.flows.links, list[Point]()
    total = len(algorithms) * (len(sizes) + 1)
    with counting(total, f"{algorithms[0].collective} on {ready.network.name}") as tell:
        for number, each in enumerate(algorithms):
            first = number * (len(sizes) + 1)
            tell(first)
            own = each.outline()
            empty = runner.empty(each)
            for place, size in enumerate(sizes):
                tell(first + place + 1)
                run: Timed = runner.timed(each, size, empty)
                found.append(
                    Point(
                        algorithm=each.name,
                        order=order,
                        size=size,
                        run=run,
                        num_ranks=each.num_ranks,
                        collective=each.collective,
                        bound_seconds=bound.seconds(size),
                        empty_seconds=empty,
                        busiest=links.link_name(run.link),
                        steps=own.num_steps,
                        messages=own.num_messages,
                    )
                )
    return found
