"""What the pictures of all programs on a network have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netloom.drawing.axes import axis
from netloom.drawing.colours import REFERENCE
from netloom.drawing.panel import DASHED, MINE, Look, panel
from netloom.questions.network_chart import at_last
from netloom.questions.shown import percent
from netloom.words import number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import altair as alt

    from netloom.drawing.axes import Axis
    from netloom.drawing.panel import Panel
    from netloom.questions.recorded import Recorded


AVERAGE, WORST = "average node", "worst node"
ON_CHANNEL = "flits/cycle on the channel"
APPLIED = "applied traffic (flits/node/cycle)"
SHARE = "share that gets through"

LIMIT = "limit"
ESTIMATE = Look(REFERENCE, DASHED)

BY_NODE = {AVERAGE: MINE._replace(width=3.2), WORST: MINE._replace(width=1.3)}
"""The average node is thick, the worst thin."""


def switched(record: Recorded) -> str:
    """Return what switches, in words."""
    return f"{record.figures['routing']}, {record.figures['router']['name']}"


def highest(record: Recorded, load: str) -> float:
    """Return the load at which channels are shown."""
    highest: float = at_last(record, load)[load][0]
    return highest


def thresholds(where: Panel, marks: Mapping[str, float]) -> list[alt.Chart]:
    """Return upright lines: where contention is estimated to begin, and the limit as a bound."""
    layers = where.above({name: (at, at) for name, at in marks.items() if at <= where.x.high})
    for name, at in marks.items():
        if at <= where.x.high:
            layers += where.rule(at, None if name == LIMIT else ESTIMATE)
    return layers


def shares(
    table: pl.DataFrame,
    load: Axis,
    looks: Mapping[str, Look],
    more: Callable[[Panel], list[alt.Chart]] = lambda _: [],
) -> alt.LayerChart:
    """Return which share of the traffic gets through, by load.

    Parameters
    ----------
    table
        The columns of ``load``, ``share`` and ``of``, the series.
    load, looks
        The horizontal axis, and how series look.
    more
        What returns that which lies behind them.
    """
    up = axis("share", SHARE, table["share"].to_list(), share=True)
    where = panel(load, up, looks)
    layers = [*more(where), *where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
    return where.drawn(layers, _shares_said(table, load.field))


def _shares_said(table: pl.DataFrame, load: str) -> str:
    """Return what gets through at the highest load."""
    if table.is_empty():
        return "Nothing is known of what gets through"
    last = table.filter(pl.col(load) == pl.col(load).max())
    least, most = min(last["share"].to_list()), max(last["share"].to_list())
    said = [percent(each) for each in (least, most)]
    span = said[1] if said[0] == said[1] else f"{said[0]} to {said[1]}"
    return f"At load {number(last[load][0])}, {span} gets through"
