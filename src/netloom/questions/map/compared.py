"""What a mapping is compared with: other mappings counted, and before and after simulated."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.contention import load_to_compare, measure, saturation
from netloom.errors import InputError
from netloom.mapping.search.starts import random_starts
from netloom.questions.analyze.answer import MappedProgram, figures
from netloom.questions.base import ask
from netloom.questions.map.answer import FIGURES, SimulatedMappings
from netloom.questions.map.verdict import paired
from netloom.questions.register import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from netloom.mapping import FoundMapping
    from netloom.questions.analyze.answer import Analysis
    from netloom.questions.base import Question
    from netloom.questions.map.prepared import MappingTask
    from netloom.questions.map.question import MappingQuestion
    from netloom.questions.simulate.load.answer import Simulation
    from netloom.routing import SourceRoutes

PAIRS = 5
"""Runs of both mappings that are simulated, each pair with a seed of its own."""

SAME = ("app", "on", "messages", "parts", "failed_channels", "failed_nodes", "routing", "weight",
        "tasks_per_node", "seed")  # fmt: skip
"""What ``analyze`` and ``simulate`` are asked as well."""


def analysis_of(
    question: MappingQuestion, task: MappingTask, node_of: NDArray[np.int32],
    routes: SourceRoutes | None,
) -> Analysis | None:  # fmt: skip
    """Analyse a mapping; None where it leaves no traffic on the network."""
    if not task.value_of.crossing(node_of).any():
        return None
    kind = kind_of("analyze")
    asked = ask(kind.question, _same(question, node_of, routes) | {"random_mappings": 0})
    found: Analysis = kind.find(asked, task.mapped(node_of, routes))
    return found


def _same(
    question: MappingQuestion, node_of: NDArray[np.int32], routes: SourceRoutes | None
) -> dict[str, Any]:
    """Return the fields of a question about one mapping."""
    fields = {name: getattr(question, name) for name in SAME}
    return fields | {"mapping": node_of} | ({} if routes is None else {"routing": routes})


def compared_mappings(
    question: MappingQuestion, task: MappingTask, found: FoundMapping, placed: float,
    before: Analysis | None, after: Analysis | None,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the figures of all mappings compared: identity first, the result last.

    ``placed`` is the value of what was found without routes of its own; a layout's is in its row.
    """
    drawn = random_starts(task.graph.num_tasks, task.nodes, task.tasks_per_node, question.seed)
    rows = [_figures(task, node_of) for node_of in drawn]
    yield _named("identity", found.starts["identity"], _of_analysis(before))
    mean = {name: float(np.mean([row[name] for row in rows])) for name in FIGURES}
    yield _named("random", found.starts["random"], mean)
    others = sorted(found.mappings.items(), key=lambda each: each[0] != "random_best")
    for name, node_of in others:
        if name != "identity":
            yield _named(name, found.starts[name], _figures(task, node_of))
    if question.routes and question.layout is None:
        yield _named("mapping", placed, _figures(task, found.node_of))
    yield _named("result", found.value, _of_analysis(after))


def _named(name: str, value: float, row: dict[str, Any]) -> dict[str, Any]:
    return {"mapping": name, "objective": value} | row


def _of_analysis(analysis: Analysis | None) -> dict[str, Any]:
    """Return the figures of a mapping that was analysed, or leaves nothing to analyse."""
    return _picked(None if analysis is None else analysis.own)


def _figures(task: MappingTask, node_of: NDArray[np.int32]) -> dict[str, Any]:
    """Return the figures of one mapping, without routes of its own."""
    if not task.value_of.crossing(node_of).any():
        return _picked(None)
    source, target = node_of[task.graph.source], node_of[task.graph.target]
    found = measure(task.network, task.routing, source, target, task.weights)
    limit = saturation(found, source, task.weights, task.network.num_nodes)
    mapped = MappedProgram(source, target, task.weights, found, limit)
    return _picked(figures(0, task.graph, mapped))


def _picked(row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the figures compared; saturation is infinite where no channel is used."""
    if row is None:
        return {name: np.inf if name.startswith("saturation") else 0 for name in FIGURES}
    return {name: row[name] for name in FIGURES}


def simulated_mappings(
    question: MappingQuestion, task: MappingTask, found: FoundMapping,
    before: Analysis | None, after: Analysis | None, routes: SourceRoutes | None,
) -> SimulatedMappings:  # fmt: skip
    """Simulate identity and the result at the same load, in pairs of runs with the same seed.

    What cannot run says why.
    """
    if before is None or after is None:
        which = "before" if before is None else "after"
        return SimulatedMappings(None, None, None, f"nothing crosses the network {which}")
    if routes is None and np.array_equal(found.node_of, task.node_of):
        return SimulatedMappings(None, None, None, "ranks stay in order: nothing to compare")
    load = question.load or load_to_compare(before.mapped.limit, after.mapped.limit)
    mappings = {"before": (task.node_of, None), "after": (found.node_of, routes)}
    runs: dict[str, list[Simulation]] = {"before": [], "after": []}
    ready: dict[str, Any] = {}
    kind = kind_of("simulate.load")
    for number in range(PAIRS):
        for when, (node_of, own) in mappings.items():
            fields = _same(question, node_of, own) | {"seed": question.seed + number, "load": load}
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


def _with_objects(asked: Question, task: MappingTask) -> Question:
    """Return a question that names what is read and built already."""
    built: dict[str, Any] = {"app": task.graph, "messages": None, "parts": "network"}
    if task.machine is None:
        built |= {"on": task.network, "failed_channels": None, "failed_nodes": None}
    else:  # which says the router
        built |= {"on": task.machine}
    return asked.model_copy(update=built)


def _simulations(
    load: float, runs: dict[str, list[Simulation]], note: str | None
) -> SimulatedMappings:
    """Return what was simulated: the runs of the question's seed, and all pairs compared."""
    before, after = (next(iter(runs[when]), None) for when in ("before", "after"))
    compared = None if note else paired(runs["before"], runs["after"])
    return SimulatedMappings(load, before, after, note, compared)
