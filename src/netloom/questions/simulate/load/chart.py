"""The picture of a simulation: latency and what gets through by load, or one load in detail."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.axes import DOTTED, LOAD_STEPS, MINE, End, Look, axis, looks_of, panel
from netloom.drawing.colours import REFERENCE, THIS
from netloom.questions.network_chart import channels_chart
from netloom.questions.shown import NARROW_BAND, band_named
from netloom.questions.simulate.drawn import (
    AVERAGE,
    BY_NODE,
    LIMIT,
    ON_CHANNEL,
    WORST,
    shares,
)
from netloom.questions.simulate.said import SLOW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.drawing.axes import Axis, Panel
    from netloom.drawing.frame import Part
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.register import Recorded

OFFERED = "offered traffic (flits/node/cycle)"
LATENCY = "packet latency (cycles)"

IDLE = Look(REFERENCE, DOTTED)

MOST_TIMES = 6.0
"""Times the latency of an idle network, up to which curves beyond saturation are drawn."""

TAIL = 1.5
"""Times the 99th percentile, up to which latencies of packets are drawn."""


def footer(record: Recorded) -> list[str]:
    """Return what was simulated, on which routers, and what limits it."""
    found, bound = record.figures, _bound(record)
    router = found["router"]
    whose = "any routing" if bound.get("of") == "network" else "this routing"
    return [
        f"{found['traffic']} on {found['topology']}; {found['routing']}, {router['name']} router, "
        f"{counted(router['vcs'], 'VC')} of {router['buffer_flits']} flits, packets of "
        f"{found['packet_flits']['law']} flits",
        f"Limit with {whose}: {number(bound['load'])} flits/node/cycle, by {bound['limited_by']}",
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return latency and what gets through by load, or where the packets of one load go."""
    if record.several or record.verb == "find_saturation":
        return {"latency": latency_curve(record), "accepted": accepted_curve(record)}
    return {"channels": busy_channels(record), "latencies": latency_spread(record)}


def _bound(record: Recorded) -> dict[str, Any]:
    """Return the bound of the technique that could carry most."""
    bounds: dict[str, dict[str, Any]] = record.figures["throughput_bounds"]
    return max(bounds.values(), key=lambda bound: bound["load"])


def latency_curve(record: Recorded) -> alt.LayerChart:
    """Return mean packet latency by load, with its confidence interval, up to saturation."""
    table = record.tables["table"].filter(pl.col("packet_latency_mean").is_not_null())
    half = pl.col("packet_latency_ci95").fill_null(0)
    table = table.sort("offered").with_columns(
        latency=pl.col("packet_latency_mean"),
        low=pl.col("packet_latency_mean") - half,
        high=pl.col("packet_latency_mean") + half,
    )
    idle, looks = _idle(record), _looks(record)
    ends = [f"idle {number(idle)}"] if idle is not None else []
    top = axis("latency", LATENCY, [*table["high"].to_list(), idle], whole=False)
    most = MOST_TIMES * float(table["zero_load_latency"].max() or top.high)  # type: ignore[arg-type]
    carried = float(_carried(record, table)["latency"].max() or 0)  # type: ignore[arg-type]
    cut = replace(top, high=min(top.high, max(most, carried)))
    where = panel(_loads(record), cut, [*_named(looks), *ends])
    shown = table.select("switching", "offered", "latency", "low", "high", "packet_latency_p99")
    layers = [*_saturated(record, where), *bands(where, shown, looks)]
    if idle is not None:
        layers += where.across(idle, IDLE)
    layers += where.lines(shown, "switching", looks)
    more = [End(each, where.x.high, idle or 0, REFERENCE, IDLE.dash) for each in ends]
    layers += where.ends_of(shown, "switching", looks, more, _upright(record, where))
    return where.drawn(layers, _latency_said(_carried(record, table)))


def _carried(record: Recorded, table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a table that are not beyond where their techniques saturate."""
    most = {name: high if high - low <= NARROW_BAND * high else low
            for name, (low, high) in saturation_intervals(record).items()}  # fmt: skip
    below = pl.col("switching").replace_strict(most, default=inf, return_dtype=pl.Float64)
    return table.filter(pl.col("offered") <= below)


def _idle(record: Recorded) -> float | None:
    """Return the latency of the idle network that the verdict names, if it is that of all."""
    if record.verb == "find_saturation":
        found = [each["zero_load_latency"] for each in record.points]
    else:
        table = record.tables["table"].filter(pl.col("packet_latency_mean").is_not_null())
        last = table.sort("offered").group_by("switching").last()
        found = last["zero_load_latency"].to_list()
    known = {number(each): float(each) for each in found if each is not None}
    return next(iter(known.values())) if len(known) == 1 else None


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


def bands(where: Panel, table: pl.DataFrame, looks: dict[str, Look]) -> list[alt.Chart]:
    """Return the intervals ``low`` to ``high`` round the lines of techniques."""
    scale = alt.Scale(domain=list(looks), range=[look.colour for look in looks.values()])
    colour = alt.Color("switching:N", legend=None, scale=scale)
    lowest = table.with_columns(latency=pl.col("low"))
    return [where.chart(lowest, y2="high:Q", color=colour).mark_area(opacity=0.2, clip=True)]


def accepted_curve(record: Recorded) -> alt.LayerChart:
    """Return which share of the offered traffic is accepted: of the mean node, and the worst.

    Of the worst only from the highest load on that is carried: below, all nodes get all through,
    and the worst is the one that happened to send least. Of several techniques only the mean.
    """
    table = record.tables["table"].drop_nulls("accepted").sort("offered")
    table = table.filter(pl.col("offered") > 0)
    techniques = list(_looks(record))
    looks, load = looks_of(techniques), _loads(record)
    tidy = _share(table, "accepted", pl.col("switching"))
    if len(techniques) == 1:
        carried = table.filter("stable")["offered"].max()
        some = table.filter(pl.col("offered") >= (carried or 0))
        some = some if some.height > 1 else some.clear()
        of_worst = _share(some, "accepted_worst_node", pl.lit(WORST))
        tidy = pl.concat([_share(table, "accepted", pl.lit(AVERAGE)), of_worst])
        looks = {name: look for name, look in BY_NODE.items() if name in set(tidy["of"])}
    return shares(tidy, load, looks, lambda where: _saturated(record, where),
                  lambda where: _upright(record, where))  # fmt: skip


def _share(table: pl.DataFrame, column: str, of: pl.Expr) -> pl.DataFrame:
    return table.select("offered", share=pl.col(column) / pl.col("offered"), of=of)


def _loads(record: Recorded) -> Axis:
    """Return the axis of loads, up to the bound where that is near."""
    reached, bound = _reached(record), _bound(record)["load"]
    found = axis("offered", OFFERED, [reached, bound if bound <= 1.3 * reached else None])
    return replace(found, steps=LOAD_STEPS)


def _reached(record: Recorded) -> float:
    """Return the highest load that was run."""
    most: Any = record.tables["table"]["offered"].max()
    return float(most)


def _saturated(record: Recorded, where: Panel) -> list[alt.Chart]:
    """Return the intervals in which techniques saturate, and the load that nothing can exceed."""
    layers, said = [], dict[str, tuple[float, float]]()
    for low, high in sorted(set(saturation_intervals(record).values())):
        said[band_named("saturates", low, high)] = (low, high)
        layers += where.band(low, high)
    bound = _bound(record)["load"]
    if bound <= where.x.high:
        layers += where.rule(bound)
        said[f"{LIMIT} {number(bound)}"] = (bound, bound)
    return [*layers, *where.above(said)]


def _upright(record: Recorded, where: Panel) -> list[float]:
    """Return the loads at which there are upright lines."""
    found = {_bound(record)["load"], *chain(*saturation_intervals(record).values())}
    return [each for each in found if each <= where.x.high]


def saturation_intervals(record: Recorded) -> dict[str, tuple[float, float]]:
    """Return between which loads each technique saturates: the last it carried, the first not.

    Traffic piles up at that, or packets take several times as long as on an idle network: the
    definition of a search, which says itself where that is.
    """
    found = {}
    if record.verb == "find_saturation":
        for each in record.points:
            if each["saturates"]:
                half = (each["saturation_offered_width"] or 0.0) / 2
                place = each["saturation_offered"]
                found[each["switching"]] = (place - half, place + half)
        return found
    for technique in _looks(record):
        mine = record.tables["table"].filter(switching=technique, interrupted=False)
        slow = pl.col("packet_latency_mean") > SLOW * pl.col("zero_load_latency")
        behind = mine.filter(~pl.col("stable") | slow.fill_null(value=False))["offered"].min()
        if behind is not None:
            carried = mine.filter(pl.col("offered") < behind)["offered"].max()
            found[technique] = (float(carried or 0.0), float(behind))  # type: ignore[arg-type]
    return found


def _looks(record: Recorded) -> dict[str, Look]:
    names = list(record.figures["throughput_bounds"])
    return looks_of(names) if len(names) > 1 else {names[0]: MINE._replace(named=False)}


def _named(looks: dict[str, Look]) -> list[str]:
    return [name for name, look in looks.items() if look.named]


def busy_channels(record: Recorded) -> NetworkChart:
    """Return the network of one simulated load by channel utilization."""
    return channels_chart(record, record.tables["channels"], "utilisation", ON_CHANNEL)


def latency_spread(record: Recorded) -> alt.LayerChart:
    """Return how many packets of one load took how long.

    Past saturation, how much nodes get through of what they offer.
    """
    bins = record.figures["histogram"]
    if bins is None:
        nodes = record.tables["nodes"].filter(pl.col("node_offered") > 0)
        share = nodes["node_accepted"].to_numpy() / nodes["node_offered"].to_numpy()
        counts, edges = np.histogram(share, bins=20, range=(0, max(1.0, share.max(initial=0))))
        when = "Interrupted" if record.figures["stable"] else "Overloaded"
        x = axis("from", "share of its traffic that a node gets through", [1.0], share=True)
        y = axis("height", "nodes", [*counts.tolist(), 1], whole=True)
        return _histogram(edges, counts, x, y, f"{when}: nodes by what they get through", {})
    first, width, packets = bins["first_cycle"], bins["bin_cycles"], np.array(bins["packets"])
    row = record.tables["table"].row(0, named=True)
    edges = first + width * np.arange(len(packets) + 1)
    heights = packets / packets.sum()
    seen = max(int(np.searchsorted(edges, TAIL * row["packet_latency_p99"])), 1)
    edges, heights = edges[: seen + 1], heights[:seen]
    y = axis("height", "share of the packets", heights.tolist(), share=True, full=False)
    x = axis("from", LATENCY, edges.tolist(), whole=True, room=0.02)
    marks = {f"{name} {number(row[f'packet_latency_{name}'])}": row[f"packet_latency_{name}"]
             for name in ("p50", "p99")}  # fmt: skip
    title = f"Packets took {number(row['packet_latency_mean'])} cycles on average, the longest "
    title += number(row["packet_latency_max"])
    return _histogram(edges, heights, x, y, title, marks)


def _histogram(
    edges: NDArray[Any],
    heights: NDArray[Any],
    x: Axis,
    y: Axis,
    title: str,
    marks: dict[str, float],
) -> alt.LayerChart:
    shown = pl.DataFrame({"from": edges[:-1], "to": edges[1:], "height": heights, "none": 0})
    where = panel(x, y)
    bars = where.chart(shown).mark_rect(color=THIS, opacity=0.75, stroke=None)
    layers = [bars.encode(x2="to:Q", y2="none:Q"), *where.upright(marks, Look(REFERENCE))]
    return where.drawn(layers, title)


PART_TITLES = {"latencies": "Latencies of packets"}
"""What parts are called that have no title of their own."""
