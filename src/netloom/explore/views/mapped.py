"""Programs that are placed on a network: an analysis, a mapping before and after, flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.explore.views.made import asked, flows_of, view_of
from netloom.questions.subject import IN_ORDER, order_named

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    yield view_of(
        record, ready.network, ready.routing,
        flows_of(ready.graph, ready.node_of, ready.weights(weight)),
        unit=UNITS[weight], name=order_named(record.configuration["mapping"]),
        known=known.astype(np.float64),
    )  # fmt: skip


def mapping_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield a program in rank order, and as it was mapped."""
    from netloom.questions.map.prepared import prepare

    task = prepare(asked(record))
    weight = record.configuration["weight"]
    weights, unit = task.weights(weight), UNITS[weight]
    node_of = np.asarray(record.figures["mapping"], np.int32)
    changed = not np.array_equal(node_of, task.node_of)
    yield view_of(
        record, task.network, task.routing, flows_of(task.graph, task.node_of, weights),
        unit=unit, name=IN_ORDER, answered=not changed,
    )  # fmt: skip
    if changed:
        yield view_of(
            record, task.network, task.routing, flows_of(task.graph, node_of, weights),
            unit=unit, name="mapped",
        )  # fmt: skip


def flow_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield what flows put on channels."""
    from netloom.questions.simulate.flows.question import prepare

    ready = prepare(asked(record))
    yield view_of(
        record, ready.network.topology, ready.network.routing,
        flows_of(ready.graph, ready.node_of, ready.graph.bytes),
        unit="bytes", name=order_named(record.configuration["mapping"]),
    )  # fmt: skip
