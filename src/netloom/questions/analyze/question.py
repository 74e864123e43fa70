"""Will this mapped program contend on this network, where, and what limits it?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import model_validator

from netloom.base.errors import InputError
from netloom.base.progress import patience, track
from netloom.base.words import counted
from netloom.contention import (
    estimate_mesh,
    expect_random,
    measured,
    offered_by_program,
    offered_by_run,
    saturation,
    verdict,
)
from netloom.machines import Machine, machine_names
from netloom.mapping.named import place_program
from netloom.questions.analyze.answer import Analysis
from netloom.questions.analyze.mapped import MappedProgram, causes, each_shift, figures, followed
from netloom.questions.base import MOST, option
from netloom.questions.fields import (
    BrokenParts,
    EdgeWeight,
    HostNames,
    OnePathOrFunction,
    Placed,
    ProgramFile,
    ProgramOnNetwork,
    Seeded,
)
from netloom.questions.named import (
    network_of,
    num_places,
    placed,
    placing,
    provenance_of,
    read_program,
)
from netloom.questions.outputs import PLOT, SAVE_MAPPING, rank_file_output
from netloom.questions.register import asks
from netloom.routing import (
    DimensionOrder,
    Routing,
    SourceRoutes,
    find_deadlock,
    parse_routing,
    routes_by,
)
from netloom.topology import Cube, Topology
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.contention import Expectation, MeshEstimate


LOAD = "Offered load (said at most one way)"

MOST_RANDOM = 25
"""Random mappings to compare with by default, at least one."""

WORK, PATH_WORK = 3 * 2**30, 300
"""What they may cost in all (about 5 seconds), and what a path does. See ``_work``."""


class AnalyzeQuestion(
    HostNames, Seeded, EdgeWeight, Placed, ProgramFile, BrokenParts, ProgramOnNetwork
):
    """Where a mapped program contends, and what limits it."""

    routing: OnePathOrFunction = option(
        "Routing: default, dimension-order[:0,1], xy, shortest-path, spread, "
        "ecmp[:SEED], layered, up-down, minimal, valiant or "
        "routes:FILE. On trees: d-mod-k, s-mod-k, nca. On dragonflies: "
        "minimal-group, valiant-group. In Python: functions. All: netloom routings.",
        default="default",
        panel="Network",
        flags=("--routing", "--routes"),
        file=True,
    )
    random_mappings: int | None = option(
        "Random mappings to compare with; none with given routes.",
        default=None,
        ge=0,
        le=100_000,
        shown_default="25, fewer if large",
    )
    offered: float | None = option(
        "Offered load per sending node, a fraction of a channel.",
        default=None,
        gt=0,
        le=MOST,
        panel=LOAD,
    )
    run_seconds: float | None = option(
        "Time of the recorded run on a machine without contention.",
        unit="seconds",
        default=None,
        gt=0,
        le=MOST,
        panel=LOAD,
    )
    instructions_per_message: float | None = option(
        "Instructions per task between two messages (on a machine).",
        default=None,
        gt=0,
        le=MOST,
        panel=LOAD,
    )
    mips: float | None = option(
        "Speed of a task, with instructions_per_message.",
        unit="million instructions per second",
        default=None,
        gt=0,
        le=MOST,
        panel=LOAD,
    )

    @model_validator(mode="after")
    def _one_way_to_say_the_load(self) -> AnalyzeQuestion:
        ways = (self.offered, self.run_seconds, self.instructions_per_message)
        if sum(way is not None for way in ways) > 1:
            raise InputError(
                "offered", "several ways to say the load",
                "one of offered, run_seconds and instructions_per_message",
            )  # fmt: skip
        if (self.instructions_per_message is None) != (self.mips is None):
            raise InputError("mips", "one without the other", "instructions_per_message and mips")
        return self


@dataclass(frozen=True, eq=False)
class MappedNetwork:
    """What a question names, read and built once: hand it on rather than name it again.

    Attributes
    ----------
    node_of
        int32[num_tasks], where each task runs.
    """

    graph: ProcessGraph
    network: Topology
    machine: Machine | None
    routing: Routing
    node_of: Ints

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The hosts of each edge: twice that of its source if it stays inside a node."""
        source, target = self.node_of[self.graph.source], self.node_of[self.graph.target]
        return source, np.where(self.network.crosses(source, target), target, source)

    def weights(self, weight: Literal["bytes", "messages", "uniform"]) -> Floats:
        """Return what each edge weighs. InputError if none weighs anything."""
        found = self.graph.weights(weight)
        if not found.any():
            nothing, wanted = (
                f"no {weight} sent from a task to another",
                "a program that communicates",
            )
            if self.graph.num_edges:
                wanted += f", or another weight than {weight}"
            raise InputError(self.graph.name, nothing, wanted)
        return found

    def measured(self, weight: Literal["bytes", "messages", "uniform"]) -> MappedProgram:
        """Measure the paths of the mapping. Those inside nodes have no channels."""
        weights = self.weights(weight)
        source, target = self.ends
        found = measured(self.network, self.routing, source, target, weights)
        limit = saturation(found, source, weights, self.network.num_hosts)
        return MappedProgram(source, target, weights, found, limit)


def prepare(question: AnalyzeQuestion) -> MappedNetwork:
    """Read the program, build the network and its routing, and place the tasks."""
    network, on_machine = network_of(question)
    graph = read_program(
        question.app, messages=question.messages, parts=question.parts,
        tasks=num_places(question, network), seed=question.seed,
    )  # fmt: skip
    routing = _routing(question.routing, network)
    node_of = placed(question, graph, network)
    return MappedNetwork(graph, network, on_machine, routing, node_of)


@asks(
    AnalyzeQuestion,
    prepare=prepare,
    title="Contention analysis",
    example="netloom analyze examples/lammps-64.mtx --on torus:8x8 --plot hot.png",
    page="will-it-contend.md",
    outputs=(PLOT, SAVE_MAPPING, rank_file_output()),
)
def analyze(question: AnalyzeQuestion, ready: MappedNetwork) -> Analysis:
    """Find where a mapped program contends and what limits it, without simulating.

    Patterns named without a size are of all hosts, or of all that --nodes allows: all-to-all,
    ring, shift:1,5,17 or random-permutation. Several shifts are analyzed as one program in which
    each task sends to several. "shifts" in JSON has each of them on its own. If hosts hang on
    routers, channel loads are of channels between routers, those of hosts' channels apart, and the
    busiest channel is the one of all that works longest.

    Examples
    --------
    >>> from netloom import analyze
    >>> found = analyze("hypercube:10", "mesh:32x32", random_mappings=0)
    >>> found.to_dict()["channel_load"]["max"]
    21
    """
    graph, network, routing = ready.graph, ready.network, ready.routing
    with patience(f"Counting the contention of {counted(graph.num_edges, 'path', ',')}"):
        mapped = ready.measured(question.weight)
    offered = _offered(question, graph, mapped, ready.machine)
    alike = _alike(question, ready)
    rows, path_contention, limited = _random_mappings(question, ready, 0 if alike else MOST_RANDOM)
    routed = followed(network, routing, mapped)
    return Analysis(
        graph=graph,
        topology=network,
        machine=ready.machine,
        routing=str(routing),
        weight=question.weight,
        node_of=ready.node_of,
        mapped=mapped,
        offered=offered,
        verdict=verdict(
            mapped.limit, offered, paths_meet=mapped.paths_meet, hosted=not network.direct
        ),
        random=rows,
        random_limited=limited,
        random_alike=alike,
        random_path_contention=path_contention,
        estimate=None if question.nodes is not None else _estimate(graph, network, routing),
        expected=_expected(question, graph, network, routing),
        deadlock_cycle=_deadlock(network, routing),
        several_paths=routing.several,
        shifts=each_shift(graph, network, routing, mapped),
        causes=causes(graph, network, routing, mapped, routed),
        routed=routed,
        provenance=provenance_of(question, "analyze", network),
    )


def _routing(
    routing: str | Routing | Callable[[Topology, int, int], Iterable[int | str]], network: Topology
) -> Routing:
    if isinstance(routing, str):
        return parse_routing(routing, network)
    return routes_by(network, routing) if callable(routing) else routing


def _alike(question: AnalyzeQuestion, ready: MappedNetwork) -> bool:
    """Return whether every mapping gives this one's traffic between nodes.

    So it is if each task sends the same to every other, and tasks fill all places.
    """
    graph, tasks = ready.graph, ready.graph.num_tasks
    weights = ready.weights(question.weight)
    moving = graph.source != graph.target
    return bool(
        moving.sum() == tasks * (tasks - 1)
        and weights[moving].min(initial=np.inf) == weights[moving].max(initial=-np.inf)
        and tasks == num_places(question, ready.network)
        and np.bincount(ready.node_of).max() == question.tasks_per_node
    )


def _random_mappings(
    question: AnalyzeQuestion, ready: MappedNetwork, most: int
) -> tuple[list[dict[str, Any]], Ints, bool]:
    """Measure seeded random mappings: one row each, and how often each ν occurs in all.

    Also returns whether there were fewer because more would have taken too long. None with given
    routes, which exist for the pairs of nodes of one mapping only. ``most`` if nobody says how
    many.
    """
    graph, rows = ready.graph, list[dict[str, Any]]()
    counts = np.zeros(1, np.int64)
    asked = question.random_mappings
    mappings = 0 if isinstance(ready.routing, SourceRoutes) else most if asked is None else asked
    for seed in track(range(1, mappings + 1), "random mappings"):
        if seed > mappings:
            break
        node_of = place_program(
            "random", graph, ready.network, **placing(question) | {"seed": question.seed + seed}
        )
        drawn = replace(ready, node_of=node_of)
        if np.array_equal(*drawn.ends):
            continue  # several tasks a node: nothing is left that crosses the network
        mapped = drawn.measured(question.weight)
        if asked is None and not rows:
            mappings = min(max(WORK // _work(mapped, ready.routing), 1), MOST_RANDOM)
        rows.append(figures(question.seed + seed, graph, mapped))
        more = np.zeros(0, np.int64)
        if mapped.by_path is not None:
            more = np.bincount(mapped.by_path.path_contention[mapped.moving])
        longest = max(len(counts), len(more))
        counts = np.pad(counts, (0, longest - len(counts)))
        counts[: len(more)] += more
    return rows, counts, asked is None and 0 < mappings < MOST_RANDOM


def _work(mapped: MappedProgram, routing: Routing) -> int:
    """Return what measuring one mapping costs, in units of 1 to 2.5 ns.

    Dimension order is counted path by path. Other paths are compared channel by channel, each with
    all others there.
    """
    found = mapped.contention
    work = PATH_WORK * len(found.moving) + 20 * len(found.channel_bandwidth)
    if mapped.by_path is None:
        return max(work, 1)
    if not isinstance(routing, DimensionOrder):
        work += int((found.channel_load.astype(np.float64) ** 2).sum())
    return max(work, 1)


def _estimate(graph: ProcessGraph, network: Topology, routing: Routing) -> MeshEstimate | None:
    """Table 3.1, which is for dimension order on square meshes."""
    if not isinstance(network, Cube) or not isinstance(routing, DimensionOrder):
        return None
    if any(network.wraps) or len(network.sides) != 2 or len(set(network.sides)) > 1:
        return None
    return estimate_mesh(network.num_hosts, graph.num_edges / graph.num_tasks)


def _expected(
    question: AnalyzeQuestion, graph: ProcessGraph, network: Topology, routing: Routing
) -> Expectation | None:
    """Exact expectations of a random mapping, where they are known."""
    if not isinstance(network, Cube) or not isinstance(routing, DimensionOrder):
        return None
    if not network.even:
        return None
    if question.nodes is not None or question.tasks_per_node > 1 or network.num_hosts < 4:
        return None
    with patience(f"Working out what random mappings do to {graph.num_edges:,} paths"):
        return expect_random(network, routing, graph.source, graph.target)


def _deadlock(network: Topology, routing: Routing) -> tuple[int, ...] | None:
    """Return a cycle of channels that can deadlock, () if there is none, None if unknown."""
    try:
        return find_deadlock(network, routing)
    except InputError:  # too large to search, which is no reason to say nothing else
        return None


def _offered(
    question: AnalyzeQuestion, graph: ProcessGraph, mapped: MappedProgram, on: Machine | None
) -> float | None:
    """Offered traffic, from whichever way it was told."""
    if question.run_seconds is None and question.instructions_per_message is None:
        return question.offered
    if on is None:
        raise InputError("on", "no machine", f"one of {', '.join(machine_names())} for this load")
    sent = np.bincount(mapped.source[mapped.moving], graph.bytes[mapped.moving])
    if question.run_seconds is not None:
        mean_sent = float(sent.sum() / np.count_nonzero(sent))
        return offered_by_run(mean_sent, question.run_seconds * 1e6, on.bandwidth_bytes_per_us)
    assert question.instructions_per_message is not None
    assert question.mips is not None
    message_bytes = float(sent.sum() / graph.messages[mapped.moving].sum())
    return offered_by_program(
        message_bytes,
        question.instructions_per_message / question.mips,
        float(on.message_time_us(message_bytes)),
        on.bandwidth_bytes_per_us,
    )
