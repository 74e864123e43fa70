"""What flows from router to router loads, where packets have several ways: pushed, not listed.

A demand is a SciPy csr_array of weights, [goal, source]. Each goal's flow is pushed from the
farthest routers to the nearest: what comes to a router is split as its packets are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.errors import NoRouteError
from netloom.routing.several import ends_of, listed
from netloom.routing.ways import JOINED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netloom.base.arrays import Floats, Ints
    from netloom.routing.several import Detour
    from netloom.routing.ways import Ways

    Ends: TypeAlias = Ints
    Numbers: TypeAlias = Ints
    Load: TypeAlias = Floats

MOST_ENTRIES = 2**22
"""Entries of a demand that is made on the way, about."""


def summed(shape: tuple[int, int], blocks: Iterable[tuple[Numbers, Numbers, Load]]) -> Any:
    """Return weights at (row, column), equal places summed: a SciPy csr_array."""
    from scipy.sparse import csr_array

    demand = csr_array(shape)
    for row, column, weight in blocks:
        demand = demand + csr_array((weight, (row, column)), shape=shape)
    return demand


def entries(demand: Any, first: int = 0, many: int | None = None) -> tuple[Ends, Ends]:
    """Return rows and columns of some entries of a csr_array in its order, by default of all."""
    columns = demand.indices[first:] if many is None else demand.indices[first : first + many]
    number = np.arange(first, first + len(columns))
    row = np.searchsorted(demand.indptr, number, side="right") - 1
    return row.astype(np.int32), columns.astype(np.int32)


def push(ways: Ways, demand: Any, load: Load, goals: Numbers | None = None) -> None:
    """Add what flows to routers loads, split evenly over the next channels at each router.

    Row i of ``demand`` is what flows to ``goals[i]``, to router i by default.

    Raises
    ------
    NoRouteError
        If there is no way from a source to its goal.
    """
    from netloom.contention.kernels.several_paths import push_flows

    ends = np.arange(demand.shape[0]) if goals is None else goals
    first, sources = demand.indptr.astype(np.int64), demand.indices.astype(np.int32)
    source, goal = push_flows(ways, ends.astype(np.int32), first, sources, demand.data, load)
    if source >= 0:
        raise NoRouteError(int(source), int(goal), JOINED)


def push_detours(trip: Detour, demand: Any, load: Load) -> None:
    """Add what flows by way of goals, each drawn as likely, loads.

    On the way to a drawn router, all that a source sends is alike, and on the way from it all that
    a target receives. If a group is drawn, the router by which packets enter it makes a
    difference. ``demand`` has nothing from a router to itself.

    Raises
    ------
    NoRouteError
        If there is no way from a source to a goal, or from there to a target.
    """
    if trip.to_group:
        rows, columns = entries(demand)
        straight = trip.direct(columns, rows)
        staying, away = (
            summed(demand.shape, [(rows[kept], columns[kept], demand.data[kept])])
            for kept in (straight, ~straight)
        )
        push(trip.ways, staying, load)
        _push_by_groups(trip, away, load)
        return
    sent, received = sums(demand)
    drawn = np.zeros(demand.shape[0])
    drawn[trip.goals] = 1 / len(trip.goals)
    _push_product(trip.ways, drawn, sent, load)
    _push_product(trip.ways, received, drawn, load)


def sums(demand: Any) -> tuple[Load, Load]:
    """Return what each router sends and receives."""
    return np.asarray(demand.sum(axis=0)), np.asarray(demand.sum(axis=1))


def _push_product(ways: Ways, received: Load, sent: Load, load: Load) -> None:
    """Add what loads where router s sends received[g] * sent[s] to each router g."""
    sources = np.flatnonzero(sent)
    for goals in _blocks(np.flatnonzero(received), len(sources)):
        weight = np.outer(received[goals], sent[sources]).ravel()
        row, column = np.arange(len(goals)).repeat(len(sources)), np.tile(sources, len(goals))
        rows = summed((len(goals), len(sent)), [(row, column, weight)])
        push(ways, rows, load, goals)


def _push_by_groups(trip: Detour, demand: Any, load: Load) -> None:
    from netloom.contention.kernels.several_paths import add_paths

    sent, many, arrived = np.asarray(demand.sum(axis=0)), len(trip.goals), []
    for sources in _blocks(np.flatnonzero(sent), many):
        source = sources.astype(np.int32).repeat(many)
        goals = np.tile(trip.goals, len(sources))
        there = listed(trip.ways, source, goals, to_group=True, where="valiant-group")
        assert there.pair is not None
        assert there.probability is not None
        begin, chance = source[there.pair], there.probability / many
        add_paths(there.channels, there.offsets, chance * sent[begin], load)
        arrived.append((begin, ends_of(trip.ways, there, begin), chance))
    arrival = summed(demand.shape, arrived)
    for targets in _blocks(np.flatnonzero(np.diff(demand.indptr)), demand.shape[0]):
        push(trip.ways, demand[targets] @ arrival, load, targets)


def _blocks(numbers: Numbers, width: int) -> Iterator[Numbers]:
    """Yield numbers, as many at a time as have ``MOST_ENTRIES`` entries if each has a width."""
    many = max(1, MOST_ENTRIES // max(width, 1))
    for first in range(0, len(numbers), many):
        yield numbers[first : first + many]
