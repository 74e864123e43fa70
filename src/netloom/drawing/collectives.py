"""Algorithms of a collective: bus bandwidth by size, one line each, beside the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from netloom.base import units
from netloom.base.words import number
from netloom.drawing.axes import DASHED, Axis, End, Look, looks_of, panel
from netloom.drawing.bars import Bar, bars as bars_of
from netloom.drawing.frame import BEST, COLOURS, REFERENCE

WIDTH, HEIGHT = 620, 380

BOUND, EXPECTED = "bound", "expected"


def bandwidth_curves(
    table: pl.DataFrame, collective: str, leads: Sequence[tuple[float, float]]
) -> alt.LayerChart:
    """Return bus bandwidth by size on logarithmic axes, the best algorithms in colors.

    Parameters
    ----------
    table
        Columns algorithm, order, size, seconds, ratio, bus_bandwidth and bound_bus_bandwidth.
    leads
        The sizes at which the lead changes, and the bus bandwidth there.
    """
    table = _named(table).sort("size")
    shown = coloured_curves(table)
    factor, unit = units.SIZE.scale(float(table["bus_bandwidth"].max()))  # type: ignore[arg-type]
    table = table.with_columns(speed=pl.col("bus_bandwidth") / factor)
    bound = (
        table.filter(pl.col("order") == "given")
        .group_by("size")
        .agg(speed=pl.col("bound_bus_bandwidth").first() / factor)
        .drop_nulls()
        .sort("size")
        .with_columns(curve=pl.lit(BOUND))
    )
    looks = looks_of(shown)
    coloured = table.filter(pl.col("curve").is_in(shown))
    grey = table.filter(~pl.col("curve").is_in(shown))
    least, most = (float(each) for each in table["size"].sort()[[0, -1]])
    sizes = Axis("size", f"size of the {collective}", least, most, log=True)
    ticks = tuple(sizes.ticks)
    sizes = replace(sizes, marks=ticks, names=tuple(map(units.size, ticks)))
    low: Any = coloured["speed"].min()
    tops: list[Any] = [each["speed"].max() for each in (coloured, bound) if len(each)]
    title = f"bus bandwidth ({unit}/s)"  # with room round the curves that have colors
    speeds = Axis("speed", title, 0.7 * low, 1.5 * max(tops), log=True)
    where = panel(sizes, speeds, [*shown, BOUND], WIDTH, HEIGHT)
    faint = Look(REFERENCE, width=1.0, named=False)
    others = dict.fromkeys(grey["curve"].unique(maintain_order=True), faint)
    columns = ["curve", "size", "speed", "seconds", "ratio"]
    ends: list[End] = []
    line: list[alt.Chart] = []
    if len(bound):
        ends = [End.of_bound(BOUND, *bound.select("size", "speed").row(-1))]
        line = [where.chart(bound, detail="curve:N").mark_line(style="bound", clip=True)]
    layers = [
        *where.lines(grey.select(columns), "curve", others, points=0),
        *line,
        *where.lines(coloured.select(columns), "curve", looks, points=30),
    ]
    if leads:  # circles, with their sizes above the axes
        circles = pl.DataFrame(
            [(size, speed / factor) for size, speed in leads],
            {"size": pl.Float64, "speed": pl.Float64},
            orient="row",
        )
        mark = where.chart(circles).mark_point(style="ink", filled=False, size=110, strokeWidth=2)
        names = {f"from {units.size(size, 2)}": (size, size) for size, _ in leads}
        layers += [mark, *where.above(names)]
    layers += where.ends_of(coloured, "curve", looks, ends)
    best = coloured.sort("speed").row(-1, named=True)
    said = f"Highest bus bandwidth: {number(best['speed'])} {unit}/s by {best['curve']} "
    return where.drawn(layers, f"{said}at {units.size(best['size'])}")


def measured_curves(table: pl.DataFrame, collective: str) -> alt.LayerChart:
    """Return measured bus bandwidth by size beside the expected one and its band.

    Parameters
    ----------
    table
        Columns curve, role (measured, expected or why), size, bus_bandwidth, and for expected ones
        low and high, the band.
    """
    factor, unit = units.SIZE.scale(float(table["high"].max()))  # type: ignore[arg-type]
    scaled = pl.col("bus_bandwidth", "low", "high") / factor
    table = table.with_columns(scaled).rename({"bus_bandwidth": "speed"}).sort("size")
    names = {
        role: some["curve"].unique(maintain_order=True).to_list()
        for (role,), some in table.partition_by("role", as_dict=True).items()
    }
    sizes = table["size"]
    low, high = sizes[0] / 1.2, sizes[-1] * 1.2  # with room for points at the ends
    along = Axis("size", f"size of the {collective}", low, high, log=True)
    ticks = tuple(along.ticks)
    along = replace(along, marks=ticks, names=tuple(map(units.size, ticks)))
    speeds = [float(each) for one in ("speed", "low", "high") for each in table[one].drop_nulls()]
    title = f"bus bandwidth ({unit}/s)"
    up = Axis("speed", title, 0.8 * min(speeds), 1.3 * max(speeds), log=True)
    shown = [*names["measured"], *names.get("why", ())]
    looks = looks_of(shown)
    dots = {name: Look(looks[name].colour, (), 0.0) for name in names["measured"]}
    grey = {name: Look(REFERENCE, DASHED, named=name == EXPECTED) for name in names["expected"]}
    where = panel(along, up, [*shown, EXPECTED], WIDTH, HEIGHT)
    layers = [*where.areas(table, "curve", grey), *where.lines(table, "curve", grey, points=0)]
    why = {name: looks[name] for name in names.get("why", ())}
    layers += where.lines(table, "curve", why, points=0)
    layers += where.lines(table, "curve", dots, points=100)
    layers += where.ends_of(table, "curve", grey | dots | why)
    ends = [table.filter(pl.col("curve") == each)["speed"][-1] for each in (shown[0], EXPECTED)]
    said = f"{number(ends[0])} {unit}/s measured, {number(ends[1])} expected "
    return where.drawn(layers, f"{said}at {units.size(sizes[-1])}")


def bandwidth_bars(table: pl.DataFrame, fastest: str) -> alt.LayerChart:
    """Return the bus bandwidth of all algorithms at one size, or their times for a barrier.

    The table is as for ``bandwidth_curves``, with ``bound_seconds``. ``fastest`` has a color.
    """
    table = _named(table).sort("seconds")
    rates = table["bus_bandwidth"].null_count() == 0
    column = "bus_bandwidth" if rates else "seconds"
    least = f"bound_{column}"
    most = float(table[column].max() or 1)  # type: ignore[arg-type]
    scale, unit = (units.SIZE if rates else units.TIME).scale(most)
    best = table.filter(pl.col("algorithm") == fastest).row(0, named=True)
    rows = []
    for row in table.iter_rows(named=True):
        colour = BEST if row["curve"] == best["curve"] else REFERENCE
        said = units.seconds(row["seconds"])
        rows.append(Bar(row["curve"], row[column] / scale, said, colour))
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


def grey_curves(table: pl.DataFrame) -> list[str]:
    """Return the names of the curves that have no color in ``bandwidth_curves``."""
    table = _named(table)
    return sorted(set(table["curve"].to_list()) - set(coloured_curves(table)))


def coloured_curves(table: pl.DataFrame) -> list[str]:
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
    return [str(each) for each in near["curve"].to_list()[: len(COLOURS)]]
