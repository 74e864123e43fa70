"""Plans as tables, and as files that people edit and other programs read.

Tables have a row per connection, per phase, per channel that is used, and per node.

A plan file is JSON: ``docs/plan-file.md`` describes the format. It may hold a wrong plan. Reading
refuses only what a ``Plan`` cannot represent, and ``verify`` checks the plan itself.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure
from netloom.base.provenance import Provenance
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.textfiles import read_text, write_text
from netloom.contention.messages import ConSetCosts
from netloom.phases.plan.plans import MOST_WORDS, Capacity, Connections, Plan, ranks
from netloom.phases.timetables import Kind, Timetable, channel_words, processor_words
from netloom.phases.violations import InvalidPlanError, broken, first_wrong
from netloom.routing import Paths
from netloom.topology import Cube, Topology, topology
from netloom.topology.core import attach_hosts

if TYPE_CHECKING:
    from netloom.phases.execution import Execution


# -- tables ----------------------------------------------------------------------------------------


CLOCKS = "clocks"


class Connection(Figures):
    """A connection, and its clocks since its phase began, without the switch."""

    connection: int
    source_task: int
    target_task: int
    source: int = figure("from node")
    target: int = figure("to node")
    words: int
    phase: int
    hops: int
    start: float = figure(unit=CLOCKS)
    end: float = figure(unit=CLOCKS)
    simulated_start: float | None = figure(unit=CLOCKS, optional=True)
    simulated_end: float | None = figure(unit=CLOCKS, optional=True)


class Phase(Figures):
    """A phase: its contents, its busiest parts, and how long it takes without the switch."""

    phase: int = figure(key=True, lead=True)
    connections: int = figure(key=True, lead=True)
    words: float
    channels_used: int = figure(head="virtual channels", key=True, lead=True)
    processor_clocks: float = figure("busiest processor", CLOCKS, lead=True)
    channel_clocks: float = figure("busiest channel", CLOCKS, lead=True)
    makespan: float = figure(unit=CLOCKS, head="lasts", key=True, lead=True)
    lower_bound: float = figure(unit=CLOCKS, head="at least", key=True, lead=True)
    simulated: float | None = figure(unit=CLOCKS, optional=True, lead=True)


class Channel(Figures):
    """A channel that is used in a phase: its nodes, and its words."""

    phase: int
    channel: int
    source_node: int
    target_node: int
    words: float


class Node(Figures):
    """The words that the processor of a node moves in all phases.

    If it sends and receives at the same time, the larger of both counts in each phase.
    """

    node: int
    words: float


def sums_of_phases(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> dict[str, Any]:
    """Return columns of what each phase has: contents, busiest parts, and clocks without switch."""
    words = plan.connections.words.astype(np.float64)
    at_nodes = processor_words(plan, words, both_ways=costs.both_ways)
    on_channels = channel_words(plan) * costs.channel_clocks_per_word
    return {
        "phase": np.arange(plan.num_phases),
        "connections": np.bincount(plan.phase, minlength=plan.num_phases),
        "words": np.bincount(plan.phase, words, plan.num_phases),
        "channels_used": plan.use().max(axis=1, initial=0),
        "processor_clocks": at_nodes.max(axis=1, initial=0.0) * costs.clocks_per_word,
        "channel_clocks": on_channels.max(axis=1, initial=0.0),
        "makespan": timetable.makespan,
        "lower_bound": timetable.lower_bound,
    }


def sums_of_connections(plan: Plan, timetable: Timetable, run: Execution | None) -> dict[str, Any]:
    """Return columns of ``Connection``. If phases were simulated, with those times, too."""
    given = plan.connections
    simulated = {} if run is None else {"simulated_start": run.start, "simulated_end": run.end}
    return {
        "connection": np.arange(len(given)),
        "source_task": given.source_task,
        "target_task": given.target_task,
        "source": given.source,
        "target": given.target,
        "words": given.words,
        "phase": plan.phase,
        "hops": plan.routes.lengths,
        "start": timetable.start,
        "end": timetable.end,
    } | simulated


def sums_of_channels(plan: Plan) -> dict[str, Any]:
    """Return columns of ``Channel``."""
    words, network = channel_words(plan), plan.topology
    phase, channel = np.nonzero(words)
    return {
        "phase": phase,
        "channel": channel,
        "source_node": network.source_end[channel],
        "target_node": network.target_end[channel],
        "words": words[phase, channel],
    }


def sums_of_nodes(plan: Plan, costs: ConSetCosts) -> dict[str, Any]:
    """Return columns of ``Node``."""
    words = plan.connections.words.astype(np.float64)
    moved = processor_words(plan, words, both_ways=costs.both_ways).sum(axis=0)
    return {"node": np.arange(len(moved)), "words": moved}


# -- files -----------------------------------------------------------------------------------------


FORMAT = "netloom-plan"
VERSION = 1

WANTED = "a plan file, as netloom compile --out writes it"

VARIANT = re.compile(r"list\[.*\]|constrained-.*|bool")
"""What pydantic calls the kinds that a column can be of: a list, or one value for all."""


@dataclass(frozen=True)
class PlanFile:
    """What a plan file holds.

    Attributes
    ----------
    plan, timetable, costs
        What was decided, and the costs that the timetable reckons with.
    lower_bound_phases
        No plan has fewer phases than this, as the file says.
    provenance
        Which version wrote it, and the question that it answers.
    programs
        The program of each node as plain data, or None.
    """

    plan: Plan
    timetable: Timetable
    costs: ConSetCosts
    lower_bound_phases: int
    provenance: Mapping[str, Any]
    programs: Any


def write_plan(
    path: str | Path,
    plan: Plan,
    timetable: Timetable,
    costs: ConSetCosts,
    *,
    lower_bound_phases: int,
    provenance: Provenance,
    programs: Any = None,
) -> None:
    """Write a plan and its timetable, one line per connection. The file is replaced if it exists.

    Parameters
    ----------
    path
        The file.
    plan, timetable, costs
        What was decided. Every connection is in a phase and every channel exists.
    lower_bound_phases
        No plan has fewer phases than this.
    provenance
        The question that the plan answers.
    programs
        The program of each node, as anything that JSON can hold. A list gets one line per element.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    assert (plan.phase >= 0).all(), "every connection of a plan is in a phase"
    given, network = plan.connections, plan.topology
    fields: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "provenance": provenance.to_dict(),
        "process_graph": given.name,
        "topology": network.name,
    }
    if not isinstance(network, Cube):  # whose name says it all. Others' may not make them again
        ends = np.stack([network.source_end, network.target_end], axis=1)
        fields["network"] = {"num_nodes": network.num_ends, "channels": ends.tolist()}
        if not network.direct:
            names = [network.name_of(vertex) for vertex in range(network.num_ends)]
            fields["network"] |= {"num_hosts": network.num_hosts, "labels": names}
    fields |= {
        "capacity": dataclasses.asdict(plan.capacity),
        "costs": dataclasses.asdict(costs),
        "method": plan.method,
        "schedule": timetable.kind,
        "lower_bound_phases": int(lower_bound_phases),
        "num_connections": len(given),
        "order": np.stack([given.before, given.after], axis=1).tolist(),
    }
    texts = {name: json.dumps(value) for name, value in fields.items()}
    lines, phases = _connection_texts(plan, timetable), list[str]()
    sequence = np.lexsort((timetable.start, plan.phase))
    for phase in range(plan.num_phases):
        members = sequence[plan.phase[sequence] == phase]
        makespan = _plain(float(timetable.makespan[phase]))
        bound = _plain(float(timetable.lower_bound[phase]))
        inside = _block((lines[connection] for connection in members.tolist()), indent=2)
        phases.append(
            f'{{"makespan": {makespan}, "lower_bound": {bound}, "connections": {inside}}}'
        )
    texts["phases"] = _block(phases, indent=1)
    if programs is not None:
        listed = isinstance(programs, list)
        texts["programs"] = _block(map(json.dumps, programs), 1) if listed else json.dumps(programs)
    text = ",\n".join(f' "{name}": {value}' for name, value in texts.items())
    write_text(path, f"{{\n{text}\n}}\n")


def read_plan(path: str | Path) -> PlanFile:
    """Read a plan file, as it was written or as someone edited it.

    The plan may be wrong: whether its routes are paths, its phases fit and its times add up is
    for ``verify`` to say. Numbers must be ones that the network and the connections have.

    Raises
    ------
    InputError
        If it cannot be read. The error names the file and the field.
    InvalidPlanError
        If no ``Plan`` can represent it: a connection is in two phases or in none, a phase is empty,
        or no channel joins two nodes of a route.
    """
    return read_record(path, read_text(path, wanted=WANTED), _File, _contents)


class Record(BaseModel):
    """A part of a plan file: no field that is not known, no number that is none."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


Written = TypeVar("Written", bound=Record)
Meant = TypeVar("Meant")

_Number = Annotated[int, Field(ge=0, lt=MAX_ELEMENTS)]
Text = Annotated[str, Field(max_length=4096, pattern=r"^[^\x00-\x1f\x7f]*$")]  # one line


class _Connection(Record):
    connection: _Number
    tasks: tuple[_Number, _Number]
    nodes: tuple[_Number, _Number]
    words: Annotated[int, Field(ge=0, le=MOST_WORDS)]
    route: Annotated[list[_Number], Field(min_length=1)]
    channels: list[_Number] | None = None
    start: float
    end: float


class _Phase(Record):
    makespan: float
    lower_bound: float
    connections: list[_Connection]


class _Network(Record):
    num_nodes: _Number
    channels: list[tuple[_Number, _Number]]
    num_hosts: _Number | None = None
    labels: list[Text] | None = None


class _Capacity(Record):
    virtual_channels: int
    per: Literal["node", "channel"]


class _Costs(Record):
    sync_clocks: float
    phase_clocks: float
    clocks_per_word: float
    channel_clocks_per_word: float
    both_ways: bool


class _File(Record):
    format: Literal["netloom-plan"]
    version: Literal[1]
    provenance: dict[str, Any]
    process_graph: Text
    topology: Text
    network: _Network | None = None
    capacity: _Capacity
    costs: _Costs
    method: Text
    schedule: Kind
    lower_bound_phases: _Number
    num_connections: _Number
    order: list[tuple[_Number, _Number]]
    phases: list[_Phase]
    programs: Any = None


def _block(lines: Iterable[str], indent: int) -> str:
    """Return a JSON list with one element a line."""
    inside = (",\n" + " " * (indent + 1)).join(lines)
    return f"[\n{' ' * (indent + 1)}{inside}\n{' ' * indent}]" if inside else "[]"


def _connection_texts(plan: Plan, timetable: Timetable) -> list[str]:
    given, routes, network = plan.connections, plan.routes, plan.topology
    left = network.source_end[routes.channels]
    entered = network.target_end[routes.channels]
    come_to = np.roll(entered, 1)  # where each hop starts, if it goes on from the one before
    starts = routes.offsets[:-1][routes.lengths > 0]
    come_to[starts] = left[starts]
    told = _lowest_channel(network, come_to, entered) == routes.channels
    untold = set(np.repeat(np.arange(len(given)), routes.lengths)[~told].tolist())
    nodes, channels, first = entered.tolist(), routes.channels.tolist(), left.tolist()
    offsets = routes.offsets.tolist()
    columns = (
        np.stack([given.source_task, given.target_task], axis=1).tolist(),
        np.stack([given.source, given.target], axis=1).tolist(),
        given.words.tolist(),
        timetable.start.tolist(),
        timetable.end.tolist(),
    )
    texts = []
    for number, (tasks, ends, words, start, end) in enumerate(zip(*columns, strict=True)):
        here, there = offsets[number], offsets[number + 1]
        route = [first[here] if here < there else ends[0], *nodes[here:there]]
        line = {"connection": number, "tasks": tasks, "nodes": ends, "words": words, "route": route}
        if number in untold:
            line["channels"] = channels[here:there]
        texts.append(json.dumps(line | {"start": _plain(start), "end": _plain(end)}))
    return texts


def _plain(clocks: float) -> float:
    """Return whole numbers as such: 512, not 512.0."""
    return int(clocks) if clocks.is_integer() else clocks


def _lowest_channel(network: Topology, source: Ints, target: Ints) -> Ints:
    """Return the channel of lowest number between each two nodes, -1 where there is none."""
    if not network.num_channels:
        return np.full(len(source), -1, np.int32)
    joined = network.source_end.astype(np.int64) * network.num_ends + network.target_end
    by_ends = np.argsort(joined, kind="stable")
    asked = source.astype(np.int64) * network.num_ends + target
    at = np.searchsorted(joined[by_ends], asked).clip(max=len(joined) - 1)
    return np.where(joined[by_ends[at]] == asked, by_ends[at], -1).astype(np.int32)


def read_record(
    path: str | Path, text: str, kind: type[Written], meaning: Callable[[Written], Meant]
) -> Meant:
    """Return what the text of a file of this kind means.

    Raises
    ------
    InputError
        In one line, the first mistake that pydantic finds, or one of its meaning. It names the file
        and the field.
    """
    try:
        return meaning(kind.model_validate_json(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    except InvalidPlanError as error:
        where = f"{path}, {error.where}"
        raise InvalidPlanError(dataclasses.replace(error.violation, where=where)) from None
    except InputError as error:
        raise InputError(f"{path}: {error.where}", error.found, error.wanted) from None
    sort, reason = first["type"], first["msg"].removeprefix("Input should be ")
    if sort == "json_invalid":
        raise InputError(str(path), f"no JSON ({first['ctx']['error']})", WANTED)
    loc = [at for at in first["loc"] if not VARIANT.fullmatch(str(at))]
    field = "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in loc)
    found = {"missing": "nothing", "extra_forbidden": "a field that is not known"}
    wanted = {"missing": "this field", "extra_forbidden": "the fields of docs/plan-file.md"}
    shown = repr(first["input"])
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    where = f"{path}: {field.removeprefix('.')}" if field else str(path)
    raise InputError(where, found.get(sort, shown), wanted.get(sort, reason))


def _contents(record: _File) -> PlanFile:
    known = record.network
    network = topology(record.topology) if known is None else _network(record.topology, known)
    sizes = [len(phase.connections) for phase in record.phases]
    lines = [line for phase in record.phases for line in phase.connections]
    places = [f"phases[{p}].connections[{i}]" for p, size in enumerate(sizes) for i in range(size)]
    phase = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    _check_once(record, lines, phase)
    order = sorted(range(len(lines)), key=lambda i: lines[i].connection)
    lines, places, phase = [lines[i] for i in order], [places[i] for i in order], phase[order]
    plan = Plan(
        topology=network,
        connections=_connections(record, network, lines),
        capacity=Capacity(record.capacity.virtual_channels, record.capacity.per),
        phase=phase,
        routes=_routes(network, lines, places, phase),
        method=record.method,
    )
    timetable = Timetable(
        start=np.array([line.start for line in lines], np.float64),
        end=np.array([line.end for line in lines], np.float64),
        makespan=np.array([each.makespan for each in record.phases], np.float64),
        lower_bound=np.array([each.lower_bound for each in record.phases], np.float64),
        kind=record.schedule,
    )
    return PlanFile(
        plan=plan,
        timetable=timetable,
        costs=ConSetCosts(**record.costs.model_dump()),
        lower_bound_phases=record.lower_bound_phases,
        provenance=record.provenance,
        programs=record.programs,
    )


def _network(name: str, given: _Network) -> Topology:
    """Return the network of a file.

    If hosts, which come first, hang on routers: channels between routers come first, then those
    that leave a host, then those that enter one, by the same ports.
    """
    ends = np.array(given.channels, np.int32).reshape(-1, 2)
    strange = first_wrong((ends >= given.num_nodes).any(axis=1))
    if strange is not None:
        where, found = f"network.channels[{strange}]", str(ends[strange].tolist())
        raise InputError(where, found, f"nodes below {given.num_nodes}")
    source, target = np.ascontiguousarray(ends.T)
    if given.num_hosts is None:
        return Topology(name, given.num_nodes, source, target)
    hosts, labels = given.num_hosts, tuple(given.labels or ())
    ports = np.flatnonzero(source < hosts)
    inside, count = len(source) - 2 * len(ports), len(ports)
    out_of, into = slice(inside, inside + count), slice(inside + count, None)
    lasting = (
        inside >= 0
        and np.array_equal(ports, np.arange(inside, inside + count))
        and np.array_equal(np.unique(source[out_of]), np.arange(hosts))
        and np.array_equal(source[out_of], target[into])
        and bool((np.diff(source[out_of]) >= 0).all())
        and bool((target[: inside + count] >= hosts).all())
    )
    if not lasting:
        wanted = "those between routers, then those from hosts in their order, then those to hosts"
        raise InputError("network.channels", f"channels of {hosts} hosts in another order", wanted)
    if labels and len(labels) != given.num_nodes:
        raise InputError("network.labels", f"{len(labels)}", f"{given.num_nodes}, one per node")
    ends_inside = source[:inside] - hosts, target[:inside] - hosts
    routers = Topology(name, given.num_nodes - hosts, *ends_inside, labels[hosts:])
    injection, ejection, port_host = target[out_of] - hosts, source[into] - hosts, source[out_of]
    return attach_hosts(
        routers, injection, name=name, ejection=ejection, port_host=port_host, labels=labels
    )


def _check_once(record: _File, lines: list[_Connection], phase: Ints) -> None:
    """Refuse connections in two phases or none, and empty phases: a ``Plan`` cannot hold them."""
    for index, each in enumerate(record.phases):
        if not each.connections:
            raise broken("once", f"phase {index}", "no connections", "at least one")
    every, phase_of = record.num_connections, dict[int, int]()
    for line, here in zip(lines, phase.tolist(), strict=True):
        where, number = f"phase {here}, connection {_tasks(line)}", line.connection
        if number >= every:
            wanted = f"numbers below {every}, the num_connections"
            raise InputError(where, f"number {number}", wanted)
        if number in phase_of:
            found = f"number {number} again, as in phase {phase_of[number]}"
            raise broken("once", where, found, "each connection once")
        phase_of[number] = here
    if len(phase_of) < every:
        lost = next(number for number in range(every) if number not in phase_of)
        found = f"no connection with number {lost}"
        raise broken("once", "phases", found, f"all of 0 to {every - 1}")


def _tasks(line: _Connection) -> str:
    return f"{line.tasks[0]} -> {line.tasks[1]}"


def _connections(record: _File, network: Topology, lines: list[_Connection]) -> Connections:
    """Return the connections, in the order of their numbers."""
    tasks = np.array([line.tasks for line in lines], np.int32).reshape(-1, 2)
    nodes = np.array([line.nodes for line in lines], np.int32).reshape(-1, 2)
    if (strange := first_wrong((nodes >= network.num_hosts).any(axis=1))) is not None:
        line = lines[strange]
        wanted = f"nodes below {network.num_hosts}"
        raise InputError(f"connection {_tasks(line)}", f"nodes {list(line.nodes)}", wanted)
    order = np.array(record.order, np.int32).reshape(-1, 2)
    if (strange := first_wrong((order >= len(lines)).any(axis=1))) is not None:
        wanted = f"connections below {len(lines)}"
        raise InputError(f"order[{strange}]", str(order[strange].tolist()), wanted)
    given = Connections(
        num_nodes=network.num_hosts,
        source=nodes[:, 0].copy(),
        target=nodes[:, 1].copy(),
        words=np.array([line.words for line in lines], np.int64),
        source_task=tasks[:, 0].copy(),
        target_task=tasks[:, 1].copy(),
        before=order[:, 0].copy(),
        after=order[:, 1].copy(),
        name=record.process_graph,
    )
    ranks(given)  # refuses a circle
    return given


def _routes(network: Topology, lines: list[_Connection], places: list[str], phase: Ints) -> Paths:
    """Return the channels that the routes take: those given, or the lowest between their nodes."""
    offsets = np.append(0, np.cumsum([len(line.route) - 1 for line in lines], dtype=np.int64))
    left = np.array([node for line in lines for node in line.route[:-1]], np.int32)
    entered = np.array([node for line in lines for node in line.route[1:]], np.int32)
    strange = first_wrong(np.maximum(left, entered) >= network.num_ends)
    if strange is not None:
        at = int(np.searchsorted(offsets, strange, side="right")) - 1
        found, wanted = str(lines[at].route), f"nodes below {network.num_ends}"
        raise InputError(f"{places[at]}.route", found, wanted)
    channels = _lowest_channel(network, left, entered)
    for at, line in enumerate(lines):
        if line.channels is not None:
            channels[offsets[at] : offsets[at + 1]] = _given_channels(network, line, places[at])
    if (apart := first_wrong(channels < 0)) is not None:
        at = int(np.searchsorted(offsets, apart, side="right")) - 1
        where = f"phase {phase[at]}, connection {_tasks(lines[at])}"
        found = f"a hop from node {left[apart]} to node {entered[apart]}"
        raise broken("route", where, found, "nodes that a channel joins")
    return Paths(offsets, channels)


def _given_channels(network: Topology, line: _Connection, place: str) -> list[int]:
    """Return the channels of a line that names them, once they lead where its route does."""
    given, route = line.channels or [], line.route
    if len(given) != len(route) - 1:
        wanted = f"{len(route) - 1}, one for each hop of the route"
        raise InputError(f"{place}.channels", f"{len(given)} channels", wanted)
    for hop, channel in enumerate(given):
        where = f"{place}.channels[{hop}]"
        if channel >= network.num_channels:
            raise InputError(where, str(channel), f"channels below {network.num_channels}")
        source, target = network.source_end[channel], network.target_end[channel]
        if target != route[hop + 1] or (hop == 0 and source != route[0]):
            wanted = f"one from node {route[hop]} to node {route[hop + 1]}, as the route goes"
            raise InputError(where, f"channel {channel}, from {source} to {target}", wanted)
    return given
