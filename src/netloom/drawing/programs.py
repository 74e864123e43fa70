"""Timelines of programs, and of what their nodes and channels do meanwhile.

Charts show over time when nodes send, which channels are busy, and the critical path. A timeline
follows from the times of a program's rows: it has a track a rank, with arrows between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import polars as pl

from netloom.base.arrays import Bools, Ints, Records
from netloom.base.figures import SHARE, leaves, say
from netloom.base.units import TIME
from netloom.base.words import counted
from netloom.drawing.axes import BESIDE, Axis, named_rows, shared
from netloom.drawing.bars import short_names
from netloom.drawing.frame import BEST, FULL, THIS, layered, room
from netloom.drawing.names import GAP, width_of
from netloom.drawing.timelines import (
    PER_MICROSECOND,
    Arrows,
    Nanoseconds,
    Slices,
    Timeline,
    Track,
    counter,
    lanes,
    nanoseconds,
)
from netloom.simulation.agenda import SPANS, TIMES
from netloom.simulation.figures import (
    BusyPart,
    Crossed,
    Spent,
    busiest_links,
    crossed_channels,
    moved_rows,
)
from netloom.simulation.loops import KeptRows
from netloom.simulation.program_network import ProgramNetwork
from netloom.simulation.traces import CriticalPath, TraceRun
from netloom.topology import Topology

# -- charts over time ------------------------------------------------------------------------------


MOST_BANDS = 64
"""Rows at most. Of more nodes each row has several."""

CELLS = 600
"""Parts of the time that are told apart."""

WAITS, SENDS = "waits for its channel", "sends"
KINDS = {WAITS: THIS, SENDS: BEST}

WIDTH, LEAST, MOST = 620.0, 150.0, 448.0
ROW, CHANNEL = 14.0, 16.0

BAR = 0.82
"""The part of its row that a bar covers."""

ENDS = ("begin", "end")


def nodes_over_time(
    messages: pl.DataFrame, links: pl.DataFrame, nodes: int, unit: str
) -> alt.LayerChart | None:
    """Return when nodes send and wait to send, and the critical path, or None.

    Parameters
    ----------
    messages, links
        The columns of ``Message`` and of ``Link``.
    nodes, unit
        How many nodes there are, and what times are: ``cycles`` or ``seconds``.
    """
    bars, path = _bars(messages), _path(links)
    last = _last(bars, path)
    if bars.is_empty() or not last:
        return None
    scale, x = _time_axis(last, unit)
    each = -(-nodes // MOST_BANDS)
    rows = -(-nodes // each)
    times = pl.col("begin", "end") / scale
    table = _merged(bars, each, last).with_columns(times)
    path = path.with_columns(pl.col("row", "until") // each * each, times)
    height = min(max(ROW * rows, LEAST), MOST)
    down = Axis("row", "node", 0.0, float(nodes), whole=True)
    domain = [rows * each - each / 2, -each / 2]  # a bar is around the number of its first node
    beside = alt.Axis(values=down.ticks, grid=False, format=",.6~g")
    y = alt.Y("row:Q", title="node", scale=alt.Scale(domain=domain, nice=False), axis=beside)
    known = [kind for kind in KINDS if kind in table["does"]]
    legend = alt.Legend(orient="bottom", symbolType="square") if len(known) > 1 else None
    colours = alt.Scale(domain=known, range=[KINDS[kind] for kind in known])
    bar = alt.Chart(table).mark_bar(orient="horizontal", height=BAR * height / rows)
    colour = alt.Color("does:N", title=None, legend=legend, scale=colours)
    told = ["row", "does", "begin", "end"]
    drawn = [bar.encode(x=x, x2="end:Q", y=y, color=colour, tooltip=told)]
    several = f"; a row is {counted(each, 'node')}" if each > 1 else ""
    said = f"When nodes send{' and wait to send' * (len(known) > 1)}{several}"
    if len(path):
        said += "; thin line: the critical path"
        line = alt.Chart(path).mark_rule(style="ink", strokeWidth=2)
        drawn.append(line.encode(x=x, x2="end:Q", y=y, y2="until:Q", tooltip=["id:N"]))
    return layered(drawn, said, min(WIDTH, room() - BESIDE), height)


def channels_over_time(
    table: pl.DataFrame, messages: pl.DataFrame, links: pl.DataFrame, unit: str
) -> alt.LayerChart | None:
    """Return the busiest channels over time, a row each, and where the critical path uses them.

    ``table`` has the columns of ``BusyPart``. None if the channels of messages are not known.
    """
    table = table.select(each.name for each in leaves(BusyPart))
    last = _last(_bars(messages), _path(links), table)
    if table.is_empty() or not last:
        return None
    first = table.row(int(table["utilisation"].arg_max() or 0), named=True)
    use = say(first["utilisation"], SHARE)
    title = f"Busy channels: {first['name']} is up to {use} in use"
    if table["critical"].any():
        title += "; thick line: the critical path"
    return _in_use(table, last, unit, title)


def use_over_time(use: pl.DataFrame, seconds: float) -> alt.LayerChart:
    """Return the use of the busiest channels, a row each, in parts of so many seconds.

    Parts that follow each other are one if their use looks alike. ``use`` has them in order:
    ``channel``, ``begin`` and ``end`` in seconds, and ``use``, from 0 to 1.
    """
    parts = use.with_columns(use=(100 * pl.col("use")).round() / 100)
    runs = parts.group_by(pl.struct("channel", "use").rle_id().alias("run"), maintain_order=True)
    first, end = pl.col("channel", "begin", "use").first(), pl.col("end").last()
    table = runs.agg(first, end).rename({"channel": "name", "use": "utilisation"})
    table = table.drop("run").with_columns(critical=pl.lit(value=False))
    many = counted(table["name"].n_unique(), "busiest channel")
    return _in_use(table, seconds, "seconds", f"Use of the {many} over time")


def _in_use(table: pl.DataFrame, last: float, unit: str, title: str) -> alt.LayerChart:
    """Return how far channels are in use as rows of a heat map, from 0 to the last time."""
    scale, x = _time_axis(last, unit)
    channels = table["name"].unique(maintain_order=True).to_list()
    names = short_names(channels, 0.0)
    called = pl.col("name").replace_strict(channels, names)
    said = pl.Series([say(each, SHARE) for each in table["utilisation"].to_list()], dtype=pl.String)
    table = table.with_columns(pl.col(*ENDS) / scale, name=called, percent=said)
    left = max(map(width_of, names), default=0.0) + 14
    y = named_rows("name", names, paddingInner=0.2, paddingOuter=0.1)
    full = alt.Scale(domain=FULL, range="heatmap", interpolate="rgb")
    idle = "datum.value == 0 ? 'idle' : datum.value == 1 ? 'full' : '50\u00a0%'"
    legend = alt.Legend(orient="bottom", gradientLength=200, values=[0, 0.5, 1], labelExpr=idle)
    colour = alt.Color("utilisation:Q", title="channel in use", scale=full, legend=legend)
    told = ["name", "begin", "percent"]
    cells = alt.Chart(table).mark_rect()
    layers = [cells.encode(x=x, x2="end:Q", y=y, tooltip=told, color=colour)]
    if table["critical"].any():
        marked = alt.Chart(table.filter("critical")).mark_bar(style="ink", height=3)
        layers.append(marked.encode(x=x, x2="end:Q", y=y))
    width = min(WIDTH, room() - left - GAP)
    return layered(layers, title, width, CHANNEL * max(len(names), 1))


def _time_axis(last: float, unit: str) -> tuple[float, alt.X]:
    """Return by what times are divided, and their axis."""
    scale, shown = (1.0, "cycles") if unit == "cycles" else TIME.scale(last)
    along = shared(Axis("begin", f"time ({shown})", 0.0, 1.01 * last / scale))
    return scale, along.encoding(alt.X, grid=False)


def _last(*tables: pl.DataFrame) -> float:
    """Return when the last of some bars ends."""
    return max((float(each["end"].max() or 0) for each in tables), default=0.0)  # type: ignore[arg-type]


def _bars(table: pl.DataFrame) -> pl.DataFrame:
    """Return when each message waits at its source, and when it is sent."""
    start, wait, until = (
        pl.col(name).cast(pl.Float64) for name in ("ready", "source_wait", "arrived")
    )
    there = table.filter(start.is_not_null() & until.is_not_null() & (until > start))
    free = start + wait.fill_null(0)
    return pl.concat(
        [
            there.select("source_node", begin=start, end=free, does=pl.lit(WAITS)),
            there.select("source_node", begin=free, end=until, does=pl.lit(SENDS)),
        ]
    ).filter(pl.col("end") > pl.col("begin"))


def _merged(bars: pl.DataFrame, each: int, last: float) -> pl.DataFrame:
    """Return the bars of rows, those that touch as one. Sending hides waiting."""
    rows = int(bars["source_node"].max() or 0) // each + 1  # type: ignore[arg-type]
    covered = {}  # which parts of the time of each row
    for kind in KINDS:
        mine = bars.filter(does=kind)
        row = mine["source_node"].to_numpy() // each
        change = np.zeros((rows, CELLS + 1), np.int64)
        begin = np.floor(mine["begin"].to_numpy() / last * CELLS).astype(int)
        end = np.ceil(mine["end"].to_numpy() / last * CELLS).astype(int)
        np.add.at(change, (row, np.clip(begin, 0, CELLS)), 1)
        np.add.at(change, (row, np.clip(end, 0, CELLS)), -1)
        covered[kind] = np.cumsum(change, axis=1)[:, :CELLS] > 0
    covered[WAITS] &= ~covered[SENDS]
    tables = []
    for kind, cells in covered.items():
        edges = np.diff(np.pad(cells, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        (row, first), (_, until) = np.nonzero(edges == 1), np.nonzero(edges == -1)
        ends = {"begin": first * last / CELLS, "end": until * last / CELLS}
        parts = pl.DataFrame({"row": row * float(each)} | ends)
        tables.append(parts.with_columns(does=pl.lit(kind)))
    return pl.concat(tables).sort("row", maintain_order=True)


def _path(table: pl.DataFrame) -> pl.DataFrame:
    """Return the steps of the critical path: from where and when, to where and when."""
    spent = [pl.col(each.name).cast(pl.Float64) for each in leaves(Spent)]
    there, done = pl.col("source_node").cast(pl.Float64), pl.col("complete").cast(pl.Float64)
    begin, target = done - pl.sum_horizontal(spent), pl.col("target_node").cast(pl.Float64)
    return table.select("id", begin=begin, end=done, row=there, until=target.fill_null(there))


# -- timelines -------------------------------------------------------------------------------------


MOST_ROWS = 200_000
"""Most rows of a program that a file shows: those that are ready first."""

GROUPS = ("", "send", "receive", "delay")
"""What the tracks of a rank are for: its processor, and lanes of messages and of delays."""

SPREAD = "sizes of messages over bandwidth, each spread evenly over its time in the network"
UNKNOWN = "left out: the engine does not keep which channels its messages take under this routing"
"""What counters show, or why there are none."""


@dataclass(frozen=True, eq=False)
class Happened:
    """When the rows of a program happened, on tracks of its ranks, or of nodes.

    Attributes
    ----------
    names
        The name of each rank.
    source, target
        int64[n], the rank of each row, and that to which it sends.
    times
        Time[n] each: ``TIMES`` as engines have them, or -1: not yet; and ``SPANS``, what rows take
        before they are ready, and from processors. See ``Messages``.
    size
        float64[n], the length of what is sent.
    moved
        bool[n], which rows have sent a message over the network that has arrived.
    awaited
        bool[n], for which rows others waited last.
    ids
        The name of each row. Empty: rows have no names.
    computing
        bool[n], in which rows a rank computes in the delay. None: others pass time.
    """

    names: Sequence[str]
    source: Ints
    target: Ints
    times: Mapping[str, Records]
    size: Records
    moved: Bools
    awaited: Bools
    ids: Sequence[str] = ()
    computing: Bools | None = None

    def __len__(self) -> int:
        return len(self.source)


def messages_sent(
    names: Sequence[str],
    ends: tuple[Ints, Ints],
    when: tuple[Records, Records],
    size: Records,
    awaited: Bools | None = None,
    ids: Sequence[str] = (),
) -> Happened:
    """Return messages that are sent and arrive at some times, and that take nothing else.

    Parameters
    ----------
    names, size, awaited, ids
        As ``Happened`` has them. By default nobody waits.
    ends, when
        The source and target of each, and when it is sent and arrives.
    """
    (source, target), (start, end) = ends, when
    every = np.ones(len(source), np.bool_)
    times = dict.fromkeys(SPANS, np.zeros(len(source)))
    times |= dict(zip(TIMES, (start, start, start, end, end), strict=True))
    awaited = ~every if awaited is None else awaited
    return Happened(names, source, target, times, size, moved=every, awaited=awaited, ids=ids)


class _Part(NamedTuple):
    """Slices before they have tracks: of which rows, in which group of tracks, and when."""

    kind: str
    group: int
    owner: Ints
    row: Ints
    start: Nanoseconds
    end: Nanoseconds
    names: Sequence[str] = ()
    args: Mapping[str, Sequence[Any]] = {}


def timeline_of(
    happened: Happened,
    *,
    program: str,
    unit: str,
    size: str,
    unit_us: float | None = None,
    crossed: Crossed | None = None,
    path: CriticalPath | None = None,
    about: Mapping[str, Any] | None = None,
) -> Timeline:
    """Return the timeline of a program: ranks, messages, busiest channels and critical path.

    A rank has a track of its processor: what it computes, receives (work of its own for a message),
    holds (the gap after it has sent) and waits for. Messages are on lanes: from when the first of
    it entered the network until it arrived, at both ends, with an arrow from one to the other. A
    rank waits from when it last computed or sent until the message arrives that lets it go on.

    Parameters
    ----------
    happened
        The rows.
    program
        What was run, on what.
    unit, size
        What times and sizes are, such as ``cycles`` and ``flits``.
    unit_us
        µs of a unit. None if that is not known: then one is shown as 1 µs.
    crossed
        The channels of messages, if they are known.
    path
        The critical path, if there is one.
    about
        What else to say.
    """
    scale = 1.0 if unit_us is None else unit_us
    ready = happened.times["ready"]
    begun = np.flatnonzero(ready >= 0)
    shown = np.zeros(len(happened), np.bool_)  # the first rows, not too many
    shown[begun[np.argsort(ready[begun], kind="stable")[:MOST_ROWS]]] = True
    parts = _parts(happened, shown, scale, unit, size)
    tracks, placed = _on_tracks(parts, happened.names, program)
    slices = [
        Slices(part.kind, track, part.start, part.end, part.names, part.args)
        for part, track in zip(parts, placed, strict=True)
    ]
    if path is not None:
        spent = path.parts._asdict()
        each = np.stack([np.asarray(part, np.float64) for part in spent.values()], axis=1).ravel()
        edges = nanoseconds(path.start + np.append(0.0, np.cumsum(each)), scale)
        kept = np.flatnonzero(np.diff(edges) > 0)
        names = [name.replace("_", " ") for name in spent]
        track, args = (
            np.full(len(kept), len(tracks)),
            {"row": path.rows[kept // len(names)].tolist()},
        )
        called = [names[place % len(names)] for place in kept.tolist()]  # one after the other
        ends = edges[:-1][kept], edges[1:][kept]
        slices.append(Slices("critical path", track, *ends, called, args))
        tracks.append(Track("critical path", "critical path"))
    counters = []  # what the busiest channels carry over their bandwidth, over time
    if crossed is not None:
        rows = np.flatnonzero(happened.moved)
        begin, until = happened.times["entered"][rows], happened.times["arrived"][rows]
        if crossed.lasting is not None:
            until = begin + crossed.lasting
        start = nanoseconds(begin, scale)
        long = np.maximum(nanoseconds(until, scale) - start, 1)
        per = PER_MICROSECOND * scale  # nanoseconds of a unit of time
        counters = [
            counter(crossed.name(link), start[who], (start + long)[who], taken * per / long[who])
            for link, who, taken in busiest_links(crossed, happened.size[rows])
        ]
    moved = int(happened.moved.sum())
    said = {
        "program": program,
        "unit": "us" if unit_us is not None else f"1 {unit.removesuffix('s')} = 1 us",
        "unit_us": scale,
        "messages": moved,
        "messages_left_out": moved - len(parts[0].row),
        "rows_left_out": len(begun) - int(shown.sum()),
        "counters": UNKNOWN if crossed is None else SPREAD,
    }
    arrows = Arrows(placed[0], parts[0].start, placed[1], parts[1].end - 1)
    told = said | dict(about or {})
    return Timeline(tuple(tracks), tuple(slices), arrows, tuple(counters), told)


def trace_timeline(run: TraceRun, topology: Topology, **how: Any) -> Timeline:
    """Return the timeline of a trace, on tracks of its tasks. ``how`` as ``timeline_of`` has it.

    What a node without a task passes on, in the tree of a multicast, is on a track of the node.
    """
    trace, rows = run.program.trace, run.rows
    entry, table = run.program.entry, run.program.messages
    single = np.bincount(entry, minlength=len(trace))[entry] == 1
    head = single | (rows["flits"] == 0)  # the others pass on a multicast
    on_node = np.full(topology.num_hosts, -1, np.int64)
    on_node[table.source[head][::-1]] = trace.source[entry[head]][::-1]
    to, chosen = trace.targets.offsets[:-1][entry], np.full(len(entry), -1, np.int64)
    known = single & (np.diff(trace.targets.offsets)[entry] == 1)
    chosen[known] = trace.targets.values[to[known]]
    told = chosen >= 0
    on_node[table.target[told][::-1]] = chosen[told][::-1]
    empty = np.flatnonzero(on_node < 0)
    on_node[empty] = trace.num_tasks + np.arange(len(empty))
    happened = happened_to(
        rows,
        names=[
            *(f"rank {task}" for task in range(trace.num_tasks)),
            *(f"node {topology.name_of(node)}" for node in empty.tolist()),
        ],
        source=np.where(head, trace.source[entry], on_node[table.source]),
        target=np.where(told, chosen, on_node[table.target]),
        ids=[trace.ids[each] for each in entry.tolist()],
        computing=(trace.run[entry] > 0) & (table.run == 0),  # ranks that share a host
    )
    program = f"{trace.name} on {topology.name}"
    return timeline_of(happened, program=program, path=run.critical_path, **how)


def happened_to(rows: Records, *, source: Ints, target: Ints, **more: Any) -> Happened:
    """Return what happened to rows of an engine, from and to which tracks. ``more``: its fields."""
    known, none = rows.dtype.names or (), np.zeros(len(rows), np.int64)
    awaited = np.zeros(len(rows), np.bool_)  # those that released others, by being complete last
    awaited[rows["last"][rows["last"] >= 0]] = True
    times = {name: rows[name] if name in known else none for name in (*TIMES, *SPANS)}
    kept: dict[str, Any] = {"size": rows["flits"], "moved": moved_rows(rows), "awaited": awaited}
    return Happened(source=source, target=target, times=times, **kept, **more)


def nodes_timeline(
    network: ProgramNetwork, kept: KeptRows, program: str, unit_us: float | None, **about: Any
) -> Timeline:
    """Return the timeline of a program whose rows do not name their tasks, on tracks of nodes.

    ``unit_us``: µs of a cycle, if they are known. ``about``: what else to say.
    """
    rows, topology = kept.rows, network.topology
    ends = {"source": rows["source"], "target": rows["target"]}
    names = [f"node {topology.name_of(node)}" for node in range(topology.num_hosts)]
    happened = happened_to(rows, **ends, names=names, computing=kept.computing)
    crossed = crossed_channels(network, rows, kept.channel_flits)
    how: dict[str, Any] = {"unit_us": unit_us, "crossed": crossed, "about": about}
    program = f"{program} on {topology.name}"
    return timeline_of(happened, program=program, unit="cycles", size="flits", **how)


def _parts(it: Happened, shown: Bools, scale: float, unit: str, size: str) -> list[_Part]:
    """Return all slices: first those of messages, at their sources and at their targets."""

    def part(kind: str, group: int, owner: Any, row: Ints, *ends: Records) -> _Part:
        start, end = (nanoseconds(each, scale) for each in ends)
        kept = end > start
        row = row[kept]
        ids = {"id": [it.ids[each] for each in row.tolist()]} if it.ids else {}
        return _Part(kind, group, owner[row], row, start[kept], end[kept], (), ids)

    ready, sent, entered, arrived, complete = (it.times[name] for name in TIMES)
    delay, run, hold, receive = (it.times[name] for name in SPANS)
    moved = np.flatnonzero(shown & it.moved)
    sends = part("send", 1, it.source, moved, entered[moved], arrived[moved])
    row = sends.row
    who = {
        "from": [it.names[each] for each in it.source[row].tolist()],
        "to": [it.names[each] for each in it.target[row].tolist()],
    }
    args = {**sends.args, **who, size: it.size[row].tolist(), f"sent_{unit}": sent[row].tolist()}
    sends = sends._replace(args=args, names=[f"send to {each}" for each in who["to"]])
    names = [f"receive from {each}" for each in who["from"]]
    receives = sends._replace(kind="receive", group=2, owner=it.target[row], names=names)
    computing = np.zeros(len(it), np.bool_) if it.computing is None else it.computing
    found = [sends, receives]
    for kind, group, owner, which, start, end in (
        ("compute", 0, it.source, (delay > 0) & computing, ready - delay, ready),
        ("delay", 3, it.source, (delay > 0) & ~computing, ready - delay, ready),
        ("compute", 0, it.source, (sent >= 0) & (run > 0), sent - run, sent),
        ("gap", 0, it.source, (sent >= 0) & (hold > 0), sent, sent + hold),
        ("take in", 0, it.target, (complete >= 0) & (receive > 0), complete - receive, complete),
    ):
        rows = np.flatnonzero(shown & which)
        found.append(part(kind, group, owner, rows, start[rows], end[rows]))
    return [*found, _waits(it, found)]


def _waits(it: Happened, parts: list[_Part]) -> _Part:
    """Return when ranks neither computed nor sent, until a message arrived that others awaited."""
    inside = it.awaited[parts[1].row]
    rank, until = parts[1].owner[inside], parts[1].end[inside]
    busy = [each for each in parts if each.group == 0 or each.kind == "send"]
    owner = np.concatenate([*(each.owner for each in busy), rank])
    start = np.concatenate([*(each.start for each in busy), until])
    end = np.concatenate([*(each.end for each in busy), until])
    asked = np.concatenate([np.zeros(len(owner) - len(rank), np.bool_), np.ones(len(rank), bool)])
    order = np.lexsort((~asked, start, owner))  # what begins as a message arrives comes after it
    owner, start, end, asked = owner[order], start[order], end[order], asked[order]
    _, place = np.unique(owner, return_inverse=True)
    span = int(end.max(initial=0)) + 1
    before = np.append(0, np.maximum.accumulate(end + place * span)[:-1]) - place * span
    begin = np.maximum(before, 0)  # of the first of a rank, from the beginning
    found = asked & (begin < start)
    row = np.append(np.full(len(order) - len(rank), -1), parts[1].row[inside])[order][found]
    names = [f"wait for {it.names[each]}" for each in it.source[row].tolist()]
    return _Part("wait", 0, owner[found], row, begin[found], start[found], names)


def _on_tracks(
    parts: list[_Part], names: Sequence[str], program: str
) -> tuple[list[Track], list[Ints]]:
    """Return the tracks that slices need, rank by rank, and the track of each slice."""
    owner = np.concatenate([each.owner for each in parts]).astype(np.int64)
    group = np.concatenate([np.full(len(each.owner), each.group) for each in parts])
    start = np.concatenate([each.start for each in parts])
    end = np.concatenate([each.end for each in parts])
    both = owner * len(GROUPS) + group
    lane = lanes(both, start, end)
    key = both * (int(lane.max(initial=0)) + 1) + lane
    _, first, track = np.unique(key, return_index=True, return_inverse=True)
    tracks = []
    for place in first.tolist():
        what = f" · {GROUPS[group[place]]}" if group[place] else ""
        number = f" {lane[place] + 1}" if lane[place] else ""
        tracks.append(Track(program, f"{names[owner[place]]}{what}{number}"))
    ends = np.cumsum([len(each.owner) for each in parts])[:-1]
    return tracks, np.split(track.astype(np.int64), ends)
