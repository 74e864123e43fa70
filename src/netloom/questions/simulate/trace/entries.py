"""What answers of all engines say of a trace's entries, and of its busiest channels over time."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.drawing.timelines import mean_rates
from netloom.questions.columns import Column, Columns
from netloom.questions.simulate.timelines import moved_rows
from netloom.questions.timelines import busiest_links
from netloom.simulation.traces import Parts
from netloom.workload.programs.traces import EVERYONE
from netloom.workload.programs.training import PURPOSES

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.questions.timelines import Crossed
    from netloom.simulation.agenda import Records
    from netloom.simulation.traces import CriticalPath
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


PARTS = 80
"""Equal parts of the time, of each of which the mean use is known."""


def busy_columns(unit: str) -> Columns:
    """Return the columns of the table of busy channels, with times in ``unit``."""
    return Columns(
        Column("name", "channel", kind=str),
        Column(f"begin_{unit}", "from", unit),
        Column(f"end_{unit}", "until", unit),
        Column("utilisation", "share of the channel in use"),
        Column("critical", "used by the critical path", kind=bool),
    )


def busy_channels(
    crossed: Crossed | None, inside: int, rows: Records, ended: float, path: CriticalPath | None,
    unit: str,
) -> pl.DataFrame:  # fmt: skip
    """Return the mean use of the busiest channels in equal parts of the time, the busiest first.

    Only the first ``inside`` channels count, those between routers. Messages count as spread
    evenly over their time in the network. ``critical`` marks parts in which a message of the
    critical path is on the channel. There are no rows if the engine does not keep the channels of
    messages.
    """
    import polars as pl

    edges = np.linspace(0.0, float(ended), PARTS + 1)
    found: dict[str, list[Any]] = {column.name: [] for column in busy_columns(unit)}
    moved = np.flatnonzero(moved_rows(rows))
    if crossed is not None and ended > 0 and len(moved):
        begin = rows["entered"][moved].astype(np.float64)
        end = np.maximum(rows["arrived"][moved], begin + ended * 1e-9)
        between = crossed.links.values < inside
        crossed = crossed._replace(shares=np.where(between, crossed.shares, 0.0))
        on_path = np.isin(moved, path.rows if path else [])
        for link, who, taken in busiest_links(crossed, rows["flits"][moved]):
            used = mean_rates(begin[who], end[who], taken / (end - begin)[who], edges)
            mine = who[on_path[who]]
            marked = (begin[mine, None] < edges[1:]) & (end[mine, None] > edges[:-1])
            found["name"] += [crossed.name(link)] * PARTS
            found[f"begin_{unit}"] += edges[:-1].tolist()
            found[f"end_{unit}"] += edges[1:].tolist()
            found["utilisation"] += np.clip(used, 0.0, 1.0).tolist()
            found["critical"] += marked.any(axis=0).tolist()
    kinds = dict.fromkeys(found, pl.Float64) | {"name": pl.String, "critical": pl.Boolean}
    return pl.DataFrame(found, schema=kinds)
