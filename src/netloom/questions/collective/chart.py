"""The picture of a collective: bus bandwidth by size, one line per algorithm, beside the bound."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from netloom.base import units
from netloom.base.words import counted, number
from netloom.drawing.axes import Axis, End, Look, looks_of, panel
from netloom.drawing.bars import Bar
from netloom.drawing.bars import bars as bars_of
from netloom.drawing.colours import BEST, COLOURS, REFERENCE
from netloom.questions.collective.prepared import PHASES
from netloom.questions.shown import order_named
from netloom.questions.simulate.engines import engines
from netloom.workload.programs.collectives.costs import bus_factor

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.axes import Panel
    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded

WIDTH, HEIGHT = 620, 380

BOUND = "bound"
SIZES = "sizes and bus bandwidth as nccl-tests define them"
ENGINES = {"flow": "flows", "network": "flit by flit"}
ENGINES |= {name: each.messages for name, each in engines().items()}

MOST_COLOURED = len(COLOURS)


def footer(record: Recorded) -> list[str]:
    """Return what was compared, on what."""
    found = record.figures
    reordered = found["reordered"]
    order = order_named(found["mapping"])
    if reordered and reordered["better"]:
        order += ", and the best order found"
    clock = found["clock"]
    rate, late = clock["channel_bytes_per_second"]["max"], clock["channel_latency_seconds"]["max"]
    each = f"channels of {units.rate(rate)} and {units.seconds(late)}"
    assumed = " (assumed)" if found["note"] else ""
    said = [
        f"{counted(found['ranks'], 'rank', ',')} on {found['topology']}, {found['routing']}, "
        f"{order}; {each}{assumed}; {ENGINES.get(found['engine'], found['engine'])}, {SIZES}"
    ]
    table = _named(record.tables["table"])
    others = sorted(set(table["curve"].to_list()) - set(_best(table)))
    if others and table["size"].n_unique() > 1:
        said.append(f"grey: {', '.join(others)}; circles: the lead changes")
    return said


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    table = record.tables["table"]
    if table["size"].n_unique() == 1:
        return {"algorithms": bars(record)}
    return {"bus bandwidth": curves(record)}


def curves(record: Recorded) -> alt.LayerChart:
    """Return bus bandwidth by size on logarithmic axes, the best algorithms in colors."""
    table = _named(record.tables["table"]).sort("size")
    shown = _best(table)
    factor, unit = units.SIZE.scale(float(table["bus_bandwidth"].max()))  # type: ignore[arg-type]
    table = table.with_columns(speed=pl.col("bus_bandwidth") / factor)
    bound = (
        table.filter(pl.col("order") == "given").group_by("size").agg(
            speed=pl.col("bound_bus_bandwidth").first() / factor
        ).drop_nulls().sort("size").with_columns(curve=pl.lit(BOUND))
    )  # fmt: skip
    looks = looks_of(shown)
    coloured = table.filter(pl.col("curve").is_in(shown))
    grey = table.filter(~pl.col("curve").is_in(shown))
    where = panel(_sizes(record, table), _speeds(coloured, bound, unit), [*shown, BOUND], WIDTH,
                  HEIGHT)  # fmt: skip
    others = {name: Look(REFERENCE, width=1.0, named=False)
              for name in grey["curve"].unique(maintain_order=True)}  # fmt: skip
    columns = ["curve", "size", "speed", "seconds", "ratio"]
    ends = [End.of_bound(BOUND, *bound.select("size", "speed").row(-1))] if len(bound) else []
    layers = [
        *where.lines(grey.select(columns), "curve", others, points=0),
        *_bound_line(bound, where),
        *where.lines(coloured.select(columns), "curve", looks, points=30),
        *_marks(record, where, factor),
        *where.ends_of(coloured, "curve", looks, ends),
    ]
    best = coloured.sort("speed").row(-1, named=True)
    said = f"Highest bus bandwidth: {number(best['speed'])} {unit}/s by {best['curve']} "
    return where.drawn(layers, f"{said}at {units.size(best['size'])}")


def _sizes(record: Recorded, table: pl.DataFrame) -> Axis:
    """Return the axis of sizes, from the smallest to the largest."""
    low, high = float(table["size"].min()), float(table["size"].max())  # type: ignore[arg-type]
    plain = Axis("size", f"size of the {record.figures['collective']}", low, high, log=True)
    return replace(plain, marks=tuple(plain.ticks), names=tuple(map(units.size, plain.ticks)))


def _speeds(coloured: pl.DataFrame, bound: pl.DataFrame, unit: str) -> Axis:
    """Return the axis of bus bandwidths, with room round the curves that have colors."""
    low = 0.7 * float(coloured["speed"].min())  # type: ignore[arg-type]
    tops = [float(each["speed"].max()) for each in (coloured, bound) if len(each)]  # type: ignore[arg-type]
    return Axis("speed", f"bus bandwidth ({unit}/s)", low, 1.5 * max(tops), log=True)


def _bound_line(bound: pl.DataFrame, where: Panel) -> list[alt.Chart]:
    if bound.is_empty():
        return []
    return [where.chart(bound, detail="curve:N").mark_line(style="bound", clip=True)]


def bars(record: Recorded) -> alt.LayerChart:
    """Return the bus bandwidth of all algorithms at one size, or their times for a barrier."""
    table = _named(record.tables["table"]).sort("seconds")
    rates = table["bus_bandwidth"].null_count() == 0
    column, least = ("bus_bandwidth", "bound_bus_bandwidth") if rates else (
        "seconds", "bound_seconds")  # fmt: skip
    most = float(table[column].max() or 1)  # type: ignore[arg-type]
    scale, unit = (units.SIZE if rates else units.TIME).scale(most)
    best = table.filter(pl.col("algorithm") != PHASES).row(0, named=True)
    rows = [
        Bar(row["curve"], row[column] / scale, units.seconds(row["seconds"]),
            BEST if row["curve"] == best["curve"] else REFERENCE)
        for row in table.iter_rows(named=True)
    ]  # fmt: skip
    bound = table[least].drop_nulls()
    limit = (BOUND, float(bound[0]) / scale) if len(bound) else None
    title = f"bus bandwidth ({unit}/s)" if rates else f"time ({unit})"
    said = f"{best['curve']} is fastest: {units.seconds(best['seconds'])}"
    return bars_of(rows, said, title, width=WIDTH - 160, bound=limit)


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with the names of its curves."""
    found = pl.col("algorithm") + pl.when(pl.col("order") == "given").then(pl.lit("")).otherwise(
        pl.lit(", reordered")
    )
    return table.with_columns(curve=found)


def _best(table: pl.DataFrame) -> list[str]:
    """Return the curves that have colors: those that come nearest to the best of some size."""
    best = table.group_by("size").agg(best=pl.col("seconds").min())
    near = (
        table.join(best, on="size")
        .group_by("curve", maintain_order=True)
        .agg(
            near=(pl.col("seconds") / pl.col("best")).min(),
            mean=(pl.col("seconds") / pl.col("best")).log().mean(),
        )
        .sort("near", "mean")
    )
    return [str(each) for each in near["curve"].to_list()[:MOST_COLOURED]]


def _marks(record: Recorded, where: Panel, factor: float) -> list[alt.Chart]:
    """Return circles where the lead changes, with their sizes above the axes."""
    found = record.figures
    leads = [each for each in found["crossings"] if each["leads"]]
    bus = bus_factor(found["collective"], found["ranks"])
    rows = {
        "size": [each["size"] for each in leads],
        "speed": [each["size"] / each["seconds"] * bus / factor for each in leads],
    }
    table = pl.DataFrame(rows, schema={"size": pl.Float64, "speed": pl.Float64})
    if table.is_empty():
        return []
    mark = where.chart(table).mark_point(style="ink", filled=False, size=110, strokeWidth=2)
    said = {f"from {units.size(size, 2)}": (size, size) for size in rows["size"]}
    return [mark, *where.above(said)]
