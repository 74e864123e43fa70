"""The pictures of combining networks: queues by stage, and what rates do to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.axes import DASHED, DOTTED, Axis, End, Look, axis, ordered, panel
from netloom.drawing.frame import BEST, OTHERS, REFERENCE, THIS
from netloom.drawing.names import band_named

KINDS = {
    "requests": ("requests", Look(THIS), "Queues of requests"),
    "replies": ("replies", Look(BEST, DASHED), "Queues of replies"),
    "waiting": ("wait buffers", Look(OTHERS[0], (10, 3, 2, 3)), "Wait buffers"),
}
"""What queues and wait buffers hold, how that looks, and the beginning of a sentence on it."""

STAGE = "stage, from processors (PEs) to memory (MMs)"
LENGTH = "mean length (packets)"
RATE = "rate (requests/PE/step)"
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
    table = _lengths(stages.filter(pl.col("kind").is_in(shown)), ["kind"], names, modules)
    most = counted(int(table["max"].max() or 0), "packet", ",")  # type: ignore[arg-type]
    lengths = axis("length", LENGTH, table["high"].to_list(), whole=False)
    longest = axis("length", "most packets ever held", table["max"].to_list(), whole=True)
    ever = f"No queue or wait buffer ever held more than {most}"
    held = table.with_columns(length=pl.col("max"))
    return {
        "stages": _lines(table, lengths, looks, modules, _longest(table), [*looks]),
        "longest": _lines(held, longest, looks, modules, ever),
    }


def queues_by_rate(
    stages: pl.DataFrame, kinds: Sequence[str], modules: int
) -> dict[str, alt.LayerChart]:
    """Return mean lengths by stage, a line per rate. All kinds of queues share one scale.

    See ``by_stage`` for the parameters.
    """
    names = {rate: f"rate {number(rate)}" for rate in sorted(set(stages["rate"].to_list()))}
    shown = stages.filter(pl.col("kind").is_in(kinds))
    table, looks = _lengths(shown, ["kind", "rate"], names, modules), ordered([*names.values()])
    lengths = axis("length", LENGTH, table["length"].to_list(), whole=False)
    drawn = {}
    for kind in kinds:
        mine = table.filter(kind=kind)
        drawn[kind] = _lines(mine, lengths, looks, modules, _longest(mine))
    return drawn


def _lengths(
    stages: pl.DataFrame, by: Sequence[str], names: Mapping[Any, str], modules: int
) -> pl.DataFrame:
    """Return the mean, the range over replications and the most of the queues of each stage.

    ``names`` are those of lines, by the values of the last of the columns ``by``.
    """
    places = {stage: f"stage {stage}" for stage in range(modules)}
    places |= {-1: "the PEs", modules: "the MMs"}
    return (
        stages.group_by(*by, "stage", maintain_order=True)
        .agg(
            length=pl.col("mean").mean(),
            low=pl.col("mean").min(),
            high=pl.col("mean").max(),
            max=pl.col("max").max(),
        )
        .sort(*by, "stage")
        .with_columns(
            of=pl.col(by[-1]).replace_strict(names, return_dtype=pl.String),
            where=pl.col("stage").replace_strict(places, return_dtype=pl.String),
        )
    )


def _longest(table: pl.DataFrame) -> str:
    """Return which queues are longest, and where."""
    top = table.sort("length").row(-1, named=True)
    if not top["length"]:
        return "No packet waited in a queue or a wait buffer"
    where = f"{KINDS[top['kind']][2]} are longest at {top['where']}"
    when = f"at rate {number(top['rate'])}" if "rate" in top else "on average"
    return f"{where}: {counted(number(top['length']), 'packet')} {when}"


def _lines(
    table: pl.DataFrame,
    y: Axis,
    looks: Mapping[str, Look],
    modules: int,
    said: str,
    bands: Sequence[str] = (),
) -> alt.LayerChart:
    """Return lengths by stage, a line for each name ``of``, some of them with their ranges."""
    places = range(min(table["stage"]), max(table["stage"]) + 1)
    names = tuple({-1: "PEs", modules: "MMs"}.get(stage, str(stage)) for stage in places)
    ends = places[0] - 0.2, places[-1] + 0.2
    along = Axis("stage", STAGE, *ends, whole=True, marks=tuple(places), names=names)
    where, layers = panel(along, y, looks, WIDTH, HEIGHT), list[alt.Chart]()
    for name in bands:
        mine = table.filter(of=name).with_columns(length=pl.col("low"))
        if (mine["high"] > mine["low"]).any():
            band = where.chart(mine, y2="high:Q")
            layers.append(band.mark_area(color=str(looks[name].colour), opacity=0.16))
    layers += [*where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
    return where.drawn(layers, said)


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
    x = axis("rate", RATE, table["rate"].to_list())
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
