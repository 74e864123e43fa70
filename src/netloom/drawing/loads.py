"""Loads from 0 to 100 %: what they do to nodes, and where some mapping stands among others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from netloom.base.words import counted, load_share, percent
from netloom.contention.mapped import Limits
from netloom.drawing.axes import MINE, Axis, End, Look, Panel, axis, panel, shared
from netloom.drawing.bars import THICK, parts_of
from netloom.drawing.frame import OTHERS, REFERENCE, THIS, fitting, layered

OWN, RANDOM = "this mapping", "random mappings"
LOOKS = {OWN: MINE, RANDOM: Look(REFERENCE, (6, 4))}
OFFERED = "offered by the average node (share of a channel)"

DELAYED = {
    "worst_node": ("no node delayed", OTHERS[1]),
    "average_node": ("some delayed", OTHERS[0]),
    "upper_bound": ("most delayed", THIS),
}
"""Limits of load, what holds up to there, and its color."""

STANDS = {
    "worst_node": ("The first node is delayed at {} load*", "earlier", "later"),
    "average_node": ("Most nodes are delayed from {} load* on", "earlier", "later"),
    "upper_bound": ("At most {} load is carried", "less", "more"),
}
"""Limits by which mappings are compared, the first that is known, and words for less and more."""

WIDTH, DOT = 400.0, 9.0

SPLIT = "if half-way traffic goes both ways,"


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadLimits:
    """Loads that limit a mapped program, to be drawn.

    Attributes
    ----------
    limits
        Where the first node and most nodes are delayed, and what can be carried at most.
    split
        The last of these if half-way traffic goes both ways.
    offered
        What the average node offers.
    random
        A row per random mapping, with ``saturation_worst_node`` and so on.
    """

    limits: Limits
    split: float | None
    offered: float | None
    random: pl.DataFrame

    @property
    def compared(self) -> tuple[str, float, list[float]] | None:
        """The first limit that is known of all mappings: its name, this one's, and random ones'."""
        for limit in STANDS:
            own = getattr(self.limits, limit)
            others = self.random[f"saturation_{limit}"]
            if own is not None and len(others) and not others.has_nulls():
                return limit, own, others.to_list()
        return None

    def _panel(self, height: float) -> Panel:
        """Return the axis of loads: to 100 %, or to the largest that is drawn."""
        seen = [getattr(self.limits, limit) for limit in DELAYED] + [self.offered, self.split]
        seen += self.compared[2] if self.compared else []
        last = max(1.0, *(each for each in seen if each is not None))
        along = shared(Axis("percent", OFFERED, 0.0, last, share=True))
        return Panel(along, Axis("row", "", 0.0, 1.0), fitting(WIDTH), height)

    def _spans(self, last: float) -> Iterator[tuple[str, float, str]]:
        """Yield what loads do, where that ends, and its color. What is not known is grey."""
        begin, known = 0.0, True
        for limit, (name, colour) in DELAYED.items():
            load = getattr(self.limits, limit)
            known = known and load is not None
            if load is not None and load > begin:
                star = "*" * (limit != "upper_bound")
                said = f"{name if known else 'delays not known'} to {load_share(load)}{star}"
                yield said, load, colour if known else REFERENCE
                begin = load
        if self.split is not None:
            yield f"{SPLIT} to {load_share(self.split)}", self.split, REFERENCE
            begin = self.split
        if begin < last:
            yield "cannot be carried", last, REFERENCE

    def _delayed(self) -> str:
        """Return whom the offered load delays, or from where on the first node is delayed."""
        if self.offered is None:
            known = ((each, getattr(self.limits, each)) for each in STANDS)
            limit, load = next(each for each in known if each[1] is not None)
            return STANDS[limit][0].format(load_share(load))
        at = f"▼ {percent(self.offered)} load"
        for limit, many in zip(DELAYED, ("no node", "some nodes", "most nodes"), strict=True):
            load = getattr(self.limits, limit)
            if load is None:
                return f"What {at} delays is not known"
            if self.offered <= load:
                return f"{at} delays {many}*"
        way = " with half-way traffic in one direction"
        return f"{at} cannot be carried{way * (self.offered <= (self.split or 0.0))}"

    def bar(self) -> alt.LayerChart | None:
        """Return loads as a bar: up to where none, some and most nodes are delayed."""
        if all(getattr(self.limits, limit) is None for limit in DELAYED):
            return None
        where, begin = self._panel(THICK), 0.0
        ends, colours = {}, {}
        for name, end, colour in self._spans(where.x.high):
            ends[name], colours[name], begin = (begin, end), colour, end
        hollow = [name for name, colour in colours.items() if colour == REFERENCE]
        drawn = parts_of(where, ends, colours, hollow)
        if self.offered is not None:
            mark = alt.Chart(pl.DataFrame({"percent": [self.offered]})).mark_point(
                style="ink", filled=True, size=170, opacity=1, shape="triangle-down"
            )
            drawn.append(mark.encode(x=where.x.encoding(alt.X), y=alt.value(7)))
        return layered(drawn, self._delayed(), where.width, THICK)

    def among_random(self) -> alt.LayerChart | None:
        """Return the limit of each random mapping as a grey dot, this mapping's as a diamond."""
        if self.compared is None:
            return None
        limit, own, others = self.compared
        where = self._panel(0)
        stacked = []  # dots that would touch are one above the other
        rows: list[list[float]] = []
        for value in sorted(others):
            x = where.x.at(value) * where.width
            row = next((at for at, row in enumerate(rows) if x - row[-1] >= DOT), len(rows))
            if row == len(rows):
                rows.append([])
            rows[row].append(x)
            stacked.append((value, row))
        height = max(len(rows) * DOT + 26, 60.0)
        where = replace(where, height=height)
        down = [height - 6 - DOT * row for _, row in stacked]
        dots = pl.DataFrame({"percent": [each for each, _ in stacked], "down": down})
        dots = dots.with_columns(whose=pl.lit(RANDOM))
        base = alt.Chart(dots).encode(x=where.x.encoding(alt.X), tooltip=["whose", "percent"])
        drawn = [
            base.mark_circle(color=REFERENCE, size=46, opacity=1).encode(
                y=alt.Y("down:Q", scale=None, axis=None)
            ),
            alt.Chart(pl.DataFrame({"percent": [own], "whose": [OWN]}))
            .mark_point(shape="diamond", size=170, filled=True, color=THIS, opacity=1)
            .encode(x=where.x.encoding(alt.X), y=alt.value(height - 6), tooltip=["whose:N"]),
        ]
        spans = {f"{OWN} {load_share(own)}": (own, own)}
        colours, bound = dict.fromkeys(spans, THIS), self.split or self.limits.upper_bound
        if limit != "upper_bound" and bound is not None:
            drawn += where.rule(bound)
            spans[f"its limit {load_share(bound)}"] = (bound, bound)
        said, less, more = STANDS[limit]
        higher, lower = sum(each > own for each in others), sum(each < own for each in others)
        rank = f"{less} than in {higher}" if higher > lower else f"{more} than in {lower}"
        title = f"{said.format(load_share(own))}, {rank} of {counted(len(others), RANDOM[:-1])}"
        layers = [*drawn, *where.above(spans, colours)]
        return layered(layers, f"{title} (grey)", where.width, height)


def met_by_paths(counts: pl.DataFrame) -> alt.LayerChart | None:
    """Return the share of paths that meet at most so many others, also under random mappings.

    ``counts`` has columns ``mapping`` (``own`` or ``random``), ``path_contention`` and ``paths``.
    """
    if counts.is_empty():  # nobody counts it where pairs have several paths
        return None
    both = {"own": OWN, "random": RANDOM}
    names = {key: whose for key, whose in both.items() if counts.filter(mapping=key).height}
    steps = []
    for key, whose in names.items():
        mine = counts.filter(mapping=key)
        paths = np.bincount(mine["path_contention"].to_numpy(), mine["paths"].to_numpy())
        share = np.cumsum(paths) / paths.sum()
        at = np.unique(np.linspace(0, len(share) - 1, 500).astype(int))
        steps.append(pl.DataFrame({"nu": at, "share": share[at], "whose": [whose] * len(at)}))
    table = pl.concat(steps)
    looks = {whose: LOOKS[whose] for whose in names.values()}
    nu = axis("nu", "other paths met (ν)", table["nu"].to_list(), whole=True, room=0.02)
    where = panel(nu, axis("share", "share of the paths", [1.0], share=True), looks, WIDTH, 230)
    most: Any = table.filter(whose=OWN)["nu"].max()
    ends = []
    for name, look in looks.items():
        last = table.filter(whose=name).sort("nu").row(-1, named=True)
        ends.append(End(name, float(last["nu"]), float(last["share"]), look.colour, look.dash))
    layers = where.lines(table, "whose", looks, points=0, interpolate="step-after")
    return where.drawn(
        [*layers, *where.ends(ends)], f"A path meets {counted(most, 'other', ',')} at most"
    )
