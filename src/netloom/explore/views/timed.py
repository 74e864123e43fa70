"""Programs over time: replayed traces, and patterns in phases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.explore.view import Flows, Frames, View
from netloom.explore.views.made import asked, verdict_of
from netloom.explore.ways import MOST_HOPS
from netloom.questions.commands import command_line
from netloom.questions.subject import order_named
from netloom.routing import Paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.questions.answers import Answer
    from netloom.questions.recorded import Recorded

SPANS = 60
"""Parts of the time that are told apart."""

MOST_SHARES = 20_000_000
"""Most spans × channels of frames."""

UNKNOWN = "The engine does not keep which channels its messages take under this routing."
TOO_MANY = "The messages cross too many channels for a page that follows each."
"""Why there are no ways."""


def trace_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield a trace: what its messages put on channels, in all and over time."""
    kind, found = record.kind, _found(record, answer)
    topology, rows = found.network.topology, found.rows
    inside = topology.num_network_channels
    crossed = found.crossed
    unit = "bytes" if getattr(found, "size", "flits") == "bytes" else "flits"
    name = order_named(found.mapping)
    table = record.tables["channels"].sort("channel")
    load = table[unit].to_numpy().astype(np.float64)[:inside]
    base = {
        "verdict": verdict_of(record, load, topology, unit, answered=True),
        "command": command_line(kind, record.configuration), "topology": topology, "unit": unit,
        "load": load,
    }  # fmt: skip
    if crossed is None or len(crossed.links.values) > MOST_HOPS:
        yield View(name, missing=UNKNOWN if crossed is None else TOO_MANY, **base)
        return
    moved = np.flatnonzero(_moved(rows))
    kept = crossed.links.values < inside
    message = crossed.links.owners()[kept]
    channel, share = crossed.links.values[kept].astype(np.int64), crossed.shares[kept]
    size = rows["flits"][moved].astype(np.float64)
    flows, pair = _pairs(rows, moved, size, topology.num_hosts)
    ways = _paths(message, channel, size, pair, flows)
    taken = size[message] * share / crossed.capacity[channel]
    frames = _frames(
        rows["entered"][moved][message], rows["arrived"][moved][message], channel, taken, inside
    )
    path = tuple(_critical(record))
    spread = Frames(*frames, "cycles" if unit == "flits" else "seconds", path)
    fits = SPANS * inside <= MOST_SHARES
    yield View(name, flows=flows, ways=ways, frames=spread if fits else None, **base)


def _found(record: Recorded, answer: Answer | None) -> Any:
    """Return the answer itself: asked for again, if only its record is known."""
    if answer is not None:
        return answer
    question = asked(record)
    return record.kind.find(question, record.kind.prepare(question))


def _moved(rows: Any) -> NDArray[np.bool_]:
    from netloom.questions.simulate.timelines import moved_rows

    return moved_rows(rows)


def _pairs(
    rows: Any, moved: NDArray[np.int64], size: NDArray[np.float64], hosts: int
) -> tuple[Flows, NDArray[np.int64]]:
    """Return what each node sends each other, and the pair of each message."""
    ends = (rows[name][moved].astype(np.int64) for name in ("source", "target"))
    source, target = ends
    keys, pair = np.unique(source * hosts + target, return_inverse=True)
    many = np.arange(hosts, dtype=np.int32)
    first, second = np.divmod(keys, hosts)
    amount = np.bincount(pair, size, len(keys))
    return Flows(many, first.astype(np.int32), second.astype(np.int32), amount), pair


def _paths(
    message: NDArray[np.int64], channel: NDArray[np.int64], size: NDArray[np.float64],
    pair: NDArray[np.int64], flows: Flows,
) -> Paths:  # fmt: skip
    """Return the path of each message, as likely as its part of what its pair sends."""
    order = np.argsort(pair, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    hops = np.argsort(rank[message], kind="stable")
    lengths = np.bincount(rank[message], minlength=len(order))
    part = size[order] / flows.amount[pair[order]]
    return Paths(
        np.append(0, np.cumsum(lengths)), channel[hops].astype(np.int32),
        pair[order].astype(np.int32), part,
    )  # fmt: skip


def _frames(
    start: NDArray[Any], end: NDArray[Any], channel: NDArray[np.int64],
    taken: NDArray[np.float64], channels: int,
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:  # fmt: skip
    """Return edges of spans, and the share of each for which each channel is busy.

    What a message takes of a channel is spread evenly over the time that it is in the network.
    """
    start, end = np.asarray(start, np.float64), np.asarray(end, np.float64)
    last = float(end.max(initial=0.0)) or 1.0
    edges = np.linspace(0.0, last, SPANS + 1)
    busy = np.zeros((SPANS, channels), np.float64)
    for span in range(SPANS):
        left, right = edges[span], edges[span + 1]
        inside = np.clip(np.minimum(end, right) - np.maximum(start, left), 0.0, None)
        here = np.flatnonzero(inside > 0)
        part = taken[here] * inside[here] / (end - start)[here]
        busy[span] = np.bincount(channel[here], part, channels) / (right - left)
    return edges, busy.astype(np.float32)


def _critical(record: Recorded) -> Iterator[tuple[int, float, float, str]]:
    """Yield the steps of the critical path: node, start, end, and what happens."""
    unit = record.figures.get("unit", "cycles")
    table = record.tables.get("critical_entries")
    if table is None or table.is_empty():
        return
    complete = "complete" if "complete" in table.columns else f"complete_{unit}"
    before = 0.0
    for row in table.iter_rows(named=True):
        end = float(row[complete])
        target = row["target_node"]
        what = f"{row['id']}: {'computes' if target is None else f'sends to {target}'}"
        yield int(row["source_node"]), before, end, what
        before = end


def phase_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield a pattern in phases: what its connections put on channels, in all and by phase."""
    kind, found = record.kind, _found(record, answer)
    plan = found.plan
    topology, pairs = plan.topology, plan.connections
    inside = topology.num_network_channels
    words = pairs.words.astype(np.float64)
    flows = Flows(
        np.arange(topology.num_hosts, dtype=np.int32), pairs.source.astype(np.int32),
        pairs.target.astype(np.int32), words,
    )  # fmt: skip
    edges = np.append(0.0, np.cumsum(found.timetable.makespan))
    from netloom.phases.limits import channel_words

    by_phase = channel_words(plan)[:, :inside]
    load = by_phase.sum(axis=0)
    most = float(by_phase.max(initial=0.0)) or 1.0
    frames = Frames(edges, (by_phase / most).astype(np.float32), "clocks")
    yield View(
        "phases", verdict_of(record, load, topology, "words", answered=True),
        command_line(kind, record.configuration), topology, "words", load, flows, plan.routes,
        frames=frames if len(edges) > 1 else None,
    )  # fmt: skip
