"""Is this plan right? A judge of what the compiler made that shares none of the compiler's code.

It knows the network, the connections and what a plan says of them, and counts everything itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Ints
from netloom.base.errors import InputError
from netloom.contention.messages import ConSetCosts
from netloom.phases.plan.plans import Plan
from netloom.phases.timetables import Timetable

Rule: TypeAlias = Literal["once", "route", "capacity", "order", "timetable", "data", "bound"]

SLACK = 1e-9
"""Part of the longest makespan by which times may be off: they are sums of floats."""


@dataclass(frozen=True)
class Violation:
    """One thing that is wrong with a plan. Its text is one line.

    Attributes
    ----------
    rule
        ``once``: every connection in one phase, no phase empty. ``route``: a real path from source
        to target. ``capacity``: no node or channel holds too many. ``order``: what comes first
        comes first. ``timetable``: times that the processors and channels can keep. Of collectives
        ``data``: every rank ends with what it should have. ``bound``: a cut or
        prices prove it.
    where, found, wanted
        Phase, node and connection (by its tasks); what is there; what would be right.
    """

    rule: Rule
    where: str
    found: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.where}: found {self.found}; expected {self.wanted}"


class InvalidPlanError(InputError):
    """A plan that breaks a rule. ``violation`` says which."""

    exit_code = 1

    def __init__(self, violation: Violation) -> None:
        self.violation = violation
        super().__init__(violation.where, violation.found, violation.wanted)


def broken(rule: Rule, where: str, found: str, wanted: str) -> InvalidPlanError:
    """Return the error that a rule is broken."""
    return InvalidPlanError(Violation(rule, where, found, wanted))


def verify(
    plan: Plan, timetable: Timetable | None = None, costs: ConSetCosts | None = None
) -> None:
    """Refuse a plan that breaks a rule. See ``first_violation``.

    Raises
    ------
    InvalidPlanError
        With the first violation.
    """
    assert (timetable is None) == (costs is None), "a timetable is judged by its costs"
    for judge in (_once, _route, _capacity, _phase_order):
        judge(plan)
    if timetable is not None and costs is not None:
        _sizes(plan, timetable)
        _durations(plan, timetable, costs)
        _time_order(plan, timetable)
        _processors(plan, timetable, costs)
        _channels(plan, timetable, costs)
        _makespans(plan, timetable)


def first_violation(
    plan: Plan, timetable: Timetable | None = None, costs: ConSetCosts | None = None
) -> Violation | None:
    """Return what is wrong with a plan, or None when it is right.

    Every connection is in one phase, and no phase is empty. Its route leaves its source, is
    connected, ends in its target and visits no node twice. If hosts hang on routers, it visits no
    host between these. No node (or channel) has more connections in a phase than it has virtual
    channels. A connection that comes before another is in no later phase.

    With a timetable also: a connection takes at least its words times the clocks of a word, and
    has ended before one of its phase that waits for it starts. If processors serve one
    connection at a time, none is at two sends at once, or two receives (at two connections at all
    where it cannot do both ways). Where all are interleaved, and on channels that share their
    rate, no more words pass than can. A makespan is when the last connection ends, and not below
    its lower bound.

    Parameters
    ----------
    plan
        What to judge.
    timetable, costs
        When each connection starts and ends, and the costs that it reckons with: both or none.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.phases.plan.plans import connections
    >>> from netloom.phases.plan.plans import Capacity, Plan
    >>> from netloom.routing import DimensionOrder, paths
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> given, ring = connections(read("ring:4"), range(4), 4), topology("ring:4")
    >>> routes = paths(ring, DimensionOrder(), given.source, given.target)
    >>> phase = np.zeros(8, np.int32)
    >>> print(first_violation(Plan(ring, given, Capacity(4), phase, routes, "sequential")))
    None
    >>> print(first_violation(Plan(ring, given, Capacity(3), phase, routes, "sequential")))
    phase 0, node 0: found 4 connections, 1 too many; expected at most 3, its virtual channels
    """
    try:
        verify(plan, timetable, costs)
    except InvalidPlanError as error:
        return error.violation
    return None


def first_wrong(wrong: Bools | np.bool_) -> int | None:
    """Return the first place that is wrong. None if all are right."""
    return int(np.argmax(wrong)) if wrong.any() else None


def _connection(plan: Plan, connection: int) -> str:
    """Return ``phase 2, connection 3 -> 5``."""
    return f"phase {plan.phase[connection]}, connection {plan.connections.describe(connection)}"


def _once(plan: Plan) -> None:
    given, nodes = plan.connections, plan.topology.num_hosts
    for what, count in (("phases", len(plan.phase)), ("routes", len(plan.routes))):
        if count != len(given):
            wanted = f"one for each of {len(given)} connections"
            raise broken("once", "plan", f"{count} {what}", wanted)
    if given.num_nodes != nodes:
        found = f"connections between {given.num_nodes} nodes"
        raise broken("once", "plan", found, f"{nodes}, the nodes of {plan.topology.name}")
    if (lost := first_wrong(plan.phase < 0)) is not None:
        where = f"connection {given.describe(lost)}"
        raise broken("once", where, f"phase {plan.phase[lost]}", "a phase from 0 on")
    used = np.unique(plan.phase)
    if (gap := first_wrong(used != np.arange(len(used)))) is not None:
        wanted = f"some in every phase up to the last, {used[-1]}"
        raise broken("once", f"phase {gap}", "no connections", wanted)


def _route(plan: Plan) -> None:
    network, routes, given = plan.topology, plan.routes, plan.connections
    strange = first_wrong((routes.channels < 0) | (routes.channels >= network.num_channels))
    if strange is not None:
        connection, hop = _hop(plan, strange)
        found = f"channel {routes.channels[strange]} as hop {hop}"
        wanted = f"channels from 0 to {network.num_channels - 1}"
        raise broken("route", _connection(plan, connection), found, wanted)
    if (empty := first_wrong(routes.lengths == 0)) is not None:
        wanted = "at least one channel"
        raise broken("route", _connection(plan, empty), "no route", wanted)
    come_to = np.empty(len(routes.channels) + 1, np.int32)
    come_to[1:] = network.target_end[routes.channels]
    last = come_to[routes.offsets[1:]]  # copied: the next line starts the next route there
    come_to[routes.offsets[:-1]] = given.source
    torn = first_wrong(network.source_end[routes.channels] != come_to[:-1])
    if torn is not None:
        connection, hop = _hop(plan, torn)
        taken = network.channel_name(int(routes.channels[torn]))
        role = "its source" if hop == 1 else f"where hop {hop - 1} ends"
        wanted = f"a channel that leaves node {network.name_of(int(come_to[torn]))}, {role}"
        found = f"channel {taken} as hop {hop}"
        raise broken("route", _connection(plan, connection), found, wanted)
    if (astray := first_wrong(last != given.target)) is not None:
        found = f"a route that ends in node {network.name_of(int(last[astray]))}"
        wanted = f"node {network.name_of(int(given.target[astray]))}, its target"
        raise broken("route", _connection(plan, astray), found, wanted)
    node, of = _visits(plan)
    visits = np.sort(of * network.num_ends + node)
    if (again := first_wrong(visits[1:] == visits[:-1])) is not None:
        connection, twice = divmod(int(visits[again]), network.num_ends)
        found = f"a route that visits node {network.name_of(twice)} twice"
        raise broken("route", _connection(plan, connection), found, "each node once")
    port = routes.channels - (network.num_network_channels + network.num_ports)
    inner = np.ones(len(port), np.bool_)
    inner[routes.offsets[1:] - 1] = False
    if (through := first_wrong((port >= 0) & inner)) is not None:
        connection, hop = _hop(plan, through)
        host = network.name_of(int(network.port_host[port[through]]))
        found, wanted = f"host {host} where hop {hop} ends", "a router: hosts do not forward"
        raise broken("route", _connection(plan, connection), found, wanted)


def _hop(plan: Plan, index: int) -> tuple[int, int]:
    """Return the connection that ``routes.channels[index]`` is of, and which hop it is, from 1."""
    connection = int(np.searchsorted(plan.routes.offsets, index, side="right")) - 1
    return connection, index - int(plan.routes.offsets[connection]) + 1


def _visits(plan: Plan) -> tuple[Ints, Ints]:
    """Return every node that a connection visits, both ends included, and the connection."""
    every = np.arange(len(plan.connections))
    entered = plan.topology.target_end[plan.routes.channels]
    node = np.concatenate([plan.connections.source, entered]).astype(np.int64)
    return node, np.concatenate([every, np.repeat(every, plan.routes.lengths)])


def _capacity(plan: Plan) -> None:
    network, capacity = plan.topology, plan.capacity
    if capacity.per == "node":
        places, (place, connection) = network.num_ends, _visits(plan)
    else:
        places, place = network.num_channels, plan.routes.channels.astype(np.int64)
        connection = np.repeat(np.arange(len(plan.connections)), plan.routes.lengths)
    taken, count = np.unique(
        plan.phase[connection].astype(np.int64) * places + place, return_counts=True
    )
    over = first_wrong(count > capacity.virtual_channels)
    if over is not None:
        phase, full = divmod(int(taken[over]), places)
        name = network.name_of(full) if capacity.per == "node" else network.channel_name(full)
        excess = count[over] - capacity.virtual_channels
        found = f"{count[over]} connections, {excess} too many"
        wanted = f"at most {capacity.virtual_channels}, its virtual channels"
        raise broken("capacity", f"phase {phase}, {capacity.per} {name}", found, wanted)


def _phase_order(plan: Plan) -> None:
    given = plan.connections
    first, second = plan.phase[given.before], plan.phase[given.after]
    if (pair := first_wrong(first > second)) is not None:
        where = _connection(plan, int(given.after[pair]))
        earlier = given.describe(int(given.before[pair]))
        found = f"connection {earlier}, which it waits for, in phase {first[pair]}"
        raise broken("order", where, found, f"phase {second[pair]} or an earlier one")


def _slack(timetable: Timetable) -> float:
    return SLACK * float(timetable.end.max(initial=0))


def _sizes(plan: Plan, timetable: Timetable) -> None:
    """Refuse a timetable that is not one of this plan, or holds what is not a time."""
    for count, wanted, what in (
        (len(timetable.start), len(plan.connections), "connection"),
        (len(timetable.end), len(plan.connections), "connection"),
        (len(timetable.makespan), plan.num_phases, "phase"),
        (len(timetable.lower_bound), plan.num_phases, "phase"),
    ):
        if count != wanted:
            found = f"times of {count} {what}s"
            raise broken("timetable", "timetable", found, f"{wanted}, one a {what}")
    start, end = timetable.start, timetable.end
    sound = (start >= 0) & (end >= start) & np.isfinite(end)  # false for NaN, too
    if (at := first_wrong(~sound)) is not None:
        found = f"clocks {_clocks(start[at])} to {_clocks(end[at])}"
        wanted_times = "a start from 0 on and an end that is not before it"
        raise broken("timetable", _connection(plan, at), found, wanted_times)


def _durations(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> None:
    per_word = costs.clocks_per_word
    if timetable.kind != "timetable":  # which leaves the channels out of account
        per_word = max(per_word, costs.channel_clocks_per_word)
    words, took = plan.connections.words, timetable.end - timetable.start
    short = words * per_word - took
    if (at := first_wrong(short > _slack(timetable))) is not None:
        found = f"{_clocks(took[at])} clocks for {words[at]} words, {_clocks(short[at])} too few"
        wanted = f"at least {_clocks(per_word)} a word"
        raise broken("timetable", _connection(plan, at), found, wanted)


def _time_order(plan: Plan, timetable: Timetable) -> None:
    given = plan.connections
    late = timetable.end[given.before] - timetable.start[given.after]
    together = plan.phase[given.before] == plan.phase[given.after]
    if (pair := first_wrong(together & (late > _slack(timetable)))) is not None:
        first, second = int(given.before[pair]), int(given.after[pair])
        starts, ends = _clocks(timetable.start[second]), _clocks(timetable.end[first])
        where = _connection(plan, second)
        found = f"a start at clock {starts}, {_clocks(late[pair])} too early"
        wanted = f"clock {ends} or later, when connection {given.describe(first)} has ended"
        raise broken("order", where, found, wanted)


def _processors(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> None:
    """Judge what each serves: sends and receives apart where it does both at once."""
    clocks = plan.connections.words * costs.clocks_per_word
    given, every = plan.connections, np.arange(len(plan.connections))
    sent, received = given.source.astype(np.int64), given.target.astype(np.int64)
    both = np.concatenate([sent, received]), np.concatenate([every, every])
    works = [(*both, "sends and receives")]
    if costs.both_ways:
        works = [(sent, every, "sends"), (received, every, "receives")]
    busy = timetable.end > timetable.start  # others take no time
    for place, connection, what in works:
        if timetable.kind == "streaming":
            _overwork(plan, timetable, (place, connection, what), clocks, "node")
            continue
        at_work = busy[connection]  # is a processor at two connections at once?
        place, connection = place[at_work], connection[at_work]
        phase = plan.phase[connection]
        order = np.lexsort((timetable.start[connection], place, phase))
        place, connection, phase = place[order], connection[order], phase[order]
        same = (place[1:] == place[:-1]) & (phase[1:] == phase[:-1])
        early = timetable.end[connection[:-1]] - timetable.start[connection[1:]]
        if (at := first_wrong(same & (early > _slack(timetable)))) is not None:
            first, second = (given.describe(int(connection[each])) for each in (at, at + 1))
            where = f"phase {phase[at]}, node {plan.topology.name_of(int(place[at]))}"
            start, end = timetable.start[connection[at + 1]], timetable.end[connection[at]]
            begun = f"connection {second} from clock {_clocks(start)} on"
            lasting = f"{begun}, while {first} lasts until {_clocks(end)}"
            raise broken("timetable", where, lasting, f"one at a time of its {what}")


def _channels(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> None:
    if timetable.kind == "timetable":
        return
    connection = np.repeat(np.arange(len(plan.connections)), plan.routes.lengths)
    clocks = plan.connections.words * costs.channel_clocks_per_word
    work = plan.routes.channels.astype(np.int64), connection, "words"
    _overwork(plan, timetable, work, clocks, "channel")


def _overwork(
    plan: Plan,
    timetable: Timetable,
    work: tuple[Ints, Ints, str],
    clocks: NDArray[Any],
    kind: Literal["node", "channel"],
) -> None:
    """Refuse that more has ended by some clock than a processor or channel can have done.

    By the end of each connection, all that have ended at its place fit in since the first began.
    ``work``: places, the connection at each, and what is done there.
    """
    place, connection, what = work
    end_of, phase_of = timetable.end[connection], plan.phase[connection]
    order = np.lexsort((end_of, place, phase_of))
    place, connection = place[order], connection[order]
    phase, end = phase_of[order], end_of[order]
    new = np.ones(len(place), bool)
    new[1:] = (place[1:] != place[:-1]) | (phase[1:] != phase[:-1])
    first = np.flatnonzero(new)
    if not first.size:
        return
    group = np.cumsum(new) - 1
    done = np.cumsum(clocks[connection])
    done -= (done[first] - clocks[connection[first]])[group]
    began = np.minimum.reduceat(timetable.start[connection], first)[group]
    excess = done - (end - began)
    if (at := first_wrong(excess > _slack(timetable))) is not None:
        namer = plan.topology.name_of if kind == "node" else plan.topology.channel_name
        span = f"clock {_clocks(began[at])} to {_clocks(end[at])}"
        found = f"{_clocks(done[at])} clocks of {what} from {span}"
        found += f", {_clocks(excess[at])} too many"
        where = f"phase {phase[at]}, {kind} {namer(int(place[at]))}"
        raise broken("timetable", where, found, f"at most {_clocks(end[at] - began[at])}")


def _makespans(plan: Plan, timetable: Timetable) -> None:
    last = np.zeros(plan.num_phases)
    np.maximum.at(last, plan.phase, timetable.end)
    off = ~(np.abs(timetable.makespan - last) <= _slack(timetable))  # true for NaN
    if (at := first_wrong(off)) is not None:
        found = f"a makespan of {_clocks(timetable.makespan[at])} clocks"
        wanted = f"{_clocks(last[at])}, when its last connection ends"
        raise broken("timetable", f"phase {at}", found, wanted)
    below = timetable.lower_bound - timetable.makespan
    if (at := first_wrong(~(below <= _slack(timetable)))) is not None:
        found = f"a lower bound of {_clocks(timetable.lower_bound[at])} clocks"
        wanted = f"at most {_clocks(timetable.makespan[at])}, the makespan"
        raise broken("timetable", f"phase {at}", found, wanted)


def _clocks(time: float) -> str:
    return f"{time:.12g}"
