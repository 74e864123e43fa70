"""The pictures of combining networks: queues by stage, and what their sizes do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.report.frame import framed
from netloom.report.load_curve import COLOURS, GREY

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt
    import polars as pl

    from netloom.verbs import CriticalQueues, HotSpotSimulation

KINDS = {"requests": COLOURS[0], "replies": COLOURS[1], "waiting": COLOURS[3]}
"""What queues and wait buffers hold, and its colour."""

SERIES = [*COLOURS, "#0d9488", "#4a5568", "#be185d", "#84610a", "#1e3a8a"]
"""Colours of many lines; after them they begin again, with other marks."""

MARKS = ["circle", "square", "triangle-up", "cross", "diamond", "triangle-right", "triangle-down"]

PES, MODULES = "PEs", "MMs"
LENGTH = "mean length, packets"
REPORT_STAGES = 9
"""Stages of the report's 512 processing elements."""

WIDTH, HEIGHT = 400, 300


def hot_spot_chart(result: HotSpotSimulation) -> alt.HConcatChart:
    """Return queues and wait buffers by stage; of several rates also the steps of requests."""
    parts = _by_stage(result) if len(result.asked) == 1 else _by_rate(result)
    asked, network = result.provenance.configuration, result.network
    sizes = {"queues": network.queue, "wait buffers": network.wait_buffer}
    if network.combining == "none":
        del sizes["wait buffers"]
    words = [asked["policy"], f"combining {network.combining}"]
    words += [
        f"{what} {'unbounded' if size is None else f'of {size}'}" for what, size in sizes.items()
    ]
    runs = asked["replications"]
    lines = [f"{', '.join(words)}; {asked['steps']:,} steps"]
    if len(result.asked) == 1:
        band = f"; bands: from the least to the most of {runs} replications" if runs > 1 else ""
        lines.append(f"rate {result.asked[0]:.4g}{band}")
    hot_spots = asked["hot_spots"]
    title = f"{hot_spots} hot spot{'s' * (hot_spots != 1)} on omega:{network.pes}"
    return framed(parts, title, lines)


def critical_chart(result: CriticalQueues) -> alt.HConcatChart:
    """Return what sizes of queues do to the queues, and to the steps of requests."""
    import altair as alt
    import polars as pl

    table = result.table().with_columns(rate=pl.format("{}", "rate"))
    sized = table.drop_nulls("size").with_columns(rise=100 * pl.col("rise"))
    counts = pl.DataFrame({"rise": [100 * result.rise]})
    rise = alt.LayerChart(
        layer=[
            alt.Chart(counts).mark_rule(strokeDash=[6, 3], color=GREY).encode(y="rise:Q"),
            _sizes(sized, alt.Y("rise:Q", title="longest rise of a stage's queue, %"), named=False),
        ]
    )
    free = (
        alt.Chart(table.filter(pl.col("size").is_null()))
        .mark_rule(strokeDash=[2, 3], strokeWidth=1.4)
        .encode(y="steps_mean:Q", color=_rates(table))
    )
    least = alt.Scale(zero=False)
    steps = alt.Y("steps_mean:Q", title="mean steps of a request", scale=least)
    critical = [f"{size} at rate {rate:.4g}" for rate, size in result.sizes.items() if size]
    return framed(
        [
            rise.properties(width=WIDTH, height=HEIGHT, title="Requests behind a stage, longer by"),
            alt.LayerChart(layer=[free, _sizes(sized, steps)]).properties(
                width=WIDTH, height=HEIGHT, title="Steps; dotted: unbounded queues"
            ),
        ],
        f"Critical queues of omega:{result.network.pes}, {result.hot_spots} hot spots",
        [f"critical: {', '.join(critical) or 'none'}; dashed: the rise that counts"],
    )


def stage_figure(
    title: str, table: pl.DataFrame, *, modules: int = REPORT_STAGES
) -> alt.HConcatChart:
    """Return queue lengths by stage, one line a series: Rosenblum & Mayr's Figures 1 to 15.

    Parameters
    ----------
    title
        What is shown.
    table
        One row a series and stage: ``series``, ``stage`` and ``length``, in packets.
    modules
        The stage that stands for the memory modules, as −1 does for the processing elements.
    """
    import altair as alt

    names = table["series"].unique(maintain_order=True).to_list()
    colours = [SERIES[place % len(SERIES)] for place in range(len(names))]
    shapes = [MARKS[place % len(MARKS)] for place in range(len(names))]
    shown = alt.Chart(_labelled(table, modules)).encode(
        x=_stage(table, modules),
        y=alt.Y("length:Q", title=LENGTH),
        color=alt.Color("series:N", title=None, scale=alt.Scale(domain=names, range=colours)),
        tooltip=["series:N", "stage:Q", "length:Q"],
    )
    marks = shown.mark_point(size=46, filled=False, strokeWidth=1.6, opacity=1).encode(
        shape=alt.Shape("series:N", title=None, scale=alt.Scale(domain=names, range=shapes))
    )
    lines = alt.LayerChart(layer=[shown.mark_line(strokeWidth=1.8), marks])
    lines = lines.properties(width=520, height=330)
    whole: alt.HConcatChart = framed([lines], title, []).resolve_scale(
        color="independent",
        shape="independent",  # so that one legend has both
    )
    return whole


def _by_stage(result: HotSpotSimulation) -> list[alt.LayerChart]:
    """Means, with the range over replications, and maxima of queues and wait buffers."""
    import altair as alt
    import polars as pl

    table = result.stages().group_by("kind", "stage", maintain_order=True).agg(
        mean=pl.col("mean").mean(), low=pl.col("mean").min(), high=pl.col("mean").max(),
        max=pl.col("max").max(),
    )  # fmt: skip
    shown = [kind for kind in KINDS if kind != "waiting" or result.network.combining != "none"]
    table = table.filter(pl.col("kind").is_in(shown))
    scale = alt.Scale(domain=shown, range=[KINDS[kind] for kind in shown])
    modules = result.network.stages
    labelled, stage = _labelled(table, modules), _stage(table, modules)
    legend = alt.Legend(title=None, symbolOpacity=1)
    band = (
        alt.Chart(labelled)
        .mark_area(opacity=0.16)
        .encode(x=stage, y=alt.Y("low:Q", title=LENGTH), y2="high:Q",
                color=alt.Color("kind:N", scale=scale, legend=None))
    )  # fmt: skip
    parts = []
    for field, name, title, least, named in (
        ("mean", LENGTH, "Queues and wait buffers by stage", 0.0, None),
        ("max", "most packets ever", "The most that one of them ever held", 1.0, legend),
    ):
        line = (
            alt.Chart(labelled)
            .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
            .encode(
                x=stage,
                y=alt.Y(f"{field}:Q", title=name, axis=alt.Axis(tickMinStep=least)),
                color=alt.Color("kind:N", scale=scale, legend=named),
                tooltip=["kind:N", "stage:Q", f"{field}:Q"],
            )
        )
        layers = [band, line] if field == "mean" else [line]
        chart = alt.LayerChart(layer=layers)
        parts.append(chart.properties(width=WIDTH, height=HEIGHT, title=title))
    return parts


def _by_rate(result: HotSpotSimulation) -> Sequence[alt.LayerChart | alt.Chart]:
    """Steps of a request by rate; requests and wait buffers by stage, a line a rate."""
    import altair as alt
    import polars as pl

    rows = pl.DataFrame([point.row() for point in result.points], infer_schema_length=None)
    names = {"steps_mean": "mean", "steps_p99": "99 % up to"}
    tidy = rows.rename(names).unpivot(
        list(names.values()), index="rate", variable_name="of", value_name="steps"
    )
    steps = (
        alt.Chart(tidy.drop_nulls("steps"))
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
        .encode(
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
    )
    least = pl.DataFrame({"steps": [result.network.unhindered_steps]})
    floor = alt.Chart(least).mark_rule(strokeDash=[2, 3], color=GREY).encode(y="steps:Q")
    parts: list[alt.LayerChart | alt.Chart] = [
        alt.LayerChart(layer=[floor, steps, *_behind(result)]).properties(
            width=300, height=HEIGHT, title="Steps of a request; dotted: unhindered"
        )
    ]
    table = (
        result.stages()
        .group_by("rate", "kind", "stage", maintain_order=True)
        .agg(mean=pl.col("mean").mean())
        .with_columns(rate=pl.format("{}", "rate"))
    )
    titles = {"requests": "Requests by stage", "waiting": "Wait buffers by stage"}
    if result.network.combining == "none":
        titles = {"requests": "Requests by stage", "replies": "Replies by stage"}
    for kind, title in titles.items():
        of_kind = table.filter(pl.col("kind") == kind)
        parts.append(
            alt.Chart(_labelled(of_kind, result.network.stages))
            .mark_line(point=alt.OverlayMarkDef(size=30), strokeWidth=1.8)
            .encode(
                x=_stage(of_kind, result.network.stages),
                y=alt.Y("mean:Q", title=LENGTH),
                color=_rates(table, named=kind != "requests"),
                tooltip=["rate:N", "stage:Q", "mean:Q"],
            )
            .properties(width=300, height=HEIGHT, title=title)
        )
    return parts


def _sizes(table: pl.DataFrame, y: alt.Y, *, named: bool = True) -> alt.Chart:
    import altair as alt

    size = alt.X("size:Q", title="queue size, packets", axis=alt.Axis(tickMinStep=1, format="d"))
    lines: alt.Chart = (
        alt.Chart(table)
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
        .encode(
            x=size, y=y, color=_rates(table, named=named), tooltip=["rate:N", "size:Q", y.shorthand]
        )
    )
    return lines


def _behind(result: HotSpotSimulation) -> list[alt.Chart]:
    """Return a line at the first rate that the network does not keep up with, if there is one."""
    import altair as alt
    import polars as pl

    rates = [point.rate for point in result.points if point.stable is False][:1]
    if not rates:
        return []
    base = alt.Chart(pl.DataFrame({"rate": rates})).encode(x="rate:Q")
    words = base.mark_text(angle=270, align="right", baseline="bottom", dx=-4, dy=-3, color=GREY)
    rule = base.mark_rule(strokeDash=[6, 3], color=GREY)
    return [rule, words.encode(y=alt.value(0), text=alt.value("falls behind"))]


def _rates(table: pl.DataFrame, *, named: bool = True) -> alt.Color:
    import altair as alt

    rates = table["rate"].unique(maintain_order=True).to_list()
    few = len(rates) <= len(COLOURS)
    scale = alt.Scale(domain=rates, **({"range": COLOURS} if few else {"scheme": "viridis"}))
    legend = alt.Legend(title="rate") if named else None
    return alt.Color("rate:N", scale=scale, legend=legend)


def _labelled(table: pl.DataFrame, modules: int) -> pl.DataFrame:
    """Return a table with the names of its stages, PEs and modules as ``where``."""
    import polars as pl

    names = [_label(stage, modules) for stage in table["stage"].to_list()]
    return table.with_columns(pl.Series("where", names))


def _stage(table: pl.DataFrame, modules: int) -> alt.X:
    import altair as alt

    places = [_label(stage, modules) for stage in sorted(set(table["stage"].to_list()))]
    return alt.X("where:O", title="stage", sort=places, axis=alt.Axis(labelAngle=0))


def _label(stage: int, modules: int) -> str:
    return PES if stage < 0 else MODULES if stage == modules else str(stage)
