"""What all views are made of: the question asked again, flows, ways, and loads that must agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.explore.view import Flows, View
from netloom.explore.ways import loads_of, ways_of
from netloom.questions.commands import command_line
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.questions.recorded import Recorded
    from netloom.routing import Routing
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph


GONE = "The record does not keep the routes that were chosen with the mapping."
"""Why there are no ways where a mapping has routes of its own."""


def asked(record: Recorded) -> Any:
    """Return the question of a record.

    Raises
    ------
    InputError
        If it named an object that no words stand for.
    """
    from netloom.questions.base import ask

    if not command_line(record.kind, record.configuration):
        found = "an answer whose question named a Python object"
        raise InputError(record.verb, found, "one whose question is in words")
    return ask(record.kind.question, dict(record.configuration))


def flows_of(graph: ProcessGraph, node_of: Ints, weights: NDArray[Any]) -> Flows:
    """Return the flows of a program whose tasks are placed."""
    return Flows(
        node_of.astype(np.int32), graph.source.astype(np.int32), graph.target.astype(np.int32),
        np.asarray(weights, np.float64),
    )  # fmt: skip


def view_of(
    record: Recorded,
    topology: Topology,
    routing: Routing | None,
    flows: Flows,
    *,
    unit: str,
    name: str,
    known: Floats | None = None,
    answered: bool = True,
) -> View:
    """Return what flows put on the channels under a routing.

    Parameters
    ----------
    routing
        None if it is not known any more: then only the loads of the answer are shown.
    known
        float64[num_network_channels], what the answer says of it. None if it does not.
    answered
        Whether the verdict of the answer is about this view.

    Raises
    ------
    InputError
        If the answer says otherwise: a file has changed since.
    """
    ways, missing = (None, GONE) if routing is None else ways_of(topology, routing, flows)
    load = known
    if ways is not None:
        load = loads_of(topology, flows, ways)
        if known is not None and not np.allclose(load, known, rtol=1e-6, atol=1e-6):
            found = "other loads than when it was answered: a file has changed since"
            raise InputError(record.verb, found, "a new answer")
    if load is None:
        raise InputError(record.verb, missing.removesuffix("."), "a smaller program")
    return View(
        name, verdict_of(record, answered=answered),
        command_line(record.kind, record.configuration), topology, unit, load, flows, ways, missing,
    )  # fmt: skip


def verdict_of(record: Recorded, *, answered: bool = True) -> Verdict:
    """Return the verdict of an answer. Without a sentence of what it is compared with."""
    found = record.kind.verdict(record.figures)
    return found if answered else Verdict("", "", found.of)
