"""A network drawn with its channels coloured by load; and found again from a record."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, sqrt
from typing import TYPE_CHECKING, TypeAlias

import altair as alt
import numpy as np
import polars as pl

from netloom.drawing.colours import COLOURS, LOAD_COLOURS
from netloom.drawing.networks import MOST_DRAWN, Traffic, drawn, scene_of
from netloom.drawing.room import room
from netloom.errors import InputError
from netloom.questions.named import find_network
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.questions.recorded import Recorded

    NetworkChart: TypeAlias = alt.Chart | alt.LayerChart

WIDTH = 700.0
"""Pixels of a picture of a network, on a page that has room for it."""

LINES = 300
"""Most nodes of a network of two dimensions whose channels are lines; of more they are squares."""

SMALL = 300.0
"""Pixels below which a picture is one of many: it has lines or a profile, and no names."""

ON = " on the channel"
"""What a unit of loads ends in."""

ASIDE = 0.11
"""How far a channel is drawn to the right of its direction, so that both ways can be seen."""


def topology_of(record: Recorded) -> Topology | None:
    """Return the network of a record, made again from its question.

    None where it cannot be: its file is gone or holds another network, or it was an object that
    no words stand for. Where the record has a table of channels, theirs are the same.

    Examples
    --------
    >>> from netloom import analyze
    >>> from netloom.questions.recorded import record
    >>> topology_of(record(analyze("ring:4", "mesh:2x2", failed_channels="0-1")))
    <mesh:2x2 without 0-1: 4 nodes, 6 directed channels>
    """
    asked = record.configuration
    found = _network(asked["on"], asked.get("failed_channels"), asked.get("failed_nodes"))
    if found is None or found.num_nodes != record.figures["nodes"]:
        return None
    seen = record.tables["channels"]
    if seen.is_empty():
        return found
    if "channel" in seen.columns:
        listed = [seen["channel"].to_numpy()]
    else:  # all of them in order, or those between routers, load by load
        each = np.arange(seen.height)
        listed = [each % found.num_channels, each % max(found.num_network_channels, 1)]
    ends = seen["source_node"].to_numpy(), seen["target_node"].to_numpy()
    for channel in listed:
        if channel.max() < found.num_channels and all(
            np.array_equal(end, known[channel])
            for end, known in zip(ends, (found.channel_source, found.channel_target), strict=True)
        ):
            return found
    return None


@lru_cache(maxsize=16)
def _network(on: str, failed_channels: str | None, failed_nodes: str | None) -> Topology | None:
    try:
        return find_network(on, failed_channels=failed_channels, failed_nodes=failed_nodes)[0]
    except (InputError, OSError):
        return None


def channels_chart(
    record: Recorded,
    channels: pl.DataFrame,
    load: str,
    title: str,
    *,
    scale: tuple[float, float] | None = None,
) -> NetworkChart:
    """Return the network of a record by what its channels carry; see ``network_chart``.

    Parameters
    ----------
    channels
        A row a channel, in their order: the rows of one load of its table ``channels``.
    load, title, scale
        The column that is shown; and as for ``network_chart``.
    """
    values = channels[load].to_numpy() if load in channels.columns else np.zeros(0)
    network = topology_of(record) if len(values) else None
    return network_chart(network, values.astype(np.float64), title, scale=scale)


def at_last(record: Recorded, load: str) -> pl.DataFrame:
    """Return the channels of a record at its highest load; ``load`` is the column of loads."""
    channels = record.tables["channels"]
    if channels.is_empty():
        return channels
    return channels.filter(channels[load] == channels[load].max())


def network_chart(
    topology: Topology | None,
    load: NDArray[np.float64],
    title: str,
    *,
    scale: tuple[float, float] | None = None,
    width: float | None = None,
) -> NetworkChart:
    """Return the network with its channels coloured by load.

    Lines and 2D networks are drawn as they are; a ring's last channel leaves on one side and comes
    back on the other. All others are drawn by ``netloom.drawing.networks``, by the time that a load
    takes on each channel between routers. Cubes of more than three dimensions, very large networks
    and unknown ones show all loads in falling order instead, with the busiest named. Broken
    channels are not drawn.

    Parameters
    ----------
    topology
        The network; None where it is not known.
    load
        float[num_channels], or of the channels between routers only; NaN for channels that are not
        there.
    title
        What the load is, with its unit: ``bytes on the channel``.
    scale
        The mean load and the one that has the last colour, for networks to be compared; by default
        this network's own. The first colour is that of no load.
    width
        Pixels of a picture that is not of lines; by default what a page has room for.
    """
    if topology is not None and topology.broken:
        known = np.full(topology.whole.num_channels, np.nan)
        known[topology.whole_channel[: len(load)]] = load
        return network_chart(topology.whole, known, title, scale=scale, width=width)
    most = None if scale is None else scale[1]
    if topology is None:
        return _profile(load, title, most)
    wide = min(WIDTH, room()) if width is None else width
    first = load[: topology.num_network_channels]
    if _in_lines(topology, small=wide < SMALL):
        return _drawing(topology, first, title, most)
    traffic = Traffic.of_load(topology, first, title.removesuffix(ON), scale)
    small = wide < SMALL
    scene = None if small else scene_of(traffic, wide)
    if scene is not None:
        return drawn(scene, traffic)
    profile = _profile(traffic.time, title if traffic.even else traffic.measure, most)
    return profile if small else _named(profile, traffic)


def _in_lines(topology: Topology, *, small: bool) -> bool:
    """Whether the channels of a network are drawn as lines between its nodes."""
    cube = topology.routers
    if not isinstance(cube, Cube) or not 0 < cube.num_channels <= MOST_DRAWN:
        return False
    axes = len(_visible(cube))
    few = small or axes < 2 or cube.num_vertices <= LINES
    return (axes < 3 and few) or (axes == 3 and small)


def _named(profile: alt.Chart, traffic: Traffic) -> alt.Chart:
    """Return a profile that names the busiest channels."""
    said = [f"{traffic.name(each)}: {traffic.compared(each)};" for each in traffic.busiest]
    said = ["Busiest:", *said[:-1], f"{said[-1][:-1]}."] if said else []
    title = alt.TitleParams(profile.title, subtitle=said or alt.Undefined, subtitleFontSize=12)
    named: alt.Chart = profile.properties(title=title)
    return named


def _format(load: NDArray[np.float64]) -> str:
    """How numbers up to the largest load are written: with k and M, but not with m."""
    return "~s" if np.nanmax(load, initial=0) >= 10 else "~g"


def _visible(cube: Cube) -> list[int]:
    return [axis for axis, side in enumerate(cube.sides) if side > 1]


def _drawing(
    topology: Topology, load: NDArray[np.float64], title: str, most: float | None
) -> alt.Chart:
    assert isinstance(topology.routers, Cube)
    start, end = _segments(topology.routers)
    names = [topology.channel_name(channel) for channel in range(len(start))]
    table = pl.DataFrame(
        {
            "x": start[:, 0], "y": start[:, 1], "x2": end[:, 0], "y2": end[:, 1],
            "load": load, "channel": names,
        }
    ).filter(pl.col("load").is_not_nan()).sort("load")  # fmt: skip
    low, high = np.minimum(start, end).min(axis=0) - 0.3, np.maximum(start, end).max(axis=0) + 0.3
    scale = min(46.0, room() / (high[0] - low[0]), 900 / (high[1] - low[1]))
    # from 0 on: channels that carry nearly the same look nearly the same
    domain = [0, most or float(np.nanmax(load, initial=0)) or 1.0]
    colour = alt.Color(
        "load:Q",
        title=title,
        scale=alt.Scale(range="ramp", interpolate="rgb", domain=domain),
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


def _segments(topology: Cube) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where each channel's line starts and ends, float[num_channels, 2] (x right, y down)."""
    axes = _visible(topology)
    nodes = np.arange(topology.num_hosts)
    at = {axis: nodes // topology.strides[axis] % topology.sides[axis] for axis in axes}
    across = at[axes[-1]].astype(float)
    down = at[axes[-2]].astype(float) if len(axes) > 1 else np.zeros(topology.num_hosts)
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
    domain = alt.Undefined if most is None else [0, most]
    falling = np.sort(load[~np.isnan(load)])[::-1]
    shown = np.unique(np.linspace(0, max(len(falling) - 1, 0), 1000).astype(int))
    share = 100 * (shown + 1) / max(len(falling), 1)
    table = pl.DataFrame({"share": share, "load": falling[shown] if len(falling) else shown})
    profile: alt.Chart = (
        alt.Chart(table)
        .mark_area(line={"color": COLOURS[0]}, color=LOAD_COLOURS[-2], opacity=0.45)
        .encode(
            x=alt.X("share:Q", title="% of channels, busiest first"),
            y=alt.Y(
                "load:Q",
                title=title,
                axis=alt.Axis(format=_format(load)),
                scale=alt.Scale(domain=domain),
            ),
        )
        .properties(width=420, height=300, title=f"Channels by load: all {len(falling)}")
    )
    return profile
