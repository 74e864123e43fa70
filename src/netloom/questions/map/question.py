"""Where should each task of this program run, so that its communication contends least?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.contention import load_to_compare, measure, saturation
from netloom.errors import InputError
from netloom.mapping import (
    FoundMapping,
    check_rank_file,
    find_layout,
    rank_file,
    read_hosts,
)
from netloom.mapping import search_mapping as search
from netloom.mapping.allocation import allocated_nodes
from netloom.mapping.judged import (
    chosen_routes,
    judged_layout,
    on_chosen_routes,
    routes_of_layout,
)
from netloom.mapping.search.objectives import measure_by, objective_of
from netloom.mapping.search.starts import check_room, random_starts
from netloom.progress import patience
from netloom.questions.analyze.answer import MappedProgram, figures
from netloom.questions.analyze.question import analyze
from netloom.questions.base import MOST, option
from netloom.questions.fields import (
    BrokenParts,
    EdgeWeight,
    HostNames,
    PathRouting,
    ProgramFile,
    ProgramOnNetwork,
    Seeded,
    refuse,
)
from netloom.questions.map.answer import (
    FIGURES,
    ProgramMapping,
    SimulatedMappings,
)
from netloom.questions.map.verdict import mapping_verdict, paired
from netloom.questions.mapping_files import SAVE_MAPPING, rank_file_output
from netloom.questions.named import find_network, read_program
from netloom.questions.outputs import PLOT, Output, check_in_folder
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.load.question import simulate
from netloom.routing import (
    Routing,
    SourceRoutes,
    parse_routing,
    write_routes,
)
from netloom.spec import MAX_ELEMENTS
from netloom.topology import Topology
from netloom.topology.faults import check_working
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from netloom.mapping import Layout
    from netloom.mapping.search.objectives import Measure
    from netloom.questions.analyze.answer import Analysis
    from netloom.questions.simulate.load.answer import Simulation

WHERE = "Where tasks may run"
SEARCH = "What is looked for, and how long"
CHECK = "Simulation of before and after"


UNTIMED = "rounds instead: what is found must not depend on how fast the machine is"
ROUNDS_IN_FILES = 8
"""Rounds of a search in an experiment file that does not say how many."""

PAIRS = 5
"""Runs of both mappings that are simulated, each pair with a seed of its own."""

SAME = ("app", "on", "messages", "parts", "failed_channels", "failed_nodes", "routing", "weight",
        "tasks_per_node", "seed")  # fmt: skip
"""What ``analyze`` and ``simulate`` are asked as well."""


class MappingQuestion(
    Seeded, EdgeWeight, HostNames, PathRouting, ProgramFile, BrokenParts, ProgramOnNetwork
):
    """Where each task of a program should run, so that its communication contends least."""

    nodes: Any = option(
        "Allocated nodes, a file or a list: 0-31,40, n[3-7], host names; one or several a line.",
        default=None,
        panel=WHERE,
        shown_default="all that work",
        file=True,
    )
    tasks_per_node: int = option(
        "Tasks that a node takes.", default=1, ge=1, le=MAX_ELEMENTS, panel=WHERE
    )
    objective: str = option(
        "What is made small: max-channel-load, hop-bytes, path-contention, saturation, or a "
        "mixture such as hop-bytes:1,max-channel-load:2.",
        default="max-channel-load",
        panel=SEARCH,
    )
    layout: str | None = option(
        "No search, but a mapping made for such programs: tiles, gray, fold, hilbert ...",
        default=None,
        panel=SEARCH,
    )
    seconds: float = option(
        "Processor time of the search (seconds), of all threads together.",
        default=10.0,
        gt=0,
        le=MOST,
        panel=SEARCH,
    )
    rounds: int | None = option(
        "Rounds of annealing instead, however long they take: the same answer every time.",
        default=None,
        ge=0,
        le=MOST,
        panel=SEARCH,
    )
    routes: bool = option(
        "Choose routes as well, one for each pair of nodes (source routing).",
        default=False,
        panel=SEARCH,
    )
    simulate: bool = option(
        "Simulate before and after at one load, in paired runs: the verdict is then theirs.",
        default=False,
        panel=CHECK,
    )
    load: float | None = option(
        "Offered traffic of the average node, as a fraction of a channel.",
        default=None,
        gt=0,
        le=1,
        panel=CHECK,
        shown_default="what the busiest channel can just carry afterwards",
    )


@dataclass(frozen=True, eq=False)
class _Task:
    """A question, with what it names; ``layout`` is None where a mapping is searched for."""

    question: MappingQuestion
    graph: ProcessGraph
    network: Topology
    routing: Routing
    weights: NDArray[np.float64]
    nodes: NDArray[np.int32]
    layout: Layout | None = None

    @property
    def identity(self) -> NDArray[np.int32]:
        """The mapping that fills the allocated nodes in order."""
        places = np.repeat(self.nodes, self.question.tasks_per_node)
        return places[: self.graph.num_tasks].astype(np.int32)

    @cached_property
    def value_of(self) -> Measure:
        """What measures mappings by the objective, scaled as the search does."""
        objective = objective_of(self.question.objective)
        return measure_by(
            objective, self.graph, self.network, self.routing, self.weights, self.identity
        )


def prepare(question: MappingQuestion) -> _Task:
    """Read the program, build the network, and find the nodes that may be used."""
    task = _task(question)
    if question.layout is not None:
        task = replace(task, layout=_layout(task, question.layout))
    return task


def _refuse_ranks(
    question: MappingQuestion, task: _Task, form: str, hosts: Sequence[str] | None
) -> None:
    """Raise InputError if no mapping that may be found has a rank file of this form."""
    if task.layout is not None:
        rank_file(task.layout.node_of, form, hosts, task.nodes)
    else:
        check_rank_file(form, task.graph.num_tasks, task.nodes, question.tasks_per_node, hosts)


RANK_FILE = rank_file_output(_refuse_ranks, lambda answer: answer.nodes)


def _write_chosen_routes(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    if answer.routes is None:
        return f"No routes in {path}: nothing crosses the network."
    write_routes(answer.topology, answer.routes, path)
    return f"Routes: --routing routes:{path}"


ROUTES = Output(
    "routes",
    "Choose routes as well (source routing), and write them: for --routing routes:FILE.",
    _write_chosen_routes,
    check_in_folder,
    asks="routes",
)


def _in_rounds(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields that say how long to search by rounds."""
    if "seconds" in fields:
        raise InputError("seconds", f"{fields['seconds']}", UNTIMED)
    return fields if fields.get("layout") is not None else {"rounds": ROUNDS_IN_FILES} | fields


@asks(
    MappingQuestion,
    prepare=prepare,
    repeatable=_in_rounds,
    title="Mapping search",
    example="netloom map examples/lammps-64.mtx --on torus:4x4x4 --seconds 10 --rankfile ranks.txt",
    page="map.md",
    outputs=(PLOT, SAVE_MAPPING, RANK_FILE, ROUTES),
)
def find_mapping(question: MappingQuestion, task: _Task) -> ProgramMapping:
    """Find the mapping under which a program contends least, and say what it buys.

    Begins with partitions, embeddings and layouts of such programs, and makes them better until the
    processor time is used up, or nothing can be better. If nothing is better than ranks in order,
    these stay. Ctrl-C ends the search: the best so far is the answer.

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.

    Examples
    --------
    >>> found = find_mapping("mesh:4x4", "torus:4x4", objective="hop-bytes", rounds=1)
    >>> found.value, found.bound, found.verdict.kind
    (48.0, 48.0, 'bound')
    """
    layout = task.layout
    value_of, seed = task.value_of, question.seed
    seconds = inf if question.rounds is not None else question.seconds
    routes = None if layout is None else routes_of_layout(layout, value_of)
    if question.routes and routes is None and value_of.crossing(task.identity).any():
        # refused now rather than after a search
        chosen_routes(value_of, task.identity, rounds=0, seed=seed, seconds=seconds)
    if layout is None:
        found = _search(task)
    else:
        found = judged_layout(
            layout, value_of, routes,
            objective=question.objective, identity=task.identity, nodes=task.nodes,
            tasks_per_node=question.tasks_per_node, seed=seed,
        )  # fmt: skip
    placed = found.value
    if question.routes and routes is None:
        found, routes = on_chosen_routes(found, value_of, seed=seed, seconds=seconds)
    with patience("comparing mappings"):
        before = _analysis(task, found.mappings["identity"], None)
        after = _analysis(task, found.node_of, routes)
        starts = list(_starts(task, found, placed, routes))
    simulated = None
    if question.simulate and not found.interrupted:
        simulated = _simulated(task, found, before, after, routes)
    return ProgramMapping(
        graph=task.graph,
        topology=task.network,
        routing=task.routing,
        nodes=task.nodes,
        found=found,
        scale=_scale(task),
        routes=routes,
        layout=layout,
        before=before,
        after=after,
        starts=starts,
        simulated=simulated,
        verdict=mapping_verdict(found, before, after, simulated),
        provenance=provenance_of(question, "find_mapping", task.network),
    )


def _task(question: MappingQuestion) -> _Task:
    """Return a question with what it names, checked."""
    if question.load is not None and not question.simulate:
        raise InputError("load", f"{question.load:g} without a simulation", "simulate as well")
    if question.layout is not None:
        wanted = "a search, with no layout"
        refuse(question, ("seconds", "rounds", "tasks_per_node"), wanted)
    objective_of(question.objective)
    graph = read_program(question.app, messages=question.messages, parts=question.parts)
    network, _ = find_network(
        question.on, failed_channels=question.failed_channels, failed_nodes=question.failed_nodes
    )
    routing = question.routing
    hosts = None if question.hosts is None else read_hosts(str(question.hosts))
    weights = graph.weights(question.weight)
    if not weights.any():
        raise InputError(graph.name, f"no {question.weight} on any edge", "another weight")
    nodes = allocated_nodes(question.nodes, network, hosts)
    check_room(graph.num_tasks, nodes, question.tasks_per_node)
    return _Task(
        question=question,
        graph=graph,
        network=network,
        routing=parse_routing(routing, network) if isinstance(routing, str) else routing,
        weights=np.asarray(weights, np.float64),
        nodes=nodes,
    )


def _search(task: _Task) -> FoundMapping:
    question = task.question
    return search(
        task.graph,
        task.network,
        routing=task.routing,
        objective=question.objective,
        weights=task.weights,
        nodes=task.nodes,
        tasks_per_node=question.tasks_per_node,
        seconds=question.seconds,
        rounds=question.rounds,
        seed=question.seed,
    )


def _layout(task: _Task, name: str) -> Layout:
    """Return the layout of this name, if it keeps to the nodes that may be used."""
    layout = find_layout(name, task.graph, task.network)
    check_working(task.network, layout.node_of, f"layout '{name}'")
    outside = ~np.isin(layout.node_of, task.nodes)
    if outside.any():
        at = int(np.argmax(outside))
        found = f"task {at} on node {layout.node_of[at]}, which is not allocated"
        raise InputError(f"layout '{name}'", found, "an allocation that has all its nodes")
    return layout


def _scale(task: _Task) -> dict[str, float]:
    """Return what each of several objectives was divided by; nothing where there is only one."""
    value_of = task.value_of
    return {} if value_of.objective.single else dict(value_of.scale)


def _analysis(
    task: _Task, node_of: NDArray[np.int32], routes: SourceRoutes | None
) -> Analysis | None:
    """Analyse a mapping; None where it leaves no traffic on the network."""
    if not task.value_of.crossing(node_of).any():
        return None
    return analyze(**_same(task, node_of, routes), random_mappings=0)


def _same(task: _Task, node_of: NDArray[np.int32], routes: SourceRoutes | None) -> dict[str, Any]:
    """Return the fields of a question about one mapping."""
    fields = {name: getattr(task.question, name) for name in SAME}
    return fields | {"mapping": node_of} | ({} if routes is None else {"routing": routes})


def _starts(
    task: _Task, found: FoundMapping, placed: float, routes: SourceRoutes | None
) -> Iterator[dict[str, Any]]:
    """Yield the figures of all mappings compared: identity first, the result last.

    ``placed`` is the value of what was found without routes of its own; a layout's is in its row.
    """
    drawn = random_starts(
        task.graph.num_tasks, task.nodes, task.question.tasks_per_node, task.question.seed
    )
    rows = [_row(task, node_of, task.routing) for node_of in drawn]
    identity = _row(task, found.mappings["identity"], task.routing)
    yield _named("identity", found.starts["identity"], identity)
    mean = {name: float(np.mean([row[name] for row in rows])) for name in FIGURES}
    yield _named("random", found.starts["random"], mean)
    others = sorted(found.mappings.items(), key=lambda each: each[0] != "random_best")
    for name, node_of in others:
        if name != "identity":
            yield _named(name, found.starts[name], _row(task, node_of, task.routing))
    if task.question.routes and task.question.layout is None:
        yield _named("mapping", placed, _row(task, found.node_of, task.routing))
    yield _named("result", found.value, _row(task, found.node_of, routes or task.routing))


def _named(name: str, value: float, row: dict[str, Any]) -> dict[str, Any]:
    return {"mapping": name, "objective": value} | row


def _row(task: _Task, node_of: NDArray[np.int32], routing: Routing) -> dict[str, Any]:
    """Return the figures of one mapping; saturation is infinite where no channel is used."""
    if not task.value_of.crossing(node_of).any():
        return {name: np.inf if name.startswith("saturation") else 0 for name in FIGURES}
    graph, weights = task.graph, task.weights
    source, target = node_of[graph.source], node_of[graph.target]
    found = measure(task.network, routing, source, target, weights)
    limit = saturation(found, source, weights, task.network.num_nodes)
    row = figures(0, graph, MappedProgram(source, target, weights, found, limit))
    return {name: row[name] for name in FIGURES}


def _simulated(
    task: _Task,
    found: FoundMapping,
    before: Analysis | None,
    after: Analysis | None,
    routes: SourceRoutes | None,
) -> SimulatedMappings:
    """Simulate identity and the result at the same load, in pairs of runs with the same seed.

    What cannot run says why.
    """
    if before is None or after is None:
        which = "before" if before is None else "after"
        return SimulatedMappings(None, None, None, f"nothing crosses the network {which}")
    if routes is None and np.array_equal(found.node_of, found.mappings["identity"]):
        return SimulatedMappings(None, None, None, "ranks stay in order: nothing to compare")
    load = task.question.load or load_to_compare(before.mapped.limit, after.mapped.limit)
    mappings = {"before": (found.mappings["identity"], None), "after": (found.node_of, routes)}
    runs: dict[str, list[Simulation]] = {"before": [], "after": []}
    for number in range(PAIRS):
        for when, (node_of, own) in mappings.items():
            asked = _same(task, node_of, own) | {"seed": task.question.seed + number}
            try:
                with warnings.catch_warnings():  # that much is offered on purpose
                    warnings.simplefilter("ignore", UserWarning)
                    run = simulate(**asked, load=load)
            except InputError as error:  # such as routes that can deadlock
                return _simulations(load, runs, f"{when}: {error}")
            runs[when].append(run)
            if run.interrupted:
                return _simulations(load, runs, f"{when}: interrupted")
    return _simulations(load, runs, None)


def _simulations(
    load: float, runs: dict[str, list[Simulation]], note: str | None
) -> SimulatedMappings:
    """Return what was simulated: the runs of the question's seed, and all pairs compared."""
    before, after = (next(iter(runs[when]), None) for when in ("before", "after"))
    compared = None if note else paired(runs["before"], runs["after"])
    return SimulatedMappings(load, before, after, note, compared)
