"""A network drawn with its channels coloured by load."""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from netloom.topology import Cube, Faulty, Topology

if TYPE_CHECKING:
    import altair as alt
    from numpy.typing import NDArray

MOST_DRAWN = 10_000
"""Most channels that are drawn one by one; above that a picture shows nothing but ink."""

LOAD_COLOURS = ["#e3e6ea", "#f6c886", "#e8743b", "#a50f15"]
ASIDE = 0.11
"""How far a channel is drawn to the right of its direction, so that both ways can be seen."""


def network_chart(
    topology: Topology, load: NDArray[np.float64], title: str, *, most: float | None = None
) -> alt.Chart:
    """Return the network with its channels coloured by load.

    Lines and 2D networks are drawn as they are, 3D ones slice by slice, in reading order (channels
    between slices slant); a ring's last channel leaves on one side and comes back on the other.
    Networks of more dimensions, general graphs and very large ones show all loads in falling order
    instead. Broken channels are not drawn.

    Parameters
    ----------
    topology
        The network.
    load
        float[num_channels]; NaN for channels that are not there.
    title
        What the load is, with its unit.
    most
        The load that has the last colour, for networks to be compared; by default the largest.
    """
    if isinstance(topology, Faulty):
        known = np.full(topology.whole.num_channels, np.nan)
        known[topology.whole_channel] = load
        return network_chart(topology.whole, known, title, most=most)
    drawable = (
        isinstance(topology, Cube)
        and len(_visible(topology)) <= 3
        and 0 < topology.num_channels <= MOST_DRAWN
    )
    return _drawing(topology, load, title, most) if drawable else _profile(load, title, most)


def _format(load: NDArray[np.float64]) -> str:
    """How numbers up to the largest load are written: with k and M, but not with m."""
    return "~s" if np.nanmax(load, initial=0) >= 10 else "~g"


def _visible(topology: Topology) -> list[int]:
    assert isinstance(topology, Cube)
    return [axis for axis, side in enumerate(topology.sides) if side > 1]


def _drawing(
    topology: Topology, load: NDArray[np.float64], title: str, most: float | None
) -> alt.Chart:
    import altair as alt
    import polars as pl

    start, end = _segments(topology)
    names = [topology.channel_name(channel) for channel in range(topology.num_channels)]
    table = pl.DataFrame(
        {
            "x": start[:, 0], "y": start[:, 1], "x2": end[:, 0], "y2": end[:, 1],
            "load": load, "channel": names,
        }
    ).filter(pl.col("load").is_not_nan()).sort("load")  # fmt: skip
    low, high = np.minimum(start, end).min(axis=0) - 0.3, np.maximum(start, end).max(axis=0) + 0.3
    scale = min(46.0, 1400 / (high[0] - low[0]), 900 / (high[1] - low[1]))
    domain = alt.Undefined if most is None else [0, most]
    colour = alt.Color(
        "load:Q",
        title=title,
        scale=alt.Scale(range=LOAD_COLOURS, interpolate="rgb", domain=domain),
        legend=alt.Legend(orient="bottom", gradientLength=240, format=_format(load)),
    )
    drawing: alt.Chart = (
        alt.Chart(table)
        .mark_rule(strokeCap="round")
        .encode(
            x=alt.X("x:Q", axis=None, scale=alt.Scale(domain=[low[0], high[0]], nice=False)),
            y=alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[high[1], low[1]], nice=False)),
            x2="x2:Q",
            y2="y2:Q",
            color=colour,
            size=alt.Size("load:Q", scale=alt.Scale(range=[1, 5], domain=domain), legend=None),
            tooltip=["channel", alt.Tooltip("load:Q", format=".4~s")],
        )
        .properties(
            width=scale * (high[0] - low[0]),
            height=scale * (high[1] - low[1]),
            title=f"{topology.name}: every channel by its load",
        )
    )
    return drawing


def _segments(topology: Topology) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where each channel's line starts and ends, float[num_channels, 2] (x right, y down)."""
    assert isinstance(topology, Cube)
    axes = _visible(topology)
    nodes = np.arange(topology.num_nodes)
    at = {axis: nodes // topology.strides[axis] % topology.sides[axis] for axis in axes}
    across = at[axes[-1]].astype(float)
    down = at[axes[-2]].astype(float) if len(axes) > 1 else np.zeros(topology.num_nodes)
    if len(axes) > 2:  # slices in rows and columns
        a_row = ceil(sqrt(topology.sides[axes[0]]))
        across += at[axes[0]] % a_row * (topology.sides[axes[-1]] + 0.8)
        down += at[axes[0]] // a_row * (topology.sides[axes[-2]] + 0.8)
    place = np.stack([across, down], axis=1)
    start, end = place[topology.channel_source], place[topology.channel_target]
    shapes = {axes[-1]: (1.0, 0.0)} | ({axes[-2]: (0.0, 1.0)} if len(axes) > 1 else {})
    for axis in axes:
        step = np.array(shapes.get(axis, (0.32, -0.32)))
        first, second = (int(base) for base in topology.line_base[axis])
        size = second - first
        for channels, way in ((slice(first, second), 1), (slice(second, second + size), -1)):
            far = np.abs(end[channels] - start[channels]).sum(axis=1) > 1
            stub = way * step * (0.45 if axis in shapes else 1.0)
            end[channels] = np.where(far[:, None], start[channels] + stub, end[channels])
            aside = ASIDE * way * np.array([-step[1], step[0]]) / np.abs(step).max()
            start[channels] += aside
            end[channels] += aside
    return start, end


def _profile(load: NDArray[np.float64], title: str, most: float | None) -> alt.Chart:
    """All loads in falling order, thinned to a thousand points."""
    import altair as alt
    import polars as pl

    domain = alt.Undefined if most is None else [0, most]
    falling = np.sort(load[~np.isnan(load)])[::-1]
    shown = np.unique(np.linspace(0, max(len(falling) - 1, 0), 1000).astype(int))
    share = 100 * (shown + 1) / max(len(falling), 1)
    table = pl.DataFrame({"share": share, "load": falling[shown] if len(falling) else shown})
    profile: alt.Chart = (
        alt.Chart(table)
        .mark_area(line={"color": LOAD_COLOURS[-1]}, color=LOAD_COLOURS[1], opacity=0.6)
        .encode(
            x=alt.X("share:Q", title="% of channels, busiest first"),
            y=alt.Y(
                "load:Q",
                title=title,
                axis=alt.Axis(format=_format(load)),
                scale=alt.Scale(domain=domain),
            ),
        )
        .properties(width=420, height=300, title=f"All {len(falling)} channels by load")
    )
    return profile
