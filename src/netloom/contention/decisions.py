"""The ways of packets that are routed hop by hop, as a graph of stages: by chance, or by choice.

A *stage* is all that a routing needs to know about a packet at a router: where it is going, and
which part of its path it is in. Arcs lead from a stage to others, most of them by a channel.
Packets leave a stage by its arcs in fixed shares (random choices), by the arc that its router
prefers (by credits), or by the better of two randomly drawn arcs. Shares of a stage need not add to
1: traffic that surely takes two paths one after the other follows both arcs at the same time. No
path is a circle.

If nothing is preferred, the load of every channel is known. For the rest see ``expected_load``.

The stages of a routing follow ``routing.kernels.by_hop``, for all packets at once. A packet *comes*
to a router in a state. If the state decides on a detour, one is *offered* to it. Then it has
*decided*, and goes on or leaves for its host. What decides nothing at a router has decided when it
comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Floats, Ints, distinct, offsets_of, owners_of, ranges
from netloom.routing.by_hop.tables import (
    ALWAYS,
    DRAWN,
    EVERY,
    GIVEN,
    HASHED,
    LEAST,
    OWN,
    TWO,
    HopTables,
)

SHARED, PREFERRED, BETTER_OF_TWO = 0, 1, 2
"""How a stage is left: see the module."""


class Stages(NamedTuple):
    """Stages and the arcs that lead on from them, as flat arrays.

    Attributes
    ----------
    first
        int64[num_stages + 1]: stage s has the arcs first[s] … first[s + 1] − 1. One without arcs
        is the end of a way.
    head
        int64[num_arcs], the stage that each arc leads to.
    channel
        int64[num_arcs], the channel that it takes; -1 for none.
    share
        float64[num_arcs], of what comes to its stage, where shares are fixed.
    kind
        int8[num_stages], ``SHARED``, ``PREFERRED`` or ``BETTER_OF_TWO``.
    """

    first: Ints
    head: Ints
    channel: Ints
    share: Floats
    kind: NDArray[np.int8]


def drawn_loads(stages: Stages, entry: Ints, weight: Floats, num_channels: int) -> Floats:
    """Return float64[num_channels], what each channel carries, where nothing is preferred.

    Parameters
    ----------
    stages
        Stages of the kind ``SHARED``.
    entry, weight
        int64[], the stages at which packets begin, and how much begins there.
    num_channels
        How many channels there are.

    Examples
    --------
    Half of the packets go by channel 0, the others by channel 1:

    >>> fork = Stages(*map(np.array, ([0, 2, 2], [1, 1], [0, 1], [0.5, 0.5], [0, 0])))
    >>> drawn_loads(fork, np.array([0]), np.array([3.0]), 2)
    array([1.5, 1.5])
    """
    load = np.zeros(num_channels + 1)  # the last is of arcs without a channel
    count, many = np.diff(stages.first), len(stages.kind)
    flow = np.bincount(entry, weight, minlength=many)
    hops = 0
    while True:
        here = np.flatnonzero((flow > 0) & (count > 0))
        if not len(here):
            return load[:-1]
        arc, each = arcs_of(stages, here)
        sent = flow[here[each]] * stages.share[arc]
        load += np.bincount(stages.channel[arc] % (num_channels + 1), sent, num_channels + 1)
        flow = np.bincount(stages.head[arc], sent, minlength=many)
        hops += 1
        assert hops <= many, "a way leads round in a circle"


def sequences(
    stages: Stages,
    entry: Ints,
    weight: Floats,
    begun: Sequence[tuple[int, ...]],
    kind_of: Ints,
    *,
    most: int,
) -> dict[tuple[int, ...], float] | None:
    """Return the sequences of kinds of channels that packets take, and how many take each.

    Parameters
    ----------
    stages, entry, weight
        As in ``drawn_loads``. Shares of a stage add to 1.
    begun
        What the sequence of the packets of each entry begins with.
    kind_of
        int64[num_channels], the kind of each channel.
    most
        How many sequences are told apart. None is returned where there are more.

    Examples
    --------
    >>> fork = Stages(*map(np.array, ([0, 2, 2], [1, 1], [0, 1], [0.25, 0.75], [0, 0])))
    >>> sequences(fork, np.array([0]), np.array([4.0]), [()], np.array([7, 8]), most=9)
    {(7,): 1.0, (8,): 3.0}
    """
    number = {each: at for at, each in enumerate(dict.fromkeys(begun))}
    every, kinds = list(number), int(kind_of.max(initial=0)) + 1
    kind = np.append(kind_of, -1)[stages.channel]
    at, sequence = entry, np.array([number[each] for each in begun], np.int64)
    amount, ended = weight, np.zeros(0)
    while len(at):
        over = np.diff(stages.first)[at] == 0
        before, ended = ended, np.zeros(len(every))
        ended[: len(before)] = before
        ended += np.bincount(sequence[over], amount[over], len(every))
        at, sequence, amount = at[~over], sequence[~over], amount[~over]
        arc, each = arcs_of(stages, at)
        after = sequence[each].copy()
        moved = kind[arc] >= 0
        steps, place = np.unique(after[moved] * kinds + kind[arc[moved]], return_inverse=True)
        pairs = (divmod(step, kinds) for step in steps.tolist())
        longer = [(*every[begun_by], next_kind) for begun_by, next_kind in pairs]
        for one in longer:
            if one not in number:
                number[one] = len(every)
                every.append(one)
        if len(every) > most:
            return None
        after[moved] = np.array([number[one] for one in longer], np.int64)[place]
        key, place = np.unique(stages.head[arc] * len(every) + after, return_inverse=True)
        sent = amount[each] * stages.share[arc]
        amount = np.bincount(place, sent, len(key)).astype(np.float64)
        at, sequence = np.divmod(key, len(every))
    return {one: float(many) for one, many in zip(every, ended.tolist(), strict=False) if many}


def arcs_of(stages: Stages, at: Ints) -> tuple[Ints, Ints]:
    """Return the arcs of some stages, one stage after the other, and the place of the stage."""
    count = np.diff(stages.first)[at]
    return ranges(stages.first[at], count), owners_of(count)


MOST_STAGES = 2**21
"""Most stages that are looked at (a few seconds)."""

COMES, OFFERED, DECIDED = 0, 1, 2

KINDS = {DRAWN: SHARED, TWO: BETTER_OF_TWO, LEAST: PREFERRED, EVERY: PREFERRED, OWN: PREFERRED,
         HASHED: SHARED}  # fmt: skip


class _At(NamedTuple):
    """Stages by what they are: all int64[n]. ``aux`` is the goal of a detour, or -1."""

    step: Ints
    state: Ints
    router: Ints
    goal: Ints
    aux: Ints


class _Arcs(NamedTuple):
    """Arcs: the place of the stage they leave, what the stage is that they lead to, and so on."""

    tail: Ints
    step: Ints
    state: Ints
    router: Ints
    goal: Ints
    aux: Ints
    channel: Ints
    share: Floats

    def taken(self, some: Ints | Bools) -> _Arcs:
        """Return some of the arcs, in this order."""
        columns: tuple[Any, ...] = self
        return _Arcs(*(column[some] for column in columns))


class Goals(NamedTuple):
    """Where packets are going. Those that a hash tells apart have goals of their own.

    Attributes
    ----------
    table
        int64[goals], the goal in the tables.
    exit
        int64[goals], the router that packets leave by.
    pair
        uint64[goals], the hash of source and target. Empty where none is looked at.
    """

    table: Ints
    exit: Ints
    pair: NDArray[np.uint64]


def table_goals(tables: HopTables) -> Goals:
    """Return the goals of a routing by hop, as its tables number them."""
    count = int(tables.sink_goal.max(initial=0)) + 1
    leave = np.full(count, -1)
    leave[tables.sink_goal] = tables.exit_router
    return Goals(np.arange(count), leave, np.zeros(0, np.uint64))


def pair_goals(tables: HopTables, source: Ints, target: Ints, sink: Ints) -> Goals:
    """Return a goal for each pair of hosts, which packets reach by a host port."""
    from netloom.routing.kernels.shortest_path import mixed

    with np.errstate(over="ignore"):
        pair = mixed.py_func(mixed.py_func(source.astype(np.uint64)) ^ target.astype(np.uint64))
    leave = tables.exit_router[sink].astype(np.int64)
    return Goals(tables.sink_goal[sink].astype(np.int64), leave, pair)


class Follower:
    """A routing by hop, ready to be followed.

    Parameters
    ----------
    tables
        The routing.
    goals
        Where packets are going.
    channel_at
        int32[R, ports], the channel at each output port of a router.
    idle
        Whether the network is idle: all ports are as good as one another, and detours are made
        where the threshold alone says so.
    """

    def __init__(
        self, tables: HopTables, goals: Goals, channel_at: Ints, *, idle: bool = False
    ) -> None:
        assert can_follow(tables)
        self.idle, self.to = idle, goals
        self.tables, self.channel_at = tables, channel_at.astype(np.int64)
        aux = [tables.table_goals[tables.table[at]] for at in np.flatnonzero(tables.to_aux)]
        self.most_aux = int(max(aux, default=0)) + 1
        routers = len(tables.detour_class)
        self.sizes = (3, len(tables.vcs), routers, len(goals.table), self.most_aux)

    def stages(self, router: Ints, goal: Ints) -> tuple[Stages, Ints] | None:
        """Return all stages of packets that enter at these routers for these goals.

        Also int64[], the stage at which each begins. None where there are more than
        ``MOST_STAGES``, or some packet has no way.
        """
        zero = np.zeros(len(router), np.int64)
        start = _At(zero + COMES, zero, router.astype(np.int64), goal, zero - 1)
        known, place = np.unique(self._key(start), return_inverse=True)
        keys, found, fresh, many = [known], [], known, len(known)
        while len(fresh):
            step, state, at_router, to, aux = np.unravel_index(fresh, self.sizes)
            arcs, kind = self._onward(_At(step, state, at_router, to, aux - 1))
            if arcs is None:
                return None
            head = self._key(_At(*arcs[1:6]))
            tail = arcs.tail + many - len(fresh)  # the stages before these are known
            found.append((tail, head, arcs.channel, arcs.share, kind))
            seen = np.sort(np.concatenate(keys))
            new = distinct(head)
            at = np.minimum(np.searchsorted(seen, new), len(seen) - 1)
            fresh = new[seen[at] != new]
            keys.append(fresh)
            many += len(fresh)
            if many > MOST_STAGES:
                return None
        every = np.concatenate(keys)
        order = np.argsort(every, kind="stable")
        tail, head, *rest = map(np.concatenate, zip(*found, strict=True))
        first = offsets_of(np.bincount(tail, minlength=many))
        stages = Stages(first, order[np.searchsorted(every[order], head)], *rest)
        stages.kind[~forks(stages)] = SHARED
        return stages, place.astype(np.int64)

    def _key(self, at: _At) -> Ints:
        """Return the number of each stage."""
        return np.asarray(np.ravel_multi_index(at._replace(aux=at.aux + 1), self.sizes), np.int64)

    def _onward(self, at: _At) -> tuple[_Arcs | None, NDArray[np.int8]]:
        """Return the arcs from some stages, by stage, and how each is left."""
        tables = self.tables
        kind = np.full(len(at.step), SHARED, np.int8)
        decides = (at.step == COMES) & (tables.decides[at.state] != 0)
        offered = at.step == OFFERED
        kind[offered] = SHARED if self.idle else PREFERRED
        going, offers = self._going(at, ~decides & ~offered, kind), self._offers(at, decides)
        if going is None or offers is None:
            return None, kind
        parts = [*offers, *self._answers(at, offered), *going]
        arcs = _Arcs(*map(np.concatenate, zip(*parts, strict=True)))
        return arcs.taken(np.argsort(arcs.tail, kind="stable")), kind

    def _offers(self, at: _At, decides: Bools) -> list[_Arcs] | None:
        """Return the arcs of packets that may make a detour: by each goal that they can draw.

        None where these are too many.
        """
        tables = self.tables
        tail = np.flatnonzero(decides)
        state, router, goal = at.state[tail], at.router[tail], at.goal[tail]
        row = tables.detour_class[router].astype(np.int64) * tables.detour_classes
        start = tables.detour_start[row + tables.detour_class[self.to.exit[goal]]].astype(np.int64)
        many = np.where(router == self.to.exit[goal], 0, tables.detours[start]).astype(np.int64)
        after = np.where(many == 0, tables.none[state], tables.keep[state]).astype(np.int64)
        waits = tables.threshold > 0 or (tables.threshold == 0 and not tables.even_by_coin)
        if self.idle and tables.detour != ALWAYS and waits:  # for queues that are not empty
            many[:] = 0
        if many.sum() > MOST_STAGES:
            return None
        each, drawn = owners_of(np.maximum(many, 1)), ranges(start + 1, np.maximum(many, 1))
        drawn_at = np.minimum(drawn, len(tables.detours) - 1)
        straight, always = many[each] == 0, tables.detour == ALWAYS
        aux = np.where(straight, -1, tables.detours[drawn_at]).astype(np.int64)
        keep = np.where(straight, after[each], tables.keep[state[each]])
        away = tables.leave[state[each]] if always else state[each]
        next_state = np.where(aux < 0, keep, away).astype(np.int64)
        step = np.where((aux < 0) | always, DECIDED, OFFERED)
        head, share = (step, next_state, router[each], goal[each], aux), 1 / np.maximum(many, 1)
        return [_Arcs(tail[each], *head, np.full(len(each), -1), share[each])]

    def _answers(self, at: _At, offered: Bools) -> list[_Arcs]:
        """Return the arcs of packets that have drawn a detour: not to make it, and to make it."""
        tables, tail = self.tables, np.flatnonzero(offered)
        state, router, goal, aux = (field[tail] for field in at[1:])
        step, none = np.full(len(tail), DECIDED), np.full(len(tail), -1)
        keep, leave = (each[state].astype(np.int64) for each in (tables.keep, tables.leave))
        _, count = self._lists(leave, router, aux)
        away = count > 0  # who is there has no detour to make
        stays, share = np.ones(len(tail), np.bool_), 1.0
        if self.idle:
            even = tables.threshold == 0
            stays, share = even | ~away, 0.5 if even else 1.0
        shares = np.where(away, share, 1.0)
        refused = _Arcs(tail, step, keep, router, goal, none, none, shares)
        taken = _Arcs(tail, step, leave, router, goal, aux, none, shares)
        return [refused.taken(stays), taken.taken(away)]

    def _going(self, at: _At, decided: Bools, kind: NDArray[np.int8]) -> list[_Arcs] | None:
        """Return the arcs of packets that go on, and set their kinds. None where one cannot."""
        tables, tail = self.tables, np.flatnonzero(decided)
        state, router, goal, aux = (field[tail] for field in at[1:])
        _, count = self._lists(
            state, router, np.where(tables.to_aux[state], aux, self.to.table[goal])
        )
        turns = (tables.to_aux[state] != 0) & (count == 0)
        state = np.where(turns, tables.turn[state], state).astype(np.int64)
        leaves = (router == self.to.exit[goal]) & (tables.eject_vcs[state] != 0)
        tail, state, router, goal, aux = (
            each[~leaves] for each in (tail, state, router, goal, aux)
        )
        toward = np.where(tables.to_aux[state], aux, self.to.table[goal])
        lists = self._lists(state, router, toward)
        if (lists[1] == 0).any():
            return None
        escaped = state >= tables.escape_state if tables.escape_vcs else np.zeros(len(state), bool)
        if not self.idle:
            kind[tail] = np.where(escaped, PREFERRED, KINDS[tables.choice])
        parts = [self._hops(tail, lists, state, router, goal, aux)]
        if tables.escape_vcs and not self.idle:
            free = ~escaped
            kind[tail[free]] = PREFERRED
            own = np.full(int(free.sum()), tables.escape_state)
            lists = self._lists(own, router[free], toward[free])
            ends = (each[free] for each in (router, goal, aux))
            parts.append(self._hops(tail[free], lists, own, *ends))
        return parts

    def _lists(self, state: Ints, router: Ints, goal: Ints) -> tuple[Ints, Ints]:
        """Return where the lists of next ports begin, and how long they are."""
        tables = self.tables
        table = tables.table[state]
        place = tables.table_start[table] + router * tables.table_goals[table] + goal
        start = tables.starts[place].astype(np.int64)
        return start, tables.ports[start].astype(np.int64)

    def _hops(
        self, tail: Ints, lists: tuple[Ints, Ints], state: Ints, router: Ints, goal: Ints, aux: Ints
    ) -> _Arcs:
        """Return the arcs by all ports of some lists."""
        tables, (start, count) = self.tables, lists
        each, entry = owners_of(count), ranges(start + 1, count)
        if tables.choice == HASHED:
            from netloom.routing.kernels.shortest_path import mixed

            salted = self.to.pair[goal] ^ tables.salts[router]
            with np.errstate(over="ignore"):
                picked = mixed.py_func(salted) % count.astype(np.uint64)
            each, entry = np.arange(len(count)), start + 1 + picked.astype(np.int64)
            count = np.ones_like(count)
        port = tables.ports[entry].astype(np.int64)
        at = (router[each] << tables.port_shift) | port
        next_state = tables.delta[state[each] * tables.num_kinds + tables.out_kind[at]]
        carried = np.where(tables.to_aux[next_state], aux[each], -1)
        state, beside = next_state.astype(np.int64), tables.next_router[at].astype(np.int64)
        head = np.full(len(each), COMES), state, beside, goal[each], carried
        return _Arcs(tail[each], *head, self.channel_at[router[each], port], 1 / count[each])


def can_follow(tables: HopTables) -> bool:
    """Whether packets are routed by tables of next ports, and have no given paths."""
    return tables.choice != GIVEN


def chooses(tables: HopTables) -> bool:
    """Whether packets look at what is used."""
    return (
        tables.choice not in (DRAWN, HASHED)
        or tables.detour not in (0, ALWAYS)
        or tables.escape_vcs != 0
    )


def forks(stages: Stages) -> Bools:
    """Return which stages packets leave by different ways, and not by lanes of one channel."""
    count = np.diff(stages.first)
    stage = owners_of(count)
    found, begin = np.zeros(len(count), np.bool_), stages.first[stage]
    for field in (stages.head, stages.channel):
        found[stage[field != field[begin]]] = True
    return found
