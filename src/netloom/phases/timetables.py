"""When each connection of a phase moves its words, how near the least that is, and its limits.

If channels are shared, words are a fluid: whatever connections are active at a moment have max-min
fair rates. Two ways to use connections: ``exclusive``, a processor sends on one at a time and
receives on one, or all of them at once, word by word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure
from netloom.base.words import percent
from netloom.contention import (
    ConSetCosts,
    MessageCosts,
    conset_clocks,
    pattern_message_passing_clocks,
)
from netloom.phases.plan.plans import Plan, ranks
from netloom.workload.programs.messages import grouped

Kind: TypeAlias = Literal["timetable", "shared", "streaming"]
"""How connections are used: one at a time by timetable, the same but with shared channels, or all
at once."""

MOST_TRIES = 10**9
"""Most timetables tried for a phase."""

LOOKS = 1_000_000_000
"""Busy times that are looked at in all to improve timetables, where tries are not given: a second
or two. Each try looks at most at those of a processor for each connection."""

MOST_COLOUR_PLACES = 2**26
"""Largest table of an edge coloring: processors × connections of a processor."""


@dataclass(frozen=True, eq=False)
class Timetable:
    """The times of a plan's connections, made by ``schedule``.

    Attributes
    ----------
    start, end
        float64[n], clocks since the connection's own phase began, its context switch excluded.
    makespan
        float64[num_phases], clocks until the last connection of each phase has ended.
    lower_bound
        float64[num_phases], clocks below which no timetable of its kind can be.
    kind
        How connections are used.
    """

    start: Floats
    end: Floats
    makespan: Floats
    lower_bound: Floats
    kind: Kind

    def __repr__(self) -> str:
        least, lasting = float(self.lower_bound.sum()), float(self.makespan.sum())
        over = (
            f"{100 * (lasting / least - 1):.1f} % above" if lasting > least * (1 + 1e-9) else "at"
        )
        return (
            f"<{self.kind} of {len(self.start)} connections: {lasting:g} clocks in"
            f" {len(self.makespan)} phases, {over} the lower bound>"
        )


def schedule(
    plan: Plan,
    costs: ConSetCosts,
    *,
    kind: Kind = "timetable",
    priority: ArrayLike | None = None,
    tries: int | None = None,
    seed: int = 1,
) -> Timetable:
    """Return when each connection starts and ends. Phases are independent of one another.

    ``timetable``: algorithm AS (Feldmann et al. 1993, section 4.4.2). A processor uses one
    connection at a time, without a break, for b clocks per word, however many share its channels.
    If the costs have ``both_ways`` set, it uses one to send and one to receive. The processor with
    the most words left in unscheduled connections (MIN_TIME) puts its longest into the first hole
    that is long enough at both ends. Ties go to the lower number, and a processor's sides to send
    and to receive count as two. The timetable is then improved, phase by phase until one meets its
    lower bound. An edge coloring is used if it is sure to meet the bound (all connections equally
    long, both ways, no order). Otherwise the sequence in which connections are put into holes is
    annealed.

    ``shared``: one at a time as well, but connections that are active together have max-min fair
    shares of the channels. They start in the order of the ``timetable`` or of ``priority``, once
    both ends are free. If the receiver of a sender's next is busy the sender waits for it, or
    takes the first whose receiver is free: whichever makes the phase shorter.

    ``streaming``: all connections of a phase from the start, word by word, with max-min fair shares
    of channels and network access.

    In all kinds a connection waits for those of its phase that come before it in the order.

    The lower bound is the words of the busiest processor, of the longest chain of the order
    and, where they count, of the busiest channel, in clocks.

    Parameters
    ----------
    plan
        The connections with their phases and routes.
    costs
        Of the machine.
    kind
        How connections are used.
    priority
        int[n], lower first: the sequence in place of algorithm AS, and of its improvement, such
        as the direction of each connection on a torus.
    tries
        Timetables tried to improve that of a phase; 0 is algorithm AS as published. By default as
        many as take a second or two for all phases, whose number depends on these alone.
    seed
        Of the tries.

    Raises
    ------
    InputError
        If the kind is not known, the priority does not fit or the order is a circle.

    Examples
    --------
    >>> from netloom.contention import ConSetCosts
    >>> from netloom.phases import Capacity, Plan, connections
    >>> from netloom.routing import DimensionOrder, paths
    >>> from netloom.topology import torus
    >>> from netloom.workload import read
    >>> given = connections(read("all-to-all:4"), range(4), 4, words=10)
    >>> routes = paths(torus(4), DimensionOrder(), given.source, given.target)
    >>> plan = Plan(torus(4), given, Capacity(12), np.zeros(12, np.int32), routes, "sequential")
    >>> schedule(plan, ConSetCosts())
    <timetable of 12 connections: 60 clocks in 1 phases, at the lower bound>
    >>> schedule(plan, ConSetCosts(both_ways=False), kind="streaming").makespan
    array([120.])
    """
    if kind not in get_args(Kind):
        raise InputError("kind", f"'{kind}'", f"one of {', '.join(get_args(Kind))}")
    if tries is not None and not 0 <= tries <= MOST_TRIES:
        raise InputError("tries", f"{tries}", f"0 to {MOST_TRIES}")
    wishes = None if priority is None else _checked(priority, len(plan.connections), kind)
    phases = list(each_phase(plan, ranks(plan.connections), both_ways=costs.both_ways))
    filled: list[tuple[Ints, Ints]] = []
    if wishes is not None:
        orders = [np.lexsort((wishes[each.members], each.rank)).astype(np.int64) for each in phases]
        filled = [
            (order, _start(phase, order)) for phase, order in zip(phases, orders, strict=True)
        ]
    elif kind != "streaming":
        filled = _scheduled(phases, tries, seed)
    start, end = np.zeros(len(plan.connections)), np.zeros(len(plan.connections))
    makespan, bound = np.zeros(len(phases)), np.zeros(len(phases))
    for number, phase in enumerate(phases):
        if kind == "timetable":
            first = filled[number][1]
            times = first * costs.clocks_per_word, (first + phase.words) * costs.clocks_per_word
            bound[number] = _least_words(phase) * costs.clocks_per_word
        else:
            # A connection takes at least the clocks of its slowest part, and the processor that
            # uses no other meanwhile as long. If a processor's next connection in sequence has to
            # wait for its other end, the processor may wait too (its program then runs in the given
            # sequence), or take the first connection that need not wait. In either, processors keep
            # these times if they use their connections by order of start and wait for the other
            # end.
            places, alone = places_of(plan, phase, costs), kind == "shared"
            sequence = filled[number][0] if alone else np.arange(len(phase.words))
            tried = [
                flow_times(phase, places, sequence, exclusive=alone, in_turn=waits)
                for waits in ((True, False) if alone else (False,))
            ]
            times = min(tried, key=lambda each: float(each[1].max(initial=0.0)))
            slower = max(costs.clocks_per_word, costs.channel_clocks_per_word)
            least = _least_words(phase) if alone else _longest(phase)
            owner = np.repeat(np.arange(len(phase.words)), np.diff(places.first_use))
            load = np.bincount(places.uses, phase.words[owner].astype(np.float64))
            busiest = float((load / places.capacity).max(initial=0.0))
            bound[number] = max(busiest, least * slower)
        start[phase.members], end[phase.members] = times
        makespan[number] = times[1].max(initial=0.0)
    return Timetable(start, end, makespan, bound, kind)


def _checked(priority: ArrayLike, connections: int, kind: Kind) -> Ints:
    if kind == "streaming":
        raise InputError("priority", "one for streaming", "none: all connections are active")
    given = np.asarray(priority)
    if given.shape != (connections,) or given.dtype.kind not in "iu":
        found = f"{given.dtype} of shape {given.shape}"
        raise InputError("priority", found, f"a whole number for each of {connections}")
    return given.astype(np.int64)


def _longest(phase: Phase) -> int:
    """Return the most words of connections that wait for one another."""
    from netloom.phases.kernels.timetable import longest_chain

    return int(longest_chain(phase.words, phase.first, phase.later, phase.waits))


def _least_words(phase: Phase) -> int:
    """Return the least makespan: the words of the busiest processor or of the longest chain."""
    load = np.zeros(phase.num_processors, np.int64)
    np.add.at(load, phase.one, phase.words)
    np.add.at(load, phase.other, phase.words)
    return max(int(load.max(initial=0)), _longest(phase))


def _scheduled(phases: list[Phase], tries: int | None, seed: int) -> list[tuple[Ints, Ints]]:
    """Return the timetable of each phase by algorithm AS, improved where it misses its bound.

    The connections in the order in which processors take them up, and the start of each in words.

    An edge coloring meets the bound where all connections are equally long, senders and receivers
    apart and nothing is in order. The sequence of any other phase is annealed, ``tries`` times. By
    default as often as takes a second or two in all, and always as often for the same phases.
    """
    from netloom.phases.kernels.timetable import greedy_sequence, improve

    begun, left = [], []
    for number, phase in enumerate(phases):
        sequence = greedy_sequence(
            phase.one, phase.other, phase.words, phase.first, phase.later, phase.waits,
            phase.num_processors,
        )  # fmt: skip
        start = _start(phase, sequence)
        late = max(start + phase.words, default=0) > _least_words(phase)
        coloured = _coloured(phase) if late and tries != 0 else start
        if coloured is None:
            left.append((number, sequence))
        begun.append(start if coloured is None else coloured)
    looks = sum(len(sequence) * _most_connections(phases[number]) for number, sequence in left)
    rng = np.random.default_rng(seed)
    for number, sequence in left:  # ``begun`` then holds the best timetable found
        phase, attempts = phases[number], LOOKS // looks if tries is None else tries
        improve(
            sequence, phase.one, phase.other, phase.words, phase.first, phase.later,
            phase.num_processors, _least_words(phase), attempts, rng, begun[number],
        )  # fmt: skip
    return [
        (np.lexsort((phase.rank, start)), start) for phase, start in zip(phases, begun, strict=True)
    ]


def _start(phase: Phase, sequence: Ints) -> Ints:
    from netloom.phases.kernels.timetable import filled

    start: Ints = filled(
        sequence, phase.one, phase.other, phase.words, phase.first, phase.later,
        phase.num_processors,
    )  # fmt: skip
    return start


def _coloured(phase: Phase) -> Ints | None:
    """Return a timetable at its bound by an edge coloring. None if König's theorem says nothing."""
    from netloom.phases.kernels.partition import edge_colouring

    colours = _most_connections(phase)
    alike = phase.words[0] == phase.words.max() == phase.words.min()
    apart = not np.isin(phase.one, phase.other).any()
    table = phase.num_processors * colours
    if not (alike and apart and not len(phase.later) and table <= MOST_COLOUR_PLACES):
        return None
    start: Ints = phase.words[0] * edge_colouring(
        phase.one, phase.other, phase.num_processors, colours
    )
    return start


def _most_connections(phase: Phase) -> int:
    """Return the most connections of a processor."""
    return int(np.bincount(np.concatenate([phase.one, phase.other])).max())


class Phase(NamedTuple):
    """The connections of a phase, numbered within it. ``members`` are their own numbers."""

    members: Ints
    # one, other: int64[n], the two processors that each occupies, numbered from 0 as they occur.
    # Where a processor sends and receives at once, its two sides are processors of their own.
    one: Ints
    other: Ints
    num_processors: int  # how many of them occur
    words: Ints  # int64[n]
    # first, later: int64[n + 1], int64[…]: those that wait for c are later[first[c]:first[c + 1]].
    first: Ints
    later: Ints
    waits: Ints  # int64[n], how many of the phase each waits for
    rank: Ints  # int64[n], of the longest chain of connections before it


def each_phase(plan: Plan, rank: Ints, *, both_ways: bool) -> Iterator[Phase]:
    """Yield every phase in turn. ``rank`` is that of all its connections."""
    given = plan.connections
    number = np.empty(len(given), np.int64)
    by_phase = np.argsort(plan.phase, kind="stable").astype(np.int64)
    bounds = np.searchsorted(plan.phase[by_phase], np.arange(plan.num_phases + 1))
    number[by_phase] = np.arange(len(given)) - bounds[plan.phase[by_phase]]
    inside = plan.phase[given.before] == plan.phase[given.after]
    before, after = given.before[inside], given.after[inside]
    pair_phase = plan.phase[before]
    for phase, (start, end) in enumerate(pairwise(bounds)):
        members = by_phase[start:end]
        here = pair_phase == phase
        source = given.source[members].astype(np.int64)
        target = given.target[members] + (given.num_nodes if both_ways else 0)
        used, both = np.unique(np.concatenate([source, target]), return_inverse=True)
        both = both.astype(np.int64)
        former, latter = number[before[here]], number[after[here]]
        first, later = grouped(former, latter, len(members))
        waits = np.bincount(latter, minlength=len(members))
        yield Phase(
            members=members,
            one=both[: len(members)],
            other=both[len(members) :],
            num_processors=len(used),
            words=given.words[members],
            first=first,
            later=later,
            waits=waits.astype(np.int64),
            rank=rank[members].astype(np.int64),
        )


class Places(NamedTuple):
    """What the connections of a phase share: channels, and the accesses of processors."""

    # first_use, uses: int64[n + 1], int64[…], the places of each connection.
    first_use: Ints
    uses: Ints
    # first_user, users: int64[places + 1], int64[…], the connections of each place.
    first_user: Ints
    users: Ints
    capacity: Floats  # float64[places], words per clock


def places_of(plan: Plan, phase: Phase, costs: ConSetCosts) -> Places:
    """Return the channels and accesses that the connections of a phase use.

    A processor has an access to send and another to receive where it can do both at once, else
    one for both.
    """
    nodes, members = plan.connections.num_nodes, phase.members
    source = plan.connections.source[members].astype(np.int64)
    target = plan.connections.target[members] + (nodes if costs.both_ways else 0)
    routes = plan.routes.taken(members)
    channel = routes.channels + 2 * nodes
    number = np.arange(len(members))
    owner = np.concatenate([number, number, np.repeat(number, routes.lengths)])
    named, place = np.unique(np.concatenate([source, target, channel]), return_inverse=True)
    clocks = np.where(named < 2 * nodes, costs.clocks_per_word, costs.channel_clocks_per_word)
    uses, users = grouped(owner, place, len(members)), grouped(place, owner, len(named))
    return Places(*uses, *users, capacity=1.0 / clocks)


def flow_times(
    phase: Phase, places: Places, sequence: Ints, *, exclusive: bool, in_turn: bool
) -> tuple[Floats, Floats]:
    """Return when connections start and end. See ``flow`` and ``admit`` of the kernel."""
    from netloom.phases.kernels.timetable import flow

    start, end = np.empty(len(sequence)), np.empty(len(sequence))
    complete = flow(
        sequence, exclusive, in_turn, phase.num_processors, phase.one, phase.other, phase.words,
        phase.first, phase.later, phase.waits, *places, start, end,
    )  # fmt: skip
    assert complete
    return start, end


TURNS = 1.25
"""Times the least clocks of processors and channels from which on waiting is what limits."""

SHARED = 1.02
"""Times the clocks of processors alone from which on channels are what limits."""

HOP_CYCLES, END_CYCLES = 2, 3
"""Cycles of a head on a hop, and on the channels between processors and routers. See ``execute``.
"""


def processor_words(plan: Plan, weights: Floats, *, both_ways: bool) -> Floats:
    """Return float64[num_phases, num_nodes], what each processor moves in each phase.

    ``weights``: float64[n], what each connection carries. If processors send and receive at the
    same time (``both_ways``), the larger of both counts, otherwise their sum.
    """
    nodes = plan.topology.num_hosts
    start = plan.phase.astype(np.int64) * nodes
    ends = plan.connections.source, plan.connections.target
    sent, received = (
        np.bincount(start + end, weights, plan.num_phases * nodes).reshape(-1, nodes)
        for end in ends
    )
    return np.asarray(np.maximum(sent, received) if both_ways else sent + received, np.float64)


def channel_words(plan: Plan) -> Floats:
    """Return float64[num_phases, num_channels], the words that cross each channel."""
    channels, hops = plan.topology.num_channels, plan.routes.lengths
    at = np.repeat(plan.phase.astype(np.int64) * channels, hops) + plan.routes.channels
    words = np.repeat(plan.connections.words.astype(np.float64), hops)
    crossed = np.bincount(at, words, plan.num_phases * channels)
    return np.asarray(crossed, np.float64).reshape(-1, channels)


def plan_break_even_words(plan: Plan, costs: ConSetCosts, passing: MessageCosts) -> float | None:
    """Return the mean words of a connection below which phases are faster than messages.

    The formulas are those of ``models.messages``, in which no channel is shared. Phases and routes
    stay the same while all connections grow equally. A processor takes as long for a word either
    way, and in phases it may wait for others. So only short connections profit, because they avoid
    the overhead of messages. None if all connections profit, 0 if none does.

    Examples
    --------
    A node sends two connections in one phase and receives two in another: 1600 clocks of messages'
    overhead against 1056 of switches, but 4 words in a row where messages
    overlap, as they do with ``both_ways``.

    >>> from netloom.contention import ConSetCosts, MessageCosts
    >>> from netloom.phases import Capacity, Plan, connections
    >>> from netloom.routing import DimensionOrder, paths
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> line = topology("mesh:3")
    >>> given = connections(read("binary-tree:3"), [1, 0, 2], 3)
    >>> routes = paths(line, DimensionOrder(), given.source, given.target)
    >>> plan = Plan(line, given, Capacity(2), np.array([0, 0, 1, 1]), routes, "sequential")
    >>> plan_break_even_words(plan, ConSetCosts(), MessageCosts())
    136.0
    """
    given = plan.connections
    words = given.words.astype(np.float64)
    weights = words / words.mean() if words.any() else np.ones(len(given))
    nodes = plan.topology.num_hosts
    sends, receives = (np.bincount(end, minlength=nodes) for end in (given.source, given.target))
    sent, received = (np.bincount(end, weights, nodes) for end in (given.source, given.target))
    overhead = passing.send_clocks * sends + passing.receive_clocks * receives
    saved = overhead - plan.num_phases * costs.switch_clocks
    busiest = processor_words(plan, weights, both_ways=costs.both_ways).max(axis=1, initial=0.0)
    lost = busiest.sum() * costs.clocks_per_word  # for each mean word, less what messages take
    moved = np.maximum(sent, received) if costs.both_ways else sent + received
    lost = lost - moved * passing.clocks_per_word
    winning = saved > 0
    if (winning & (lost <= 1e-9 * lost.max(initial=1.0))).any():
        return None
    return float((saved[winning] / lost[winning]).max(initial=0.0))


class Predicted(Figures):
    """Clocks by the formulas of ``models.messages``, in which no channel is shared."""

    conset: float = figure("phases", "clocks", lead=True)
    message_passing: float = figure("messages", "clocks", lead=True)
    break_even_words: float | None = figure("phases pay up to so many words of a connection")


def predicted_clocks(plan: Plan, costs: ConSetCosts, passing: MessageCosts) -> Predicted:
    """Return clocks of phases and of messages. Nothing breaks even without connections."""
    given = plan.connections
    words = given.words.astype(np.float64)
    busiest = processor_words(plan, words, both_ways=costs.both_ways).max(axis=1, initial=0.0)
    return Predicted(
        conset=conset_clocks(busiest * costs.clocks_per_word, costs),
        message_passing=pattern_message_passing_clocks(
            given.source, given.target, words, passing, both_ways=costs.both_ways
        ),
        break_even_words=plan_break_even_words(plan, costs, passing) if len(given) else None,
    )


class Limit(Figures):
    """What keeps phases from being faster.

    ``kind`` is ``switches`` if they take half of the time or more. It is ``turns`` if connections
    wait for each other longer than processors and channels have to work. It is ``channels`` if the
    busiest of a phase has more to do than any processor. Of ``processors`` all they do is send and
    receive.
    ``sentence`` says which, where and how much.
    """

    kind: str = figure()
    sentence: str = figure()


def limit_of(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> Limit:
    """Return what keeps the phases of a plan, which has some, from being faster."""
    switches = plan.num_phases * costs.switch_clocks
    lasting = float(timetable.makespan.sum())
    share = f"{percent(switches / max(switches + lasting, 1e-300))} of the time"
    if switches >= lasting:
        return Limit(kind="switches", sentence=f"Switching between phases takes {share}.")
    words = plan.connections.words.astype(np.float64)
    at_nodes = processor_words(plan, words, both_ways=costs.both_ways) * costs.clocks_per_word
    on_channels = channel_words(plan) * costs.channel_clocks_per_word
    if timetable.kind == "timetable":
        on_channels[:] = 0  # it leaves them out of account
    least = np.maximum(at_nodes.max(axis=1), on_channels.max(axis=1))
    rest = f"Switching takes {share}."
    if lasting > TURNS * least.sum():
        why = (
            f"Connections wait for each other: processors and channels work for"
            f" {least.sum():,.0f} of {lasting:,.0f} clocks."
        )
        return Limit(kind="turns", sentence=f"{why} {rest}")
    busiest, fullest = at_nodes.max(axis=1), on_channels.max(axis=1)
    if least.sum() > SHARED * busiest.sum():
        phase = int(np.argmax(fullest - busiest))
        name = plan.topology.channel_name(int(np.argmax(on_channels[phase])))
        why = (
            f"In phase {phase}, of {timetable.makespan[phase]:,.0f} clocks, channel {name} is busy"
            f" for {fullest[phase]:,.0f}, and no processor for more than {busiest[phase]:,.0f}."
        )
        return Limit(kind="channels", sentence=f"{why} {rest}")
    phase = int(np.argmax(busiest))
    name = plan.topology.name_of(int(np.argmax(at_nodes[phase])))
    why = (
        f"In phase {phase}, of {timetable.makespan[phase]:,.0f} clocks, the processor of node"
        f" {name} is busy for {busiest[phase]:,.0f}."
    )
    return Limit(kind="processors", sentence=f"{why} {rest}")


def expected_makespan(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> Floats:
    """Return the clocks of each phase with the latency of routes (float64[num_phases]).

    A schedule counts the words of processors and channels. On the machine, and in ``execute``, the
    last word of a connection has its route to cross as well, and whoever comes next waits for it.
    Each connection takes as long as the schedule says, and 2 h + 3 cycles more over h hops. It
    begins when those before it have been delivered: those that the order has before it and, unless
    connections stream, the last one of its source and of its target.

    Examples
    --------
    >>> from netloom.contention import ConSetCosts
    >>> from netloom.phases import Capacity, Plan, connections, schedule
    >>> from netloom.routing import DimensionOrder, paths
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> ring, costs = topology("ring:4"), ConSetCosts()
    >>> given = connections(read("ring:4"), range(4), 4, words=100)
    >>> routes = paths(ring, DimensionOrder(), given.source, given.target)
    >>> plan = Plan(ring, given, Capacity(8), np.zeros(8, np.int32), routes, "sequential")
    >>> expected_makespan(plan, schedule(plan, costs, kind="streaming"), costs)  # 400 by words
    array([410.])
    >>> expected_makespan(plan, schedule(plan, costs), costs)  # two, one after the other
    array([420.])
    """
    given = plan.connections
    cycle = costs.channel_clocks_per_word
    hops = plan.routes.lengths - 2 * plan.topology.ports_listed
    latency = (HOP_CYCLES * hops + END_CYCLES) * cycle
    lasting = (timetable.end - timetable.start + latency).tolist()
    exclusive = timetable.kind != "streaming"
    source = given.source.tolist()
    target = (given.target + (given.num_nodes if costs.both_ways else 0)).tolist()
    phase = plan.phase.tolist()
    before: dict[int, list[int]] = {}
    for former, latter in zip(given.before.tolist(), given.after.tolist(), strict=True):
        if phase[former] == phase[latter]:
            before.setdefault(latter, []).append(former)
    end = [0.0] * len(given)
    free: dict[tuple[int, int], float] = {}
    for one in np.lexsort((timetable.end, timetable.start, plan.phase)).tolist():
        sides = (phase[one], source[one]), (phase[one], target[one])
        start = max((end[other] for other in before.get(one, ())), default=0.0)
        if exclusive:
            start = max(start, *(free.get(side, 0.0) for side in sides))
        end[one] = start + lasting[one]
        free[sides[0]] = free[sides[1]] = end[one]
    found = np.zeros(plan.num_phases)
    np.maximum.at(found, plan.phase, end)
    return found
