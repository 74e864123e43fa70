"""One phase of a plan at a time: its arrays, and its times if channels are shared fairly.

Words are a fluid: whatever connections are active at a moment have max-min fair rates. Two ways to
use connections: ``exclusive``, a processor sends on one at a time and receives on one, or all of
them at once, word by word.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats, Ints
    from netloom.models import ConSetCosts
    from netloom.phases.plan.plans import Plan


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

    def heaviest(self) -> int:
        """Return the most words of a processor."""
        load = np.zeros(self.num_processors, np.int64)
        np.add.at(load, self.one, self.words)
        np.add.at(load, self.other, self.words)
        return int(load.max(initial=0))


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
        one, other, used = _processors(plan, members, both_ways=both_ways)
        former, latter = number[before[here]], number[after[here]]
        later = latter[np.argsort(former, kind="stable")]
        first = np.searchsorted(np.sort(former), np.arange(len(members) + 1))
        waits = np.bincount(latter, minlength=len(members))
        yield Phase(
            members=members,
            one=one,
            other=other,
            num_processors=used,
            words=given.words[members],
            first=first.astype(np.int64),
            later=later,
            waits=waits.astype(np.int64),
            rank=rank[members].astype(np.int64),
        )


def _processors(plan: Plan, members: Ints, *, both_ways: bool) -> tuple[Ints, Ints, int]:
    """Return the processors of the connections of a phase, and how many there are."""
    source = plan.connections.source[members].astype(np.int64)
    target = plan.connections.target[members] + (plan.connections.num_nodes if both_ways else 0)
    used, both = np.unique(np.concatenate([source, target]), return_inverse=True)
    both = both.astype(np.int64)
    return both[: len(members)], both[len(members) :], len(used)


class Places(NamedTuple):
    """What the connections of a phase share: channels, and the accesses of processors."""

    # first_use, uses: int64[n + 1], int64[…], the places of each connection.
    first_use: Ints
    uses: Ints
    # first_user, users: int64[places + 1], int64[…], the connections of each place.
    first_user: Ints
    users: Ints
    capacity: Floats  # float64[places], words per clock

    def least_clocks(self, words: Ints) -> float:
        """Return the clocks that the busiest place takes for all its words."""
        owner = np.repeat(np.arange(len(words)), np.diff(self.first_use))
        load = np.bincount(self.uses, words[owner].astype(np.float64))
        return float((load / self.capacity).max(initial=0.0))


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
    by_owner, by_place = np.argsort(owner, kind="stable"), np.argsort(place, kind="stable")
    clocks = np.where(named < 2 * nodes, costs.clocks_per_word, costs.channel_clocks_per_word)
    return Places(
        first_use=np.searchsorted(owner[by_owner], np.arange(len(members) + 1)),
        uses=place[by_owner].astype(np.int64),
        first_user=np.searchsorted(place[by_place], np.arange(len(named) + 1)),
        users=owner[by_place],
        capacity=1.0 / clocks,
    )


def shared_times(phase: Phase, places: Places, sequence: Ints) -> tuple[Floats, Floats]:
    """Return when connections start and end if a processor uses one at a time, as ``sequence`` has.

    A connection needs both its ends free. If a processor's next connection in sequence has to wait
    for its other end, the processor has two choices. It may wait too (its program then runs in the
    given sequence), or take the first connection that need not wait. Both are tried, and the
    timetable that ends sooner is returned. In either, processors keep these times if they use their
    connections by order of start and wait for the other end.

    Starts and ends are float64[n] clocks. ``sequence``: int64[n], all connections. None before
    one that it waits for.
    """
    waited = flow_times(phase, places, sequence, exclusive=True, in_turn=True)
    passed = flow_times(phase, places, sequence, exclusive=True, in_turn=False)
    return min(waited, passed, key=lambda times: float(times[1].max(initial=0.0)))


def flow_times(
    phase: Phase,
    places: Places,
    sequence: Ints,
    *,
    exclusive: bool,
    in_turn: bool,
) -> tuple[Floats, Floats]:
    """Return when connections start and end. See ``flow`` and ``admit`` of the kernel."""
    from netloom.phases.kernels.sharing import flow

    start, end = np.empty(len(sequence)), np.empty(len(sequence))
    complete = flow(
        sequence, exclusive, in_turn, phase.num_processors, phase.one, phase.other, phase.words,
        phase.first, phase.later, phase.waits, *places, start, end,
    )  # fmt: skip
    assert complete
    return start, end
