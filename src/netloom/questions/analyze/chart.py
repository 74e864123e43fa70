"""The picture of an analysis: where it is hot, and how the mapping stands among random ones."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import layered, titled
from netloom.drawing.room import room
from netloom.questions.named import mapping_name
from netloom.questions.network_chart import channels_chart

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.recorded import Recorded

OWN, RANDOM = "this mapping", "random mappings"
WHOSE = {OWN: COLOURS[0], RANDOM: GREY}
UNITS = {"bytes": "bytes on the channel", "messages": "messages on the channel"}
OFFERED = "% of a channel's bandwidth, offered by the average node"

NAMES = 150.0
"""Pixels beside a panel for the names of limits."""

LIMITS = {
    "worst_node": "worst node (estimate)",
    "average_node": "average node (estimate)",
    "upper_bound": "upper bound",
}
"""Saturation throughputs as JSON names them, and as a person does."""


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was analysed, and the verdict."""
    found, mapping = record.figures, mapping_name(record.configuration["mapping"])
    what = f"{found['app']} on {found['topology']}, mapping {mapping}"
    return what, wrapped(found["verdict"]["sentence"])


def arranged(record: Recorded) -> list[Part]:
    """Return the network by channel load beside the mapping's path contention levels."""
    channels, *beside = parts(record).values()
    return [channels, alt.vconcat(*beside, spacing=24)] if beside else [channels]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of an analysis, by name."""
    parts: dict[str, Part] = {"channels": channel_loads(record)}
    if record.tables["path_contention"].height:  # nobody counts it where pairs have several paths
        parts["path contention"] = path_contention(record)
    if _known_limits(record):
        parts["saturation"] = saturation_among_random(record)
    return parts


def _known_limits(record: Recorded) -> dict[str, str]:
    """Return the limits of saturation that are known of this mapping and of random ones."""
    own, random = record.figures["saturation"], record.tables["random_table"]
    if not random.height:
        return {}
    return {
        limit: name
        for limit, name in LIMITS.items()
        if own[limit] is not None and not random[f"saturation_{limit}"].has_nulls()
    }


def channel_loads(record: Recorded) -> NetworkChart:
    """Return the network of an analysis, its channels by weighted channel load."""
    title = UNITS.get(record.figures["weight"], "paths on the channel")
    return channels_chart(record, record.tables["channels"], "weighted_channel_load", title)


def path_contention(record: Recorded) -> alt.Chart:
    """Return the share of paths that meet at most so many others, also under random mappings."""
    counted = record.tables["path_contention"]
    both = {"own": OWN, "random": RANDOM}
    names = {key: whose for key, whose in both.items() if counted.filter(mapping=key).height}
    table = pl.concat([_steps(whose, counted.filter(mapping=key)) for key, whose in names.items()])
    lines = (
        alt.Chart(table)
        .mark_line(interpolate="step-after", strokeWidth=2.5)
        .encode(
            x=alt.X("nu:Q", title="path contention level ν (other paths met)"),
            y=alt.Y("share:Q", title="% of paths with at most ν"),
            color=_whose(list(names.values())),
        )
    )
    return titled(lines, "How many others a path meets", 400, 230)


def _steps(whose: str, counted: pl.DataFrame) -> pl.DataFrame:
    levels = counted["path_contention"].to_numpy()
    counts = np.bincount(levels, counted["paths"].to_numpy())
    share = 100 * np.cumsum(counts) / counts.sum()
    shown = np.unique(np.linspace(0, len(share) - 1, 500).astype(int))
    return pl.DataFrame({"nu": shown, "share": share[shown], "whose": [whose] * len(shown)})


def saturation_among_random(record: Recorded) -> alt.LayerChart:
    """Return the saturation of each random mapping as a tick, this mapping's as a diamond."""
    own, offered = record.figures["saturation"], record.figures["offered"]
    random, limits = record.tables["random_table"], _known_limits(record)
    width = min(400.0, room() - NAMES)
    table = pl.DataFrame(
        [
            {"limit": name, "percent": 100 * row[f"saturation_{limit}"], "whose": RANDOM}
            for row in random.iter_rows(named=True)
            for limit, name in limits.items()
        ]
        + [
            {"limit": name, "percent": 100 * own[limit], "whose": OWN}
            for limit, name in limits.items()
        ]
    )
    base = alt.Chart(table).encode(
        x=alt.X("percent:Q", title=textwrap.wrap(OFFERED, max(int(width / 7), 20))),
        y=alt.Y("limit:N", title=None, sort=list(limits.values()), axis=alt.Axis(labelLimit=200)),
        color=_whose([OWN, RANDOM]),
    )
    ticks = base.transform_filter(alt.datum.whose == RANDOM).mark_tick(thickness=1.5, size=22)
    mark = base.transform_filter(alt.datum.whose == OWN).mark_point(
        shape="diamond", size=150, filled=True, opacity=1
    )
    layers = [ticks, mark]
    if offered is not None:
        known = pl.DataFrame({"percent": [100 * offered]})
        layers.append(alt.Chart(known).mark_rule(strokeDash=[4, 3]).encode(x="percent:Q"))
    dashed = "" if offered is None else "; dashed: what the program offers"
    return layered(layers, f"Saturation: more is better{dashed}", width, 110)


def _whose(names: list[str]) -> alt.Color:
    scale = alt.Scale(domain=names, range=[WHOSE[name] for name in names])
    return alt.Color("whose:N", title=None, scale=scale, legend=alt.Legend(orient="top"))


def wrapped(sentence: str) -> list[str]:
    """Return a sentence in lines that are as wide as a picture."""
    return textwrap.wrap(sentence, 110)


PART_TITLES = {
    "path contention": "Path contention",
    "saturation": "Where it saturates",
}
"""What parts are called that have no title of their own."""
