"""The picture of an analysis: where it is hot, and how the mapping stands among random ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from netloom.base.words import counted
from netloom.drawing.axes import MINE, Axis, End, Look, Panel, axis, panel
from netloom.drawing.bars import THICK
from netloom.drawing.colours import OTHERS, REFERENCE, THIS
from netloom.drawing.frame import column, fitting, layered
from netloom.drawing.networks import Delays
from netloom.questions.analyze.words import delays_from, limit_if_split, load_share
from netloom.questions.named import mapping_name
from netloom.questions.network_chart import LOAD, channels_chart, load_title
from netloom.questions.shown import percent, subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.drawing.frame import Part
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.register import Recorded

OWN, RANDOM = "this mapping", "random mappings"
LOOKS = {OWN: MINE, RANDOM: Look(REFERENCE, (6, 4))}
OFFERED = "offered by the average node (share of a channel)"

LIMITS = {
    "worst_node": ("no node delayed", OTHERS[1]),
    "average_node": ("some delayed", OTHERS[0]),
    "upper_bound": ("most delayed", THIS),
}
"""Limits of load as JSON names them, with what holds up to there and its color."""

SPLIT = "if half-way traffic goes both ways,"

STANDS = {
    "worst_node": ("The first node is delayed at {} load*", "earlier", "later"),
    "average_node": ("Most nodes are delayed from {} load* on", "earlier", "later"),
    "upper_bound": ("At most {} load is carried", "less", "more"),
}
"""Limits by which mappings are compared, the first that is known, and words for less and more."""

WIDTH, DOT = 400.0, 9.0


def footer(record: Recorded) -> list[str]:
    """Return what was analyzed."""
    found, mapping = record.figures, mapping_name(record.configuration["mapping"])
    said = f"{subject(found['app'], found['topology'], mapping)}; {found['routing']}"
    return [said + "; * estimate" * (found["saturation"]["worst_node"] is not None)]


def arranged(record: Recorded) -> list[Part]:
    """Return the network by channel load beside the bar of loads and the random mappings."""
    drawn = parts(record)
    channels = drawn.pop("channels")
    beside = [drawn[name] for name in ("loads", "saturation") if name in drawn]
    beside = beside or list(drawn.values())
    return [channels, column(*beside)] if beside else [channels]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of an analysis, by name."""
    parts: dict[str, Part] = {"channels": channel_loads(record)}
    if any(record.figures["saturation"][limit] is not None for limit in LIMITS):
        parts["loads"] = load_bar(record)
    if _stands_by(record):
        parts["saturation"] = saturation_among_random(record)
    if record.tables["path_contention"].height:  # nobody counts it where pairs have several paths
        parts["path contention"] = path_contention(record)
    return parts


def channel_loads(record: Recorded) -> NetworkChart:
    """Return the network of an analysis, its channels by weighted channel load."""
    title, known = load_title(record), delays_from(record.figures)
    delays = known and Delays(known[0], known[1], f"{load_share(known[2])} load")
    return channels_chart(record, record.tables["channels"], LOAD, title, delays=delays)


def load_bar(record: Recorded) -> alt.LayerChart:
    """Return loads from 0 to 100 % at least: up to where none, some and most nodes are delayed."""
    own, offered = record.figures["saturation"], record.figures["offered"]
    where = _loads(record, THICK)
    begin, spans, colours = 0.0, dict[str, tuple[float, float]](), dict[str, str]()
    layers: list[alt.Chart] = []
    for name, end, colour in _segments(own, limit_if_split(record.figures), where.x.high):
        spans[name], colours[name] = (begin, end), colour
        segment, known = _segment(where, begin, end, name), colour != REFERENCE
        hollow: dict[str, Any] = {"filled": False, "stroke": REFERENCE, "strokeDash": [4, 3]}
        layers.append(
            segment.mark_rect(**({"style": "part", "color": colour} if known else hollow))
        )
        begin = end
    if offered is not None:
        place = pl.DataFrame({"percent": [offered]})
        mark = alt.Chart(place).mark_point(style="ink", filled=True, size=170, opacity=1,
                                           shape="triangle-down")  # fmt: skip
        layers.append(mark.encode(x=where.x.encoding(alt.X), y=alt.value(7)))
    drawn = [*layers, *where.above(spans, colours)]
    return layered(drawn, _delayed(record.figures), where.width, THICK)


def _delayed(figures: Mapping[str, Any]) -> str:
    """Return whom the offered load delays, or from where on the first node is delayed."""
    own, offered = figures["saturation"], figures["offered"]
    if offered is None:
        limit = next(each for each in STANDS if own[each] is not None)
        return STANDS[limit][0].format(load_share(own[limit]))
    at = f"▼ {percent(offered)} load"
    for limit, said in zip(LIMITS, ("delays no node*", "delays some nodes*", "delays most nodes*"),
                           strict=True):  # fmt: skip
        if own[limit] is None:
            return f"What {at} delays is not known"
        if offered <= own[limit]:
            return f"{at} {said}"
    split = limit_if_split(figures)
    one_way = " with half-way traffic in one direction" if split and offered <= split else ""
    return f"{at} cannot be carried{one_way}"


def _segments(
    own: dict[str, Any], split: float | None, last: float
) -> list[tuple[str, float, str]]:
    """Return what loads do, where that ends, and its color. What is not known is grey.

    ``split`` is the limit if half-way traffic goes both ways.
    """
    found, begin, known = [], 0.0, True
    for limit, (name, colour) in LIMITS.items():
        known = known and own[limit] is not None
        end = begin if own[limit] is None else own[limit]
        if end > begin:
            star = "*" if limit != "upper_bound" else ""
            said = f"{name if known else 'delays not known'} to {load_share(own[limit])}{star}"
            found.append((said, end, colour if known else REFERENCE))
            begin = end
    if split is not None:
        found.append((f"{SPLIT} to {load_share(split)}", split, REFERENCE))
        begin = split
    return [*found, *[("cannot be carried", last, REFERENCE)] * (begin < last)]


def _loads(record: Recorded, height: float) -> Panel:
    """Return the axis of loads: to 100 %, or to the largest that is drawn."""
    own, random = record.figures["saturation"], record.tables["random_table"]
    seen = [*(own[limit] for limit in LIMITS), record.figures["offered"]]
    seen.append(limit_if_split(record.figures))
    if limit := _stands_by(record):
        seen += random[f"saturation_{limit}"].to_list()
    last = max(1.0, *(each for each in seen if each is not None))
    along = Axis("percent", OFFERED, 0.0, last, share=True)
    return Panel(along, Axis("row", "", 0.0, 1.0), fitting(WIDTH), height)


def _segment(where: Panel, begin: float, end: float, name: str) -> alt.Chart:
    table = pl.DataFrame({"percent": [begin], "end": [end], "nodes": [name]})
    drawn: alt.Chart = alt.Chart(table).encode(
        x=where.x.encoding(alt.X), x2="end:Q", y=alt.value(0), y2=alt.value(THICK),
        tooltip=["nodes:N", "percent:Q", "end:Q"],
    )  # fmt: skip
    return drawn


def _stands_by(record: Recorded) -> str:
    """Return the limit that is known of this mapping and of random ones, or ""."""
    own, random = record.figures["saturation"], record.tables["random_table"]
    known = (
        limit for limit in STANDS
        if random.height and own[limit] is not None
        and not random[f"saturation_{limit}"].has_nulls()
    )  # fmt: skip
    return next(known, "")


def saturation_among_random(record: Recorded) -> alt.LayerChart:
    """Return the limit of each random mapping as a grey dot, this mapping's as a red diamond."""
    limit, own = _stands_by(record), record.figures["saturation"]
    random = record.tables["random_table"][f"saturation_{limit}"].to_list()
    where = _loads(record, 0)
    stacked, tallest = _stacked(random, where)
    mine = own[limit]
    height = max(tallest * DOT + 26, 60.0)
    where = replace(where, height=height)
    dots = pl.DataFrame({
        "percent": [x for x, _ in stacked], "down": [height - 6 - DOT * y for _, y in stacked],
        "whose": [RANDOM] * len(stacked),
    })  # fmt: skip
    base = alt.Chart(dots).encode(x=where.x.encoding(alt.X), tooltip=["whose", "percent"])
    drawn: list[alt.Chart] = [
        base.mark_circle(color=REFERENCE, size=46, opacity=1).encode(
            y=alt.Y("down:Q", scale=None, axis=None)
        ),
        alt.Chart(pl.DataFrame({"percent": [mine], "whose": [OWN]}))
        .mark_point(shape="diamond", size=170, filled=True, color=THIS, opacity=1)
        .encode(x=where.x.encoding(alt.X), y=alt.value(height - 6), tooltip=["whose:N"]),
    ]
    spans = {f"{OWN} {load_share(own[limit])}": (mine, mine)}
    colours, bound = dict.fromkeys(spans, THIS), own["upper_bound"]
    split = limit_if_split(record.figures)
    if limit != "upper_bound" and bound is not None:
        bound = split or bound
        drawn += where.rule(bound)
        name = f"its limit {load_share(bound)}"
        spans[name] = (bound, bound)
    drawn += where.above(spans, colours)
    said, less, more = STANDS[limit]
    higher = sum(each > own[limit] for each in random)
    lower = sum(each < own[limit] for each in random)
    rank = f"{less} than in {higher}" if higher > lower else f"{more} than in {lower}"
    said = f"{said.format(load_share(own[limit]))}, {rank} of {counted(len(random), RANDOM[:-1])}"
    return layered(drawn, f"{said} (grey)", where.width, height)


def _stacked(values: list[float], where: Panel) -> tuple[list[tuple[float, int]], int]:
    """Return dots that would touch one above the other, and how many at most."""
    rows: list[list[float]] = []
    found = []
    for value in sorted(values):
        x = where.x.at(value) * where.width
        row = next((at for at, row in enumerate(rows) if x - row[-1] >= DOT), len(rows))
        if row == len(rows):
            rows.append([])
        rows[row].append(x)
        found.append((value, row))
    return found, len(rows)


def path_contention(record: Recorded) -> alt.LayerChart:
    """Return the share of paths that meet at most so many others, also under random mappings."""
    counts = record.tables["path_contention"]
    both = {"own": OWN, "random": RANDOM}
    names = {key: whose for key, whose in both.items() if counts.filter(mapping=key).height}
    table = pl.concat([_steps(whose, counts.filter(mapping=key)) for key, whose in names.items()])
    looks = {whose: LOOKS[whose] for whose in names.values()}
    where = panel(
        axis("nu", "other paths met (ν)", table["nu"].to_list(), whole=True, room=0.02),
        axis("share", "share of the paths", [1.0], share=True), looks, WIDTH, 230,
    )  # fmt: skip
    mine: Any = table.filter(whose=OWN)["nu"].max()
    layers = where.lines(table, "whose", looks, points=0, interpolate="step-after")
    ends = [End(*_ends_at(table.filter(whose=name), name), look.colour, look.dash)
            for name, look in looks.items()]  # fmt: skip
    return where.drawn([*layers, *where.ends(ends)], f"A path meets {mine:,} others at most")


def _ends_at(table: pl.DataFrame, name: str) -> tuple[str, float, float]:
    row = table.sort("nu").row(-1, named=True)
    return name, float(row["nu"]), float(row["share"])


def _steps(whose: str, counted: pl.DataFrame) -> pl.DataFrame:
    levels = counted["path_contention"].to_numpy()
    counts = np.bincount(levels, counted["paths"].to_numpy())
    share = np.cumsum(counts) / counts.sum()
    shown = np.unique(np.linspace(0, len(share) - 1, 500).astype(int))
    return pl.DataFrame({"nu": shown, "share": share[shown], "whose": [whose] * len(shown)})


PART_TITLES = {
    "loads": "What load does to the nodes",
    "path contention": "Path contention",
    "saturation": "Where it saturates",
}
"""What parts are called that have no title of their own."""
