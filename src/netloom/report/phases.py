"""The pictures of a compiled pattern: its timetable, and each phase on the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.report.frame import framed
from netloom.report.load_curve import COLOURS, GREY
from netloom.report.network import LOAD_COLOURS, network_chart
from netloom.verbs.phase_figures import channel_words, processor_words

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from numpy.typing import NDArray

    from netloom.verbs import CompiledPhases

FEW_CONNECTIONS = 32
"""Up to so many each has a row of its own."""

MOST_ROWS = 128
"""Most processors that are shown; of more, those with the most words."""

MOST_BARS = 12_000
"""Most bars of a chart: as many phases are shown, from the first on, as stay below that."""

MOST_CHANNELS = 20_000
"""Most channels of a map, of all phases together."""

MOST_NAMED = 40
"""Most phases that have their number above them."""

WAYS = {"sends": COLOURS[1], "receives": LOAD_COLOURS[1]}
SWITCH = LOAD_COLOURS[0]
LOAD = "words on the channel"
WIDTH, LEAST_ROW, MOST_ROW, HEIGHT = 1100, 5.0, 22.0, 760.0

MAP_COLUMNS, MAP_SIDE = 6, 210.0
"""Phases side by side, and how wide each is."""


def gantt_chart(result: CompiledPhases) -> alt.HConcatChart:
    """Return who sends when: a bar a connection, context switches between the phases.

    Rows are processors, or connections where they are few. Connections that a processor has open
    at once share its row's height. Where processors do not send and receive at once, a bar stands
    at both ends of a connection.
    """
    import altair as alt

    begins, shown = _begins(result), _shown_phases(result)
    by_connection = len(result.plan.connections) <= FEW_CONNECTIONS
    bars, rows = _by_connection(result) if by_connection else _by_processor(result, shown)
    lanes = int(bars["lane"].max() or 0) + 1 if len(bars) else 1  # type: ignore[arg-type]
    row = min(max(HEIGHT / max(len(rows), 1), LEAST_ROW, 2.0 * lanes), MOST_ROW)
    last = shown - 1
    end = float(begins[last] + result.timetable.makespan[last]) if shown else 1.0
    x = alt.X("from:Q", title="clocks", scale=alt.Scale(domain=[0, max(end, 1.0)], nice=False))
    y = alt.Y(
        "row:N",
        title="connection" if by_connection else "node",
        sort=rows,
        scale=alt.Scale(paddingInner=0.12, paddingOuter=0.06),
        axis=alt.Axis(labelFontSize=8 if row < 14 else 10, ticks=False, domain=False),
    )
    connections = (
        alt.Chart(bars)
        .mark_bar(stroke="white", strokeWidth=0.3)
        .encode(
            x=x,
            x2="to:Q",
            y=y,
            yOffset=alt.YOffset("lane:O", scale=alt.Scale(domain=list(range(lanes)))),
            color=alt.Color(
                "way:N",
                title=None,
                scale=alt.Scale(domain=list(WAYS), range=list(WAYS.values())),
                legend=None if result.costs.both_ways else alt.Legend(orient="top"),
            ),
            tooltip=["connection", "phase:Q", "words:Q", "hops:Q", "start:Q", "end:Q"],
        )
    )
    layers = [*_switches(result, begins, shown), connections]
    drawn: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=WIDTH, height=row * max(len(rows), 1)
    )
    return framed([drawn], _title(result), _words(result, shown, len(rows)))


def phase_map(result: CompiledPhases) -> alt.HConcatChart:
    """Return every phase on the network, its channels coloured by the words that cross them."""
    import altair as alt

    network = result.plan.topology
    load = channel_words(result.plan)
    shown = max(1, MOST_CHANNELS // max(1, network.num_channels))
    makespan, most = result.timetable.makespan, float(load.max(initial=1.0))
    maps = []
    for phase, words in enumerate(load[:shown]):
        drawn = network_chart(network, words, LOAD)
        height = MAP_SIDE * float(drawn.height) / float(drawn.width)
        title = f"phase {phase}: {makespan[phase]:,.0f} clocks"
        maps.append(_alike(drawn, most).properties(width=MAP_SIDE, height=height, title=title))
    rows = [
        alt.hconcat(*maps[first : first + MAP_COLUMNS], spacing=14).resolve_scale(color="shared")
        for first in range(0, len(maps), MAP_COLUMNS)
    ]
    whole = alt.vconcat(*rows, spacing=14).resolve_scale(color="shared")
    part = f"; the first {shown} of {len(load)} phases" if shown < len(load) else ""
    words = f"every channel by its words in each phase{part}"
    return framed([whole], _title(result), [words])


def _alike(drawn: alt.Chart, most: float) -> alt.Chart:
    """Return a drawing whose colours and widths mean the same in all phases."""
    import altair as alt

    if not isinstance(drawn.encoding.color, alt.Color):
        return drawn  # of a network that cannot be drawn: its loads in falling order
    domain = [0.0, most]
    alike: alt.Chart = drawn.encode(
        color=alt.Color(
            "load:Q",
            title=LOAD,
            scale=alt.Scale(range=LOAD_COLOURS, interpolate="rgb", domain=domain),
            legend=alt.Legend(type="gradient", orient="bottom", gradientLength=240),
        ),
        strokeWidth=alt.StrokeWidth(
            "load:Q", scale=alt.Scale(range=[0.8, 3.2], domain=domain), legend=None
        ),
        size=alt.Undefined,
    )
    return alike


def _title(result: CompiledPhases) -> str:
    plan = result.plan
    return f"{result.graph.name} on {plan.topology.name}: {result.phases_said}"


def _words(result: CompiledPhases, shown: int, rows: int) -> list[str]:
    plan = result.plan
    drawn = "a connection"
    if len(plan.connections) > FEW_CONNECTIONS:
        where = "the node that sends" if result.costs.both_ways else "both its nodes"
        drawn = f"{drawn}, at {where}"
    lines = [
        f"{len(plan.connections)} connections, {result.timetable.kind}:"
        f" {result.clocks:,.0f} clocks",
        f"bar: {drawn}; grey: context switches of {result.costs.switch_clocks:,.0f} clocks"
        + ("; above: the phases" if 1 < shown <= MOST_NAMED else ""),
    ]
    parts = []
    if shown < plan.num_phases:
        parts.append(f"the first {shown} of {plan.num_phases} phases")
    if rows == MOST_ROWS < plan.topology.num_nodes:
        parts.append(f"the {rows} processors with the most words")
    return lines + ([f"Shown: {' and '.join(parts)}"] if parts else [])


def _begins(result: CompiledPhases) -> NDArray[np.float64]:
    """Return when the words of each phase may begin, in clocks from the first switch on."""
    makespan, switch = result.timetable.makespan, result.costs.switch_clocks
    before = np.cumsum(makespan) - makespan
    return np.asarray(before + switch * np.arange(1, len(makespan) + 1), np.float64)


def _shown_phases(result: CompiledPhases) -> int:
    """Return how many phases are shown: one at least, if there is one."""
    held = np.cumsum(np.bincount(result.plan.phase, minlength=result.plan.num_phases))
    ends = 1 if result.costs.both_ways else 2
    return max(int((held * ends <= MOST_BARS).sum()), min(1, result.plan.num_phases))


def _timed(result: CompiledPhases) -> pl.DataFrame:
    """Return the connections, with where their bars begin and end."""
    import polars as pl

    begins, given = _begins(result)[result.plan.phase], result.plan.connections
    table = result.table()
    names = [given.describe(each) for each in range(len(given))]
    return table.with_columns(
        pl.Series("connection", names, pl.String),
        **{"from": begins + table["start"].to_numpy(), "to": begins + table["end"].to_numpy()},
        way=pl.lit("sends"),
    )


def _by_connection(result: CompiledPhases) -> tuple[pl.DataFrame, list[str]]:
    """Return a bar a connection, each on its row, and the rows in the order of time."""
    import polars as pl

    table = _timed(result)
    several = len(set(table["connection"].to_list())) < len(table)
    label = pl.format("{} #{}", "connection", pl.int_range(pl.len())) if several else "connection"
    table = table.with_columns(row=label if several else pl.col("connection"), lane=pl.lit(0))
    table = table.sort("from", "to")
    return table, table["row"].to_list()


def _by_processor(result: CompiledPhases, shown: int) -> tuple[pl.DataFrame, list[str]]:
    """Return bars of processors, those open at once in lanes, and the names of the rows."""
    import polars as pl

    network, costs = result.plan.topology, result.costs
    words = result.plan.connections.words.astype(np.float64)
    total = processor_words(result.plan, words, both_ways=costs.both_ways).sum(axis=0)
    busiest = np.sort(np.argsort(-total, kind="stable")[:MOST_ROWS])
    sends = _timed(result).filter(pl.col("phase") < shown)
    bars = sends.with_columns(node=pl.col("source"))
    if not costs.both_ways:
        receives = sends.with_columns(node=pl.col("target"), way=pl.lit("receives"))
        bars = pl.concat([bars, receives])
    bars = bars.filter(pl.col("node").is_in(busiest.tolist())).sort("node", "from", "to")
    columns = (bars[name].to_list() for name in ("node", "from", "to"))
    names = {int(node): network.node_name(int(node)) for node in busiest}
    rows = [names[node] for node in bars["node"].to_list()]
    placed = bars.with_columns(
        lane=pl.Series(_lanes(*columns), dtype=pl.Int64), row=pl.Series(rows, dtype=pl.String)
    )
    return placed, list(names.values())


def _lanes(nodes: list[int], begins: list[float], ends: list[float]) -> list[int]:
    """Return the first lane of its node's that is free when each bar begins; bars in order."""
    free: dict[int, list[float]] = {}
    lanes = []
    for node, begin, end in zip(nodes, begins, ends, strict=True):
        until = free.setdefault(node, [])
        slack = 1e-9 * abs(end)
        lane = next((at for at, last in enumerate(until) if last <= begin + slack), len(until))
        until[lane : lane + 1] = [end]
        lanes.append(lane)
    return lanes


def _switches(result: CompiledPhases, begins: NDArray[np.float64], shown: int) -> list[alt.Chart]:
    """Return the context switches as grey bands, with the number of the phase above."""
    import altair as alt
    import polars as pl

    table = pl.DataFrame(
        {
            "from": begins[:shown] - result.costs.switch_clocks,
            "to": begins[:shown],
            "middle": begins[:shown] + result.timetable.makespan[:shown] / 2,
            "phase": np.arange(shown),
        }
    )
    bands = alt.Chart(table).mark_rect(color=SWITCH).encode(x="from:Q", x2="to:Q")
    if not 1 < shown <= MOST_NAMED:
        return [bands]
    numbers = (
        alt.Chart(table)
        .mark_text(fontSize=10, color=GREY, dy=-7)
        .encode(x="middle:Q", y=alt.value(0), text="phase:O")
    )
    return [bands, numbers]
