"""The picture of an analysis: where it is hot, and how the mapping stands among random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.report.frame import framed
from netloom.report.network import LOAD_COLOURS, network_chart

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from numpy.typing import NDArray

    from netloom.verbs import Analysis

OWN, RANDOM = "this mapping", "random mappings"
COLOURS = {OWN: LOAD_COLOURS[-1], RANDOM: "#7d8896"}
UNITS = {"bytes": "bytes on the channel", "messages": "messages on the channel"}


def contention_chart(analysis: Analysis) -> alt.HConcatChart:
    """Return the network by channel load beside the mapping's path contention levels.

    Parameters
    ----------
    analysis
        What ``analyze`` answered. Without random mappings only the mapping itself is shown.
    """
    import altair as alt

    found = analysis.mapped.contention
    title = UNITS.get(analysis.weight, "paths on the channel")
    network = network_chart(analysis.topology, found.weighted_channel_load, title)
    beside: list[alt.Chart | alt.LayerChart] = [_cumulative(analysis)]
    if analysis.random:
        beside.append(_standing(analysis))
    what = f"{analysis.graph.name} on {analysis.topology.name}, mapping {analysis.mapping_name}"
    return framed(
        [network, alt.vconcat(*beside, spacing=24)], what, _wrapped(analysis.verdict.sentence)
    )


def _cumulative(analysis: Analysis) -> alt.Chart:
    """Share of paths that meet at most so many others, for this mapping and for random ones."""
    import altair as alt
    import polars as pl

    own = analysis.mapped.contention.path_contention[analysis.mapped.moving]
    counts = {OWN: np.bincount(own)}
    if analysis.random:
        counts[RANDOM] = analysis.random_path_contention
    table = pl.concat([_steps(whose, count) for whose, count in counts.items()])
    lines: alt.Chart = (
        alt.Chart(table)
        .mark_line(interpolate="step-after", strokeWidth=2.5)
        .encode(
            x=alt.X("nu:Q", title="path contention level ν (other paths met)"),
            y=alt.Y("share:Q", title="% of paths with at most ν"),
            color=_whose(list(counts)),
        )
        .properties(width=400, height=230, title="How many others a path meets")
    )
    return lines


def _steps(whose: str, counts: NDArray[np.int64]) -> pl.DataFrame:
    import polars as pl

    share = 100 * np.cumsum(counts) / counts.sum()
    shown = np.unique(np.linspace(0, len(share) - 1, 500).astype(int))
    return pl.DataFrame({"nu": shown, "share": share[shown], "whose": [whose] * len(shown)})


def _standing(analysis: Analysis) -> alt.LayerChart:
    """Saturation of each random mapping as a tick, this mapping's as a diamond."""
    import altair as alt
    import polars as pl

    limit = analysis.mapped.limit
    own = {
        "worst node (estimate)": limit.worst_node,
        "average node (estimate)": limit.average_node,
        "upper bound": limit.upper_bound,
    }
    columns = ("saturation_worst_node", "saturation_average_node", "saturation_upper_bound")
    table = pl.DataFrame(
        [
            {"limit": name, "percent": 100 * row[column], "whose": RANDOM}
            for row in analysis.random
            for name, column in zip(own, columns, strict=True)
        ]
        + [{"limit": name, "percent": 100 * value, "whose": OWN} for name, value in own.items()]
    )
    base = alt.Chart(table).encode(
        x=alt.X("percent:Q", title="% of a channel's bandwidth, offered by the average node"),
        y=alt.Y("limit:N", title=None, sort=list(own), axis=alt.Axis(labelLimit=200)),
        color=_whose([OWN, RANDOM]),
    )
    ticks = base.transform_filter(alt.datum.whose == RANDOM).mark_tick(thickness=1.5, size=22)
    mark = base.transform_filter(alt.datum.whose == OWN).mark_point(
        shape="diamond", size=150, filled=True, opacity=1
    )
    layers = [ticks, mark]
    if analysis.offered is not None:
        offered = pl.DataFrame({"percent": [100 * analysis.offered]})
        layers.append(alt.Chart(offered).mark_rule(strokeDash=[4, 3]).encode(x="percent:Q"))
    dashed = "" if analysis.offered is None else "; dashed: what the program offers"
    standing: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=400, height=110, title=f"Saturation: more is better{dashed}"
    )
    return standing


def _whose(names: list[str]) -> alt.Color:
    import altair as alt

    scale = alt.Scale(domain=names, range=[COLOURS[name] for name in names])
    return alt.Color("whose:N", title=None, scale=scale, legend=alt.Legend(orient="top"))


def _wrapped(sentence: str) -> list[str]:
    import textwrap

    return textwrap.wrap(sentence, 110)
