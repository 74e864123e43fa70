"""Programs over time: replayed traces, and patterns in phases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.explore.view import Flows, Frames, View
from netloom.explore.views.made import asked, verdict_of
from netloom.explore.ways import MOST_HOPS, loads_of, ways_of
from netloom.questions.collective.timeline import fastest_run
from netloom.questions.commands import command_line
from netloom.questions.simulate.engines import PreparedFlows
from netloom.questions.simulate.timelines import crossed_links, moved_rows
from netloom.questions.subject import order_named
from netloom.routing import Paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.explore.view import Table
    from netloom.questions.answers import Answer
    from netloom.questions.recorded import Recorded
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.questions.timelines import Crossed

    Steps: TypeAlias = tuple[tuple[int, int, float, float, str], ...]

SPANS = 60
"""Parts of the time that are told apart."""

MOST_SHARES = 20_000_000
"""Most spans × channels of frames."""

UNFINISHED = "What messages on their way put on channels is not known pair by pair."
UNKNOWN = "The engine does not keep which channels its messages take under this routing."
TOO_MANY = "The messages cross too many channels for a page that follows each."
"""Why there are no ways."""


def trace_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield a trace: what its messages put on channels, in all and over time."""
    found = _found(record, answer)
    rows = found.rows
    unit = "bytes" if getattr(found, "size", "") == "bytes" else "flits"
    inside = found.network.topology.num_network_channels
    known = record.tables["channels"].sort("channel")[unit].to_numpy()[:inside]
    moved = moved_rows(rows)
    source, target, size, entered, arrived = (
        rows[name][moved] for name in ("source", "target", "flits", "entered", "arrived")
    )
    sent = Sent(source, target, size, entered, arrived, found.crossed)
    yield sent_view(
        record, found.network, sent, name=order_named(found.mapping), unit=unit,
        known=known.astype(np.float64), critical=tuple(_critical(record)),
    )  # fmt: skip


def collective_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield the fastest algorithm of a collective at the largest size.

    Raises
    ------
    InputError
        If it was not run as flows, or has more messages than are run one by one.
    """
    found = _found(record, answer)
    if not isinstance(found.network, PreparedFlows):
        raise InputError("explore", "a collective in cycles", "one of flows: engine flow")
    best, table, run = fastest_run(found, "explore")
    topology, moved = found.topology, run.way >= 0
    sent = Sent(
        table.source[moved], table.target[moved], table.flits[moved], run.entered[moved],
        run.arrived[moved], crossed=crossed_links(found.network.links, run, moved),
    )  # fmt: skip
    known = np.asarray(run.link_sizes[: topology.num_network_channels], np.float64)
    yield sent_view(record, found.network, sent, name=best.algorithm, unit="bytes", known=known)


class Sent(NamedTuple):
    """Messages that arrived: from which host to which, how long, when, and over what."""

    source: NDArray[Any]
    target: NDArray[Any]
    size: NDArray[Any]
    entered: NDArray[Any]
    arrived: NDArray[Any]
    crossed: Crossed | None


def sent_view(
    record: Recorded, network: PreparedFlows | PreparedNetwork, sent: Sent, *, name: str, unit: str,
    known: Floats, critical: Steps = (),
) -> View:  # fmt: skip
    """Return what messages put on channels, pair by pair and over time."""
    topology = network.topology
    base = View(
        name, verdict_of(record), command_line(record.kind, record.configuration), topology, unit,
        known,
    )  # fmt: skip
    crossed, inside = sent.crossed, topology.num_network_channels
    if crossed is None or len(crossed.links.values) > MOST_HOPS:
        return replace(base, missing=UNKNOWN if crossed is None else TOO_MANY)
    kept = crossed.links.values < inside
    message = crossed.links.owners()[kept]
    channel, share = crossed.links.values[kept].astype(np.int64), crossed.shares[kept]
    size = np.asarray(sent.size, np.float64)
    flows, pair = _pairs(sent, size, topology.num_hosts)
    taken = size[message] * share / crossed.capacity[channel]
    frames = _frames(sent.entered[message], sent.arrived[message], channel, taken, inside)
    spread = Frames(*frames, "cycles" if unit == "flits" else "seconds", critical)
    fits = SPANS * inside <= MOST_SHARES
    ways: Table | Paths | None = _paths(message, channel, size, pair, flows)
    missing = ""
    if isinstance(network, PreparedFlows) and (share < 1).any():
        ways, missing = ways_of(topology, network.routing, flows)
    if ways is not None and not np.allclose(loads_of(topology, flows, ways), known):
        ways, missing = None, UNFINISHED
    return replace(base, flows=flows, ways=ways, missing=missing, frames=spread if fits else None)


def _found(record: Recorded, answer: Answer | None) -> Any:
    """Return the answer itself: asked for again, if only its record is known."""
    if answer is not None:
        return answer
    question = asked(record)
    return record.kind.find(question, record.kind.prepare(question))


def _pairs(sent: Sent, size: Floats, hosts: int) -> tuple[Flows, Ints]:
    """Return what each host sends each other, and the pair of each message."""
    keys = sent.source.astype(np.int64) * hosts + sent.target.astype(np.int64)
    known, pair = np.unique(keys, return_inverse=True)
    first, second = np.divmod(known, hosts)
    amount = np.asarray(np.bincount(pair, size, len(known)), np.float64)
    every = np.arange(hosts, dtype=np.int32)
    return Flows(every, first.astype(np.int32), second.astype(np.int32), amount), pair


def _paths(
    message: Ints, channel: Ints, size: Floats,
    pair: Ints, flows: Flows,
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
    start: NDArray[Any], end: NDArray[Any], channel: Ints,
    taken: Floats, channels: int,
) -> tuple[Floats, NDArray[np.float32]]:  # fmt: skip
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


def _critical(record: Recorded) -> Iterator[tuple[int, int, float, float, str]]:
    """Yield the steps of the critical path: see ``Frames``."""
    unit = record.figures.get("unit", "cycles")
    table = record.tables.get("critical_entries")
    if table is None or table.is_empty():
        return
    complete = "complete" if "complete" in table.columns else f"complete_{unit}"
    before = 0.0
    for row in table.iter_rows(named=True):
        end = float(row[complete])
        target = row["target_node"]
        to = -1 if target is None else int(target)
        yield int(row["source_node"]), to, before, end, str(row["id"])
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
        "phases", verdict_of(record),
        command_line(kind, record.configuration), topology, "words", load, flows, plan.routes,
        frames=frames if len(edges) > 1 else None,
    )  # fmt: skip
