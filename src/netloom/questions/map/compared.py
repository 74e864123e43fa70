"""What a mapping is compared with: other mappings counted, and before and after simulated."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.contention import load_to_compare
from netloom.mapping.search.starts import random_starts
from netloom.questions.analyze.mapped import figures
from netloom.questions.base import ask
from netloom.questions.map.answer import FIGURES, SimulatedMappings
from netloom.questions.map.gains import paired
from netloom.questions.register import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netloom.base.arrays import Ints
    from netloom.contention import Saturation
    from netloom.mapping import FoundMapping
    from netloom.questions.analyze.answer import Analysis
    from netloom.questions.base import Question
    from netloom.questions.map.prepared import MappingTask
    from netloom.questions.simulate.load.answer import Simulation
    from netloom.routing import SourceRoutes

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
    yield _row("identity", found.starts["identity"], before.own if before else IDLE)
    yield _row("random", found.starts["random"], mean)
    others = sorted(found.mappings.items(), key=lambda each: each[0] != "random_best")
    for name, node_of in others:
        if name != "identity":
            yield _row(name, found.starts[name], _measured(task, node_of))
    if asked.routes and asked.layout is None:
        yield _row("mapping", placed, _measured(task, found.node_of))
    yield _row("result", found.value, after.own if after else IDLE)


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
    return figures(0, task.graph, task.mapped(node_of, None).measured(task.question.weight))


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
