"""The picture of a simulation: latency and accepted traffic by load, or one load in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from netloom.drawing.colours import COLOURS, GREY, LOAD_COLOURS
from netloom.drawing.frame import curve, layered, titled
from netloom.questions.network_chart import channels_chart
from netloom.words import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.drawing.frame import Part
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.recorded import Recorded

OFFERED = "offered traffic, flits/node/cycle"


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was simulated, on which routers, and what limits it."""
    found, bound = record.figures, _bound(record)
    router = found["router"]
    whose = "any routing" if bound.get("of") == "network" else "this routing"
    words = [
        f"{found['routing']}, {router['name']} router, {counted(router['vcs'], 'VC')} "
        f"of {router['buffer_flits']} flits, packets of {found['packet_flits']['law']} flits",
        f"With {whose} and these ends, at most {bound['load']:.4g} can be carried: "
        f"{bound['limited_by']}",
    ]
    return f"{found['traffic']} on {found['topology']}", words


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return latency and accepted traffic by load; of one load, where its packets go."""
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
    table = table.with_columns(
        low=pl.col("packet_latency_mean") - half, high=pl.col("packet_latency_mean") + half
    )
    load = alt.X("offered:Q", title=OFFERED, scale=alt.Scale(zero=True))
    title = "packet latency, cycles"
    band = (
        alt.Chart(table)
        .mark_area(opacity=0.25)
        .encode(x=load, y=alt.Y("low:Q", title=title), y2="high:Q", color=_technique(record))
    )
    line = curve(
        table,
        x=load,
        y=alt.Y("packet_latency_mean:Q", title=title),
        color=_technique(record),
        tooltip=[
            "switching:N",
            "offered:Q",
            "packet_latency_mean:Q",
            "packet_latency_p99:Q",
        ],
    )
    idle = table.filter(pl.col("offered") == pl.col("offered").min())
    floor = (
        alt.Chart(idle)
        .mark_rule(strokeDash=[2, 3])
        .encode(y="zero_load_latency:Q", color=_technique(record))
    )
    layers = [band, line, floor, *_limits(record, named=True)]
    return layered(layers, "Packet latency with its 95 % interval; dotted: zero load")


def accepted_curve(record: Recorded) -> alt.LayerChart:
    """Return accepted traffic by load: of the mean node, and of the worst."""
    table = record.tables["table"].drop_nulls("accepted")
    load = alt.X("offered:Q", title=OFFERED, scale=alt.Scale(zero=True))
    title = "accepted traffic, flits/node/cycle"
    worst = (
        alt.Chart(table)
        .mark_line(strokeDash=[5, 3], strokeWidth=1.5)
        .encode(x=load, y=alt.Y("accepted_worst_node:Q", title=title), color=_technique(record))
    )
    mean = curve(table, x=load, y=alt.Y("accepted:Q", title=title), color=_technique(record))
    most = _reached(record)
    all_of_it = pl.DataFrame({"offered": [0.0, most], "accepted": [0.0, most]})
    diagonal = (
        alt.Chart(all_of_it)
        .mark_line(color=GREY, strokeDash=[2, 3])
        .encode(x="offered:Q", y="accepted:Q")
    )
    layers = [diagonal, worst, mean, *_limits(record, named=False)]
    return layered(layers, "Accepted traffic: mean node, and (dashed) the worst")


def _reached(record: Recorded) -> float:
    """Return the highest load that was run."""
    most: Any = record.tables["table"]["offered"].max()
    return float(most)


def _limits(record: Recorded, *, named: bool) -> list[alt.Chart]:
    """Vertical lines where techniques saturate and where none could go on."""
    marks = _saturations(record)
    bound = _bound(record)["load"]
    if bound <= 1.3 * _reached(record):
        marks[bound] = "limit"
    if not marks:
        return []
    table = pl.DataFrame({"offered": list(marks), "what": list(marks.values())})
    rules = alt.Chart(table).mark_rule(color=GREY, strokeDash=[6, 3]).encode(x="offered:Q")
    words = (
        alt.Chart(table)
        .mark_text(angle=270, align="right", baseline="bottom", dx=-4, dy=-3, color=GREY)
        .encode(x="offered:Q", y=alt.value(0), text="what:N")
    )
    return [rules, words] if named else [rules]


def _saturations(record: Recorded) -> dict[float, str]:
    """Return the loads at which techniques saturate, or were first seen to fall behind."""
    if record.verb == "simulate":
        what, behind = "falls behind", record.tables["table"].filter(stable=False)
        found = behind.select("offered", "switching").rows()
    else:
        what, searches = "saturates", [each for each in record.points if each["saturates"]]
        found = [(search["saturation_offered"], search["switching"]) for search in searches]
    compares = len(record.figures["throughput_bounds"]) + len(record.figures["refused"]) > 1
    marks: dict[float, str] = {}
    for load, technique in found:
        said = f"{what}: {technique}" if compares else what
        marks[load] = f"{marks[load]}, {technique}" if load in marks else said
    return marks


def _technique(record: Recorded) -> alt.Color:
    names = list(record.figures["throughput_bounds"])
    legend = alt.Legend(orient="top", title=None, symbolOpacity=1) if len(names) > 1 else None
    scale = alt.Scale(domain=names, range=COLOURS[: len(names)])
    return alt.Color("switching:N", scale=scale, legend=legend)


def busy_channels(record: Recorded) -> NetworkChart:
    """Return the network of one simulated load by channel utilisation."""
    channels = record.tables["channels"]
    return channels_chart(record, channels, "utilisation", "flits/cycle on the channel")


def latency_spread(record: Recorded) -> alt.Chart:
    """Return how many packets of one load took how long.

    Past saturation, how much nodes get through of what they offer.
    """
    bins = record.figures["histogram"]
    if bins is None:
        nodes = record.tables["nodes"].filter(pl.col("node_offered") > 0)
        share = 100 * nodes["node_accepted"].to_numpy() / nodes["node_offered"].to_numpy()
        counts, edges = np.histogram(share, bins=20, range=(0, max(100.0, share.max())))
        when = "Interrupted" if record.figures["stable"] else "Past saturation"
        axis, title = "% of what it offers", f"{when}: what a node gets through"
        return _histogram(edges, counts, axis, "nodes", title)
    first, width, packets = bins["first_cycle"], bins["bin_cycles"], np.array(bins["packets"])
    edges = first + width * np.arange(len(packets) + 1)
    share = 100 * packets / packets.sum()
    axis, title = "packet latency, cycles", "How long packets took"
    return _histogram(edges, share, axis, "% of packets", title)


def _histogram(
    edges: NDArray[Any], heights: NDArray[Any], axis: str, counted: str, title: str
) -> alt.Chart:
    shown = pl.DataFrame({"from": edges[:-1], "to": edges[1:], "height": heights, "none": 0})
    bars = (
        alt.Chart(shown)
        .mark_rect(color=LOAD_COLOURS[-2])
        .encode(
            x=alt.X("from:Q", title=axis, scale=alt.Scale(zero=True)),
            x2="to:Q",
            y=alt.Y("height:Q", title=counted),
            y2="none:Q",
        )
    )
    return titled(bars, title)


PART_TITLES = {
    "latencies": "How long packets took",
}
"""What parts are called that have no title of their own."""
