"""The pictures of a compiled pattern: its timetable, and each phase on the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.axes import Axis
from netloom.drawing.bars import Bar, stacked
from netloom.drawing.colours import BEST, OTHERS, REFERENCE
from netloom.drawing.frame import column, framed, layered, room
from netloom.drawing.names import width_of
from netloom.questions.network_chart import USE, network_chart, topology_of
from netloom.questions.shown import percent

if TYPE_CHECKING:
    from netloom.base.arrays import Floats
    from netloom.drawing.frame import Part
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.register import Recorded

FEW_CONNECTIONS = 32
"""Up to so many each has a row of its own."""

MOST_ROWS = 128
"""Most processors that are shown. Of more, those with the most words."""

MOST_BARS = 12_000
"""Most bars of a chart: as many phases are shown, from the first on, as stay below that."""

MOST_CHANNELS = 20_000
"""Most channels of a map, of all phases together."""

MOST_NAMED = 40
"""Most phases that have their number above them."""

NUMBERED = 20.0
"""Pixels between the numbers of phases, at least."""

WAYS = {"sends": BEST, "receives": OTHERS[0]}
SWITCH_OPACITY = 0.22
WIDTH, LEAST_ROW, MOST_ROW, HEIGHT = 1000.0, 5.0, 22.0, 760.0

NAME_ROW = 15.0
"""Pixels of a row whose name can be read. Of lower ones some are named."""

MAP_COLUMNS, MAP_SIDE = 6, 210.0
"""Phases side by side, and how wide each is."""


def arranged(record: Recorded) -> list[Part]:
    """Return where the time goes above the timetable. ``phase_map`` is that of the phases."""
    return [column(time_of_phases(record), timetable(record), spacing=20)]


def phase_map(record: Recorded) -> alt.VConcatChart:
    """Return every phase on the network, its channels by the share of the phase that they work."""
    maps, shown = _maps(record)
    phases = record.figures["phases"]
    part = f"; the first {shown} of {counted(phases, 'phase')}" if shown < phases else ""
    words = f"every channel by the share of each phase in which it carries words{part}"
    return framed([maps], _used_title(record), [_title(record), words])


def footer(record: Recorded) -> list[str]:
    """Return the pattern and its phases, and what bars of the timetable are."""
    shown = _shown_phases(record)
    return [_title(record), *_words(record, shown, len(_rows(record, shown)[1]))]


def parts(record: Recorded) -> dict[str, Part]:
    """Return where the time goes, the timetable, and the phases on the network, by name."""
    return {
        "time": time_of_phases(record),
        "timetable": timetable(record),
        "phases": phases_on_network(record),
    }


def time_of_phases(record: Recorded) -> alt.LayerChart:
    """Return how much of the time goes to context switches, and how much to moving words."""
    moves, phases = float(_makespan(record).sum()), record.figures["phases"]
    switches = _switch_clocks(record) * phases
    total = moves + switches
    said = "There is nothing to send"
    if total:
        said = f"{percent(switches / total)} of {counted(number(total), 'clock')} without latency "
        said += f"is switching between {counted(phases, 'phase')}"
    rows = [
        Bar(name, clocks, percent(clocks / total) if total else "", colour)
        for name, clocks, colour in (
            ("switching", switches, REFERENCE), ("moving words", moves, BEST),
        )
    ]  # fmt: skip
    return stacked(rows, said, "clocks", width=WIDTH, empty="nothing")


def timetable(record: Recorded) -> alt.LayerChart:
    """Return who sends when: a bar per connection, context switches between the phases.

    Rows are processors, or connections where they are few. Connections that a processor has open at
    once share its row's height. If processors do not send and receive at once, a bar stands at both
    ends of a connection.
    """
    begins, shown = _begins(record), _shown_phases(record)
    by_connection = record.figures["connections"] <= FEW_CONNECTIONS
    bars, rows = _rows(record, shown)
    lanes = int(bars["lane"].max() or 0) + 1 if len(bars) else 1  # type: ignore[arg-type]
    row = min(max(HEIGHT / max(len(rows), 1), LEAST_ROW, 2.0 * lanes), MOST_ROW)
    last = shown - 1
    end = float(begins[last] + _makespan(record)[last]) if shown else 1.0
    left = max(map(width_of, rows), default=0.0) + 40
    width = max(200.0, min(WIDTH, room() - left))
    along = Axis("from", "clocks", 0.0, max(end, 1.0))
    x = along.encoding(alt.X, grid=False)
    named = rows[:: max(1, -int(-NAME_ROW // row))]
    y = alt.Y(
        "row:N",
        title="connection" if by_connection else "node",
        sort=rows,
        scale=alt.Scale(paddingInner=0.12, paddingOuter=0.06),
        axis=alt.Axis(values=named, labelLimit=400, ticks=False, domain=False),
    )
    connections = (
        alt.Chart(bars)
        .mark_bar(stroke="white", strokeWidth=0.3)  # between bars, also on near-black
        .encode(
            x=x,
            x2="to:Q",
            y=y,
            yOffset=alt.YOffset("lane:O", scale=alt.Scale(domain=list(range(lanes)))),
            color=alt.Color(
                "way:N",
                title=None,
                scale=alt.Scale(domain=list(WAYS), range=list(WAYS.values())),
                legend=None if _both_ways(record) else alt.Legend(orient="top"),
            ),
            tooltip=["connection", "phase:Q", "words:Q", "hops:Q", "start:Q", "end:Q"],
        )
    )
    layers = [*_switches(record, begins, shown, width / along.high), connections]
    what = "connection" if by_connection else "node"
    said = f"A row for each {what}; grey: context switches, with the number of the phase above"
    return layered(layers, said, width, row * max(len(rows), 1))


def _rows(record: Recorded, shown: int) -> tuple[pl.DataFrame, list[str]]:
    """Return the bars of the timetable, and the names of its rows."""
    if record.figures["connections"] <= FEW_CONNECTIONS:
        return _by_connection(record)
    return _by_processor(record, shown)


def phases_on_network(record: Recorded) -> alt.VConcatChart:
    """Return every phase on the network, as many as ``phase_map`` shows."""
    return _maps(record)[0]


def _maps(record: Recorded) -> tuple[alt.VConcatChart, int]:
    """Return the first phases on the network, and how many they are."""
    network, channels = topology_of(record), record.figures["network_channels"]
    shown = min(record.figures["phases"], max(1, MOST_CHANNELS // max(1, channels)))
    makespan = _makespan(record)
    maps: list[NetworkChart] = []
    for phase, used in enumerate(_used(record)[:shown]):
        drawn = network_chart(network, used, USE, width=MAP_SIDE)
        if isinstance(drawn, alt.Chart):  # the loads of an unknown network in falling order
            height = MAP_SIDE * float(drawn.height) / float(drawn.width)
            drawn = drawn.properties(width=MAP_SIDE, height=height)
        title = alt.TitleParams(
            f"phase {phase}: {number(float(makespan[phase]))} clocks",
            subtitle=f"channels used {percent(float(used.mean()) if channels else 0.0)}",
        )
        maps.append(drawn.properties(title=title))
    rows = [
        alt.hconcat(*maps[first : first + MAP_COLUMNS], spacing=14).resolve_scale(
            color="shared", stroke="shared"
        )
        for first in range(0, len(maps), MAP_COLUMNS)
    ]
    whole: alt.VConcatChart = alt.vconcat(*rows, spacing=14).resolve_scale(
        color="shared", stroke="shared"
    )
    return whole, shown


def _used(record: Recorded) -> Floats:
    """Return float64[num_phases, num_network_channels], how much of a phase each carries words."""
    crossed, clocks = record.tables["channels"], _makespan(record)
    words = np.zeros((record.figures["phases"], record.figures["network_channels"]))
    words[crossed["phase"].to_numpy(), crossed["channel"].to_numpy()] = crossed["words"].to_numpy()
    each = float(record.figures["costs"]["channel_clocks_per_word"])
    return np.divide(each * words, clocks[:, None], out=np.zeros_like(words),
                     where=clocks[:, None] > 0)  # fmt: skip


def _used_title(record: Recorded) -> str:
    """Return how much of all phases the channels work on average, in a sentence."""
    used, clocks = _used(record), _makespan(record)
    mean = float(np.average(used.mean(axis=1), weights=clocks)) if clocks.sum() and used.size else 0
    many = counted(record.figures["phases"], "phase")
    return f"Channels carry words {percent(mean)} of the time of {many}, without switches."


def _title(record: Recorded) -> str:
    found = record.figures
    many, least = found["phases"], found["lower_bound_phases"]
    counted = f"{many} phase{'s' * (many != 1)}"
    of = f"{counted}, the lower bound" if many == least else f"{counted} (at least {least})"
    return f"{found['app']} on {found['topology']}: {of}"


def _words(record: Recorded, shown: int, rows: int) -> list[str]:
    found = record.figures
    schedule, connections = found["schedule"], found["connections"]
    drawn = "a connection"
    if connections > FEW_CONNECTIONS:
        where = "the node that sends" if _both_ways(record) else "both its nodes"
        drawn = f"{drawn}, at {where}"
    lines = [
        f"{connections} connections, {schedule['kind']}: {number(schedule['clocks'])} clocks",
        f"bar: {drawn}; context switches of {number(_switch_clocks(record))} clocks",
    ]
    parts = []
    if shown < found["phases"]:
        parts.append(f"the first {shown} of {counted(found['phases'], 'phase')}")
    if rows == MOST_ROWS < found["nodes"]:
        parts.append(f"the {rows} processors with the most words")
    return lines + ([f"Shown: {' and '.join(parts)}"] if parts else [])


def _both_ways(record: Recorded) -> bool:
    """Whether processors send and receive at once."""
    return bool(record.figures["costs"]["both_ways"])


def _switch_clocks(record: Recorded) -> float:
    return float(record.figures["costs"]["switch_clocks"])


def _makespan(record: Recorded) -> Floats:
    """Return float64[num_phases], how long each lasts, in clocks."""
    return record.tables["phases"]["makespan"].to_numpy()


def _begins(record: Recorded) -> Floats:
    """Return when the words of each phase may begin, in clocks from the first switch on."""
    makespan = _makespan(record)
    before = np.cumsum(makespan) - makespan
    switches = _switch_clocks(record) * np.arange(1, len(makespan) + 1)
    return np.asarray(before + switches, np.float64)


def _shown_phases(record: Recorded) -> int:
    """Return how many phases are shown: one at least, if there is one."""
    held = np.cumsum(record.tables["phases"]["connections"].to_numpy())
    ends = 1 if _both_ways(record) else 2
    return max(int((held * ends <= MOST_BARS).sum()), min(1, len(held)))


def _timed(record: Recorded) -> pl.DataFrame:
    """Return the connections, with where their bars begin and end."""
    table = record.tables["table"]
    begins = _begins(record)[table["phase"].to_numpy()]
    return table.with_columns(
        connection=pl.format("{} -> {}", "source_task", "target_task"),
        **{"from": begins + table["start"].to_numpy(), "to": begins + table["end"].to_numpy()},
        way=pl.lit("sends"),
    )


def _by_connection(record: Recorded) -> tuple[pl.DataFrame, list[str]]:
    """Return a bar per connection, each on its row, and the rows in the order of time."""
    table = _timed(record)
    several = len(set(table["connection"].to_list())) < len(table)
    label = pl.format("{} #{}", "connection", pl.int_range(pl.len())) if several else "connection"
    table = table.with_columns(row=label if several else pl.col("connection"), lane=pl.lit(0))
    table = table.sort("from", "to")
    return table, table["row"].to_list()


def _by_processor(record: Recorded, shown: int) -> tuple[pl.DataFrame, list[str]]:
    """Return bars of processors, those open at once in lanes, and the names of the rows."""
    network, words = topology_of(record), record.tables["nodes"]["words"].to_numpy()
    busiest = np.sort(np.argsort(-words, kind="stable")[:MOST_ROWS]).tolist()
    sends = _timed(record).filter(pl.col("phase") < shown)
    bars = sends.with_columns(node=pl.col("source"))
    if not _both_ways(record):
        receives = sends.with_columns(node=pl.col("target"), way=pl.lit("receives"))
        bars = pl.concat([bars, receives])
    bars = bars.filter(pl.col("node").is_in(busiest)).sort("node", "from", "to")
    columns = (bars[name].to_list() for name in ("node", "from", "to"))
    names = {node: str(node) if network is None else network.name_of(node) for node in busiest}
    rows = [names[node] for node in bars["node"].to_list()]
    placed = bars.with_columns(
        lane=pl.Series(_lanes(*columns), dtype=pl.Int64), row=pl.Series(rows, dtype=pl.String)
    )
    return placed, list(names.values())


def _lanes(nodes: list[int], begins: list[float], ends: list[float]) -> list[int]:
    """Return the first lane of its node that is free when each bar begins. Bars are in order."""
    free: dict[int, list[float]] = {}
    lanes = []
    for node, begin, end in zip(nodes, begins, ends, strict=True):
        until = free.setdefault(node, [])
        slack = 1e-9 * abs(end)
        lane = next((at for at, last in enumerate(until) if last <= begin + slack), len(until))
        until[lane : lane + 1] = [end]
        lanes.append(lane)
    return lanes


def _switches(record: Recorded, begins: Floats, shown: int, scale: float) -> list[alt.Chart]:
    """Return the context switches as grey bands, with numbers of phases above.

    ``scale`` is how many pixels a clock has: no number touches the one before.
    """
    table = pl.DataFrame(
        {
            "from": begins[:shown] - _switch_clocks(record),
            "to": begins[:shown],
            "middle": begins[:shown] + _makespan(record)[:shown] / 2,
            "phase": np.arange(shown),
        }
    )
    bands = (
        alt.Chart(table)
        .mark_rect(color=REFERENCE, opacity=SWITCH_OPACITY)
        .encode(x="from:Q", x2="to:Q")
    )
    if not 1 < shown <= MOST_NAMED:
        return [bands]
    kept, last = list[int](), -NUMBERED
    for phase, middle in enumerate(table["middle"].to_list()):
        if middle * scale - last >= NUMBERED:
            kept.append(phase)
            last = middle * scale
    numbers = (
        alt.Chart(table.filter(pl.col("phase").is_in(kept)))
        .mark_text(fontSize=12, dy=-8)
        .encode(x="middle:Q", y=alt.value(0), text="phase:O")
    )
    return [bands, numbers]


PART_TITLES = {
    "time": "Where the time goes",
    "timetable": "Timetable of the phases",
    "phases": "Phases on the network",
}
"""What parts are called that have no title of their own."""
