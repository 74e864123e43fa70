"""When each connection of a phase moves its words, and how near that is to the least possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from netloom.base.errors import InputError
from netloom.phases.plan.connections import ranks
from netloom.phases.timetable.sharing import Phase, each_phase, flow_times, places_of, shared_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.models import ConSetCosts
    from netloom.phases.plan.plans import Plan

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
    >>> from netloom.models import ConSetCosts
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
    filled: list[Filled] = []
    if wishes is not None:
        filled = [_prioritised(phase, wishes[phase.members]) for phase in phases]
    elif kind != "streaming":
        filled = _scheduled(phases, tries, seed)
    start, end = np.zeros(len(plan.connections)), np.zeros(len(plan.connections))
    makespan, bound = np.zeros(len(phases)), np.zeros(len(phases))
    for number, phase in enumerate(phases):
        if kind == "timetable":
            first = filled[number].start
            times = first * costs.clocks_per_word, (first + phase.words) * costs.clocks_per_word
            bound[number] = _least_words(phase) * costs.clocks_per_word
        else:
            sequence = filled[number].sequence if kind == "shared" else None
            times, bound[number] = _shared(plan, phase, costs, sequence)
        start[phase.members], end[phase.members] = times
        makespan[number] = times[1].max(initial=0.0)
    return Timetable(start, end, makespan, bound, kind)


def _shared(
    plan: Plan, phase: Phase, costs: ConSetCosts, sequence: Ints | None
) -> tuple[tuple[Floats, Floats], float]:
    """Return the times of a phase with shared channels, and their lower bound.

    ``sequence``: None where connections are used all at once. A connection takes at least the
    clocks of its slowest part, and the processor that uses no other meanwhile as long.
    """
    places = places_of(plan, phase, costs)
    slower = max(costs.clocks_per_word, costs.channel_clocks_per_word)
    busiest = places.least_clocks(phase.words)
    if sequence is None:
        everyone = np.arange(len(phase.words))
        times = flow_times(phase, places, everyone, exclusive=False, in_turn=False)
        return times, max(busiest, _longest(phase) * slower)
    return shared_times(phase, places, sequence), max(busiest, _least_words(phase) * slower)


def _checked(priority: ArrayLike, connections: int, kind: Kind) -> Ints:
    if kind == "streaming":
        raise InputError("priority", "one for streaming", "none: all connections are active")
    given = np.asarray(priority)
    if given.shape != (connections,) or given.dtype.kind not in "iu":
        found = f"{given.dtype} of shape {given.shape}"
        raise InputError("priority", found, f"a whole number for each of {connections}")
    return given.astype(np.int64)


class Filled(NamedTuple):
    """The timetable of a phase, in words."""

    # int64[n], the connections in the order in which processors take them up.
    sequence: Ints
    start: Ints  # int64[n]


def _longest(phase: Phase) -> int:
    """Return the most words of connections that wait for one another."""
    from netloom.phases.kernels.timetable import longest_chain

    return int(longest_chain(phase.words, phase.first, phase.later, phase.waits))


def _least_words(phase: Phase) -> int:
    """Return the least makespan: the words of the busiest processor or of the longest chain."""
    return max(phase.heaviest(), _longest(phase))


def _prioritised(phase: Phase, priority: Ints) -> Filled:
    """Return the timetable of connections that are placed by priority, as far as the order lets."""
    sequence = np.lexsort((priority, phase.rank)).astype(np.int64)
    return Filled(sequence, _start(phase, sequence))


def _scheduled(phases: list[Phase], tries: int | None, seed: int) -> list[Filled]:
    """Return the timetable of each phase by algorithm AS, improved where it misses its bound.

    An edge coloring meets the bound where all connections are equally long, senders and receivers
    apart and nothing is in order. The sequence of any other phase is annealed, ``tries`` times. By
    default as often as takes a second or two in all, and always as often for the same phases.
    """
    from netloom.phases.kernels.timetable import greedy_sequence

    begun, left = [], []
    for number, phase in enumerate(phases):
        sequence = greedy_sequence(
            phase.one, phase.other, phase.words, phase.first, phase.later, phase.waits,
            phase.num_processors,
        )  # fmt: skip
        start = _start(phase, sequence)
        late = max(start + phase.words, default=0) > _least_words(phase)
        if late and tries != 0 and _is_colourable(phase):
            start = _coloured(phase)
        elif late and tries != 0:
            left.append((number, sequence))
        begun.append(start)
    looks = sum(len(sequence) * _most_connections(phases[number]) for number, sequence in left)
    rng = np.random.default_rng(seed)
    for number, sequence in left:
        attempts = LOOKS // looks if tries is None else tries
        _improve(phases[number], sequence, begun[number], attempts, rng)
    return [
        Filled(np.lexsort((phase.rank, start)), start)
        for phase, start in zip(phases, begun, strict=True)
    ]


def _start(phase: Phase, sequence: Ints) -> Ints:
    from netloom.phases.kernels.timetable import filled

    start: Ints = filled(
        sequence, phase.one, phase.other, phase.words, phase.first, phase.later,
        phase.num_processors,
    )  # fmt: skip
    return start


def _is_colourable(phase: Phase) -> bool:
    """Whether König's theorem applies to the phase."""
    alike = phase.words[0] == phase.words.max() == phase.words.min()
    table = phase.num_processors * _most_connections(phase)
    apart = not np.isin(phase.one, phase.other).any()
    return bool(alike and apart and not len(phase.later) and table <= MOST_COLOUR_PLACES)


def _most_connections(phase: Phase) -> int:
    """Return the most connections of a processor."""
    return int(np.bincount(np.concatenate([phase.one, phase.other])).max())


def _coloured(phase: Phase) -> Ints:
    from netloom.phases.kernels.colouring import edge_colouring

    colours = _most_connections(phase)
    start: Ints = phase.words[0] * edge_colouring(
        phase.one, phase.other, phase.num_processors, colours
    )
    return start


def _improve(
    phase: Phase,
    sequence: Ints,
    start: Ints,
    tries: int,
    rng: np.random.Generator,
) -> None:
    """Anneal a sequence. ``start`` then holds the best timetable found."""
    from netloom.phases.kernels.timetable import improve

    improve(
        sequence, phase.one, phase.other, phase.words, phase.first, phase.later,
        phase.num_processors, _least_words(phase), tries, rng, start,
    )  # fmt: skip
