"""Feldmann et al. 1993: the patterns of Tables 1-3 as connections, and their phases."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from netloom.mapping import gray
from netloom.phases import Capacity, Plan, connections, least_phases, partition, verify
from netloom.phases.plan.negotiate import sequential
from netloom.routing import DimensionOrder, paths
from netloom.topology import torus
from netloom.workload import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from netloom.phases import Connections
    from netloom.studies.comparing import Part

    Objective: TypeAlias = Literal["phases", "time"]

IWARP = torus(8, 8)

TWELVE = Capacity(12)
"""The logical channels of a cell that connections had."""

PAPER_PHASES = 30
"""Of all-to-all, in the paper's plan."""

LEFT, RIGHT, UP, DOWN = (0, -1), (0, 1), (-1, 0), (1, 0)


@cache
def pattern(name: str, words: int) -> Connections:
    """Return ``torus``, ``butterfly`` or ``all-to-all``: connections in the order of their use.

    On a torus each node sends E, W, N, S. The butterfly is a hypercube whose tasks lie in Gray
    code, and are used dimension by dimension; ``torus`` and ``butterfly`` are listed so.
    """
    specs = {"torus": "torus:8x8", "butterfly": "hypercube:6", "all-to-all": "all-to-all:64"}
    app = read(specs[name])
    node_of = gray(64, IWARP) if name == "butterfly" else np.arange(64)
    given = connections(app, node_of, 64, words=words)
    if name == "all-to-all":
        return given
    return _listed(given, _directions(given) if name == "torus" else dimensions(given))


def dimensions(given: Connections) -> NDArray[np.int64]:
    """Return int64[n], the dimension of a hypercube that each connection joins tasks across.

    Examples
    --------
    >>> np.bincount(dimensions(pattern("butterfly", 1))).tolist()
    [64, 64, 64, 64, 64, 64]
    """
    found: NDArray[np.int64] = np.log2(given.source_task ^ given.target_task).astype(np.int64)
    return found


def _directions(given: Connections) -> NDArray[np.int64]:
    """Return int64[n], the place of each connection's direction in E, W, N, S."""
    rows, columns = (
        (end - start + 1) % 8 - 1
        for start, end in zip(
            np.unravel_index(given.source, IWARP.sides),
            np.unravel_index(given.target, IWARP.sides),
            strict=True,
        )
    )
    order = [RIGHT, LEFT, UP, DOWN]
    return np.array(
        [order.index(step) for step in zip(rows.tolist(), columns.tolist(), strict=True)]
    )


def _listed(given: Connections, key: NDArray[np.int64]) -> Connections:
    """Return connections listed by a key; they come in no order of their own."""
    order = np.argsort(key, kind="stable")
    columns = ("source", "target", "words", "source_task", "target_task")
    return replace(given, **{name: getattr(given, name)[order] for name in columns})


def in_rows_and_columns(words: int) -> Plan:
    """Return the butterfly in two phases of 8 channels: dimensions within a row, and a column.

    So the text has it (section 5.1.2, "two phases of 8 logical channels each").
    """
    given = pattern("butterfly", words)
    routes = paths(IWARP, DimensionOrder(), given.source, given.target)
    phase = np.where(given.source // 8 == given.target // 8, 0, 1).astype(np.int32)
    plan = Plan(IWARP, given, Capacity(8), phase, routes, "by rows and columns")
    verify(plan)
    return plan


@cache
def _routed(seed: int) -> Plan:
    plan = sequential(pattern("all-to-all", 1), IWARP, TWELVE, PAPER_PHASES, seed=seed)
    assert plan is not None, "the sequential router needs fewer phases than the paper's"
    verify(plan)
    return plan


def paper_plan(name: str, words: int, seed: int = 1) -> Plan:
    """Return a plan of the paper's own kind, and of its number of phases.

    All-to-all is routed sequentially in 30 phases; the seed is that router's.
    """
    if name == "butterfly":
        return in_rows_and_columns(words)
    if name == "torus":
        return partition(pattern(name, words), IWARP, TWELVE, method="sequential")
    return replace(_routed(seed), connections=pattern(name, words))


@cache
def own_plan(objective: Objective, words: int) -> Plan:
    """Return netloom's own plan of all-to-all: of fewest phases, or of least time."""
    plan = partition(pattern("all-to-all", words), IWARP, TWELVE, objective=objective)
    verify(plan)
    return plan


def _phases(known: Mapping[str, Any]) -> dict[str, Any]:
    """Phases of netloom's plans; of sequential routing the most of several seeds."""
    everyone, butterfly = pattern("all-to-all", 1), pattern("butterfly", 1)
    routed = [
        partition(everyone, IWARP, TWELVE, method="sequential", seed=seed)
        for seed in known["seeds"]
    ]
    fewest = {
        channels: partition(butterfly, IWARP, Capacity(channels)).num_phases
        for channels in (12, 16)
    }
    return {
        "torus, 12 channels": partition(pattern("torus", 1), IWARP, TWELVE).num_phases,
        "butterfly, Gray code, 12 channels": fewest[12],
        "butterfly, Gray code, 16 channels": fewest[16],
        "butterfly, by rows and columns, 8 channels": in_rows_and_columns(1).num_phases,
        "all-to-all, 12 channels, at most": own_plan("phases", 1).num_phases,
        "all-to-all, 12 channels, sequential APR, at most": max(plan.num_phases for plan in routed),
        "all-to-all, 12 channels, lower bound": least_phases(everyone, IWARP, TWELVE).phases,
    }


PARTS: dict[str, Part] = {"phases": _phases}
"""What recomputes each item of the data file, from what the file says of it."""
