"""The picture of a simulation: latency and accepted traffic by load, or one load in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.report.frame import framed
from netloom.report.network import LOAD_COLOURS, network_chart
from netloom.verbs import Simulation
from netloom.verbs.simulated_network import largest_bound

if TYPE_CHECKING:
    import altair as alt
    from numpy.typing import NDArray

    from netloom.verbs import NetworkSaturation

COLOURS = ["#a50f15", "#2b6cb0", "#2f855a", "#b7791f", "#6b46c1"]
"""One a switching technique."""

GREY = "#7d8896"
OFFERED = "offered traffic, flits/node/cycle"


def simulation_chart(result: Simulation | NetworkSaturation) -> alt.HConcatChart:
    """Return the latency-load curve beside the accepted traffic; for one load, where it goes.

    Parameters
    ----------
    result
        What ``simulate`` or ``find_saturation`` answered.
    """
    network = result.network
    parts: tuple[alt.Chart | alt.LayerChart, ...]
    if isinstance(result, Simulation) and not result.several:
        parts = _busy(result), _spread(result)
    else:
        parts = _latency(result), _accepted(result)
    router = network.settings[0].router
    words = [
        f"{network.settings[0].routing.name}, {network.router_name} router, {router.vcs} VCs "
        f"of {router.buffer_flits} flits, packets of {network.lengths.name} flits",
        _worth(result),
    ]
    return framed(parts, network.name, words)


def _worth(result: Simulation | NetworkSaturation) -> str:
    bound = largest_bound(result.network.settings)
    return (
        f"With this routing and these ends, at most {bound.load:.4g} can be carried: {bound.what}"
    )


def _latency(result: Simulation | NetworkSaturation) -> alt.LayerChart:
    """Mean packet latency by load, with its confidence interval, up to saturation."""
    import altair as alt
    import polars as pl

    table = result.table().filter(pl.col("packet_latency_mean").is_not_null())
    half = pl.col("packet_latency_ci95").fill_null(0)
    table = table.with_columns(
        low=pl.col("packet_latency_mean") - half, high=pl.col("packet_latency_mean") + half
    )
    load = alt.X("offered:Q", title=OFFERED, scale=alt.Scale(zero=True))
    title = "packet latency, cycles"
    band = (
        alt.Chart(table)
        .mark_area(opacity=0.25)
        .encode(x=load, y=alt.Y("low:Q", title=title), y2="high:Q", color=_technique(result))
    )
    line = (
        alt.Chart(table)
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
        .encode(
            x=load,
            y=alt.Y("packet_latency_mean:Q", title=title),
            color=_technique(result),
            tooltip=[
                "switching:N",
                "offered:Q",
                "packet_latency_mean:Q",
                "packet_latency_p99:Q",
            ],
        )
    )
    idle = table.filter(pl.col("offered") == pl.col("offered").min())
    floor = (
        alt.Chart(idle)
        .mark_rule(strokeDash=[2, 3])
        .encode(y="zero_load_latency:Q", color=_technique(result))
    )
    layers = [band, line, floor, *_limits(result, named=True)]
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=430, height=320, title="Packet latency with its 95 % interval; dotted: zero load"
    )
    return chart


def _accepted(result: Simulation | NetworkSaturation) -> alt.LayerChart:
    """Accepted traffic by load: of the mean node, and of the worst."""
    import altair as alt
    import polars as pl

    table = result.table().drop_nulls("accepted")
    load = alt.X("offered:Q", title=OFFERED, scale=alt.Scale(zero=True))
    title = "accepted traffic, flits/node/cycle"
    worst = (
        alt.Chart(table)
        .mark_line(strokeDash=[5, 3], strokeWidth=1.5)
        .encode(x=load, y=alt.Y("accepted_worst_node:Q", title=title), color=_technique(result))
    )
    mean = (
        alt.Chart(table)
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2.2)
        .encode(x=load, y=alt.Y("accepted:Q", title=title), color=_technique(result))
    )
    most = max((point.run.load for point in result.points), default=1.0)
    all_of_it = pl.DataFrame({"offered": [0.0, most], "accepted": [0.0, most]})
    diagonal = (
        alt.Chart(all_of_it)
        .mark_line(color=GREY, strokeDash=[2, 3])
        .encode(x="offered:Q", y="accepted:Q")
    )
    layers = [diagonal, worst, mean, *_limits(result, named=False)]
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=430, height=320, title="Accepted traffic: mean node, and (dashed) the worst"
    )
    return chart


def _limits(result: Simulation | NetworkSaturation, *, named: bool) -> list[alt.Chart]:
    """Vertical lines where techniques saturate and where none could go on."""
    import altair as alt
    import polars as pl

    reached = max((point.run.load for point in result.points), default=1.0)
    marks = _saturations(result)
    bound = largest_bound(result.network.settings).load
    if bound <= 1.3 * reached:
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


def _saturations(result: Simulation | NetworkSaturation) -> dict[float, str]:
    """Return the loads at which techniques saturate, or were first seen to fall behind."""
    if isinstance(result, Simulation):
        behind = [point for point in result.points if not point.run.stable]
        found = [(point.run.load, point.setting) for point in behind]
    else:
        searches = [search for search in result.searches if search.saturates]
        found = [(search.found.load, search.setting) for search in searches]
    what = "falls behind" if isinstance(result, Simulation) else "saturates"
    marks: dict[float, str] = {}
    for load, setting in found:
        technique = setting.router.switching
        said = f"{what}: {technique}" if result.network.compares else what
        marks[load] = f"{marks[load]}, {technique}" if load in marks else said
    return marks


def _technique(result: Simulation | NetworkSaturation) -> alt.Color:
    import altair as alt

    names = [setting.router.switching for setting in result.network.settings]
    legend = alt.Legend(orient="top", title=None, symbolOpacity=1) if len(names) > 1 else None
    scale = alt.Scale(domain=names, range=COLOURS[: len(names)])
    return alt.Color("switching:N", scale=scale, legend=legend)


def _busy(result: Simulation) -> alt.Chart:
    """The network by channel utilisation."""
    used = result.point.run.channel_utilisation
    return network_chart(result.network.topology, used, "flits/cycle on the channel")


def _spread(result: Simulation) -> alt.Chart:
    """How many packets took how long; past saturation, how much nodes get of what they offer."""
    import polars as pl

    point = result.point
    bins = point.to_dict()["histogram"]
    if bins is None:
        nodes = result.nodes().filter(pl.col("node_offered") > 0)
        share = 100 * nodes["node_accepted"].to_numpy() / nodes["node_offered"].to_numpy()
        counts, edges = np.histogram(share, bins=20, range=(0, max(100.0, share.max())))
        when = "Interrupted" if point.run.stable else "Past saturation"
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
    import altair as alt
    import polars as pl

    shown = pl.DataFrame({"from": edges[:-1], "to": edges[1:], "height": heights, "none": 0})
    bars: alt.Chart = (
        alt.Chart(shown)
        .mark_rect(color=LOAD_COLOURS[-2])
        .encode(
            x=alt.X("from:Q", title=axis, scale=alt.Scale(zero=True)),
            x2="to:Q",
            y=alt.Y("height:Q", title=counted),
            y2="none:Q",
        )
        .properties(width=430, height=320, title=title)
    )
    return bars
