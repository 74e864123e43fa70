"""The picture of a mapping that was found: its channels before and after, and what it beats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.report.contention import UNITS
from netloom.report.frame import framed
from netloom.report.network import LOAD_COLOURS, network_chart

if TYPE_CHECKING:
    import altair as alt
    from numpy.typing import NDArray

    from netloom.verbs import Analysis, ProgramMapping

NAMES = {"random": "random (mean of 25)", "random_best": "random (best of 25)",
         "mapping": "mapping, without routes"}  # fmt: skip
RESULT, OTHERS = LOAD_COLOURS[-1], "#7d8896"


def mapping_chart(result: ProgramMapping) -> alt.HConcatChart:
    """Return the network by channel load before and after, and the objective of each mapping.

    Both networks have the same colours for the same load.

    Parameters
    ----------
    result
        What ``find_mapping`` answered.
    """
    import altair as alt

    before, after = _load(result, result.before), _load(result, result.after)
    most = float(max(before.max(initial=0), after.max(initial=0))) or 1.0
    title = UNITS.get(result.provenance.configuration["weight"], "paths on the channel")
    networks = [
        network_chart(result.topology, load, title, most=most).properties(
            title=f"{when}: the busiest channel carries {load.max(initial=0):.4g}"
        )
        for when, load in (("Before (identity)", before), ("After", after))
    ]
    what = f"{result.graph.name} mapped onto {result.topology.name}"
    pair = alt.hconcat(*networks, spacing=30).resolve_scale(color="independent")
    return framed([alt.vconcat(pair, _objectives(result), spacing=26)], what, _words(result))


def _load(result: ProgramMapping, analysis: Analysis | None) -> NDArray[np.float64]:
    """Return the weight on every channel; none where nothing crosses the network."""
    if analysis is None:
        return np.zeros(result.topology.num_channels)
    return analysis.mapped.contention.weighted_channel_load


def _objectives(result: ProgramMapping) -> alt.LayerChart:
    """The objective of every mapping as a bar, and the lower bound as a dashed line."""
    import altair as alt
    import polars as pl

    rows = [
        {
            "mapping": NAMES.get(row["mapping"], row["mapping"]),
            "value": row["objective"],
            "colour": RESULT if row["mapping"] == "result" else OTHERS,
        }
        for row in result.starts
    ]
    names = [row["mapping"] for row in rows]
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X(
            "value:Q",
            title=f"{result.found.objective} (less is better)",
            axis=alt.Axis(format="~s"),
        ),
        y=alt.Y("mapping:N", title=None, sort=names, axis=alt.Axis(labelLimit=200)),
    )
    bars = base.mark_bar().encode(color=alt.Color("colour:N", scale=None))
    numbers = base.mark_text(align="left", dx=4).encode(text=alt.Text("value:Q", format=".4~s"))
    layers: list[alt.Chart] = [bars, numbers]
    dashed = ""
    if result.bound > 0:
        bound = alt.Chart(pl.DataFrame({"value": [result.bound]}))
        layers.append(bound.mark_rule(strokeDash=[4, 3]).encode(x="value:Q"))
        dashed = "; dashed: no mapping can be below"
    layered: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=520, height=22 * len(rows), title=f"What it is compared with{dashed}"
    )
    return layered


def _words(result: ProgramMapping) -> list[str]:
    import textwrap

    return textwrap.wrap(result.verdict.sentence, 110)
