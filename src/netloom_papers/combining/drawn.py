"""The pictures of combining networks: queues by stage, and what their sizes do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.axes import BESIDE, DASHED, DOTTED, Axis, End, Look, axis, panel, words
from netloom.drawing.frame import BEST, NARROW, OTHERS, REFERENCE, THIS, layered, room
from netloom.drawing.names import GAP, band_named, width_of

REQUESTS, REPLIES, WAITING = "requests", "replies", "wait buffers"

KINDS = {
    "requests": (REQUESTS, Look(THIS)),
    "replies": (REPLIES, Look(BEST, DASHED)),
    "waiting": (WAITING, Look(OTHERS[0], (10, 3, 2, 3))),
}
"""What queues and wait buffers hold, and how that looks."""

QUEUES = {REQUESTS: "Queues of requests", REPLIES: "Queues of replies", WAITING: "Wait buffers"}
"""The same at the beginning of a sentence."""

PES, MODULES = "PEs", "MMs"
STAGE = "stage, from processors (PEs) to memory (MMs)"
LENGTH = "mean length (packets)"
RATE = "rate (requests/PE/step)"
WIDTH, HEIGHT = 400.0, 300.0
MOST_TICKS = 12
"""Named stages at most."""
ROW = 24.0


def by_stage(stages: pl.DataFrame, modules: int, *, combining: bool) -> dict[str, alt.LayerChart]:
    """Return mean lengths of queues by stage, with the range over replications, and the longest.

    Parameters
    ----------
    stages
        A row per run, kind of queue and stage.
    modules
        The number that stands for the modules, behind the last stage.
    combining
        Whether requests combine, so that there are wait buffers.
    """
    table = stages.group_by("kind", "stage", maintain_order=True).agg(
        length=pl.col("mean").mean(), low=pl.col("mean").min(), high=pl.col("mean").max(),
        max=pl.col("max").max(),
    )  # fmt: skip
    shown = {kind: said for kind, said in KINDS.items() if kind != "waiting" or combining}
    looks = dict(shown.values())
    names = {kind: name for kind, (name, _) in shown.items()}
    table = (
        table.filter(pl.col("kind").is_in(list(shown)))
        .sort("kind", "stage")
        .with_columns(
            of=pl.col("kind").replace_strict(names, return_dtype=pl.String),
            where=pl.col("stage").map_elements(
                lambda stage: _place(stage, modules), return_dtype=pl.String
            ),
        )
    )
    along = stage_axis(table["stage"].to_list(), modules)

    def drawn(table: pl.DataFrame, y: Axis, said: str, bands: Sequence[str] = ()) -> alt.LayerChart:
        where, layers = panel(along, y, looks, WIDTH, HEIGHT), []
        for name in bands:
            mine = table.filter(of=name).with_columns(length=pl.col("low"))
            if (mine["high"] > mine["low"]).any():
                band = where.chart(mine, y2="high:Q")
                layers.append(band.mark_area(color=str(looks[name].colour), opacity=0.16))
        layers += [*where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
        return where.drawn(layers, said)

    top = table.sort("length").row(-1, named=True)
    said = "No packet waited in a queue or a wait buffer"
    if top["length"]:
        long = counted(number(top["length"]), "packet")
        said = f"{QUEUES[top['of']]} are longest at {top['where']}: {long} on average"
    most = counted(int(table["max"].max() or 0), "packet", ",")  # type: ignore[arg-type]
    lengths = axis("length", LENGTH, table["high"].to_list(), whole=False)
    longest = axis("length", "most packets ever held", table["max"].to_list(), whole=True)
    ever = f"No queue or wait buffer ever held more than {most}"
    return {
        "stages": drawn(table, lengths, said, [*looks]),
        "longest": drawn(table.with_columns(length=pl.col("max")), longest, ever),
    }


def stage_axis(stages: list[int], modules: int) -> Axis:
    """Return the axis of the elements, the stages and the modules, of which some are named."""
    first, last = min(stages, default=0), max(stages, default=1)
    places = list(range(first, last + 1))
    every = -(-(len(places) - 1) // (MOST_TICKS - 1)) or 1
    named = [*places[:-1:every], last] if len(places) > 1 else places
    if len(named) > 1 and named[-1] - named[-2] < every:
        del named[-2]
    labels = [_label(stage, modules) for stage in named]
    return Axis("stage", STAGE, first - 0.2, last + 0.2, whole=True, marks=tuple(named),
                names=tuple(labels))  # fmt: skip


def steps_by_rate(table: pl.DataFrame, least: int) -> alt.LayerChart:
    """Return the steps of a request by rate: their mean, and what 99 % stay below.

    ``least`` are those in an idle network.
    """
    looks = {"p99": Look(THIS, DASHED, 1.6), "mean": Look(THIS)}
    names = {"steps_mean": "mean", "steps_p99": "p99"}
    tidy = (
        table.rename(names)
        .unpivot(list(names.values()), index="rate", variable_name="of", value_name="steps")
        .drop_nulls("steps")
        .sort("rate")
    )
    idle = f"idle {number(least)}"
    where = panel(
        axis("rate", RATE, table["rate"].to_list()),
        axis("steps", "steps of a request", [*tidy["steps"].to_list(), least], whole=False),
        [*looks, idle], 300, HEIGHT,
    )  # fmt: skip
    ends = [End(idle, where.x.high, least, REFERENCE, DOTTED)]
    behind: list[alt.Chart] = []
    first: Any = table.filter(~pl.col("stable"))["rate"].min()
    if first is not None:  # the interval of rates in which the network saturates
        below: Any = table.filter(pl.col("stable") & (pl.col("rate") < first))["rate"].max() or 0.0
        named = band_named("saturates", below, first)
        behind = [*where.band(below, first), *where.above({named: (below, first)})]
    layers = [
        *behind,
        *where.across(least, Look(REFERENCE, DOTTED)),
        *where.lines(tidy, "of", looks),
        *where.ends_of(tidy, "of", looks, ends),
    ]
    mean = table.drop_nulls("steps_mean").sort("rate")
    said = "No request was answered"
    if mean.height:
        at = number(mean["rate"][-1])
        said = f"A request takes {number(mean['steps_mean'][-1])} steps at rate {at}"
    return where.drawn(layers, said)


def queues_by_rate(
    stages: pl.DataFrame, kinds: Sequence[str], modules: int
) -> dict[str, alt.LayerChart]:
    """Return mean lengths by stage and rate as colors, and the most of each rate in numbers.

    All kinds of queues share one scale. See ``by_stage`` for the parameters.
    """
    shown = stages.filter(pl.col("kind").is_in(list(kinds)))
    means = shown.group_by("rate", "kind", "stage").agg(pl.col("mean").mean())["mean"]
    most = max([0.0, *means.to_list()]) or 1.0
    along = stage_axis(stages["stage"].to_list(), modules)
    return {kind: _queues(shown.filter(kind=kind), kind, most, along, modules) for kind in kinds}


def _queues(
    stages: pl.DataFrame, kind: str, most: float, along: Axis, modules: int
) -> alt.LayerChart:
    table = stages.group_by("rate", "stage", maintain_order=True).agg(
        length=pl.col("mean").mean(), max=pl.col("max").max()
    )
    rates = sorted(set(table["rate"].to_list()), reverse=True)
    texts = []
    for at, rate in enumerate(rates):
        rows = table.filter(rate=rate).sort("length")
        mine, most_held = rows.row(-1, named=True), rows["max"].max()
        wide = f" at {_place(mine['stage'], modules)}" * (room() > NARROW)
        said = f"{number(mine['length'])}{wide}, max {number(most_held)}"
        texts.append((ROW * (at + 0.5), said))
    beside = max(width_of(said) for _, said in texts) + GAP
    width = max(120.0, min(330.0, room() - BESIDE - beside))
    cells = table.with_columns(
        rate=pl.format("rate {}", pl.col("rate").map_elements(number, return_dtype=pl.String)),
        stage=pl.col("stage") - 0.5, until=pl.col("stage") + 0.5,
    )  # fmt: skip
    x = Axis("stage", STAGE, along.low - 0.3, along.high + 0.3, marks=along.marks,
             names=along.names)  # fmt: skip
    colour = alt.Color(
        "length:Q", title=LENGTH,
        scale=alt.Scale(range="heatmap", interpolate="rgb", domain=[0, most]),
        legend=alt.Legend(orient="bottom", gradientLength=160, values=[0, most],
                          format=".3~g"),
    )  # fmt: skip
    names = [f"rate {number(rate)}" for rate in rates]
    drawn = alt.Chart(cells).mark_rect().encode(
        x=x.encoding(alt.X, grid=False), x2="until:Q",
        y=alt.Y("rate:N", title=None, sort=names), color=colour,
        tooltip=["rate", "length", "max"],
    )  # fmt: skip
    top = table.sort("length").row(-1, named=True)
    longest = cells.filter((pl.col("length") == top["length"]) & (pl.col("length") > 0)).head(1)
    mark = (
        alt.Chart(longest.select("rate", "stage", "until"))
        .mark_rect(style="network-mark", filled=False)
        .encode(x=x.encoding(alt.X, grid=False), x2="until:Q", y=alt.Y("rate:N", sort=names))
    )
    layers = [drawn, mark, *words([(width + GAP, y, said) for y, said in texts])]
    whose = QUEUES[KINDS[kind][0]]
    said = f"{whose} are longest at {_place(top['stage'], modules)}: "
    said += f"{counted(number(top['length']), 'packet')} at rate {number(top['rate'])}"
    said = said if top["length"] else f"{whose} stay empty: 0 packets on average"
    return layered(layers, said, width, ROW * len(rates), beside)


def _label(stage: int, modules: int) -> str:
    return PES if stage < 0 else MODULES if stage == modules else str(stage)


def _place(stage: int, modules: int) -> str:
    """Return a stage in a sentence."""
    named = _label(stage, modules)
    return f"stage {named}" if named.isdigit() else f"the {named}"
