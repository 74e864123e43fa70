"""The picture of a collective: bus bandwidth by size, one line an algorithm, beside the bound."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from netloom import units
from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import layered
from netloom.questions.collective.phased import PHASES
from netloom.workload.programs.collectives.costs import bus_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded

WIDTH, HEIGHT = 620, 380

LINE = 15.0
"""Pixels between the labels of two lines, at least."""

BOUND = "bound"
SIZES = "sizes and bus bandwidth as nccl-tests define them"
ENGINES = {"flow": "flows", "network": "flit by flit", "worm": "lockstep worms"}
UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return who wins where, and on what."""
    found = record.figures
    reordered = found["reordered"]
    order = f"mapping {found['mapping']}"
    if reordered and reordered["better"]:
        order += ", and the best order found"
    said = [f"{found['ranks']:,} ranks on {found['topology']}, {found['routing']}, {order}"]
    clock = found["clock"]
    rate, late = clock["channel_bytes_per_second"]["max"], clock["channel_latency_seconds"]["max"]
    each = f"channels of {units.rate(rate)} and {units.seconds(late)}"
    assumed = " (assumed)" if found["note"] else ""
    said.append(f"{each}{assumed}; {ENGINES[found['engine']]}, {SIZES}")
    table = _named(record.tables["table"])
    others = sorted(set(table["curve"].to_list()) - set(_best(table)))
    if others and table["size"].n_unique() > 1:
        said.append(f"grey: {', '.join(others)}; circles: the lead changes")
    return found["verdict"]["sentence"], said


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    table = record.tables["table"]
    if table["size"].n_unique() == 1:
        return {"algorithms": bars(record)}
    return {"bus bandwidth": curves(record)}


def curves(record: Recorded) -> alt.LayerChart:
    """Return bus bandwidth by size on logarithmic axes, the best algorithms in colours."""
    table = _named(record.tables["table"])
    shown = _best(table)
    factor, unit = _unit(float(table["bus_bandwidth"].max()))  # type: ignore[arg-type]
    table = table.with_columns(speed=pl.col("bus_bandwidth") / factor)
    bound = (
        table.filter(pl.col("order") == "given").group_by("size").agg(
            speed=pl.col("bound_bus_bandwidth").first() / factor
        ).drop_nulls().sort("size")
    )  # fmt: skip
    coloured = table.filter(pl.col("curve").is_in(shown))
    low = 0.7 * float(coloured["speed"].min())  # type: ignore[arg-type]
    tops = [float(each["speed"].max()) for each in (coloured, bound) if len(each)]  # type: ignore[arg-type]
    high = 1.5 * max(tops)
    sizes = [float(table["size"].min()), float(table["size"].max())]  # type: ignore[arg-type]
    x = alt.X(
        "size:Q", title=f"size of the {record.figures['collective']}",
        scale=alt.Scale(type="log", domain=sizes, nice=False),
        axis=alt.Axis(values=_decades(*sizes), labelExpr=_labels(sizes), grid=False),
    )  # fmt: skip
    y = alt.Y(
        "speed:Q", title=f"bus bandwidth ({unit}/s)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=_decades(low, high), format="~g"),
    )  # fmt: skip
    colour = alt.Color(
        "curve:N", scale=alt.Scale(domain=shown, range=COLOURS[: len(shown)]), legend=None
    )
    base = alt.Chart(coloured).encode(x=x, y=y, color=colour, tooltip=TOOLTIP)
    grey = table.filter(~pl.col("curve").is_in(shown))
    layers = [
        alt.Chart(grey).mark_line(strokeWidth=1, opacity=0.55, color=GREY, clip=True).encode(
            x=x, y=y, detail="curve:N", tooltip=TOOLTIP
        ),
        alt.Chart(bound).mark_line(
            style="network-rim", strokeDash=[7, 4], strokeWidth=1.6
        ).encode(x=x, y=y),
        base.mark_line(strokeWidth=2.2),
        base.mark_point(filled=True, size=30, opacity=1),
        *_marks(record, x, y, factor),
        *_labelled(coloured, bound, (low, high), x, y, colour),
    ]  # fmt: skip
    return layered(layers, "", WIDTH, HEIGHT)


TOOLTIP = ["curve:N", "size:Q", "seconds:Q", "bus_bandwidth:Q", "ratio:Q", "busiest:N"]


def bars(record: Recorded) -> alt.LayerChart:
    """Return the bus bandwidth of all algorithms at one size; of a barrier their times."""
    table = _named(record.tables["table"]).sort("seconds")
    speed = table["bus_bandwidth"].null_count() == 0
    if speed:
        factor, unit = _unit(float(table["bound_bus_bandwidth"].max() or 1))  # type: ignore[arg-type]
        value, least = pl.col("bus_bandwidth") / factor, pl.col("bound_bus_bandwidth") / factor
        title = f"bus bandwidth ({unit}/s)"
    else:
        value, least = pl.col("seconds") * 1e6, pl.col("bound_seconds") * 1e6
        title = "time (µs)"
    table = table.with_columns(
        value=value, least=least,
        said=pl.col("seconds").map_elements(units.seconds, return_dtype=pl.String),
    )  # fmt: skip
    y = alt.Y("curve:N", title=None, sort=None)
    most = float(max(table["value"].max(), table["least"].max() or 0))  # type: ignore[type-var, arg-type]
    x = alt.X(
        "value:Q", title=title, scale=alt.Scale(domain=[0, 1.12 * most]),
        axis=alt.Axis(tickCount=5),
    )  # fmt: skip
    best = table.filter(pl.col("algorithm") != PHASES).row(0, named=True)["curve"]
    shade = alt.condition(alt.datum.curve == best, alt.value(COLOURS[1]), alt.value(GREY))
    drawn = alt.Chart(table).mark_bar(height=18).encode(x=x, y=y, color=shade, tooltip=TOOLTIP)
    text = alt.Chart(table).mark_text(align="left", dx=5).encode(x=x, y=y, text="said:N")
    limit = table.select("least").drop_nulls().head(1)
    rule = alt.Chart(limit).mark_rule(strokeDash=[7, 4], strokeWidth=1.6).encode(x="least:Q")
    name = (
        alt.Chart(limit.with_columns(said=pl.lit(BOUND)))
        .mark_text(align="center", baseline="bottom", dy=-3)
        .encode(x="least:Q", y=alt.value(0), text="said:N")
    )
    height = 30 * len(table)
    return layered([drawn, text, rule, name], "", WIDTH, height)


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with the names of its curves."""
    found = pl.col("algorithm") + pl.when(pl.col("order") == "given").then(pl.lit("")).otherwise(
        pl.lit(", reordered")
    )
    return table.with_columns(curve=found)


def _best(table: pl.DataFrame) -> list[str]:
    """Return the curves that have colours: those that come nearest to the best of some size."""
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


def _marks(record: Recorded, x: alt.X, y: alt.Y, factor: float) -> list[alt.Chart]:
    """Return marks where the lead changes, with their sizes."""
    found = record.figures
    leads = [each for each in found["crossings"] if each["leads"]]
    bus = bus_factor(found["collective"], found["ranks"])
    rows = {
        "size": [each["size"] for each in leads],
        "speed": [each["size"] / each["seconds"] * bus / factor for each in leads],
        "said": [units.size(each["size"], 2) for each in leads],
    }
    kinds = {"size": pl.Float64, "speed": pl.Float64, "said": pl.String}
    base = alt.Chart(pl.DataFrame(rows, schema=kinds)).encode(x=x, y=y)
    return [
        base.mark_point(style="network-disc", filled=True, size=90, opacity=1),
        base.mark_text(align="left", dx=6, dy=13, fontWeight=600, fontSize=12).encode(
            text="said:N"
        ),
    ]


def _labelled(
    table: pl.DataFrame,
    bound: pl.DataFrame,
    domain: tuple[float, float],
    x: alt.X,
    y: alt.Y,
    colour: alt.Color,
) -> list[alt.Chart]:
    """Return names at the ends of the lines, moved apart where they would touch."""
    last = table.filter(pl.col("size") == table["size"].max())
    ends = [(float(row["speed"]), str(row["curve"])) for row in last.iter_rows(named=True)]
    if len(bound):
        ends.append((float(bound["speed"][-1]), BOUND))
    ends.sort(reverse=True)
    span = log10(domain[1] / domain[0])
    places = apart([HEIGHT * log10(domain[1] / speed) / span for speed, _ in ends], HEIGHT)
    rows = pl.DataFrame(
        {
            "curve": [name for _, name in ends],
            "size": [float(last["size"][0])] * len(ends),
            "speed": [domain[1] / 10 ** (each / HEIGHT * span) for each in places],
        }
    )
    style: dict[str, Any] = {"align": "left", "dx": 9, "baseline": "middle", "fontSize": 12.5}
    own = alt.Chart(rows.filter(pl.col("curve") != BOUND))
    of_bound = alt.Chart(rows.filter(pl.col("curve") == BOUND))
    return [
        own.mark_text(fontWeight=600, **style).encode(x=x, y=y, text="curve:N", color=colour),
        of_bound.mark_text(**style).encode(x=x, y=y, text="curve:N"),
    ]


def apart(places: Sequence[float], most: float, line: float = LINE) -> list[float]:
    """Return places of labels from the top on, moved so that no two touch.

    Examples
    --------
    >>> apart([0.0, 2.0, 90.0, 99.0], 100.0, 10.0)
    [0.0, 10.0, 90.0, 100.0]
    """
    found = list[float]()
    for each in places:
        found.append(max(each, found[-1] + line) if found else each)
    for number in range(len(found) - 1, -1, -1):
        below = most if number == len(found) - 1 else found[number + 1] - line
        found[number] = min(found[number], below)
    return found


def _decades(low: float, high: float) -> list[float]:
    """Return the powers of ten from one value to another; if there are few, 2 and 5 as well.

    Examples
    --------
    >>> _decades(3.0, 1200.0), _decades(2.2, 71.0), _decades(6.0, 7.0)
    ([10.0, 100.0, 1000.0], [5.0, 10.0, 20.0, 50.0], [6.0, 7.0])
    """
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    found = [10.0**power for power in range(first, last + 1)]
    if len(found) <= 2:
        finer = [part * 10.0**power for power in range(first - 1, last + 1) for part in (1, 2, 5)]
        found = [each for each in finer if low * (1 - 1e-9) <= each <= high * (1 + 1e-9)]
    return found if len(found) > 1 else [low, high]


def _labels(sizes: Sequence[float]) -> str:
    """Return the expression of Vega that names the sizes of an axis."""
    said = ", ".join(f"'{each:.0f}': '{units.size(each)}'" for each in _decades(*sizes))
    return f"{{{said}}}[round(datum.value)]"


def _unit(most: float) -> tuple[float, str]:
    """Return the unit in which a rate is at least 1."""
    return next((each for each in UNITS if most >= each[0]), UNITS[-1])
