"""The timetable of connections in phases, one after the other, with the switches between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import altair as alt
import numpy as np
import polars as pl

from netloom.base.arrays import Floats, Ints
from netloom.base.words import counted, number, percent
from netloom.drawing.axes import Axis, named_rows, shared
from netloom.drawing.bars import Bar, stacked
from netloom.drawing.frame import BEST, OTHERS, REFERENCE, layered, room
from netloom.drawing.names import width_of
from netloom.drawing.timelines import lanes, nanoseconds
from netloom.topology import Topology

FEW_CONNECTIONS = 32
"""Up to so many each has a row of its own."""

MOST_ROWS = 128
"""Most processors that are shown. Of more, those with the most words."""

MOST_BARS = 12_000
"""Most bars of a chart: as many phases are shown, from the first on, as stay below that."""

MOST_NAMED = 40
"""Most phases that have their number above them."""

NUMBERED = 20.0
"""Pixels between the numbers of phases, at least."""

WAYS = {"sends": BEST, "receives": OTHERS[0]}
SWITCH_OPACITY = 0.22
WIDTH, LEAST_ROW, MOST_ROW, HEIGHT = 1000.0, 5.0, 22.0, 760.0

MOST_CHANNELS = 20_000
"""Most channels of a map, of all phases together."""

MAP_COLUMNS, MAP_SIDE = 6, 210.0
"""Phases side by side, and how wide each is."""

NAME_ROW = 15.0
"""Pixels of a row whose name can be read. Of lower ones some are named."""


@dataclass(frozen=True, eq=False)
class PhasesInTime:
    """Connections in phases.

    Attributes
    ----------
    connections
        A row each: ``source_task``, ``target_task``, ``source``, ``target``, ``words``, ``phase``,
        ``hops``, and ``start`` and ``end``, clocks since its phase began.
    makespan
        float64[num_phases], how long each lasts, in clocks.
    held
        int64[num_phases], the connections of each.
    switch_clocks
        What comes before each phase.
    both_ways
        Whether processors send and receive at once. If not, a bar stands at both ends.
    moved
        float64[num_nodes], the words that each processor moves.
    name_of
        What a node is called.
    """

    connections: pl.DataFrame
    makespan: Floats
    held: Ints
    switch_clocks: float
    both_ways: bool
    moved: Floats
    name_of: Callable[[int], str]

    @property
    def by_connection(self) -> bool:
        """Whether connections are so few that each has a row."""
        return len(self.connections) <= FEW_CONNECTIONS

    @property
    def begins(self) -> Floats:
        """When the words of each phase may begin, in clocks from the first switch on."""
        before = np.cumsum(self.makespan) - self.makespan
        switches = self.switch_clocks * np.arange(1, len(self.makespan) + 1)
        return before + switches

    @property
    def shown(self) -> int:
        """How many phases are shown: one at least, if there is one."""
        ends = 1 if self.both_ways else 2
        many = int((np.cumsum(self.held) * ends <= MOST_BARS).sum())
        return max(many, min(1, len(self.held)))

    @property
    def words(self) -> list[str]:
        """What a bar is, and which part is shown, if it is not all."""
        drawn = "a connection"
        if not self.by_connection:
            drawn += f", at {'the node that sends' if self.both_ways else 'both its nodes'}"
        parts, (_, rows) = [], self.rows
        if self.shown < len(self.held):
            parts.append(f"the first {self.shown} of {counted(len(self.held), 'phase')}")
        if len(rows) == MOST_ROWS < len(self.moved):
            parts.append(f"the {len(rows)} processors with the most words")
        said = f"bar: {drawn}; context switches of {number(self.switch_clocks)} clocks"
        return [said, f"Shown: {' and '.join(parts)}"] if parts else [said]

    @cached_property
    def rows(self) -> tuple[pl.DataFrame, list[str]]:
        """The bars, those that are open at once in lanes, and the names of their rows."""
        table = self.connections
        begins = self.begins[table["phase"].to_numpy()]
        sends = table.with_columns(
            connection=pl.format("{} -> {}", "source_task", "target_task"),
            **{"from": begins + table["start"].to_numpy(), "to": begins + table["end"].to_numpy()},
            way=pl.lit("sends"),
        )
        if self.by_connection:
            label = pl.col("connection")
            if sends["connection"].n_unique() < len(sends):
                label = pl.format("{} #{}", "connection", pl.int_range(pl.len()))
            bars = sends.with_columns(row=label, lane=pl.lit(0)).sort("from", "to")
            return bars, bars["row"].to_list()
        busiest = np.sort(np.argsort(-self.moved, kind="stable")[:MOST_ROWS]).tolist()
        sends = sends.filter(pl.col("phase") < self.shown)
        bars = sends.with_columns(node=pl.col("source"))
        if not self.both_ways:
            receives = sends.with_columns(node=pl.col("target"), way=pl.lit("receives"))
            bars = pl.concat([bars, receives])
        bars = bars.filter(pl.col("node").is_in(busiest)).sort("node", "from", "to")
        names = {node: self.name_of(node) for node in busiest}
        since, until = (nanoseconds(bars[end].to_numpy(), 1.0) for end in ("from", "to"))
        placed = bars.with_columns(
            lane=pl.Series(lanes(bars["node"].to_numpy(), since, until), dtype=pl.Int64),
            row=pl.Series([names[node] for node in bars["node"].to_list()], dtype=pl.String),
        )
        return placed, list(names.values())

    def chart(self) -> alt.LayerChart:
        """Return who sends when: a bar per connection, context switches between the phases.

        Rows are processors, or connections where they are few. Connections that a processor has
        open at once share its row's height.
        """
        bars, rows = self.rows
        what = "connection" if self.by_connection else "node"
        open_at_once = int(bars["lane"].max() or 0) + 1 if len(bars) else 1  # type: ignore[arg-type]
        row = min(max(HEIGHT / max(len(rows), 1), LEAST_ROW, 2.0 * open_at_once), MOST_ROW)
        last = self.shown - 1
        end = float(self.begins[last] + self.makespan[last]) if self.shown else 1.0
        left = max(map(width_of, rows), default=0.0) + 40
        width = max(200.0, min(WIDTH, room() - left))
        along = shared(Axis("from", "clocks", 0.0, max(end, 1.0)))
        named = rows[:: max(1, -int(-NAME_ROW // row))]
        y = named_rows("row", rows, paddingInner=0.12, paddingOuter=0.06)
        y = y.title(what).axis(values=named, labelLimit=400, ticks=False, domain=False)
        ways = alt.Scale(domain=list(WAYS), range=list(WAYS.values()))
        legend = None if self.both_ways else alt.Legend(orient="top")
        lanes = alt.Scale(domain=list(range(open_at_once)))
        white = alt.Chart(bars).mark_bar(stroke="white", strokeWidth=0.3)  # also on near-black
        connections = white.encode(
            x=along.encoding(alt.X, grid=False),
            x2="to:Q",
            y=y,
            yOffset=alt.YOffset("lane:O", scale=lanes),
            color=alt.Color("way:N", title=None, scale=ways, legend=legend),
            tooltip=["connection", "phase:Q", "words:Q", "hops:Q", "start:Q", "end:Q"],
        )
        said = f"A row for each {what}; grey: context switches, with the number of the phase above"
        begins, lasting = self.begins[: self.shown], self.makespan[: self.shown]
        table = pl.DataFrame({"from": begins - self.switch_clocks, "to": begins})
        table = table.with_columns(
            middle=begins + lasting / 2, phase=pl.int_range(self.shown, dtype=pl.Int64)
        )
        grey = alt.Chart(table).mark_rect(color=REFERENCE, opacity=SWITCH_OPACITY)
        layers = [grey.encode(x="from:Q", x2="to:Q")]
        if 1 < self.shown <= MOST_NAMED:  # no number touches the one before
            scale = width / along.high
            kept, before = [], -NUMBERED
            for phase, middle in enumerate(table["middle"].to_list()):
                if middle * scale - before >= NUMBERED:
                    kept.append(phase)
                    before = middle * scale
            some = alt.Chart(table.filter(pl.col("phase").is_in(kept)))
            numbers = some.mark_text(fontSize=12, dy=-8)
            layers.append(numbers.encode(x="middle:Q", y=alt.value(0), text="phase:O"))
        layers.append(connections)
        return layered(layers, said, width, row * max(len(rows), 1))


def switching(clocks: float, moves: float, phases: int) -> alt.LayerChart:
    """Return how much of the time goes to context switches, and how much to moving words."""
    switches, said = clocks - moves, "There is nothing to send"
    parts = ("switching", switches, REFERENCE), ("moving words", moves, BEST)
    if clocks:
        said = f"{percent(1 - moves / clocks)} of {counted(number(clocks), 'clock')} "
        said += f"without latency is switching between {counted(phases, 'phase')}"
    rows = [
        Bar(name, took, percent(took / clocks) if clocks else "", colour)
        for name, took, colour in parts
    ]
    return stacked(rows, said, "clocks", width=WIDTH, empty="nothing")


def phase_maps(
    network: Topology | None, busy: Floats, makespan: Floats
) -> tuple[alt.VConcatChart, int, float]:
    """Return the first phases on the network, how many they are, and how busy channels are in all.

    Parameters
    ----------
    network
        The network. None if it is not known.
    busy
        float64[num_phases, num_channels], clocks for which each channel works in each phase.
    makespan
        float64[num_phases], how long each phase lasts, in clocks.
    """
    from netloom.drawing.networks.chart import USE, network_chart

    used, maps = np.zeros_like(busy), []
    lasting = makespan[:, None]
    np.divide(busy, lasting, out=used, where=lasting > 0)
    shown = min(len(used), max(1, MOST_CHANNELS // max(1, used.shape[1])))
    for phase, each in enumerate(used[:shown]):
        drawn = network_chart(network, each, USE, width=MAP_SIDE)
        title = alt.TitleParams(
            f"phase {phase}: {number(makespan[phase])} clocks",
            subtitle=f"channels used {percent(float(each.mean()) if each.size else 0.0)}",
        )
        maps.append(drawn.properties(title=title))
    rows = [
        alt.hconcat(*maps[first : first + MAP_COLUMNS], spacing=14).resolve_scale(
            color="shared", stroke="shared"
        )
        for first in range(0, len(maps), MAP_COLUMNS)
    ]
    whole = alt.vconcat(*rows, spacing=14).resolve_scale(color="shared", stroke="shared")
    mean = 0.0
    if makespan.sum() and used.size:
        mean = float(np.average(used.mean(axis=1), weights=makespan))
    return whole, shown, mean
