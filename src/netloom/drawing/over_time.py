"""A program over time: when its nodes send, which channels are busy, and the critical path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from netloom.base.figures import SHARE, leaves, say
from netloom.base.units import TIME
from netloom.base.words import counted
from netloom.drawing.axes import BESIDE, Axis
from netloom.drawing.bars import short_names
from netloom.drawing.colours import BEST, FULL, THIS
from netloom.drawing.frame import layered, room
from netloom.drawing.names import GAP, width_of
from netloom.simulation.figures import BusyPart, Spent

if TYPE_CHECKING:
    from netloom.base.arrays import Bools

MOST_ROWS = 64
"""Rows at most. Of more nodes each row has several."""

CELLS = 600
"""Parts of the time that are told apart."""

WAITS, SENDS = "waits for its channel", "sends"
KINDS = {WAITS: THIS, SENDS: BEST}

WIDTH, LEAST, MOST = 620.0, 150.0, 448.0
ROW, CHANNEL = 14.0, 16.0

BAR = 0.82
"""The part of its row that a bar covers."""

ENDS = ("begin", "end")


def nodes_over_time(
    messages: pl.DataFrame, links: pl.DataFrame, nodes: int, unit: str
) -> alt.LayerChart | None:
    """Return when nodes send and wait to send, and the critical path, or None.

    Parameters
    ----------
    messages, links
        The columns of ``Message`` and of ``Link``.
    nodes, unit
        How many nodes there are, and what times are: ``cycles`` or ``seconds``.
    """
    bars, path = _bars(messages), _path(links)
    last = _last(bars, path)
    if bars.is_empty() or not last:
        return None
    scale, shown = (1.0, "cycles") if unit == "cycles" else TIME.scale(last)
    each = -(-nodes // MOST_ROWS)
    table = _merged(bars, each, last).with_columns(pl.col("begin", "end") / scale)
    first = pl.col("row", "until") // each * each
    path = path.with_columns(first, pl.col("begin", "end") / scale)
    along = Axis("begin", f"time ({shown})", 0.0, 1.01 * last / scale)
    rows = -(-nodes // each)
    height = min(max(ROW * rows, LEAST), MOST)
    width = min(WIDTH, room() - BESIDE)
    down = Axis("row", "node", 0.0, float(nodes), whole=True)
    domain = [rows * each - each / 2, -each / 2]  # a bar is around the number of its first node
    y = alt.Y("row:Q", title=down.title, scale=alt.Scale(domain=domain, nice=False),
              axis=alt.Axis(values=down.ticks, grid=False, format=",.6~g"))  # fmt: skip
    known = [kind for kind in KINDS if kind in table["does"]]
    legend = alt.Legend(orient="bottom", symbolType="square") if len(known) > 1 else None
    colour = alt.Color(
        "does:N", title=None, legend=legend,
        scale=alt.Scale(domain=known, range=[KINDS[kind] for kind in known]),
    )  # fmt: skip
    drawn = alt.Chart(table).mark_bar(orient="horizontal", height=BAR * height / rows).encode(
        x=along.encoding(alt.X, grid=False), x2="end:Q", y=y, color=colour,
        tooltip=["row", "does", "begin", "end"],
    )  # fmt: skip
    layers = [drawn]
    several = f"; a row is {counted(each, 'node')}" if each > 1 else ""
    said = f"When nodes send{' and wait to send' * (len(known) > 1)}{several}"
    if len(path):
        said += "; thin line: the critical path"
        line = alt.Chart(path).mark_rule(style="ink", strokeWidth=2).encode(
            x=along.encoding(alt.X, grid=False), x2="end:Q", y=y, y2="until:Q", tooltip=["id:N"]
        )  # fmt: skip
        layers.append(line)
    return layered(layers, said, width, height)


def channels_over_time(
    table: pl.DataFrame, messages: pl.DataFrame, links: pl.DataFrame, unit: str
) -> alt.LayerChart | None:
    """Return the busiest channels over time, a row each, and where the critical path uses them.

    ``table`` has the columns of ``BusyPart``. None if the channels of messages are not known.
    """
    table = table.select(each.name for each in leaves(BusyPart))
    last = _last(_bars(messages), _path(links), table)
    if table.is_empty() or not last:
        return None
    first = table.row(int(table["utilisation"].arg_max() or 0), named=True)
    use = say(first["utilisation"], SHARE)
    title = f"Busy channels: {first['name']} is up to {use} in use"
    if table["critical"].any():
        title += "; thick line: the critical path"
    return _in_use(table, last, unit, title)


def use_over_time(use: pl.DataFrame, seconds: float) -> alt.LayerChart:
    """Return the use of the busiest channels, a row each, in parts of so many seconds.

    Parts that follow each other are one if their use looks alike. ``use`` has them in order:
    ``channel``, ``begin`` and ``end`` in seconds, and ``use``, from 0 to 1.
    """
    parts = use.with_columns(use=(100 * pl.col("use")).round() / 100)
    runs = parts.group_by(pl.struct("channel", "use").rle_id().alias("run"), maintain_order=True)
    table = runs.agg(
        name=pl.col("channel").first(), begin=pl.col("begin").first(), end=pl.col("end").last(),
        utilisation=pl.col("use").first(),
    ).drop("run").with_columns(critical=pl.lit(value=False))  # fmt: skip
    many = counted(table["name"].n_unique(), "busiest channel")
    return _in_use(table, seconds, "seconds", f"Use of the {many} over time")


def _in_use(table: pl.DataFrame, last: float, unit: str, title: str) -> alt.LayerChart:
    """Return how far channels are in use as rows of a heat map, from 0 to the last time."""
    scale, shown = (1.0, "cycles") if unit == "cycles" else TIME.scale(last)
    channels = table["name"].unique(maintain_order=True).to_list()
    names = short_names(channels, 0.0)
    called = pl.col("name").replace_strict(channels, names)
    said = pl.Series([say(each, SHARE) for each in table["utilisation"].to_list()], dtype=pl.String)
    table = table.with_columns(pl.col(*ENDS) / scale, name=called, percent=said)
    left = max(map(width_of, names), default=0.0) + 14
    along = Axis("begin", f"time ({shown})", 0.0, 1.01 * last / scale)
    y = alt.Y("name:N", title=None, sort=names, scale=alt.Scale(paddingInner=0.2, paddingOuter=0.1),
              axis=alt.Axis(labelLimit=1000, ticks=False, domain=False))  # fmt: skip
    full = alt.Scale(domain=FULL, range="heatmap", interpolate="rgb")
    legend = alt.Legend(
        orient="bottom", gradientLength=200, values=[0, 0.5, 1],
        labelExpr="datum.value == 0 ? 'idle' : datum.value == 1 ? 'full' : '50\u00a0%'",
    )  # fmt: skip
    cells = alt.Chart(table).mark_rect().encode(
        x=along.encoding(alt.X, grid=False), x2="end:Q", y=y, tooltip=["name", "begin", "percent"],
        color=alt.Color("utilisation:Q", title="channel in use", scale=full, legend=legend),
    )  # fmt: skip
    layers = [cells]
    if table["critical"].any():
        marked = alt.Chart(table.filter("critical")).mark_bar(style="ink", height=3)
        layers.append(marked.encode(x=along.encoding(alt.X, grid=False), x2="end:Q", y=y))
    width = min(WIDTH, room() - left - GAP)
    return layered(layers, title, width, CHANNEL * max(len(names), 1))


def _last(*tables: pl.DataFrame) -> float:
    """Return when the last of some bars ends."""
    return max((float(each["end"].max() or 0) for each in tables), default=0.0)  # type: ignore[arg-type]


def _bars(table: pl.DataFrame) -> pl.DataFrame:
    """Return when each message waits at its source, and when it is sent."""
    start, wait, until = (
        pl.col(name).cast(pl.Float64) for name in ("ready", "source_wait", "arrived")
    )
    there = table.filter(start.is_not_null() & until.is_not_null() & (until > start))
    free = start + wait.fill_null(0)
    return pl.concat([
        there.select("source_node", begin=start, end=free, does=pl.lit(WAITS)),
        there.select("source_node", begin=free, end=until, does=pl.lit(SENDS)),
    ]).filter(pl.col("end") > pl.col("begin"))  # fmt: skip


def _merged(bars: pl.DataFrame, each: int, last: float) -> pl.DataFrame:
    """Return the bars of rows, those that touch as one. Sending hides waiting."""
    found: list[dict[str, Any]] = []
    for (row,), mine in bars.group_by(pl.col("source_node") // each, maintain_order=True):
        covered = {kind: _cells(mine.filter(does=kind), last) for kind in KINDS}
        covered[WAITS] &= ~covered[SENDS]
        for kind, cells in covered.items():
            changes = np.diff(np.concatenate([[False], cells, [False]]).astype(np.int8))
            edges = np.flatnonzero(changes).tolist()
            for begin, end in zip(edges[::2], edges[1::2], strict=True):
                found.append({
                    "row": float(int(row) * each), "does": kind,
                    "begin": begin * last / CELLS, "end": end * last / CELLS,
                })  # fmt: skip
    return pl.DataFrame(found)


def _cells(bars: pl.DataFrame, last: float) -> Bools:
    """Return which parts of the time some bars cover."""
    begin = np.floor(bars["begin"].to_numpy() / last * CELLS).astype(int)
    end = np.ceil(bars["end"].to_numpy() / last * CELLS).astype(int)
    change = np.zeros(CELLS + 2, np.int64)
    np.add.at(change, np.clip(begin, 0, CELLS), 1)
    np.add.at(change, np.clip(end, 0, CELLS), -1)
    covered: Bools = np.cumsum(change)[:CELLS] > 0
    return covered


def _path(table: pl.DataFrame) -> pl.DataFrame:
    """Return the steps of the critical path: from where and when, to where and when."""
    spent = [pl.col(each.name).cast(pl.Float64) for each in leaves(Spent)]
    there, done = pl.col("source_node").cast(pl.Float64), pl.col("complete").cast(pl.Float64)
    return table.select(
        "id", begin=done - pl.sum_horizontal(spent), end=done, row=there,
        until=pl.col("target_node").cast(pl.Float64).fill_null(there),
    )  # fmt: skip
