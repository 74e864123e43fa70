"""The pictures of combining networks: queues by stage, and what rates do to them."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.axes import DASHED, DOTTED, Axis, End, Look, axis, panel
from netloom.drawing.frame import BEST, OTHERS, REFERENCE, THIS
from netloom.drawing.names import band_named

KINDS = {
    "requests": ("requests", Look(THIS), "Queues of requests"),
    "replies": ("replies", Look(BEST, DASHED), "Queues of replies"),
    "waiting": ("wait buffers", Look(OTHERS[0], (10, 3, 2, 3)), "Wait buffers"),
}
"""What queues and wait buffers hold, how that looks, and the beginning of a sentence on it."""

WIDTH, HEIGHT = 400.0, 300.0


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
    shown = [kind for kind in KINDS if kind != "waiting" or combining]
    looks = {KINDS[kind][0]: KINDS[kind][1] for kind in shown}
    names = dict(zip(shown, looks, strict=True))
    places = {stage: f"stage {stage}" for stage in range(modules)}
    places |= {-1: "the PEs", modules: "the MMs"}
    table = (
        stages.filter(pl.col("kind").is_in(shown))
        .group_by("kind", "stage", maintain_order=True)
        .agg(
            length=pl.col("mean").mean(),
            low=pl.col("mean").min(),
            high=pl.col("mean").max(),
            max=pl.col("max").max(),
        )
        .sort("kind", "stage")
        .with_columns(
            of=pl.col("kind").replace_strict(names, return_dtype=pl.String),
            where=pl.col("stage").replace_strict(places, return_dtype=pl.String),
        )
    )
    top = table.sort("length").row(-1, named=True)
    said = "No packet waited in a queue or a wait buffer"
    if top["length"]:
        said = f"{KINDS[top['kind']][2]} are longest at {top['where']}: "
        said += f"{counted(number(top['length']), 'packet')} on average"
    most = counted(int(table["max"].max() or 0), "packet", ",")  # type: ignore[arg-type]
    ever = f"No queue or wait buffer ever held more than {most}"
    marks, ends = tuple(range(-1, modules + 1)), ("PEs", *map(str, range(modules)), "MMs")
    title, last = "stage, from processors (PEs) to memory (MMs)", modules + 0.2
    x = Axis("stage", title, -1.2, last, whole=True, marks=marks, names=ends)

    y = axis("length", "mean length (packets)", table["high"], whole=False)
    where = panel(x, y, looks, WIDTH, HEIGHT)
    layers = where.areas(table, "of", looks) if (table["high"] > table["low"]).any() else []
    layers += [*where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
    means = where.drawn(layers, said)

    held = table.with_columns(length=pl.col("max"))
    y = axis("length", "most packets ever held", held["length"], whole=True)
    where = panel(x, y, looks, WIDTH, HEIGHT)
    layers = [*where.lines(held, "of", looks), *where.ends_of(held, "of", looks)]
    return {"stages": means, "longest": where.drawn(layers, ever)}


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
    x = axis("rate", "rate (requests/PE/step)", table["rate"].to_list())
    y = axis("steps", "steps of a request", [*tidy["steps"].to_list(), least], whole=False)
    where = panel(x, y, [*looks, idle], 300, HEIGHT)
    ends = [End(idle, where.x.high, least, REFERENCE, DOTTED)]
    layers: list[alt.Chart] = []
    first: Any = table.filter(~pl.col("stable"))["rate"].min()
    if first is not None:  # the interval of rates in which the network saturates
        below: Any = table.filter(pl.col("stable") & (pl.col("rate") < first))["rate"].max() or 0.0
        named = band_named("saturates", below, first)
        layers += [*where.band(below, first), *where.above({named: (below, first)})]
    layers += where.across(least, Look(REFERENCE, DOTTED))
    layers += [*where.lines(tidy, "of", looks), *where.ends_of(tidy, "of", looks, ends)]
    mean = table.drop_nulls("steps_mean").sort("rate")
    said = "No request was answered"
    if mean.height:
        at = number(mean["rate"][-1])
        said = f"A request takes {number(mean['steps_mean'][-1])} steps at rate {at}"
    return where.drawn(layers, said)
