"""What a plan of phases asks of processors and channels, and what of it limits the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from netloom.models import ConSetCosts, MessageCosts, conset_clocks, pattern_message_passing_clocks

if TYPE_CHECKING:
    from netloom.base.arrays import Floats
    from netloom.phases.plan.plans import Plan
    from netloom.phases.timetables import Timetable

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

    >>> from netloom.models import ConSetCosts, MessageCosts
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


def predicted_clocks(
    plan: Plan, costs: ConSetCosts, passing: MessageCosts
) -> dict[str, float | None]:
    """Return clocks of phases and of messages by formulas in which no channel is shared.

    With them goes ``break_even_words``, which is None without connections as well.
    """
    given = plan.connections
    words = given.words.astype(np.float64)
    busiest = processor_words(plan, words, both_ways=costs.both_ways).max(axis=1, initial=0.0)
    return {
        "conset": conset_clocks(busiest * costs.clocks_per_word, costs),
        "message_passing": pattern_message_passing_clocks(
            given.source, given.target, words, passing, both_ways=costs.both_ways
        ),
        "break_even_words": plan_break_even_words(plan, costs, passing) if len(given) else None,
    }


class Limit(NamedTuple):
    """What keeps phases from being faster."""

    # ``switches``: they take half of the time or more. ``turns``: connections wait for each other
    # longer than processors and channels have to work. ``channels``: the busiest of a phase has
    # more to do than any processor. ``processors``: all they do is send and receive.
    kind: Literal["switches", "turns", "channels", "processors"]
    sentence: str  # which, where and how much


def limit_of(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> Limit:
    """Return what keeps the phases of a plan, which has some, from being faster."""
    switches = plan.num_phases * costs.switch_clocks
    lasting = float(timetable.makespan.sum())
    share = f"{100 * switches / max(switches + lasting, 1e-300):.3g}\u00a0% of the time"
    if switches >= lasting:
        return Limit("switches", f"Switching between phases takes {share}.")
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
        return Limit("turns", f"{why} {rest}")
    busiest, fullest = at_nodes.max(axis=1), on_channels.max(axis=1)
    if least.sum() > SHARED * busiest.sum():
        phase = int(np.argmax(fullest - busiest))
        name = plan.topology.channel_name(int(np.argmax(on_channels[phase])))
        why = (
            f"In phase {phase}, of {timetable.makespan[phase]:,.0f} clocks, channel {name} is busy"
            f" for {fullest[phase]:,.0f}, and no processor for more than {busiest[phase]:,.0f}."
        )
        return Limit("channels", f"{why} {rest}")
    phase = int(np.argmax(busiest))
    name = plan.topology.name_of(int(np.argmax(at_nodes[phase])))
    why = (
        f"In phase {phase}, of {timetable.makespan[phase]:,.0f} clocks, the processor of node"
        f" {name} is busy for {busiest[phase]:,.0f}."
    )
    return Limit("processors", f"{why} {rest}")


def expected_makespan(plan: Plan, timetable: Timetable, costs: ConSetCosts) -> Floats:
    """Return the clocks of each phase with the latency of routes (float64[num_phases]).

    A schedule counts the words of processors and channels. On the machine, and in ``execute``, the
    last word of a connection has its route to cross as well, and whoever comes next waits for it.
    Each connection takes as long as the schedule says, and 2 h + 3 cycles more over h hops. It
    begins when those before it have been delivered: those that the order has before it and, unless
    connections stream, the last one of its source and of its target.

    Examples
    --------
    >>> from netloom.models import ConSetCosts
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
    ends = 0 if plan.topology.direct else 2  # hops on hosts' own channels, listed or not
    latency = (HOP_CYCLES * (plan.routes.lengths - ends) + END_CYCLES) * cycle
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
