"""A network drawn with its channels colored by load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

import altair as alt
import numpy as np
import polars as pl

from netloom.base.arrays import Floats, Ints
from netloom.contention.busiest import USED
from netloom.drawing.frame import COLOURS, HEAT_COLOURS, room
from netloom.drawing.networks import Marked, Tips, Traffic, drawn, scene_of
from netloom.drawing.networks.traffic import Delays, Shown
from netloom.topology import Topology

NetworkChart: TypeAlias = alt.Chart | alt.LayerChart

WIDTH = 700.0
"""Pixels of a picture of a network, on a page that has room for it."""

ON = " on the channel"
"""What a unit of loads ends in."""

PATHS = "paths" + ON
"""Loads that are counted by paths."""

USE = USED + ON
"""Loads that are shares of what channels can carry."""

LOAD = "weighted_channel_load"
"""The column of loads whose unit is that of a program's ``weight``."""

_SCALES: ContextVar[Mapping[str, tuple[float, float]]] = ContextVar(
    "scales", default=MappingProxyType({})
)


@contextmanager
def one_scale(shown: Iterable[tuple[str, Floats]]) -> Iterator[None]:
    """Have all networks that show loads in one unit share its scale meanwhile.

    Parameters
    ----------
    shown
        The loads of each picture on one page, with their unit.
    """
    found: dict[str, list[Floats]] = {}
    for unit, loads in shown:
        found.setdefault(unit + ON, []).append(loads)
    joined = {title: np.concatenate(each) for title, each in found.items() if len(each) > 1}
    before = _SCALES.set(
        {
            title: (float(loads.mean()), float(loads.max(initial=0.0)) or 1.0)
            for title, loads in joined.items()
        }
    )
    try:
        yield
    finally:
        _SCALES.reset(before)


def times_of(channels: pl.DataFrame) -> Floats:
    """Return what channels of a table carry, over bandwidth where that differs, as in pictures."""
    loads = channels[LOAD].to_numpy().astype(np.float64)
    if "bandwidth" not in channels.columns:  # an older release wrote it for some networks only
        return loads
    rate = channels["bandwidth"].to_numpy()
    return loads if (rate == rate[:1]).all() else loads / rate


def loaded_chart(
    network: Topology | None, channels: pl.DataFrame, load: str, title: str, **more: Any
) -> NetworkChart:
    """Return a network by what its channels carry. See ``network_chart``.

    Parameters
    ----------
    channels
        A row per channel, in their order: the rows of one load of a table.
    load, title
        The column that is shown, and what it is, with its unit.
    """
    values = channels[load].to_numpy() if load in channels.columns else np.zeros(0)
    tips = None
    if "pairs" in channels.columns:
        tips = Tips("most traffic", channels["pairs"].fill_null("").to_list())
    known = load != "channel_load" and "channel_load" in channels.columns and title != PATHS
    return network_chart(
        network,
        values.astype(np.float64),
        title,
        tips=tips,
        paths=channels["channel_load"].to_numpy().astype(np.float64) if known else None,
        **more,
    )


def network_chart(
    topology: Topology | None,
    load: Floats,
    title: str,
    *,
    scale: tuple[float, float] | None = None,
    width: float | None = None,
    paths: Floats | None = None,
    before: Floats | None = None,
    when: str = "",
    marked: Marked | None = None,
    tips: Tips | None = None,
    delays: Delays | None = None,
) -> NetworkChart:
    """Return the network with its channels colored by load.

    ``netloom.drawing.networks`` draws it by the time that a load takes on each channel. What is in
    flits/cycle by the share of the channel that is used, from 0 to 100 %. If no picture of the
    network is known, all loads stand in falling order. Broken channels are not drawn.

    Parameters
    ----------
    topology
        The network. None if it is not known.
    load
        float[num_channels], or of the channels between routers only: then those of hosts are not
        drawn. NaN for channels that are not there.
    title
        What the load is, with its unit: ``bytes on the channel``.
    scale
        The mean load and the one that has the last color, for networks to be compared. That of
        ``one_scale`` goes before it. By default this network's own. The first color is that of no
        load.
    width
        Pixels of the picture. By default what a page has room for.
    paths
        How many paths use each channel, if that is known.
    before
        The loads before: the picture shows how they changed.
    when
        What stands before the sentence of the picture, such as ``After``.
    marked
        Channels that the picture is about, in place of the busiest.
    tips
        What is said where somebody points at a channel.
    delays
        When the network delays, if that is known.
    """
    scale = _SCALES.get().get(title, scale)
    if topology is None:
        return _profile(load, title, None if scale is None else scale[1])
    if topology.broken:
        at = topology.whole_channel[: len(load)]
        load = _whole(topology, at, load)
        paths, before = (
            None if each is None else _whole(topology, at, each) for each in (paths, before)
        )
        if marked is not None:
            words = {int(at[each]): said for each, said in marked.words.items()}
            marked = replace(marked, words=words)
        if tips is not None:
            known = dict(zip(at.tolist(), tips.words, strict=False))
            inside = range(topology.whole.num_network_channels)
            tips = replace(tips, words=[known.get(each, "") for each in inside])
        topology = topology.whole
    shown: Shown = "use" if title == USE else "load" if before is None else "change"
    shown = shown if marked is None else "marked"
    traffic = Traffic.of_load(
        topology,
        load if before is None else load - before,
        title.removesuffix(ON),
        scale,
        shown=shown,
        paths=paths,
        before=before,
        marked=marked,
        tips=tips,
        delays=delays,
    )
    wide = min(WIDTH, room()) if width is None else width
    scene = scene_of(traffic, wide)
    if scene is not None:
        return drawn(scene, traffic, when)
    return _profile(traffic.time, traffic.measure, None if scale is None else scale[1])


def _whole(topology: Topology, channel: Ints, values: Floats) -> Floats:
    """Return values of the channels of the network before anything broke. NaN for those."""
    known = np.full(topology.whole.num_channels, np.nan)
    known[channel] = values[: len(channel)]
    return known


def _profile(load: Floats, title: str, most: float | None) -> alt.Chart:
    """All loads in falling order, thinned to a thousand points."""
    domain = alt.Undefined if most is None else [0, most]
    falling = np.sort(load[~np.isnan(load)])[::-1]
    shown = np.unique(np.linspace(0, max(len(falling) - 1, 0), 1000).astype(int))
    share = 100 * (shown + 1) / max(len(falling), 1)
    form = "~s" if np.nanmax(load, initial=0) >= 10 else "~g"  # with k and M, but not with m
    table = pl.DataFrame({"share": share, "load": falling[shown] if len(falling) else shown})
    profile: alt.Chart = (
        alt.Chart(table)
        .mark_area(line={"color": COLOURS[0]}, color=HEAT_COLOURS[-3], opacity=0.45)
        .encode(
            x=alt.X("share:Q", title="% of channels, busiest first"),
            y=alt.Y(
                "load:Q", title=title, axis=alt.Axis(format=form), scale=alt.Scale(domain=domain)
            ),
        )
        .properties(width=420, height=300, title=f"Channels by load: all {len(falling)}")
    )
    return profile
