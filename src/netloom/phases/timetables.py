"""When each connection of a phase moves its words, how near the least that is, and its limits.

If channels are shared, words are a fluid: whatever connections are active at a moment have max-min
fair rates. Two ways to use connections: ``exclusive``, a processor sends on one at a time and
receives on one, or all of them at once, word by word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

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
from netloom.phases.plan.plans import Plan, longest_ways, ranks
from netloom.workload.programs.messages import Lists, grouped

Kind: TypeAlias = Literal["timetable", "shared", "streaming"]
"""How connections are used: one at a time by timetable, the same but with shared channels, or all
at once."""

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
    priority: Ints | None = None,
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
        as the direction of each connection on a torus. Not for ``streaming``.
    tries
        Timetables tried to improve that of a phase; 0 is algorithm AS as published. By default as
        many as take a second or two for all phases, whose number depends on these alone.
    seed
        Of the tries.

    Raises
    ------
    InputError
        If the kind is not known or the order is a circle.

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
    from netloom.phases.kernels.timetable import filled

    if kind not in get_args(Kind):
        raise InputError("kind", f"'{kind}'", f"one of {', '.join(get_args(Kind))}")
    phases = list(each_phase(plan, both_ways=costs.both_ways))
    found = []  # sequences, and starts in words
    if priority is not None:
        orders = [np.lexsort((priority[each.members], each.rank)) for each in phases]
        found = [(o, filled(o, each.work)) for o, each in zip(orders, phases, strict=True)]
    elif kind != "streaming":
        found = _scheduled(phases, tries, seed)
    start, end = np.zeros(len(plan.connections)), np.zeros(len(plan.connections))
    makespan, bound = np.zeros(len(phases)), np.zeros(len(phases))
    for number, phase in enumerate(phases):
        if kind == "timetable":
            first = found[number][1]
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
            sequence = found[number][0] if alone else np.arange(len(phase.words))
            tried = [
                flow_times(phase, places, sequence, exclusive=alone, in_turn=waits)
                for waits in ((True, False) if alone else (False,))
            ]
            times = min(tried, key=lambda each: float(each[1].max(initial=0.0)))
            slower = max(costs.clocks_per_word, costs.channel_clocks_per_word)
            least = _least_words(phase, alone=alone)
            words = phase.words.astype(np.float64)[places.uses.owners()]
            load = np.bincount(places.uses.values, words)
            busiest = float((load / places.capacity).max(initial=0.0))
            bound[number] = max(busiest, least * slower)
        start[phase.members], end[phase.members] = times
        makespan[number] = times[1].max(initial=0.0)
    return Timetable(start, end, makespan, bound, kind)


def _least_words(phase: Phase, *, alone: bool = True) -> int:
    """Return the least makespan: the words of the busiest processor or of the longest chain.

    Of the chain if processors are not one thing's ``alone``.
    """
    busiest = np.bincount(phase.served.owners(), phase.words[phase.served.values])
    before = phase.followers.owners()
    chain = longest_ways(before, phase.followers.values, phase.words)[0].max(initial=0)
    return max(int(busiest.max(initial=0)) if alone else 0, int(chain))


def _scheduled(phases: list[Phase], tries: int | None, seed: int) -> list[tuple[Ints, Ints]]:
    """Return the timetable of each phase by algorithm AS, improved where it misses its bound.

    The connections in the order in which processors take them up, and the start of each in words.

    An edge coloring meets the bound where all connections are equally long, senders and receivers
    apart and nothing is in order. The sequence of any other phase is annealed, ``tries`` times. By
    default as often as takes a second or two in all, and always as often for the same phases.
    """
    from netloom.phases.kernels.partition import edge_colouring
    from netloom.phases.kernels.timetable import filled, greedy_sequence, improve

    begun, left = [], []
    for number, phase in enumerate(phases):
        sequence = greedy_sequence(phase.work)
        start = filled(sequence, phase.work)
        if tries != 0 and max(start + phase.words, default=0) > _least_words(phase):
            colours = int(phase.served.lengths.max())
            alike = phase.words[0] == phase.words.max() == phase.words.min()
            apart = not np.isin(phase.one, phase.other).any() and not len(phase.followers.values)
            processors = len(phase.served.lengths)
            if alike and apart and processors * colours <= MOST_COLOUR_PLACES:
                one, other = phase.one, phase.other
                start = phase.words[0] * edge_colouring(one, other, processors, colours)
            else:
                left.append((number, sequence))
        begun.append(start)
    looks = sum(len(sequence) * int(phases[n].served.lengths.max()) for n, sequence in left)
    rng = np.random.default_rng(seed)
    for number, sequence in left:  # ``begun`` then holds the best timetable found
        phase, attempts = phases[number], LOOKS // looks if tries is None else tries
        improve(sequence, phase.work, _least_words(phase), attempts, rng, begun[number])
    return [
        (np.lexsort((phase.rank, start)), start) for phase, start in zip(phases, begun, strict=True)
    ]


class Phase(NamedTuple):
    """The connections of a phase, numbered within it. ``members`` are their own numbers."""

    members: Ints
    rank: Ints  # int64[n], of the longest chain of connections before it
    # one, other: int64[n], the two processors that each occupies, numbered from 0 as they occur.
    # Where a processor sends and receives at once, its two sides are processors of their own.
    one: Ints
    other: Ints
    words: Ints  # int64[n]
    followers: Lists  # those that wait for each
    waits: Ints  # int64[n], how many of the phase each waits for
    served: Lists  # the connections of each processor

    @property
    def work(self) -> tuple[Any, ...]:
        """What kernels take."""
        return self[2:]


def each_phase(plan: Plan, *, both_ways: bool) -> Iterator[Phase]:
    """Yield every phase in turn."""
    given = plan.connections
    number, rank = np.empty(len(given), np.int64), ranks(given).astype(np.int64)
    by_phase = np.argsort(plan.phase, kind="stable").astype(np.int64)
    bounds = np.searchsorted(plan.phase[by_phase], np.arange(plan.num_phases + 1))
    number[by_phase] = np.arange(len(given)) - bounds[plan.phase[by_phase]]
    inside = plan.phase[given.before] == plan.phase[given.after]
    before, after = given.before[inside], given.after[inside]
    for phase, (start, end) in enumerate(pairwise(bounds)):
        members, here = by_phase[start:end], plan.phase[before] == phase
        former, latter = number[before[here]], number[after[here]]
        source = given.source[members].astype(np.int64)
        target = given.target[members] + (given.num_nodes if both_ways else 0)
        used, ends = np.unique(np.stack([source, target], axis=1), return_inverse=True)
        ends = ends.reshape(-1, 2).astype(np.int64)
        count = len(members)
        yield Phase(
            members,
            rank[members],
            ends[:, 0].copy(),
            ends[:, 1].copy(),
            given.words[members],
            grouped(former, latter, count),
            np.bincount(latter, minlength=count).astype(np.int64),
            grouped(ends.ravel(), np.arange(count).repeat(2), len(used)),
        )


class Places(NamedTuple):
    """What the connections of a phase share: channels, and the accesses of processors."""

    uses: Lists  # the places of each connection
    users: Lists  # the connections of each place
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
    return Places(uses, users, 1.0 / clocks)


def flow_times(
    phase: Phase, places: Places, sequence: Ints, *, exclusive: bool, in_turn: bool
) -> tuple[Floats, Floats]:
    """Return when connections start and end. See ``flow`` and ``admit`` of the kernel."""
    from netloom.phases.kernels.timetable import flow

    start, end = np.empty(len(sequence)), np.empty(len(sequence))
    complete = flow(sequence, exclusive, in_turn, phase.work, *places, start, end)
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

    kind: str
    sentence: str


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
    busiest, fullest = at_nodes.max(axis=1), on_channels.max(axis=1)
    least = float(np.maximum(busiest, fullest).sum())
    kind = "channels" if least > SHARED * busiest.sum() else "processors"
    phase = int(np.argmax(fullest - busiest if kind == "channels" else busiest))
    why = f"In phase {phase}, of {timetable.makespan[phase]:,.0f} clocks,"
    if lasting > TURNS * least:
        kind, why = "turns", "Connections wait for each other: processors and channels work for"
        why += f" {least:,.0f} of {lasting:,.0f} clocks."
    elif kind == "channels":
        name = plan.topology.channel_name(int(np.argmax(on_channels[phase])))
        why += f" channel {name} is busy for {fullest[phase]:,.0f}, and no processor for more than"
        why += f" {busiest[phase]:,.0f}."
    else:
        name = plan.topology.name_of(int(np.argmax(at_nodes[phase])))
        why += f" the processor of node {name} is busy for {busiest[phase]:,.0f}."
    return Limit(kind=kind, sentence=f"{why} Switching takes {share}.")


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
    lasting = timetable.end - timetable.start + latency
    # what takes no time starts with what waits for it, and comes first by its rank
    sequence = np.lexsort((ranks(given), timetable.end, timetable.start, plan.phase))
    alone = timetable.kind != "streaming"
    before = awaited(plan, sequence, both_ways=costs.both_ways, alone=alone)
    end, found = longest_ways(before.values, before.owners(), lasting)[0], np.zeros(plan.num_phases)
    np.maximum.at(found, plan.phase, end)
    return found


def awaited(plan: Plan, sequence: Ints, *, both_ways: bool, alone: bool) -> Lists:
    """Return what each connection waits for in its phase: connections, ascending.

    Those are the ones that the order has before it. If processors serve one connection at a time,
    also the last send of its source and the last receive of its target, or the last of either kind.

    Parameters
    ----------
    sequence
        All connections, in the order in which they start.
    both_ways
        Whether a processor sends and receives at the same time. Otherwise its sends and receives
        are one sequence.
    alone
        Whether processors serve one connection at a time.

    Examples
    --------
    >>> from netloom.phases import Capacity, Plan, connections
    >>> from netloom.routing import DimensionOrder, paths
    >>> from netloom.topology import topology
    >>> from netloom.workload import read
    >>> given = connections(read("ring:4"), range(4), 4)  # 0 -> 1, 0 -> 3, 1 -> 0, 1 -> 2 ...
    >>> routes = paths(topology("ring:4"), DimensionOrder(), given.source, given.target)
    >>> phase = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    >>> plan = Plan(topology("ring:4"), given, Capacity(8), phase, routes, "sequential")
    >>> for both_ways in (True, False):
    ...     found = awaited(plan, np.arange(8), both_ways=both_ways, alone=True)
    ...     print([found.of(number).tolist() for number in range(3)])
    [[], [0], []]
    [[], [0], [0, 1]]
    """
    given, nodes = plan.connections, plan.connections.num_nodes
    inside = plan.phase[given.before] == plan.phase[given.after]
    first, second = given.before[inside], given.after[inside]
    if alone:
        ends = np.stack([given.source, given.target + (nodes if both_ways else 0)], axis=1)
        side = (ends + 2 * nodes * plan.phase.astype(np.int64)[:, None])[sequence].ravel()
        order = np.argsort(side, kind="stable")
        at, same = np.repeat(sequence, 2)[order], side[order][1:] == side[order][:-1]
        first, second = np.append(first, at[:-1][same]), np.append(second, at[1:][same])
    pairs = np.unique(np.stack([second, first]), axis=1)
    return grouped(pairs[0], pairs[1], len(given))
