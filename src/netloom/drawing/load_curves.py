"""Curves over the load of a network, simulated and by models.

They show latency, what gets through, and where the network saturates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from netloom.base.arrays import Floats
from netloom.base.figures import SHARE, say
from netloom.base.words import number, percent
from netloom.drawing.axes import (
    DASHED,
    DOTTED,
    LOAD_STEPS,
    MINE,
    MODEL,
    Axis,
    End,
    Look,
    Panel,
    Spans,
    axis,
    looks_of,
    panel,
)
from netloom.drawing.bars import Bar, stacked
from netloom.drawing.frame import BEST, REFERENCE, THIS
from netloom.drawing.names import NARROW_BAND, band_named
from netloom.simulation.network.figures import Histogram, Point

# -- by models -------------------------------------------------------------------------------------


WIDTH, HEIGHT = 430, 320

WHOLE, INSIDE, MEASURED, WHILE_IDLE = "model", "in the network", "simulated", "idle"

LOOKS = {WHOLE: MODEL, INSIDE: Look(REFERENCE, DASHED, 1.3)}

MOST_TIMES = 6
"""Times the latency of an idle network, up to which a curve is drawn if nothing else is higher."""


def latency_curve(
    table: pl.DataFrame,
    along: Axis,
    idle: float,
    saturation: tuple[float, float],
    limit: float | None = None,
) -> alt.LayerChart:
    """Latency by rate: the model's, its part in the network, and simulated points.

    ``saturation`` is the interval that the model expects it in. ``limit`` the load that nothing
    can exceed, if it is to be drawn.
    """
    by = along.field
    known = table.drop_nulls("latency").sort(by)
    half = pl.col("simulated_ci95").fill_null(0)
    measured = table.drop_nulls("simulated_latency").with_columns(
        latency=pl.col("simulated_latency"),
        low=pl.col("simulated_latency") - half,
        high=pl.col("simulated_latency") + half,
    )
    highest = known["latency"].max() or idle
    top: Any = max(min(highest, MOST_TIMES * idle), measured["simulated_latency"].max() or 0)
    names = [
        *LOOKS,
        *([f"● {MEASURED}"] if measured.height else []),
        f"{WHILE_IDLE} {number(idle)}",
    ]
    where = panel(along, axis("latency", "latency (cycles)", [0, top], whole=False), names)
    spans = [saturation] if saturation[0] <= along.high else []
    layers = _saturation(where, "saturates*", spans, limit)
    layers += where.across(idle, Look(REFERENCE, DOTTED))
    if "latency_low" in known.columns:
        expected = known.select(by, pl.col("latency_high"), latency=pl.col("latency_low"))
        band = where.chart(expected, y2="latency_high:Q")
        layers.append(band.mark_area(color=THIS, opacity=0.15, clip=True))
    tidy = pl.concat(
        known.select(by, latency=pl.col(column), of=pl.lit(name))
        for name, column in ((WHOLE, "latency"), (INSIDE, "network_latency"))
    )
    layers += where.lines(tidy, "of", LOOKS, points=0)
    ends = [End(names[-1], where.x.high, idle, REFERENCE, DOTTED)]
    if measured.height:
        points = where.chart(measured, tooltip=[by, "latency", "low", "high"])
        layers.append(points.mark_circle(size=46, opacity=1, color=THIS, clip=True))
        bars = where.chart(measured.with_columns(latency=pl.col("low")), y2="high:Q")
        layers.append(bars.mark_rule(color=THIS, strokeWidth=1.4, clip=True))
        last = measured.sort(by).row(-1, named=True)
        ends.append(End(MEASURED, last[by], last["latency"], THIS, ()))
    inside = bool((known["latency"] == known["network_latency"]).all())
    seen = tidy.filter(of=WHOLE) if inside else tidy
    looks = {name: look for name, look in LOOKS.items() if name in set(seen["of"])}
    layers += where.ends_of(seen, "of", looks, ends)
    said = "No rate has a latency: all are beyond saturation"
    if not known.is_empty():
        slowest = known.row(-1, named=True)
        said = f"The model expects {number(slowest['latency'])} cycles at {number(slowest[by])}"
    return where.drawn(layers, said)


def _saturation(
    where: Panel, name: str, spans: Iterable[tuple[float, float]], limit: float | None
) -> list[alt.Chart]:
    """Return the intervals in which networks saturate, and the load that nothing can exceed."""
    said = {}
    layers = []
    for low, high in spans:
        layers += where.band(low, high)
        said[band_named(name, low, high)] = (low, min(high, where.x.high))
    if limit is not None and limit <= where.x.high:
        layers += where.rule(limit)
        said[f"{LIMIT} {number(limit)}"] = (limit, limit)
    return [*layers, *where.above(said)]


def made_of(point: Any, startup_cycles: float = 0.0) -> alt.LayerChart:
    """Return the parts of one latency, or nothing if it is saturated.

    ``point`` is what a model says at one load. Its times are None past saturation.
    """
    values = {
        "in the network": (point.network_latency or 0.0, BEST),
        "in the source queue": (point.source_wait or 0.0, THIS),
    }
    if startup_cycles and not point.saturated:
        values["starting up"] = (startup_cycles, REFERENCE)
    total = sum(value for value, _ in values.values())
    rows = [Bar(name, value, number(value), colour) for name, (value, colour) in values.items()]
    title = f"A message takes {number(total)} cycles"
    if point.latency is None:
        title = "Saturated: no latency" if point.saturated else "No latency: simulate the knee"
    elif total:
        title += f", {percent(values['in the source queue'][0] / total)} of them in the queue"
    return stacked(rows, title, "time of a message (cycles)", width=WIDTH)


# -- simulated -------------------------------------------------------------------------------------


AVERAGE, WORST = "average node", "worst node"
LATENCY = "packet latency (cycles)"
OFFERED = "offered traffic (flits/node/cycle)"

LIMIT = "limit"
ESTIMATE = Look(REFERENCE, DASHED)
IDLE = Look(REFERENCE, DOTTED)

BY_NODE = {AVERAGE: MINE._replace(width=3.2), WORST: MINE._replace(width=1.3)}
"""The average node is thick, the worst thin."""

MOST_TIMES_BEYOND = 6.0
"""Times the latency of an idle network, up to which curves beyond saturation are drawn."""

NEAR = 1.3
"""Times the highest load of a curve, up to which limits are drawn."""

TAIL = 1.5
"""Times the 99th percentile, up to which latencies of packets are drawn."""


@dataclass(frozen=True)
class LoadCurves:
    """Runs of techniques at several offered loads.

    Attributes
    ----------
    table
        A row per run: ``switching``, ``offered``, ``accepted``, ``accepted_worst_node``,
        ``stable``, and ``packet_latency_mean``, ``_ci95`` and ``_p99`` with
        ``zero_load_latency``, which are null past saturation.
    techniques
        What may stand under ``switching``.
    saturates
        Between which loads each technique does that does.
    bound
        The load that none can exceed.
    idle
        The latency of the idle network, if it is the same with all.
    """

    table: pl.DataFrame
    techniques: tuple[str, ...]
    saturates: Spans
    bound: float
    idle: float | None

    def latency(self) -> alt.LayerChart:
        """Return mean packet latency by load, with its 95 % interval, up to saturation."""
        half = pl.col("packet_latency_ci95").fill_null(0)
        table = self.table.drop_nulls("packet_latency_mean").sort("offered")
        table = table.with_columns(
            latency=pl.col("packet_latency_mean"),
            low=pl.col("packet_latency_mean") - half,
            high=pl.col("packet_latency_mean") + half,
        )
        most_of = {  # up to where techniques saturate
            name: high if high - low <= NARROW_BAND * high else low
            for name, (low, high) in self.saturates.items()
        }
        below = pl.col("switching").replace_strict(most_of, default=inf, return_dtype=pl.Float64)
        carried = table.filter(pl.col("offered") <= below)
        names = self.techniques
        looks = looks_of(names) if len(names) > 1 else {names[0]: MINE._replace(named=False)}
        idle = self.idle
        ends = [f"idle {number(idle)}"] if idle is not None else []
        top = axis("latency", LATENCY, [*table["high"].to_list(), idle], whole=False)
        beyond = [
            MOST_TIMES_BEYOND * each for each in table["zero_load_latency"].drop_nulls() if each
        ]
        most = [max(beyond, default=MOST_TIMES_BEYOND * top.high), *carried["latency"].to_list()]
        cut = replace(top, high=min(top.high, max(most)))
        named = [name for name, look in looks.items() if look.named]
        where = panel(self._loads, cut, [*named, *ends])
        shown = table.select("switching", "offered", "latency", "low", "high", "packet_latency_p99")
        bands = where.areas(shown, "switching", looks)
        layers = [*self._saturated(where), *bands]
        if idle is not None:
            layers += where.across(idle, IDLE)
        layers += where.lines(shown, "switching", looks)
        more = [End(each, where.x.high, idle or 0, REFERENCE, IDLE.dash) for each in ends]
        layers += where.ends_of(shown, "switching", looks, more)
        return where.drawn(layers, _latency_said(carried))

    def accepted(self) -> alt.LayerChart:
        """Return which share of the offered traffic is accepted: of the mean node, and the worst.

        Of the worst only from the highest load on that is carried: below, all nodes get all
        through, and the worst is the one that happened to send least. Of several techniques only
        the mean.
        """
        table = self.table.drop_nulls("accepted").sort("offered").filter(pl.col("offered") > 0)
        looks = looks_of(self.techniques)
        tidy = _share(table, "accepted", pl.col("switching"))
        if len(self.techniques) == 1:
            carried = table.filter("stable")["offered"].max()
            some = table.filter(pl.col("offered") >= (carried or 0))
            some = some if some.height > 1 else some.clear()
            of_worst = _share(some, "accepted_worst_node", pl.lit(WORST))
            tidy = pl.concat([_share(table, "accepted", pl.lit(AVERAGE)), of_worst])
            looks = {name: look for name, look in BY_NODE.items() if name in set(tidy["of"])}
        return shares(tidy, self._loads, looks, self._saturated)

    @cached_property
    def _loads(self) -> Axis:
        """The axis of loads, up to the bound where that is near."""
        reached = max(self.table["offered"])
        near = self.bound if self.bound <= NEAR * reached else None
        return replace(axis("offered", OFFERED, [reached, near]), steps=LOAD_STEPS)

    def _saturated(self, where: Panel) -> list[alt.Chart]:
        """Return the intervals in which techniques saturate, and the load of the bound."""
        spans = sorted(set(self.saturates.values()))
        return _saturation(where, "saturates", spans, self.bound)


def _share(table: pl.DataFrame, column: str, of: pl.Expr, load: str = "offered") -> pl.DataFrame:
    return table.select(load, share=pl.col(column) / pl.col(load), of=of)


def _latency_said(table: pl.DataFrame) -> str:
    """Return how long packets take at the least and the highest load that is carried."""
    if table.is_empty():
        return "No latency: every load saturates the network"
    first, last = table.row(0, named=True), table.row(-1, named=True)
    at = number(last["offered"])
    if table["switching"].n_unique() > 1:
        there = table.filter(offered=last["offered"])["latency"].sort().to_list()
        ends = list(dict.fromkeys(map(number, (there[0], there[-1]))))
        return f"At load {at}, packets take {' to '.join(ends)} cycles"
    said = f"Packets take {number(first['latency'])} cycles at load {number(first['offered'])}"
    if last["offered"] == first["offered"]:
        return said
    return f"{said}, {number(last['latency'])} at {at}"


def applied_shares(
    table: pl.DataFrame, highest: float, limits: tuple[float | None, float | None, float] | None
) -> alt.LayerChart:
    """Return which share of the applied traffic gets through: of the average node and the worst.

    Parameters
    ----------
    table
        A row per run: ``applied``, ``average_node`` and ``worst_node``, null where not known.
    highest
        The highest applied traffic asked for.
    limits
        Applied traffic at which the worst node and the average one saturate, if that is estimated,
        and the one that is never exceeded. None: nothing is known.
    """
    table = table.drop_nulls("average_node").filter(pl.col("applied") > 0)
    columns = {"average_node": AVERAGE, "worst_node": WORST}
    parts = [_share(table, name, pl.lit(of), "applied") for name, of in columns.items()]
    named = zip(("worst node*", "average node*", LIMIT), limits or (), strict=False)
    marks = {name: at for name, at in named if at is not None and at <= NEAR * highest}

    def thresholds(where: Panel) -> list[alt.Chart]:
        """Return where contention is estimated to begin, and the limit as a bound."""
        seen = {name: at for name, at in marks.items() if at <= where.x.high}
        layers = where.above({f"{name} {number(at)}": (at, at) for name, at in seen.items()})
        for name, at in seen.items():
            layers += where.rule(at, None if name == LIMIT else ESTIMATE)
        return layers

    along = axis("applied", "applied traffic (flits/node/cycle)", [highest, *marks.values()])
    shown = pl.concat(parts).sort("applied", maintain_order=True)
    return shares(shown, along, BY_NODE, thresholds)


def shares(
    table: pl.DataFrame,
    load: Axis,
    looks: Mapping[str, Look],
    more: Callable[[Panel], list[alt.Chart]] = lambda _: [],
) -> alt.LayerChart:
    """Return which share of the traffic gets through, by load.

    Parameters
    ----------
    table
        The columns of ``load``, ``share`` and ``of``, the series.
    load, looks
        The horizontal axis, and how series look.
    more
        What returns that which lies behind them.
    """
    up = axis("share", "share that gets through", table["share"].to_list(), share=True)
    where = panel(load, up, looks)
    names = where.ends_of(table, "of", looks)
    layers = [*more(where), *where.lines(table, "of", looks), *names]
    return where.drawn(layers, _shares_said(table, load.field))


def _shares_said(table: pl.DataFrame, load: str) -> str:
    """Return what gets through at the highest load: of the average node and of the worst."""
    if table.is_empty():
        return "Nothing is known of what gets through"
    last = table.filter(pl.col(load) == pl.col(load).max())
    at, by_node = number(last[load][0]), dict(zip(last["of"], last["share"], strict=True))
    if set(by_node) == {AVERAGE, WORST}:
        mean, worst = say(by_node[AVERAGE], SHARE), say(by_node[WORST], SHARE)
        return f"At load {at}, {mean} gets through, {worst} of the worst node"
    said = list(dict.fromkeys(say(each, SHARE) for each in sorted(last["share"])))
    return f"At load {at}, {' to '.join([said[0], *said[1:][-1:]])} gets through"


def latencies(point: Point, bins: Histogram) -> alt.LayerChart:
    """Return how many packets of a run took how long, up to behind the 99th percentile."""
    packets = np.array(bins.packets)
    marks = {"p50": point.packet_latency_p50 or 0.0, "p99": point.packet_latency_p99 or 0.0}
    edges = bins.first_cycle + bins.bin_cycles * np.arange(len(packets) + 1.0)
    seen = max(int(np.searchsorted(edges, TAIL * marks["p99"])), 1)
    edges, heights = edges[: seen + 1], (packets / packets.sum())[:seen]
    y = axis("height", "share of the packets", heights.tolist(), share=True, full=False)
    x = axis("from", LATENCY, edges.tolist(), whole=True, room=0.02)
    mean, longest = number(point.packet_latency_mean), number(point.packet_latency_max)
    said = f"Packets took {mean} cycles on average, the longest {longest}"
    named = {f"{name} {number(value)}": value for name, value in marks.items()}
    return _histogram(edges, heights, x, y, said, named)


def accepted_by_node(nodes: pl.DataFrame, when: str) -> alt.LayerChart:
    """Return how many nodes get which share of their traffic through.

    ``nodes`` has a row per node: ``node_offered`` and ``node_accepted``.
    """
    nodes = nodes.filter(nodes["node_offered"] > 0)
    share = nodes["node_accepted"].to_numpy() / nodes["node_offered"].to_numpy()
    most = max(1.0, share.max(initial=0))
    counts, edges = np.histogram(share, bins=20, range=(0, most))
    x = axis("from", "share of its traffic that a node gets through", [1.0], share=True)
    y = axis("height", "nodes", [*counts.tolist(), 1], whole=True)
    return _histogram(
        edges, counts.astype(np.float64), x, y, f"{when}: nodes by what they get through", {}
    )


def _histogram(
    edges: Floats, heights: Floats, x: Axis, y: Axis, title: str, marks: Mapping[str, float]
) -> alt.LayerChart:
    shown = pl.DataFrame({"from": edges[:-1], "to": edges[1:], "height": heights, "none": 0})
    where = panel(x, y)
    bars = where.chart(shown).mark_rect(color=THIS, opacity=0.75, stroke=None)
    layers = [bars.encode(x2="to:Q", y2="none:Q"), *where.upright(marks, Look(REFERENCE))]
    return where.drawn(layers, title)
