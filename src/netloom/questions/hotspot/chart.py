"""The pictures of combining networks: queues by stage, and what their sizes do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import curve, layered

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded

KINDS = {"requests": COLOURS[0], "replies": COLOURS[1], "waiting": COLOURS[3]}
"""What queues and wait buffers hold, and its colour."""

TITLES = {"requests": "Requests", "replies": "Replies", "waiting": "Wait buffers"}

PES, MODULES = "PEs", "MMs"
LENGTH = "mean length, packets"
WIDTH, HEIGHT = 400, 300


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return the network and its hot spots, and how long it ran."""
    asked, found = record.configuration, record.figures
    capacity, rates = found["capacity"], found["asked"]
    sizes = {"queues": capacity["queue"], "wait buffers": capacity["wait_buffer"]}
    if found["combining"] == "none":
        del sizes["wait buffers"]
    words = [asked["policy"], f"combining {found['combining']}"]
    words += [
        f"{what} {'unbounded' if size is None else f'of {size}'}" for what, size in sizes.items()
    ]
    runs = asked["replications"]
    lines = [f"{', '.join(words)}; {asked['steps']:,} steps"]
    if len(rates) == 1:
        band = f"; bands: from the least to the most of {runs} replications" if runs > 1 else ""
        lines.append(f"rate {rates[0]:.4g}{band}")
    hot_spots = asked["hot_spots"]
    return f"{hot_spots} hot spot{'s' * (hot_spots != 1)} on omega:{found['pes']}", lines


def arranged(record: Recorded) -> list[Part]:
    """Return the parts side by side: the last has the legend of all."""
    return list(parts(record, legends=False).values())


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded, *, legends: bool = True) -> dict[str, Part]:
    """Return the parts of the picture of hot spots, by name.

    With ``legends`` each has its own; otherwise the last has that of all.
    """
    if len(record.figures["asked"]) == 1:
        return {
            "stages": queues_by_stage(record, named=legends),
            "longest": longest_by_stage(record),
        }
    kinds = ("requests", "replies" if record.figures["combining"] == "none" else "waiting")
    parts: dict[str, Part] = {"steps": steps_by_rate(record)}
    return parts | {
        kind: queues_by_rate(record, kind, named=legends or kind == kinds[-1]) for kind in kinds
    }


def queues_by_stage(record: Recorded, *, named: bool = True) -> alt.LayerChart:
    """Return mean lengths of queues and wait buffers by stage, with the range over replications."""
    labelled, colour = _stages_and_colour(record)
    band = (
        alt.Chart(labelled)
        .mark_area(opacity=0.16)
        .encode(
            x=_stage(labelled, _modules(record)),
            y=alt.Y("low:Q", title=LENGTH),
            y2="high:Q",
            color=alt.Color("kind:N", scale=colour, legend=None),
        )
    )
    mean = alt.Y("mean:Q", title=LENGTH, axis=alt.Axis(tickMinStep=0.0))
    line = _stage_line(record, mean, named=named)
    return layered([band, line], "Queues and wait buffers by stage", WIDTH, HEIGHT)


def longest_by_stage(record: Recorded) -> alt.LayerChart:
    """Return the most that a queue or wait buffer of each stage ever held."""
    most = alt.Y("max:Q", title="most packets ever", axis=alt.Axis(tickMinStep=1.0))
    line = _stage_line(record, most, named=True)
    return layered([line], "The most that one of them ever held", WIDTH, HEIGHT)


def _stage_line(record: Recorded, y: alt.Y, *, named: bool) -> alt.Chart:
    """Return a line a kind of queue, by stage."""
    legend = alt.Legend(title=None, symbolOpacity=1) if named else None
    labelled, colour = _stages_and_colour(record)
    return curve(
        labelled,
        x=_stage(labelled, _modules(record)),
        y=y,
        color=alt.Color("kind:N", scale=colour, legend=legend),
        tooltip=["kind:N", "stage:Q", y.shorthand],
    )


def _stages_and_colour(record: Recorded) -> tuple[pl.DataFrame, alt.Scale]:
    """Return the queues that there are, by kind and stage over replications, and their colours."""
    table = record.tables["stages"].group_by("kind", "stage", maintain_order=True).agg(
        mean=pl.col("mean").mean(), low=pl.col("mean").min(), high=pl.col("mean").max(),
        max=pl.col("max").max(),
    )  # fmt: skip
    combining = record.figures["combining"] != "none"
    shown = [kind for kind in KINDS if kind != "waiting" or combining]
    scale = alt.Scale(domain=shown, range=[KINDS[kind] for kind in shown])
    return _labelled(table.filter(pl.col("kind").is_in(shown)), _modules(record)), scale


def _modules(record: Recorded) -> int:
    """Return the number that stands for the modules, behind the last stage."""
    return int(record.figures["network_stages"])


def steps_by_rate(record: Recorded) -> alt.LayerChart:
    """Return the steps of a request by rate: their mean, and what 99 % stay below."""
    names = {"steps_mean": "mean", "steps_p99": "99 % up to"}
    tidy = (
        record.tables["rates"]
        .rename(names)
        .unpivot(list(names.values()), index="rate", variable_name="of", value_name="steps")
    )
    steps = curve(
        tidy.drop_nulls("steps"),
        x=alt.X("rate:Q", title="rate, requests/PE/step"),
        y=alt.Y("steps:Q", title="steps of a request"),
        strokeDash=alt.StrokeDash(
            "of:N",
            title=None,
            sort=list(names.values()),
            legend=alt.Legend(orient="top-left", symbolType="stroke"),
        ),
        color=alt.value(COLOURS[0]),
        tooltip=["of:N", "rate:Q", "steps:Q"],
    )
    least = pl.DataFrame({"steps": [record.figures["unhindered_steps"]]})
    floor = alt.Chart(least).mark_rule(strokeDash=[2, 3], color=GREY).encode(y="steps:Q")
    return layered(
        [floor, steps, *_behind(record)], "Steps of a request; dotted: unhindered", 300, HEIGHT
    )


def queues_by_rate(record: Recorded, kind: str, *, named: bool = True) -> alt.Chart:
    """Return mean lengths by stage, a line a rate; ``kind`` is one of ``KINDS``."""
    table = (
        record.tables["stages"]
        .group_by("rate", "kind", "stage", maintain_order=True)
        .agg(mean=pl.col("mean").mean())
        .with_columns(rate=pl.format("{}", "rate"))
    )
    of_kind, modules = table.filter(pl.col("kind") == kind), _modules(record)
    lines: alt.Chart = (
        alt.Chart(_labelled(of_kind, modules))
        .mark_line(point=alt.OverlayMarkDef(size=30), strokeWidth=1.8)
        .encode(
            x=_stage(of_kind, modules),
            y=alt.Y("mean:Q", title=LENGTH),
            color=rates_colour(table, named=named),
            tooltip=["rate:N", "stage:Q", "mean:Q"],
        )
        .properties(width=300, height=HEIGHT, title=f"{TITLES[kind]} by stage")
    )
    return lines


def sizes(table: pl.DataFrame, y: alt.Y, *, named: bool = True) -> alt.Chart:
    """Return a figure by size of queues, a colour a rate."""
    size = alt.X("size:Q", title="queue size, packets", axis=alt.Axis(tickMinStep=1, format="d"))
    return curve(
        table,
        x=size,
        y=y,
        color=rates_colour(table, named=named),
        tooltip=["rate:N", "size:Q", y.shorthand],
    )


def _behind(record: Recorded) -> list[alt.Chart]:
    """Return a line at the first rate that the network does not keep up with, if there is one."""
    rates = record.tables["rates"].filter(stable=False)["rate"].to_list()[:1]
    if not rates:
        return []
    base = alt.Chart(pl.DataFrame({"rate": rates})).encode(x="rate:Q")
    words = base.mark_text(angle=270, align="right", baseline="bottom", dx=-4, dy=-3, color=GREY)
    rule = base.mark_rule(strokeDash=[6, 3], color=GREY)
    return [rule, words.encode(y=alt.value(0), text=alt.value("falls behind"))]


def rates_colour(table: pl.DataFrame, *, named: bool = True) -> alt.Color:
    """Return the colours of rates."""
    rates = table["rate"].unique(maintain_order=True).to_list()
    few = len(rates) <= len(COLOURS)
    scale = alt.Scale(domain=rates, **({"range": COLOURS} if few else {"scheme": "viridis"}))
    legend = alt.Legend(title="rate") if named else None
    return alt.Color("rate:N", scale=scale, legend=legend)


def _labelled(table: pl.DataFrame, modules: int) -> pl.DataFrame:
    """Return a table with the names of its stages, PEs and modules as ``where``."""
    names = [_label(stage, modules) for stage in table["stage"].to_list()]
    return table.with_columns(pl.Series("where", names))


def _stage(table: pl.DataFrame, modules: int) -> alt.X:
    places = [_label(stage, modules) for stage in sorted(set(table["stage"].to_list()))]
    return alt.X("where:O", title="stage", sort=places, axis=alt.Axis(labelAngle=0))


def _label(stage: int, modules: int) -> str:
    return PES if stage < 0 else MODULES if stage == modules else str(stage)
