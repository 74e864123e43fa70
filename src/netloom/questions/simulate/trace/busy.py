"""How busy the busiest channels of a trace are over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.drawing.timelines import mean_rates
from netloom.questions.answers import Column, Columns
from netloom.questions.simulate.timelines import moved_rows
from netloom.questions.timelines import busiest_links

if TYPE_CHECKING:
    import polars as pl

    from netloom.questions.timelines import Crossed
    from netloom.simulation.agenda import Records
    from netloom.simulation.traces import CriticalPath

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
