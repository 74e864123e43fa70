"""Answers as views: what each puts on the channels of its network, made again from its question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.words import number
from netloom.contention.busiest import tie_named, tied
from netloom.fabrics.program import Job
from netloom.pages.explorer.network import MOST_HOPS, Flows, Frames, View, loads_of, ways_of
from netloom.questions.analyze import Analysis
from netloom.questions.answers import Answer, Verdict
from netloom.questions.fabric import LOAD
from netloom.questions.named import entering, network_again
from netloom.questions.recorded import Recorded
from netloom.questions.simulate.engines import PreparedFlows, PreparedNetwork
from netloom.questions.terminal import IN_ORDER, order_named, short_name
from netloom.routing import Paths, Routing
from netloom.simulation.figures import Crossed, crossed_links, moved_rows
from netloom.topology import Topology

Steps: TypeAlias = tuple[tuple[int, int, float, float, str], ...]


CARRIED = "weighted_channel_load"

GONE = "The record does not keep the routes that were chosen with the mapping."
"""Why there are no ways where a mapping has routes of its own."""


def asked(record: Recorded) -> Any:
    """Return the question of a record.

    Raises
    ------
    InputError
        If it named an object that no words stand for.
    """
    from netloom.questions.base import ask

    if not record.answer.again():
        found = "an answer whose question named a Python object"
        raise InputError(record.verb, found, "one whose question is in words")
    return ask(record.kind.question, dict(record.configuration))


def prepared(record: Recorded) -> Any:
    """Return what the names of the question of an answer mean."""
    return record.kind.prepare(asked(record))


def placed(host_of: Any, source: Any, target: Any, amount: Any, **more: Any) -> Flows:
    """Return flows between ranks of which the hosts are known. ``more``: the other attributes."""
    hosts, first, second = (np.asarray(each, np.int32) for each in (host_of, source, target))
    return Flows(hosts, first, second, np.asarray(amount, np.float64), **more)


def plain_view(
    record: Recorded, name: str, topology: Topology, unit: str, load: Floats, **more: Any
) -> View:
    """Return the view of an answer, whose verdict is about it. ``more``: the other attributes."""
    said = record.answer
    return View(name, said.verdict, said.again(), topology, unit, load, **more)


def view_of(
    record: Recorded,
    topology: Topology,
    routing: Routing | None,
    flows: Flows,
    *,
    unit: str,
    name: str,
    known: Any = None,
    answered: bool = True,
) -> View:
    """Return what flows put on the channels under a routing.

    Parameters
    ----------
    routing
        None if it is not known any more: then only the loads of the answer are shown.
    known
        float64[num_network_channels], what the answer says of it. None if it does not.
    answered
        Whether the verdict of the answer is about this view.

    Raises
    ------
    InputError
        If the answer says otherwise: a file has changed since.
    """
    ways, missing = (None, GONE) if routing is None else ways_of(topology, routing, flows)
    load = known = None if known is None else np.asarray(known, np.float64)
    if ways is not None:
        load = loads_of(topology, flows, ways)
        if known is not None and not np.allclose(load, known, rtol=1e-6, atol=1e-6):
            found = "other loads than when it was answered: a file has changed since"
            raise InputError(record.verb, found, "a new answer")
    if load is None:
        raise InputError(record.verb, missing.removesuffix("."), "a smaller program")
    view = plain_view(record, name, topology, unit, load, flows=flows, ways=ways, missing=missing)
    return view if answered else replace(view, verdict=Verdict("", "", of=view.verdict.of))


def analyzed_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield the program of an analysis, as it is mapped."""
    ready, answer, asks = prepared(record), record.answer, record.configuration
    assert isinstance(answer, Analysis)
    network, routing, hosts = ready.network, ready.routing, ready.node_of
    known = record.tables["channels"][CARRIED][: network.num_network_channels]
    sent = entering(ready.graph, network, hosts, asks["weight"])[0]
    flows = placed(hosts, sent.source, sent.target, sent.weights(asks["weight"]))
    unit, name = answer.load_unit, order_named(asks["mapping"])
    yield view_of(record, network, routing, flows, unit=unit, name=name, known=known)


def mapping_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield a program in rank order, and as it was mapped: perhaps on routes of its own."""
    found: Any = answer
    task = prepared(record)
    weight = record.configuration["weight"]
    said: Any = record.answer
    node_of = np.asarray(record.figures["mapping"], np.int32)
    own = bool(record.figures["own_routes"])
    changed = own or not np.array_equal(node_of, task.node_of)
    routes = found.routes if own and found is not None else None if own else task.routing
    both = (IN_ORDER, task.node_of, task.routing, "before"), ("mapped", node_of, routes, "after")
    for name, places, routing, when in both if changed else both[:1]:
        sent = entering(task.graph, task.network, places, weight)[0]
        flows = placed(places, sent.source, sent.target, sent.weights(weight))
        table = record.tables["channels"].filter(mapping=when)
        if "kind" in table.columns:
            table = table.filter(kind="network")
        known = None if table.is_empty() else table[CARRIED]
        told: dict[str, Any] = {"known": known, "answered": not changed or when == "after"}
        yield view_of(record, task.network, routing, flows, unit=said.load_unit, name=name, **told)


def flow_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield what flows put on channels."""
    ready = prepared(record)
    network, graph = ready.network, ready.graph
    flows = placed(ready.node_of, graph.source, graph.target, graph.bytes)
    name = order_named(record.configuration["mapping"])
    yield view_of(record, network.topology, network.routing, flows, unit="bytes", name=name)


def fabric_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield an all-to-all under the tables that were checked. Before it the jobs, if any are named.

    What the verdict is about comes first.
    """
    ready = prepared(record)
    network, table = ready.network, ready.table
    name = table_name(str(record.configuration["routing"]))
    known = record.tables["channels"]["paths"]
    every = all_to_all(network, ready.hosts)
    if ready.jobs:
        together = jobs_together(ready.jobs)
        unit = "paths" if (together.amount == 1).all() else "bytes"
        yield view_of(record, network, table, together, unit=unit, name=f"{name}, jobs")
        name = f"{name}, all-to-all"
    told: dict[str, Any] = {"known": known, "answered": not ready.jobs}
    yield view_of(record, network, table, every, unit="paths", name=name, **told)


def route_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield an all-to-all under the tables that are installed, and under the new ones.

    Whatever they were made for: names say so where that is not an all-to-all.
    """
    from netloom.questions.route import routed

    found: Any = answer
    if found is None:
        ready = prepared(record)
        network, before, after = ready.network, ready.installed, routed(asked(record), ready)[0]
    else:
        network, before, after = found.network, found.installed, found.forwarding
    hosts = np.flatnonzero(network.vertex_up[: network.num_hosts])
    every, told = all_to_all(network, hosts), record.tables["channel_table"]
    what = "" if record.configuration["wanted"] == "all-to-all" else ", all-to-all"
    installed = f"{table_name(str(record.configuration['installed']))}{what}"
    old: dict[str, Any] = {"name": installed, "known": told["before"], "answered": False}
    yield view_of(record, network, before, every, unit="paths", **old)
    new: dict[str, Any] = {"name": f"new tables{what}", "known": told["after"]}
    yield view_of(record, network, after, every, unit="paths", **new)


def table_name(routing: str) -> str:
    """Return what tables are called.

    Examples
    --------
    >>> table_name("lfts:examples/dgx-40-minhop.lfts"), table_name("updn")
    ('dgx-40-minhop', 'updn')
    """
    return short_name(routing.removeprefix("lfts:"))


def all_to_all(network: Topology, hosts: Ints) -> Flows:
    """Return a path from each host to each other, those of one router together."""
    many = len(hosts)
    router = np.zeros(network.num_hosts, np.int64)
    if not network.direct:
        router[network.port_host] = network.injection_router
    order = hosts[np.argsort(router[hosts], kind="stable")]
    source, target = np.divmod(np.arange(many * max(many - 1, 0)), max(many - 1, 1))
    target += target >= source
    return placed(order, source, target, np.ones(len(source)), of_hosts=True)


def jobs_together(jobs: Sequence[Job]) -> Flows:
    """Return what jobs send: a rank for each host of each job, job by job."""
    hosts, source, target, amount, job_of = [], [], [], [], []
    first = 0
    for place, job in enumerate(jobs):
        rank_of = {int(host): first + rank for rank, host in enumerate(job.hosts)}
        hosts.append(job.hosts)
        job_of.append(np.full(len(job.hosts), place, np.int32))
        source.append([rank_of[host] for host in job.flows.source.tolist()])
        target.append([rank_of[host] for host in job.flows.target.tolist()])
        amount.append(job.flows.volume)
        first += len(job.hosts)
    ends = (np.concatenate(each) for each in (hosts, source, target, amount))
    names = tuple(job.name for job in jobs)
    return placed(*ends, job_of=np.concatenate(job_of), jobs=names)


UNKNOWN = "The answer counts what crosses each channel, not who sends it."
"""Why there are no ways."""

LOADS = ("offered", "applied", "rate")
"""Columns that tell the loads of one answer apart."""

KINDS = ("switching", "contexts")
"""Columns that tell apart what was asked at one load."""


def counted_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield the use of channels at the highest load of an answer, by each kind of switching.

    Raises
    ------
    InputError
        If the answer does not say what channels carry.
    """
    channels = record.tables.get("channels")
    kinds, topology = [], None
    if channels is not None and "utilisation" in channels.columns and channels.height:
        several = next((each for each in LOADS if each in channels.columns), "")
        if several:
            channels = channels.filter(channels[several] == channels[several].max())
        kinds = list(_by_kind(channels, several))
        topology = network_again(None, record.configuration, kinds[0][1])
    if topology is None:
        wanted = "an answer that says what each channel carries, such as analyze or simulate"
        raise InputError(record.verb, "no loads of channels to explore", wanted)
    for name, part in kinds:
        inside = topology.num_network_channels
        used = part["utilisation"].to_numpy().astype(np.float64)[:inside]
        share = used / topology.channel_bandwidth[:inside]
        yield plain_view(record, name, topology, "share", share, missing=UNKNOWN)


def _by_kind(table: pl.DataFrame, load: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield what each kind puts on channels, and what it is called."""
    at = f"{load} {number(float(table[load][0]))}" if load else "answer"
    kind = next((each for each in KINDS if each in table.columns), "")
    kinds = table[kind].unique(maintain_order=True).to_list() if kind else []
    if len(kinds) < 2:
        yield at, table
        return
    for each in kinds:
        name = str(each) if kind == "switching" else f"{each} {kind}"
        yield f"{name}, {at}" if load else name, table.filter(table[kind] == each)


def times_of(view: View) -> Floats:
    """Return float64[num_network_channels]: loads, over bandwidth where that is not one for all.

    In Gb/s where the network knows them. Shares are of bandwidths already.
    """
    if view.unit == "share":
        return view.load
    rate = view.topology.channel_bandwidth[: len(view.load)]
    if not len(rate) or (rate == rate[0]).all():
        return view.load
    return view.load / (rate * (view.topology.reference_gbps or 1.0))


def colored(record: Recorded, views: Sequence[View]) -> list[View]:
    """Return the views of an answer with the load that delays, and what the busiest are called.

    What is compared in one unit has one such load: that of the view that was answered.
    """
    answered = [each for each in views if each.verdict.sentence]
    found = []
    for view in views:
        like = next((each for each in answered if _sent(each) == _sent(view)), view)
        delays, full = delays_of(record, like)
        tie = tie_named(view.topology, tied(times_of(view)))
        found.append(replace(view, delays=delays, full=full, tie=tie))
    return found


def _sent(view: View) -> tuple[str, bool]:
    """Return what is sent: views that differ in it have nothing to compare."""
    return view.unit, bool(view.flows and view.flows.jobs)


def delays_of(record: Recorded, view: View) -> tuple[float, float]:
    """Return the time of a channel from which on it delays, and the one at which it is full.

    The verdict decides where nothing else is known: no channel delays that it finds fine, and the
    busiest does if something must change.
    """
    most = float(times_of(view).max(initial=0.0))
    known = DELAYS.get(record.verb, _by_hosts)(record, view, most)
    delays, full = (most, 2 * most) if known is None else known
    mark = record.answer.verdict.mark
    if view.verdict.sentence and mark == "fine":
        delays = max(delays, most)
    elif view.verdict.sentence and mark == "act":
        delays = min(delays, most)
    full = 1.0 if view.unit == "share" else full
    return delays, max(full, delays)


Known = tuple[float, float] | None


def _of_analysis(record: Recorded, _: View, most: float) -> Known:
    """Return it at the load that is offered, or at the highest that a host can offer."""
    answer: Any = record.answer
    known = answer.delays_from
    return known and (most * known[0], most * known[1])


def _of_fabric(record: Recorded, view: View, most: float) -> Known:
    """Return it of an all-to-all: what the busiest cable must carry, and a little more.

    Of jobs, what the busiest cable carries of the one that suffers most.
    """
    if view.flows is not None and view.flows.jobs:
        alone = most / max(each["slowdown"] for each in record.figures["jobs"])
        return alone, 2 * alone
    ratio = record.figures["all_to_all"]["ratio"]
    return (LOAD.fine * most / ratio, 2 * LOAD.fine * most / ratio) if ratio else None


def _of_load(record: Recorded, _: View, most: float) -> Known:
    """Return it of simulated or predicted loads: the share at saturation, or at what bounds it."""
    figures = record.figures
    loads = record.tables["channels"]
    if "offered" not in loads.columns:
        return min(1.0, most), 1.0
    at = float(loads["offered"].max())  # type: ignore[arg-type]
    points = figures.get("points", [figures])
    last = max(points, key=lambda each: each.get("offered", 0.0))
    bounds = figures.get("throughput_bounds", {})
    bound = bounds.get(last.get("switching")) or last.get("throughput_bound", {})
    limit = figures.get("saturation_offered") or bound.get("load")
    if not at or not limit:
        return min(1.0, most), 1.0
    if not last.get("stable", True):
        limit = min(limit, last["accepted"])
    return min(1.0, most * limit / at), 1.0


def _by_hosts(_: Recorded, view: View, most: float) -> Known:
    """Return the time that the busiest host needs for what it sends, or for what it receives."""
    if view.unit == "share":
        return 1.0, 1.0
    needed = 0.0 if view.flows is None else host_time(view.topology, view.flows)
    rate = view.topology.channel_bandwidth[: len(view.load)]
    if len(rate) and (rate == rate[0]).all():
        needed *= float(rate[0]) * (view.topology.reference_gbps or 1.0)
    return (needed, max(2 * needed, most)) if needed else None


def host_time(topology: Topology, flows: Flows) -> float:
    """Return the time that the busiest host sends or receives for, at the rate of its ports."""
    source, target = flows.hosts
    moved = source != target
    gbps = topology.reference_gbps or 1.0
    rate = np.full(topology.num_hosts, gbps)
    if topology.ports_listed:
        ports = topology.port_bandwidth[: topology.num_ports] * gbps
        rate = np.bincount(topology.port_host, ports, topology.num_hosts)
    amounts = [
        np.bincount(ends[moved], flows.amount[moved], topology.num_hosts)
        for ends in (source, target)
    ]
    return float((np.maximum(*amounts) / np.where(rate > 0, rate, 1.0)).max(initial=0.0))


DELAYS = {
    "analyze": _of_analysis,
    "check_fabric": _of_fabric,
    "find_saturation": _of_load,
    "predict_latency": _of_load,
    "route_fabric": _of_fabric,
    "simulate": _of_load,
}
"""By verb, what its figures say of it. Of all others the busiest host's own time decides."""


SPANS = 60
"""Parts of the time that are told apart."""

MOST_SHARES = 20_000_000
"""Most spans × channels of frames."""

UNFINISHED = "What messages on their way put on channels is not known pair by pair."
NOT_KEPT = "The engine does not keep which channels its messages take under this routing."
TOO_MANY = "The messages cross too many channels for a page that follows each."
"""Why there are no ways."""


def trace_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield a trace: what its messages put on channels, in all and over time."""
    found = _found(record, answer)
    rows, unit = found.run.rows, found.size_unit
    inside = found.network.topology.num_network_channels
    known = found.channels().sort("channel")["size"].to_numpy().astype(np.float64)[:inside]
    columns = (rows[name] for name in ("source", "target", "flits", "entered", "arrived"))
    moved = moved_rows(rows)
    sent = Sent(found.crossed, *(each[moved] for each in columns))
    critical, before = [], 0.0
    table = record.tables.get("critical_entries")
    for row in () if table is None else table.iter_rows(named=True):
        end = float(row["complete"])
        to = -1 if row["target_node"] is None else int(row["target_node"])
        critical.append((int(row["source_node"]), to, before, end, str(row["id"])))
        before = end
    base = plain_view(record, order_named(found.mapping), found.network.topology, unit, known)
    yield sent_view(base, found.network, sent, tuple(critical))


def collective_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield the fastest algorithm of a collective at the largest size.

    Raises
    ------
    InputError
        If it was not run as flows, or has more messages than are run one by one.
    """
    found = _found(record, answer)
    if found.ready.program is not None:
        raise InputError("explore", "a collective in cycles", "one of flows: engine flow")
    best, table, run = found.fastest_run("explore")
    network, moved = found.ready.flows, run.way >= 0
    columns = table.source, table.target, table.flits, run.entered, run.arrived
    sent = Sent(crossed_links(run, moved), *(each[moved] for each in columns))
    inside = network.topology.num_network_channels
    known = np.asarray(run.link_sizes[:inside], np.float64)
    base = plain_view(record, best.algorithm, network.topology, "bytes", known)
    yield sent_view(base, network, sent)


class Sent(NamedTuple):
    """Messages that arrived: over what, from which host to which, how long, and when."""

    crossed: Crossed | None
    source: Any
    target: Any
    size: Any
    entered: Any
    arrived: Any


def sent_view(
    base: View, network: PreparedFlows | PreparedNetwork, sent: Sent, critical: Steps = ()
) -> View:
    """Return a view with what messages put on channels, pair by pair and over time."""
    topology = base.topology
    crossed, inside = sent.crossed, topology.num_network_channels
    if crossed is None or len(crossed.links.values) > MOST_HOPS:
        return replace(base, missing=NOT_KEPT if crossed is None else TOO_MANY)
    kept = crossed.links.values < inside
    message = crossed.links.owners()[kept]
    channel, share = crossed.links.values[kept].astype(np.int64), crossed.shares[kept]
    size = np.asarray(sent.size, np.float64)
    hosts = topology.num_hosts
    keys = sent.source.astype(np.int64) * hosts + sent.target.astype(np.int64)
    pairs, pair = np.unique(keys, return_inverse=True)
    amount = np.bincount(pair, size, len(pairs))
    flows = placed(np.arange(hosts), *np.divmod(pairs, hosts), amount)
    taken = size[message] * share / crossed.capacity[channel]
    spread = None
    if SPANS * inside <= MOST_SHARES:
        edges, busy = _frames(sent.entered[message], sent.arrived[message], channel, taken, inside)
        spread = Frames(edges, busy, "cycles" if base.unit == "flits" else "seconds", critical)
    ways: Ints | Paths | None = _paths(message, channel, size, pair, flows)
    missing = ""
    if isinstance(network, PreparedFlows) and (share < 1).any():
        ways, missing = ways_of(topology, network.routing, flows)
    if ways is not None and not np.allclose(loads_of(topology, flows, ways), base.load):
        ways, missing = None, UNFINISHED
    return replace(base, flows=flows, ways=ways, missing=missing, frames=spread)


def _found(record: Recorded, answer: Answer | None) -> Any:
    """Return the answer itself: asked for again, if only its record is known."""
    return record.kind.find(asked(record), prepared(record)) if answer is None else answer


def _paths(message: Ints, channel: Ints, size: Floats, pair: Ints, flows: Flows) -> Paths:
    """Return the path of each message, as likely as its part of what its pair sends."""
    order = np.argsort(pair, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    hops = np.argsort(rank[message], kind="stable")
    lengths = np.bincount(rank[message], minlength=len(order))
    part, first = size[order] / flows.amount[pair[order]], np.append(0, np.cumsum(lengths))
    return Paths(first, channel[hops].astype(np.int32), pair[order].astype(np.int32), part)


def _frames(
    start: NDArray[Any], end: NDArray[Any], channel: Ints, taken: Floats, channels: int
) -> tuple[Floats, NDArray[np.float32]]:
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


def phase_views(record: Recorded, answer: Answer | None) -> Iterator[View]:
    """Yield a pattern in phases: what its connections put on channels, in all and by phase."""
    from netloom.phases.timetables import channel_words

    found = _found(record, answer)
    plan = found.plan
    topology, pairs = plan.topology, plan.connections
    flows = placed(np.arange(topology.num_hosts), pairs.source, pairs.target, pairs.words)
    edges = np.append(0.0, np.cumsum(found.timetable.makespan))
    by_phase = channel_words(plan)[:, : topology.num_network_channels]
    most = float(by_phase.max(initial=0.0)) or 1.0
    told = {"flows": flows, "ways": plan.routes}
    if len(edges) > 1:
        told["frames"] = Frames(edges, (by_phase / most).astype(np.float32), "clocks")
    yield plain_view(record, "phases", topology, "words", by_phase.sum(axis=0), **told)


VIEWS = {
    "analyze": analyzed_views,
    "check_fabric": fabric_views,
    "compare_collectives": collective_views,
    "compile_phases": phase_views,
    "find_mapping": mapping_views,
    "replay": trace_views,
    "route_fabric": route_views,
    "simulate_flows": flow_views,
}
"""By verb, what makes views of an answer. Of any other verb what it says of channels is shown."""


def views_of(record: Recorded, answer: Answer | None = None) -> list[View]:
    """Return the views of an answer, of which at least the record is known.

    What only the answer itself holds is worked out again where that is not given.

    Raises
    ------
    InputError
        If it says nothing of channels, or what was asked cannot be read again.

    Examples
    --------
    >>> from netloom import analyze
    >>> from netloom.questions.recorded import record
    >>> (view,) = views_of(record(analyze("ring:8", "mesh:2x4", random_mappings=0)))
    >>> view.name, view.unit, float(view.load.max())
    ('rank order', 'paths', 2.0)
    """
    if "on" not in record.configuration:
        wanted = "an answer about a network that --on names"
        raise InputError(record.verb, "an answer without channels to explore", wanted)
    return colored(record, list(VIEWS.get(record.verb, counted_views)(record, answer)))
