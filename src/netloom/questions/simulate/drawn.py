"""What the pictures of all programs on a network have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netloom.base.words import number
from netloom.drawing.axes import DASHED, MINE, Look, axis, panel
from netloom.drawing.colours import REFERENCE
from netloom.questions.network_chart import at_last
from netloom.questions.shown import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import altair as alt

    from netloom.drawing.axes import Axis, Panel
    from netloom.questions.register import Recorded


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
    seen = {name: at for name, at in marks.items() if at <= where.x.high}
    layers = where.above({f"{name} {number(at)}": (at, at) for name, at in seen.items()})
    for name, at in seen.items():
        layers += where.rule(at, None if name == LIMIT else ESTIMATE)
    return layers


def shares(
    table: pl.DataFrame,
    load: Axis,
    looks: Mapping[str, Look],
    more: Callable[[Panel], list[alt.Chart]] = lambda _: [],
    upright: Callable[[Panel], Iterable[float]] = lambda _: (),
) -> alt.LayerChart:
    """Return which share of the traffic gets through, by load.

    Parameters
    ----------
    table
        The columns of ``load``, ``share`` and ``of``, the series.
    load, looks
        The horizontal axis, and how series look.
    more, upright
        What return that which lies behind them, and the loads of its upright lines.
    """
    up = axis("share", SHARE, table["share"].to_list(), share=True)
    where = panel(load, up, looks)
    names = where.ends_of(table, "of", looks, upright=upright(where))
    layers = [*more(where), *where.lines(table, "of", looks), *names]
    return where.drawn(layers, _shares_said(table, load.field))


def _shares_said(table: pl.DataFrame, load: str) -> str:
    """Return what gets through at the highest load: of the average node and of the worst."""
    if table.is_empty():
        return "Nothing is known of what gets through"
    last = table.filter(pl.col(load) == pl.col(load).max())
    at, by_node = number(last[load][0]), dict(zip(last["of"], last["share"], strict=True))
    if set(by_node) == {AVERAGE, WORST}:
        mean, worst = percent(by_node[AVERAGE]), percent(by_node[WORST])
        return f"At load {at}, {mean} gets through, {worst} of the worst node"
    said = list(dict.fromkeys(percent(each) for each in sorted(last["share"])))
    return f"At load {at}, {' to '.join([said[0], *said[1:][-1:]])} gets through"
