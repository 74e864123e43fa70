"""Programs that are placed on a network: an analysis, a mapping before and after, flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.explore.views.made import asked, flows_of, view_of
from netloom.questions.analyze.where import unit
from netloom.questions.map.verdict import unit_of
from netloom.questions.named import entering
from netloom.questions.subject import IN_ORDER, order_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats
    from netloom.explore.view import View
    from netloom.questions.answers import Answer
    from netloom.questions.recorded import Recorded

UNITS = {"bytes": "bytes", "messages": "messages", "uniform": "paths"}
"""What loads are counted in, by what edges weigh."""


def analyzed_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield the program of an analysis, as it is mapped."""
    from netloom.questions.analyze.question import prepare

    ready = prepare(asked(record))
    weight = record.configuration["weight"]
    inside = ready.network.num_network_channels
    known = record.tables["channels"]["weighted_channel_load"].to_numpy()[:inside]
    sent = entering(ready.graph, ready.network, ready.node_of, weight)[0]
    yield view_of(
        record, ready.network, ready.routing,
        flows_of(sent, ready.node_of, sent.weights(weight)),
        unit=UNITS[unit(record.figures)], name=order_named(record.configuration["mapping"]),
        known=known.astype(np.float64),
    )  # fmt: skip


def mapping_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield a program in rank order, and as it was mapped: perhaps on routes of its own."""
    from netloom.questions.map.prepared import prepare

    found: Any = answer
    task = prepare(asked(record))
    weight = record.configuration["weight"]
    node_of = np.asarray(record.figures["mapping"], np.int32)
    own = bool(record.figures["own_routes"])
    changed = own or not np.array_equal(node_of, task.node_of)
    routes = found.routes if own and found is not None else None if own else task.routing
    both = (IN_ORDER, task.node_of, task.routing, "before"), ("mapped", node_of, routes, "after")
    for name, places, routing, when in both if changed else both[:1]:
        sent = entering(task.graph, task.network, places, weight)[0]
        yield view_of(
            record, task.network, routing, flows_of(sent, places, sent.weights(weight)),
            unit=UNITS[unit_of(record.figures)], name=name, known=_loads(record, when),
            answered=not changed or when == "after",
        )  # fmt: skip


def _loads(record: Recorded, when: str) -> Floats | None:
    """Return what channels between routers carry before or after. None if nothing crosses any."""
    table = record.tables["channels"].filter(mapping=when)
    if "kind" in table.columns:
        table = table.filter(kind="network")
    return None if table.is_empty() else table["weighted_channel_load"].to_numpy().astype(float)


def flow_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield what flows put on channels."""
    from netloom.questions.simulate.flows.question import prepare

    ready = prepare(asked(record))
    yield view_of(
        record, ready.network.topology, ready.network.routing,
        flows_of(ready.graph, ready.node_of, ready.graph.bytes),
        unit="bytes", name=order_named(record.configuration["mapping"]),
    )  # fmt: skip
