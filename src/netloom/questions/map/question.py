"""Where should each task of this program run, so that its communication contends least?"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.mapping import FORMATS, check_rank_file, rank_file
from netloom.mapping import search_mapping as search
from netloom.mapping.files.rank_files import ranks_on_computers
from netloom.mapping.judged import (
    chosen_routes,
    judged_layout,
    on_chosen_routes,
    routes_of_layout,
)
from netloom.mapping.search.loads import hosts_count
from netloom.questions.base import MOST, option
from netloom.questions.fields import (
    Allocated,
    BrokenParts,
    EdgeWeight,
    HostNames,
    PathRouting,
    ProgramFile,
    ProgramOnNetwork,
    Seeded,
)
from netloom.questions.map.answer import ProgramMapping
from netloom.questions.map.compared import analysis_of, compared_mappings, simulated_mappings
from netloom.questions.map.gains import mapping_verdict
from netloom.questions.map.prepared import MappingTask, prepare
from netloom.questions.named import provenance_of
from netloom.questions.outputs import PLOT, SAVE_MAPPING, Output, check_in_folder, rank_file_output
from netloom.questions.register import asks
from netloom.routing import write_routes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from netloom.mapping import FoundMapping

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
