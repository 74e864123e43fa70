"""The picture of a mapping that was found: its channels before and after, and what it changes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from netloom.base.units import SIZE
from netloom.base.words import counted, number
from netloom.drawing.axes import AFTER, MINE, ROOM, Axis, axis, panel, words
from netloom.drawing.bars import NARROWEST, STEP, WIDE, short_names
from netloom.drawing.colours import BEST, THIS
from netloom.drawing.frame import layered, room
from netloom.drawing.names import GAP, width_of
from netloom.questions.analyze import carried, load_share
from netloom.questions.map.words import began, between_routers, unit_of
from netloom.questions.network_chart import LOAD, ON, channels_chart, load_title

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from netloom.base.arrays import Floats
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded

ASIDE = 400.0
"""Pixels of each of the networks beside each other."""

WHEN = {"before": "Before (rank order)", "after": "After"}
LINES = {"before": "rank order", "after": "found"}
"""The mappings, as titles of networks and as names of lines."""

MOST_POINTS = 500
"""Points of a line of channels at most."""

CLEARLY = 1.005
"""Times the busiest channel's load that counts as more."""

MEASURES = {
    "hop_bytes": "hop-bytes",
    "weighted_channel_load_max": "most load{where}",
    "channel_load_max": "most paths{where}",
    "path_contention_mean": "paths met (ν), mean",
    "path_contention_max": "paths met (ν), most",
    "saturation_worst_node": "delays from (more is better)",
    "saturation_upper_bound": "these paths carry at most (more is better)",
}
"""What mappings change, besides their objective."""

TIMED = "most time{where}"
"""The objective, load / bandwidth, if channels differ or those of hosts count."""

MOST_TIMES = 100.0
"""Changes beyond this, or to and from nothing, are arrows at the edge."""

LEAST_TIMES = 1.25
"""How far the axis of changes goes to each side at least."""

TIMES = (
    (0.01, 0.1, 1.0, 10.0, 100.0),
    (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0),
    (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0),
)
"""Changes that may have ticks: the first of these sets of which three are on the axis."""

WIDTH = 420.0


def arranged(record: Recorded) -> list[Part]:
    """Return the network before, after and their difference, above what the mapping changes."""
    drawn = networks(record, ASIDE)
    rows = alt.hconcat(*drawn.values(), spacing=30)
    rows = rows.resolve_scale(color="independent", stroke="independent")
    below = alt.hconcat(changes(record), falling(record), spacing=40)
    return [alt.vconcat(rows, below, spacing=26)]


def footer(record: Recorded) -> list[str]:
    """Return what was mapped, by which objective, and what the search began with."""
    found = record.figures
    return [
        f"{found['app']} mapped onto {found['topology']}, {found['routing']}; objective "
        f"{found['objective']['name']}; {began(found['found_by'])}"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a mapping, by name."""
    return {**networks(record), "objective": changes(record), "falling": falling(record)}


def networks(record: Recorded, width: float | None = None) -> dict[str, Part]:
    """Return the network by channel load before and after, on one scale, and their difference.

    The scale is gray up to the lower of both means: so what is busiest afterwards can be seen too.
    """
    channels = record.tables["channels"]
    loads = {when: channels.filter(mapping=when)[LOAD].to_numpy() for when in WHEN}
    scale = None
    if all(map(len, loads.values())):
        most = max(float(each.max()) for each in loads.values())
        scale = min(float(each.mean()) for each in loads.values()), most or 1.0
    title = load_title(record)
    drawn: dict[str, Part] = {
        when: channels_chart(
            record, channels.filter(mapping=when), LOAD, title, scale=scale, width=width, when=said
        )
        for when, said in WHEN.items()
    }
    if len(loads["before"]) == len(loads["after"]):
        after = channels.filter(mapping="after")
        drawn["difference"] = channels_chart(
            record, after, LOAD, title, width=width, when="Difference",
            before=loads["before"].astype(np.float64),
        )  # fmt: skip
    return drawn


def _loads(record: Recorded) -> dict[str, Floats]:
    """Return the loads of the channels between routers, before and after."""
    channels = record.tables["channels"]
    channels = channels.filter(kind="network") if "kind" in channels.columns else channels
    return {when: channels.filter(mapping=when)[LOAD].to_numpy() for when in WHEN}


def falling(record: Recorded) -> alt.LayerChart:
    """Return the loads of all channels in falling order, before and after, on one pair of axes."""
    unit = load_title(record).removesuffix(ON)
    loads = {LINES[when]: np.sort(load)[::-1] for when, load in _loads(record).items()}
    highest = max((float(load[0]) for load in loads.values() if len(load)), default=0.0)
    by, shown = SIZE.scale(highest) if unit == "bytes" and highest else (1.0, unit)
    tables = []
    for when, load in loads.items():
        at = np.unique(np.linspace(0, max(len(load) - 1, 0), MOST_POINTS).astype(int))[: len(load)]
        tables.append(pl.DataFrame({"when": when, "place": at + 1, "load": load[at] / by}))
    table = pl.concat(tables)
    which = f"channels{between_routers(record.figures)}, busiest first"
    along = axis("place", which, [1, max(map(len, loads.values()))], room=0.0)
    up = axis("load", f"load ({shown})", [highest / by, 0.0])
    looks = {LINES["before"]: MINE, LINES["after"]: AFTER}
    drawn = panel(along, up, looks, WIDTH, 200)
    lines = drawn.lines(table, "when", looks, points=0)
    return drawn.drawn([*lines, *drawn.ends_of(table, "when", looks)], _carried(record))


def _carried(record: Recorded) -> str:
    """Return how many channels carried more before than any does afterwards, or the reverse."""
    before, after = _loads(record).values()
    more, less = (int((before > after.max(initial=0) * CLEARLY).sum()),
                  int((after > before.max(initial=0) * CLEARLY).sum()))  # fmt: skip
    many = f"of {counted(len(before), 'channel')}{between_routers(record.figures)}"
    if more:
        return f"{more:,} {many} carried more than the busiest does afterwards"
    if less:
        return f"{less:,} {many} carry more than the busiest did in rank order"
    return f"The busiest {many} carries as much as in rank order"


def changes(record: Recorded) -> alt.LayerChart:
    """Return each figure before and after as two dots, against that before. Bounds are ticks.

    Ratios stand on a logarithmic axis. What lies beyond it, such as a change to nothing, is an
    arrow at its edge.
    """
    rows = _rows(record)
    right = max(width_of(row["said"]) for row in rows) + 2 * GAP
    for row, name in zip(rows, short_names([row["figure"] for row in rows], right), strict=True):
        row["figure"] = name
    left = max(width_of(row["figure"]) for row in rows) + 14
    width = max(NARROWEST, min(WIDTH, room() - left - right))
    along = _ratios(rows, few=width < WIDE)
    names, height = [row["figure"] for row in rows], STEP * len(rows)
    table = pl.DataFrame(rows, schema_overrides={"bound": pl.Float64, "after": pl.Float64})
    beyond = ~pl.col("after").is_between(along.low, along.high)
    inside = (along.high / along.low) ** (ROOM / 4)
    table = table.with_columns(
        end=pl.col("after").clip(along.low * inside, along.high / inside), beyond=beyond,
        turn=pl.when(pl.col("after") > 1).then(90.0).otherwise(-90.0),
    )  # fmt: skip
    y = alt.Y("figure:N", title=None, sort=names, scale=alt.Scale(domain=names),
              axis=alt.Axis(labelLimit=1000, ticks=False, domain=False))  # fmt: skip
    x, end, first = (
        replace(along, field=field).encoding(alt.X) for field in ("after", "end", "before")
    )
    base = alt.Chart(table).encode(y=y, tooltip=["figure", "said"])
    layers = [
        base.mark_rule(color=BEST, strokeWidth=2.5).encode(x=end, x2="before:Q"),
        base.mark_point(filled=False, color=THIS, size=80, strokeWidth=2, opacity=1).encode(
            x=first
        ),
        base.transform_filter("!datum.beyond").mark_circle(
            color=BEST, size=100, opacity=1
        ).encode(x=x),
        *words([(width + GAP, STEP * (at + 0.5), row["said"]) for at, row in enumerate(rows)]),
        *_bound(table, along, names),
    ]  # fmt: skip
    said = "What the mapping changes: ○ rank order, ● found"
    if table["beyond"].any():
        said += ", arrow: beyond the axis"
        layers.append(
            base.transform_filter("datum.beyond")
            .mark_point(shape="triangle-up", filled=True, color=BEST, size=110, opacity=1)
            .encode(x=end, angle=alt.Angle("turn:Q", scale=None))
        )
    if table["bound"].drop_nulls().len():
        said += "; line: the best possible"
    return layered(layers, said, width, height, right + left / 2)


def _ratios(rows: Sequence[Mapping[str, Any]], *, few: bool) -> Axis:
    """Return the logarithmic axis of figures after as parts of those before."""
    seen = [row[name] for row in rows for name in ("after", "bound") if row[name] is not None]
    there = [each for each in seen if 1 / MOST_TIMES <= each <= MOST_TIMES]
    low, high = min([*there, 1 / LEAST_TIMES]), max([*there, LEAST_TIMES])
    wide = (high / low) ** ROOM
    low, high = low / wide, high * wide
    sets = [[each for each in some if low <= each <= high] for some in TIMES]
    marks = next((some for some in sets if len(some) > 2), sets[-1])
    marks = [each for each in marks if not few or each in (marks[0], 1.0, marks[-1])]
    names = tuple(f"{number(each)}×" for each in marks)
    return Axis("after", "times what rank order has", low, high, log=True, marks=tuple(marks),
                names=names)  # fmt: skip


def _bound(table: pl.DataFrame, along: Axis, names: list[str]) -> list[alt.Chart]:
    known = table.drop_nulls("bound")
    if known.is_empty():
        return []
    drawn = alt.Chart(known).mark_tick(style="ink", thickness=2.5, size=20)
    x = replace(along, field="bound").encoding(alt.X)
    return [drawn.encode(x=x, y=alt.Y("figure:N", sort=names))]


def _rows(record: Recorded) -> list[dict[str, Any]]:
    """Return the objective and other figures after, as parts of those before, and in words."""
    objective, table = record.figures["objective"], record.tables["table"]
    name = objective["name"].replace("-", " ")
    said: Callable[[Any], str] = number
    if objective["name"] == "max-channel-load":
        name = TIMED if objective["timed"] else MEASURES[f"{LOAD}_max"]
        said = number if objective["timed"] else _said(record)
    anywhere = " on a channel"
    where = between_routers(record.figures) or anywhere
    name = name.format(where=anywhere if objective["hosts"] else where)
    rows = [_row(name, objective["before"], objective["after"], objective["bound"], said)]
    before, after = (table.filter(mapping=name) for name in ("identity", "result"))
    if before.height and after.height:
        first, last = before.row(0, named=True), after.row(0, named=True)
        seen = {(objective["before"], objective["after"])}
        for column, name in MEASURES.items():
            pair = (first[column], last[column])
            if pair in seen or any(each is None or not isfinite(each) for each in pair):
                continue
            seen.add(pair)
            load = _said(record) if column == f"{LOAD}_max" else number
            load = load_share if "saturation" in column else load
            rows.append(_row(name.format(where=where), *pair, said=load))
    return rows


def _said(record: Recorded) -> Callable[[Any], str]:
    """Return how loads of channels are said, with their unit."""
    return partial(carried, unit_of(record.figures))


def _row(
    name: str,
    before: float,
    after: float,
    bound: float | None = None,
    said: Callable[[Any], str] = number,
) -> dict[str, Any]:
    share = after / before if before else 1.0 if not after else inf
    lower = bound / before if bound and before else None
    if lower is not None and not 1 / MOST_TIMES <= lower <= MOST_TIMES:
        lower = None
    return {"figure": name, "before": 1.0, "after": share, "bound": lower,
            "said": f"{said(before)} → {said(after)}"}  # fmt: skip


PART_TITLES = {
    "before": "Channels by load, before",
    "after": "Channels by load, after",
    "difference": "What the mapping changes on each channel",
    "objective": "What the mapping changes",
    "falling": "All channels by load, before and after",
}
"""What parts are called that have no title of their own."""
