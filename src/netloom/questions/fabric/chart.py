"""The picture of a fabric's check: paths cable by cable beside the bound, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.axes import Axis, End, Look, axis, looks_of, panel
from netloom.drawing.bars import Bar, bars
from netloom.drawing.colours import REFERENCE, THIS
from netloom.drawing.frame import column
from netloom.drawing.networks import MARKED_IN_GRAPHS, Marked, Tips
from netloom.questions.fabric.question import level_of
from netloom.questions.fabric.words import cable_in_words, size_in_words
from netloom.questions.network_chart import network_chart, topology_of
from netloom.topology.names import short_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt

    from netloom.drawing.axes import Panel
    from netloom.drawing.frame import Part
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.register import Recorded

LED = {"down": "down, to hosts", "up": "up, from hosts", "across": "between switches"}
"""What channels are called by where they lead."""

LOOKS = dict(zip(LED, looks_of(LED).values(), strict=True))
"""How channels look by where they lead."""

MOST_POINTS = 1000
"""Points of a line."""


def footer(record: Recorded) -> list[str]:
    """Return what was asked about."""
    found = record.figures
    return [
        f"{found['topology'].removeprefix('fabric:')}: {size_in_words(found)}; {found['routing']}"
    ]


def arranged(record: Recorded) -> list[Part]:
    """Return the network above what jobs cost each other and the curve of all channels."""
    return [column(*parts(record).values())]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    drawn: dict[str, Part] = {}
    if record.tables["channels"].height and topology_of(record) is not None:
        drawn["network"] = network(record)
    if record.tables["job_table"].height:
        drawn["jobs"] = slowdowns(record)
    return drawn | {"cables": cables(record)}


def cables(record: Recorded) -> alt.LayerChart:
    """Return the paths of each channel of an all-to-all, busiest first, each way apart.

    The least that the busiest must carry is a line across. The busiest are named.
    """
    table, found = record.tables["channels"], record.figures["all_to_all"]
    ways = [way for way in LED if (table["way"] == way).any()]
    several = len(ways) > 1
    names = {way: LED[way] if several else "all channels" for way in ways}
    curves = pl.concat([curve(table.filter(way=way)["paths"], names[way], "way") for way in ways])
    looks = {names[way]: LOOKS[way] if several else Look(THIS, named=False) for way in ways}
    where = ranks(curves, found["bound"], [found["max"]], [*looks] if several else [])
    layers = [
        *bound_of(where, found["bound"]),
        *where.lines(curves, "way", looks, points=0),
        *where.ends_of(curves, "way", looks, bound_end(where, found["bound"])),
        *_busiest(table, found, where),
    ]
    over = int((table["paths"] > (found["bound"] or 0) * 1.0005).sum())
    many = f"{over:,}" if over else "None"
    verb = "carries" if over < 2 else "carry"
    of_all = counted(table.height, "channel", ",")
    said = f"{many} of {of_all} between switches {verb} more than the busiest must"
    return where.drawn(layers, said)


def ranks(
    curves: pl.DataFrame, bound: float | None, more: Sequence[float], names: Sequence[str]
) -> Panel:
    """Return the axes of channels by the paths that they carry, busiest first."""
    last = int(curves["rank"].max() or 1)  # type: ignore[arg-type]
    seen = [*more, *curves["paths"].to_list(), bound, 1]
    labels = [*names, *([said_bound(bound)] if bound else [])]
    return panel(
        Axis("rank", "channels, busiest first", 0.0, 1.02 * last, whole=True),
        axis("paths", "paths of an all-to-all", seen, whole=True),
        labels, 600.0, 270.0,
    )  # fmt: skip


def said_bound(bound: float) -> str:
    """Return the name of the line of what the busiest cable must carry at least."""
    return f"busiest: {number(bound)} at least"


def bound_of(where: Panel, bound: float | None) -> list[alt.Chart]:
    """Return the line of what the busiest cable must carry at least."""
    return where.across(bound) if bound else []


def bound_end(where: Panel, bound: float | None) -> list[End]:
    """Return the name of that line, at its end."""
    return [End.of_bound(said_bound(bound), where.x.high, bound)] if bound else []


def curve(paths: pl.Series, name: str, column: str = "tables") -> pl.DataFrame:
    """Return the paths of some channels in falling order, thinned, their name in a column."""
    falling = paths.sort(descending=True).to_numpy()
    shown = np.unique(np.linspace(0, len(falling) - 1, MOST_POINTS).astype(int))
    if not len(falling):
        shown = shown[:0]
    return pl.DataFrame(
        {"rank": shown + 1, "paths": falling[shown].astype(np.int64), column: [name] * len(shown)},
        schema_overrides={column: pl.String},
    )


def _busiest(table: pl.DataFrame, found: dict[str, Any], where: Panel) -> list[alt.Chart]:
    """Return the mark and the name of the busiest channel, if it carries more than it must."""
    if not found["ratio"] or found["ratio"] < 1.05:
        return []
    busy = table.sort("paths", descending=True, maintain_order=True).row(0, named=True)
    row = {"rank": 1, "paths": busy["paths"], "said": _name(busy, _short(table))}
    base = where.chart(pl.DataFrame([row]))
    return [
        base.mark_circle(size=70, opacity=1, color=THIS),
        base.mark_text(
            align="left", dx=7, dy=-3, fontSize=12, baseline="bottom", lineBreak="\n"
        ).encode(text="said:N"),
    ]


def _short(table: pl.DataFrame) -> dict[str, str]:
    return short_names({*table["from"].unique(), *table["to"].unique()})


def _name(cable: Mapping[str, Any], short: Mapping[str, str]) -> str:
    """Return the name of a channel, with its ports where a file says them."""
    return cable_in_words({"short": short}, cable)


def network(record: Recorded) -> NetworkChart:
    """Return the network and what the answer is about: a circle, cables of jobs, or paths."""
    table, found = record.tables["channels"], topology_of(record)
    marked = _marked(record)
    tips = None
    if "leads_to" in table.columns:
        tips = Tips("most paths lead to", table["leads_to"].to_list())
    if marked is None:
        paths = table["paths"].to_numpy().astype(np.float64)
        return network_chart(found, paths, "paths on the channel", tips=tips)
    time = np.zeros(table.height)
    for channel, value in marked[1].items():
        time[channel] = value
    return network_chart(found, time, "", marked=marked[0], tips=tips)


def _marked(record: Recorded) -> tuple[Marked, dict[int, float]] | None:
    """Return the channels that the answer is about, if these are not the busiest, and their time.

    Those of a circle, or those that jobs share.
    """
    level = level_of(record.figures)
    if level == "loop":
        return _circle(record)
    if level != "lost" and record.tables["shared_cables"].height:
        return _shared(record)
    return None


def _numbers(table: pl.DataFrame) -> dict[tuple[Any, ...], int]:
    """Return the number of each channel, by its ends and their ports."""
    keys = table.select("from", "from_port", "to", "to_port").rows()
    return {key: at for at, key in reversed([*enumerate(keys)])}


def _circle(record: Recorded) -> tuple[Marked, dict[int, float]]:
    """Return the channels in which packets wait for each other."""
    number_of, circle = _numbers(record.tables["channels"]), record.figures["circle"]
    found = [
        number_of[each["from"], each["from_port"], each["to"], each["to_port"]] for each in circle
    ]
    words = {
        channel: f"its packets wait for {1 + (at + 1) % len(found)}"
        if len(found) <= MARKED_IN_GRAPHS
        else "its packets wait for the next"
        for at, channel in enumerate(found)
    }
    said = f"Packets in these {len(words)} channels can wait for each other for ever"
    return Marked(said, words), dict.fromkeys(found, 1.0)


def _shared(record: Recorded) -> tuple[Marked, dict[int, float]] | None:
    """Return the channels that jobs share, those that delay them most first.

    None if the first of them is a host's own, which is not drawn.
    """
    table, number_of = record.tables["shared_cables"], _numbers(record.tables["channels"])
    ends = ["from", "from_port", "to", "to_port"]
    words: dict[int, str] = {}
    times: dict[int, float] = {}
    for key, jobs in table.group_by(ends, maintain_order=True):
        channel = number_of.get(key)
        if channel is None:
            if not words:
                return None
            continue
        parts = [f"{job} {use:.2g}" for job, use in jobs.select("job", "use").rows()]
        words[channel] = ", ".join(parts)
        times[channel] = float(jobs["together"][0])
    first = table.row(0, named=True)
    name = _name(first, _short(record.tables["channels"]))
    most = number(first["together"])
    said = f"On {name} the jobs together take {most} times as long as one of them alone"
    return Marked(said, words, "time of all jobs on the channel (one job alone: 1)"), times


def slowdowns(record: Recorded) -> alt.LayerChart:
    """Return how many times as long each job takes beside the others."""
    table = record.tables["job_table"]
    worst = table.row(int(table["slowdown"].arg_max() or 0), named=True)
    rows = [
        Bar(name, slowdown, f"{number(slowdown)}×", THIS if slowdown > 1.005 else REFERENCE)
        for name, slowdown in table.select("name", "slowdown").rows()
    ]
    said = f"Job {worst['name']} takes up to {number(worst['slowdown'])} times as long as alone"
    if worst["slowdown"] < 1.005:
        said = "No job delays another"
    return bars(rows, said, "times as long as alone, at most", width=260, bound=("alone", 1.0))


PART_TITLES = {
    "cables": "Paths on each channel",
    "jobs": "What jobs cost each other",
    "network": "Where the paths are",
}
"""What parts are called that have no title of their own."""
