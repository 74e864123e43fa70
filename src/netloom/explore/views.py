"""Answers as views: what each puts on the channels of its network, made again from its question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.explore.view import Flows, View
from netloom.explore.ways import loads_of, ways_of
from netloom.questions.commands import command_line
from netloom.questions.subject import order_named, short_name
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from netloom.questions.recorded import Recorded
    from netloom.routing import Routing
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph


def view_of(
    record: Recorded, topology: Topology, routing: Routing, flows: Flows, unit: str, name: str
) -> View:
    """Return what flows put on the channels under a routing, with the verdict of an answer."""
    ways, missing = ways_of(topology, routing, flows)
    load = (
        np.zeros(topology.num_network_channels) if ways is None else loads_of(topology, flows, ways)
    )
    command = command_line(record.kind, record.configuration)
    return View(name, record.kind.verdict(record.figures), command, topology, unit, load, flows,
                ways, missing)  # fmt: skip


def flows_of(
    graph: ProcessGraph, node_of: NDArray[np.int32], weights: NDArray[np.float64]
) -> Flows:
    """Return the flows of a program whose tasks are placed."""
    return Flows(
        node_of.astype(np.int32), graph.source.astype(np.int32), graph.target.astype(np.int32),
        np.asarray(weights, np.float64),
    )  # fmt: skip


def _analyzed(record: Recorded) -> Iterable[View]:
    """An analysis: its program, as it is mapped."""
    from netloom.questions.analyze.question import prepare

    ready = prepare(_asked(record))
    weight = record.configuration["weight"]
    unit = {"bytes": "bytes", "messages": "messages", "uniform": "paths"}[weight]
    flows = flows_of(ready.graph, ready.node_of, ready.weights(weight))
    name = order_named(record.configuration["mapping"])
    yield view_of(record, ready.network, ready.routing, flows, unit, name)


def _asked(record: Recorded) -> Any:
    """Return the question of a record."""
    from netloom.questions.base import ask

    return ask(record.kind.question, dict(record.configuration))


VIEWS: Mapping[str, Callable[[Recorded], Iterable[View]]] = {
    "analyze": _analyzed,
}
"""By verb, what makes views of an answer."""


def views_of(record: Recorded) -> list[View]:
    """Return the views of an answer.

    Raises
    ------
    InputError
        If answers to such questions have none, or what was asked cannot be read again.
    """
    make = VIEWS.get(record.verb)
    if make is None:
        wanted = f"an answer of {', '.join(sorted(VIEWS))}"
        raise InputError(record.verb, "no channels of a network that could be explored", wanted)
    return list(make(record))
