"""What answers of all engines say of a trace's entries in the same way."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.simulation.traces import Parts
from netloom.workload.programs.traces import EVERYONE
from netloom.workload.programs.training import PURPOSES

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology
    from netloom.workload.programs.traces import Trace

MOST_ENTRIES = 50
"""Entries of the critical path that go into JSON: the last ones."""

MOST_LISTED = 10
"""Slowest messages and busiest channels that go into JSON."""

SPREAD = {"mean": "mean", "p50": "median", "p99": "99 % up to", "max": "largest"}
"""What is said of the values of all messages, and its title."""


def spread_of(values: NDArray[Any]) -> dict[str, float | None]:
    """Return the mean, percentiles by nearest rank, and the largest of some values.

    The mean is of an exact sum: the order of values says nothing.

    Examples
    --------
    >>> spread_of(np.array([1, 2, 3]))["p99"]
    np.int64(3)
    """
    if not len(values):
        return dict.fromkeys(SPREAD)
    middle, high = np.percentile(values, [50, 99], method="inverted_cdf")
    mean = fsum(values.tolist()) / len(values)
    return {"mean": mean, "p50": middle, "p99": high, "max": values.max()}


def target_tasks(trace: Trace) -> Ints:
    """Return the task that each entry is sent to. -1 for several, all or none."""
    offsets, tasks = trace.targets
    found = np.full(len(trace), -1, np.int64)
    alone = np.diff(offsets) == 1
    found[alone] = tasks[offsets[:-1][alone]]
    found[found == EVERYONE] = -1
    return found


def known(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with nulls for -1, which stands for what is not known, or not the case."""
    import polars as pl
    import polars.selectors as cs

    numbers = cs.numeric()
    return table.with_columns(pl.when(numbers >= 0).then(numbers).name.keep())


def by_parallelism(trace: Trace, links: pl.DataFrame, unit: str) -> dict[str, float] | None:
    """Return what a critical path takes for each kind of parallelism, and for computing.

    Of a training step that netloom made. None of other traces, or if there is no path.
    """
    if not trace.name.startswith("llm:") or links.is_empty():
        return None
    found = dict.fromkeys(("computing", "pipeline", *PURPOSES.values()), 0.0)
    others = [f"{part}_{unit}" for part in Parts._fields if part != "compute"]
    columns = [links[name].fill_null(0).to_list() for name in ("id", f"compute_{unit}", *others)]
    for name, computing, *rest in zip(*columns, strict=True):
        purpose = name.partition(".")[0]
        found["computing"] += computing
        found[purpose if purpose in found else "pipeline"] += sum(rest)
    return found


WAITS = ("processor_wait", "source_wait", "contention")
"""What an entry of a critical path may wait for."""


def longest_wait(links: pl.DataFrame, unit: str, topology: Topology) -> dict[str, Any] | None:
    """Return the longest wait of the entries of a critical path. None if none waits.

    ``id`` is the entry's, ``part`` what it waits for, ``source`` and ``target`` its nodes' names.
    """
    waits = {part: links[f"{part}_{unit}"].fill_null(0) for part in WAITS}
    part = max(WAITS, key=lambda each: waits[each].max() or 0)
    place = waits[part].arg_max()
    if place is None or not waits[part][place]:
        return None
    row = links.row(place, named=True)
    target = row["target_node"]
    return {
        "id": row["id"], "part": part, unit: waits[part][place],
        "source": topology.name_of(row["source_node"]),
        "target": None if target is None else topology.name_of(target),
    }  # fmt: skip
