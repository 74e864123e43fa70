"""Where should each task of this program run, so that its communication contends least?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.contention import load_to_compare
from netloom.contention.mapped import weights_of
from netloom.mapping import FORMATS, check_rank_file, find_layout, rank_file, read_hosts
from netloom.mapping import search_mapping as search
from netloom.mapping.allocation import allocated_hosts, places_of
from netloom.mapping.placements import check_room, ranks_on_computers
from netloom.mapping.routes import chosen_routes, judged_layout, on_chosen_routes, routes_of_layout
from netloom.mapping.search.objectives import hosts_count, measure_by, objective_of
from netloom.mapping.search.starts import random_starts
from netloom.questions.analyze import MappedNetwork
from netloom.questions.base import MOST, ask, option
from netloom.questions.fields import (
    Allocated,
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
    mapping_verdict,
    paired,
)
from netloom.questions.named import network_of, provenance_of, read_program
from netloom.questions.outputs import PLOT, SAVE_MAPPING, Output, check_in_folder, rank_file_output
from netloom.questions.register import asks, kind_of
from netloom.routing import parse_routing, write_routes
from netloom.topology.faults import check_working
from netloom.topology.names import vertex_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from netloom.base.arrays import Ints
    from netloom.contention import Saturation
    from netloom.mapping import FoundMapping, Layout
    from netloom.mapping.search.objectives import Measure
    from netloom.questions.analyze import Analysis
    from netloom.questions.base import Question
    from netloom.questions.simulate.load import Simulation
    from netloom.routing import SourceRoutes


@dataclass(frozen=True, eq=False)
class MappingTask(MappedNetwork):
    """What a question about a mapping names, read and built once, mapped in order.

    Attributes
    ----------
    nodes
        int32[], the hosts that may be used, ascending.
    tasks_per_host
        Most tasks of each.
    layout
        None where a mapping is searched for.
    """

    question: MappingQuestion
    nodes: Ints
    tasks_per_host: int
    layout: Layout | None = None

    @cached_property
    def value_of(self) -> Measure:
        """What measures mappings by the objective, scaled as the search does."""
        objective = objective_of(self.question.objective)
        weights = weights_of(self.graph, self.question.weight)
        return measure_by(
            objective, self.graph, self.network, self.routing, weights, self.node_of,
            self.tasks_per_host,
        )  # fmt: skip

    def mapped(self, node_of: Ints, routes: SourceRoutes | None) -> MappedNetwork:
        """Return the program under another mapping, perhaps on routes of its own."""
        routing = self.routing if routes is None else routes
        return replace(self, node_of=node_of, routing=routing)

    def crosses(self, node_of: Ints) -> bool:
        """Whether a mapping leaves anything that crosses the network."""
        return bool(self.value_of.crossing(node_of).any())


def prepare(question: MappingQuestion) -> MappingTask:
    """Read the program, build the network, and find the nodes that may be used."""
    if question.load is not None and not question.simulate:
        raise InputError("load", f"{question.load:g} without a simulation", "simulate as well")
    if question.layout is not None:
        refuse(question, ("seconds", "rounds", "tasks_per_node"), "a search, with no layout")
    objective_of(question.objective)
    graph = read_program(question.app, messages=question.messages, parts=question.parts)
    network, machine = network_of(question)
    hosts = None if question.hosts is None else read_hosts(str(question.hosts))
    allocated = allocated_hosts(question.nodes, network, hosts)
    places = places_of(allocated, network, question.tasks_per_node)
    check_room(graph.num_tasks, places.num_groups, question.tasks_per_node, network.name)
    nodes, tasks_per_host = places.each()
    routing = question.routing
    task = MappingTask(
        graph=graph,
        network=network,
        machine=machine,
        routing=parse_routing(routing, network) if isinstance(routing, str) else routing,
        node_of=places.at(np.arange(graph.num_tasks)),
        question=question,
        nodes=nodes,
        tasks_per_host=tasks_per_host,
    )
    weights_of(graph, question.weight)  # refused now, if there are none
    if question.layout is None:
        return task
    return replace(task, layout=_layout(task, question.layout))


def _layout(task: MappingTask, name: str) -> Layout:
    """Return the layout of this name, if it keeps to the nodes that may be used."""
    layout = find_layout(name, task.graph, task.network)
    check_working(task.network, layout.node_of, f"layout '{name}'")
    outside = ~np.isin(layout.node_of, task.nodes)
    if outside.any():
        at = int(np.argmax(outside))
        name = vertex_word(task.network, int(layout.node_of[at]))
        found = f"task {at} on node {name}, which is not allocated"
        raise InputError(f"layout '{name}'", found, "an allocation that has all its nodes")
    return layout


PAIRS = 5
"""Runs of both mappings that are simulated, each pair with a seed of its own."""

SAME = ("app", "on", "messages", "parts", "failed_channels", "failed_nodes", "routing", "weight",
        "tasks_per_node", "seed", "count_inside_nodes")  # fmt: skip
"""What ``analyze`` and ``simulate`` are asked as well."""

IDLE = {name: np.inf if name.startswith("saturation") else 0 for name in FIGURES}
"""Figures of a mapping with which nothing crosses the network."""


def analysis_of(task: MappingTask, node_of: Ints, routes: SourceRoutes | None) -> Analysis | None:
    """Analyze a mapping. None where it leaves no traffic on the network."""
    if not task.crosses(node_of):
        return None
    kind = kind_of("analyze")
    asked = ask(kind.question, _same(task, node_of, routes) | {"random_mappings": 0})
    found: Analysis = kind.find(asked, task.mapped(node_of, routes))
    return found


def _same(task: MappingTask, node_of: Ints, routes: SourceRoutes | None) -> dict[str, Any]:
    """Return the fields of a question about one mapping."""
    fields = {name: getattr(task.question, name) for name in SAME}
    return fields | {"mapping": node_of} | ({} if routes is None else {"routing": routes})


def compared_mappings(
    task: MappingTask, found: FoundMapping, placed: float,
    before: Analysis | None, after: Analysis | None,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the figures of all mappings compared: identity first, the result last.

    ``placed`` is the value of what was found without routes of its own. A layout's is in its row.
    """
    asked = task.question
    drawn = random_starts(task.graph.num_tasks, task.nodes, task.tasks_per_host, asked.seed)
    rows = [_measured(task, node_of) for node_of in drawn]
    mean = {name: _mean([row[name] for row in rows]) for name in FIGURES}
    yield _row("identity", found.starts["identity"], before.own.row() if before else IDLE)
    yield _row("random", found.starts["random"], mean)
    others = sorted(found.mappings.items(), key=lambda each: each[0] != "random_best")
    for name, node_of in others:
        if name != "identity":
            yield _row(name, found.starts[name], _measured(task, node_of))
    if asked.routes and asked.layout is None:
        yield _row("mapping", placed, _measured(task, found.node_of))
    yield _row("result", found.value, after.own.row() if after else IDLE)


def _mean(values: list[float | None]) -> float | None:
    """Return the mean. None where a figure is not known, as ν where pairs have several paths."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _row(name: str, value: float, own: Mapping[str, Any]) -> dict[str, Any]:
    return {"mapping": name, "objective": value} | {figure: own[figure] for figure in FIGURES}


def _measured(task: MappingTask, node_of: Ints) -> Mapping[str, Any]:
    """Return the figures of one mapping, without routes of its own."""
    if not task.crosses(node_of):
        return IDLE
    return task.mapped(node_of, None).measured(task.question.weight).figures().row()


def simulated_mappings(
    task: MappingTask, found: FoundMapping,
    before: Analysis | None, after: Analysis | None, routes: SourceRoutes | None,
) -> SimulatedMappings:  # fmt: skip
    """Simulate identity and the result at the same pace, in pairs of runs with the same seed.

    What cannot run says why.
    """
    if before is None or after is None:
        which = "before" if before is None else "after"
        return SimulatedMappings(None, None, None, f"nothing crosses the network {which}")
    if routes is None and np.array_equal(found.node_of, task.node_of):
        return SimulatedMappings(None, None, None, "ranks stay in order: nothing to compare")
    loads = _loads(task.question.load, before.mapped.limit, after.mapped.limit)
    load = loads["before"]
    mappings = {"before": (task.node_of, None), "after": (found.node_of, routes)}
    runs: dict[str, list[Simulation]] = {"before": [], "after": []}
    ready: dict[str, Any] = {}
    kind = kind_of("simulate.load")
    for number in range(PAIRS):
        for when, (node_of, own) in mappings.items():
            fields = _same(task, node_of, own) | {"load": loads[when]}
            fields["seed"] += number
            try:
                if when not in ready:
                    ready[when] = kind.prepare(_with_objects(ask(kind.question, fields), task))
                network = replace(ready[when], seed=fields["seed"])
                with warnings.catch_warnings():  # that much is offered on purpose
                    warnings.simplefilter("ignore", UserWarning)
                    run = kind.find(ask(kind.question, fields), network)
            except InputError as error:  # such as routes that can deadlock
                return _simulations(load, runs, f"{when}: {error}")
            runs[when].append(run)
            if run.interrupted:
                return _simulations(load, runs, f"{when}: interrupted")
    return _simulations(load, runs, None)


def _loads(asked: float | None, before: Saturation, after: Saturation) -> dict[str, float]:
    """Return the load of each mapping at which the program goes as fast under both.

    A load is of what enters the network, of which one mapping may leave less than the other.
    """
    pace = before.mean_weight / after.mean_weight
    if asked is None:
        most = min(1.0, 1 / float(before.node_share.max()))
        asked = min(load_to_compare(before, after) * pace, most)
    return {"before": asked, "after": asked / pace}


def _with_objects(asked: Question, task: MappingTask) -> Question:
    """Return a question that names what is read and built already."""
    built: dict[str, Any] = {"app": task.graph, "messages": None, "parts": "network"}
    if task.machine is None:
        built |= {"on": task.network, "failed_channels": None, "failed_nodes": None}
    else:  # its routers are simulated
        built["on"] = task.machine
    return asked.model_copy(update=built)


def _simulations(
    load: float, runs: dict[str, list[Simulation]], note: str | None
) -> SimulatedMappings:
    """Return what was simulated: the runs of the question's seed, and all pairs compared."""
    before, after = (next(iter(runs[when]), None) for when in ("before", "after"))
    compared = None if note else paired(runs["before"], runs["after"])
    return SimulatedMappings(load, before, after, note, compared)


SEARCH = "What is looked for, and how long"
CHECK = "Simulation of before and after"


UNTIMED = "rounds instead: what is found must not depend on how fast the machine is"
ROUNDS_IN_FILES = 8
"""Rounds of a search in an experiment file that does not say how many."""


class MappingQuestion(
    Seeded,
    BrokenParts,
    HostNames,
    PathRouting,
    EdgeWeight,
    Allocated,
    ProgramFile,
    ProgramOnNetwork,
):
    """The best place of each task of a program: its communication contends least there."""

    objective: str = option(
        "Objective to minimize: max-channel-load, hop-bytes, path-contention, "
        "saturation, or a mixture such as hop-bytes:1,max-channel-load:2.",
        default="max-channel-load",
        panel=SEARCH,
    )
    layout: str | None = option(
        "Layout instead of a search: tiles, gray, fold, hilbert ...",
        default=None,
        panel=SEARCH,
    )
    seconds: float = option(
        "Processor time of the search, all threads together.",
        default=10.0,
        unit="seconds",
        gt=0,
        le=MOST,
        panel=SEARCH,
    )
    rounds: int | None = option(
        "Rounds of annealing, instead of a time (repeatable).",
        default=None,
        ge=0,
        le=MOST,
        panel=SEARCH,
    )
    routes: bool = option(
        "Also choose one route per pair of nodes (source routing).",
        default=False,
        panel=SEARCH,
    )
    simulate: bool = option(
        "Judge by paired simulations before and after, at one load.",
        default=False,
        panel=CHECK,
    )
    load: float | None = option(
        "Offered load per node, as a fraction of a channel.",
        default=None,
        gt=0,
        le=1,
        panel=CHECK,
        shown_default="what the busiest channel can just carry afterwards",
    )


def _refuse_ranks(task: MappingTask, form: str, hosts: Sequence[str] | None) -> None:
    """Raise InputError if no mapping that may be found has a rank file of this form."""
    owner, own_slots = task.network.node_of_host, task.network.num_nodes < task.network.num_hosts
    computers = np.unique(owner[task.nodes])
    if task.layout is not None:
        ranks, slots = ranks_on_computers(task.layout.node_of, task.network)
        rank_file(ranks, form, hosts, computers, slots)
    elif own_slots and form != FORMATS[0]:
        found = f"{form}, which does not say on which host of its node a rank is"
        raise InputError("rankfile_format", found, FORMATS[0])
    else:
        places = -(-len(task.nodes) * task.tasks_per_host // len(computers))
        check_rank_file(form, task.graph.num_tasks, computers, places, hosts)


RANK_FILE = rank_file_output(
    _refuse_ranks, lambda answer: answer.nodes, lambda answer: answer.gains or answer.as_asked
)


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
def find_mapping(question: MappingQuestion, task: MappingTask) -> ProgramMapping:
    """Find the mapping under which a program contends least, and report what it gains.

    Begins with partitions, embeddings and layouts of such programs, and makes them better until the
    processor time is used up, or nothing can be better. If nothing is better than ranks in order,
    these stay. Ctrl-C ends the search: the best so far is the answer.

    Examples
    --------
    >>> found = find_mapping("mesh:4x4", "torus:4x4", objective="hop-bytes", rounds=1)
    >>> found.value, found.bound, found.verdict.kind
    (48.0, 48.0, 'bound')
    """
    layout, value_of, seed = task.layout, task.value_of, question.seed
    seconds = inf if question.rounds is not None else question.seconds
    routes = None if layout is None else routes_of_layout(layout, value_of)
    if question.routes and routes is None and task.crosses(task.node_of):
        # refused now rather than after a search
        chosen_routes(value_of, task.node_of, rounds=0, seed=seed, seconds=seconds)
    if layout is None:
        found = _search(task)
    else:
        found = judged_layout(
            layout, value_of, routes,
            objective=question.objective, identity=task.node_of, nodes=task.nodes,
            tasks_per_node=task.tasks_per_host, seed=seed,
        )  # fmt: skip
    placed = found.value
    if question.routes and routes is None:
        found, routes = on_chosen_routes(found, value_of, seed=seed, seconds=seconds)
    with patience("comparing mappings"):
        before = analysis_of(task, task.node_of, None)
        after = analysis_of(task, found.node_of, routes)
        starts = list(compared_mappings(task, found, placed, before, after))
    simulated = None
    if question.simulate and not found.interrupted:
        simulated = simulated_mappings(task, found, before, after, routes)
    return ProgramMapping(
        graph=task.graph,
        topology=task.network,
        routing=task.routing,
        nodes=task.nodes,
        found=found,
        scale={} if value_of.objective.single else dict(value_of.scale),
        routes=routes,
        layout=layout,
        before=before,
        after=after,
        starts=starts,
        simulated=simulated,
        verdict=mapping_verdict(found, before, after, simulated),
        provenance=provenance_of(question, "find_mapping", task.network),
        counts_hosts=hosts_count(task.network, value_of.tasks_per_node),
    )


def _search(task: MappingTask) -> FoundMapping:
    question = task.question
    return search(
        task.graph,
        task.network,
        routing=task.routing,
        objective=question.objective,
        weights=task.value_of.weights,
        nodes=task.nodes,
        tasks_per_node=task.tasks_per_host,
        identity=task.node_of,
        seconds=question.seconds,
        rounds=question.rounds,
        seed=question.seed,
    )
