"""How evenly packets can load channels that choose their ways hop by hop.

``stages`` are those of ``decisions``. As in ``expected_load``, prices bound the least load of the
busiest channel. Let every channel have a price, with a sum of 1. If no channel worked more than z,
packets could not pay more than z together. They pay least if every choice falls to the cheapest
arc. Prices first follow the loads that result, then come from linear programs over them (Dantzig &
Wolfe, *Decomposition principle for linear programs*, 1960). The bound is computed from the prices
alone, so no solver tolerance can make it too high.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.contention.decisions import BETTER_OF_TWO, PREFERRED
from netloom.contention.expected_load import Split

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.contention.decisions import Stages

    Numbers = Ints
    Values = Floats

CLOSE = 1e-6
"""Costs and bounds that differ by less, relatively, are the same but for rounding."""

EXACT = 1e-4
"""Of a bound by prices and a load that is attained: how near they are if the bound is exact."""

MOST_WORK = 2**24
"""Arcs that are priced in all (two seconds), but for the first rounds, and ..."""

MOST_ROUNDS, MOST_ENTRIES = 200, 2**17
"""... how often at most, and entries of the linear programs that come of it."""

FIRST_ROUNDS = 12
"""Rounds in which prices follow loads, before they come from linear programs."""

LEAST_PRICE = 1e-9
"""Of the mean price: no channel is free, so that of ways as cheap the shortest is taken."""


def chosen_loads(
    stages: Stages, entry: Numbers, weight: Values, rate: Values, *, enough: float = 0.0
) -> Split:
    """Return how evenly packets can load the channels, however routers choose among their arcs.

    Parameters
    ----------
    stages, entry, weight
        As in ``drawn_loads``.
    rate
        float64[num_channels], the bandwidth by which loads are divided.
    enough
        A load of which it suffices to know that no channel need have more.

    Examples
    --------
    A channel that is three times as fast takes three quarters of what may choose:

    >>> from netloom.contention.decisions import Stages
    >>> fork = Stages(*map(np.array, ([0, 2, 2], [1, 1], [0, 1], [0.5, 0.5], [1, 1])))
    >>> chosen_loads(fork, np.array([0]), np.array([2.0]), np.array([1.0, 3.0])).least
    0.5
    """
    levels = _levels(stages, entry, weight)
    few = min(MOST_WORK // max(len(stages.head), 1), MOST_ENTRIES // len(rate))
    rounds = int(np.clip(few, FIRST_ROUNDS, MOST_ROUNDS))
    prices, steps = np.full(len(rate), 1 / len(rate)), np.zeros(len(rate))
    best, limit = Split(0.0, False, prices), np.inf  # noqa: FBT003
    times: list[Values] = []
    for number in range(1, rounds + 1):
        paid, time = _cheapest(levels, prices, rate)
        best = Split(paid, False, prices) if paid > best.least else best  # noqa: FBT003
        times.append(time)
        limit = min(limit, float(time.max()))
        if number >= FIRST_ROUNDS and limit > max(best.least, enough) * (1 + EXACT):
            attained, prices = _best_mixture(np.array(times))
            limit = min(limit, attained)
        else:
            steps += 4 / np.sqrt(number) * time / max(time.max(), CLOSE)
            prices = np.exp(steps - steps.max())
            prices /= prices.sum()
        if limit <= max(best.least * (1 + EXACT), enough * (1 + CLOSE)):
            return Split(best.least, True, best.prices)  # noqa: FBT003
    return best


def _best_mixture(times: Values) -> tuple[float, Values]:
    """Return how short the longest time is in the best mixture of some loads, and its prices."""
    from scipy.optimize import linprog

    solve: Any = linprog
    many, channels = times.shape
    found = solve(
        np.append(np.zeros(many), 1.0),
        A_ub=np.hstack([times.T, -np.ones((channels, 1))]),
        b_ub=np.zeros(channels),
        A_eq=np.append(np.ones(many), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )
    prices = np.maximum(-found.ineqlin.marginals, 0)
    return float(found.fun), np.asarray(prices / prices.sum())


class _Level(NamedTuple):
    """Stages all of whose arcs lead to earlier levels, and the arcs, stage by stage.

    ``first`` is where the arcs of each stage begin, ``stage`` the stage of each arc, ``of`` its
    place among those of the level. ``two`` are the arcs of which the better of two is taken.
    """

    stages: Numbers
    first: Numbers
    stage: Numbers
    of: Numbers
    head: Numbers
    channel: Numbers
    share: Values
    preferred: Bools
    two: Numbers


class _Levels(NamedTuple):
    """Stages level by level, the ends of ways first, and what begins at each."""

    levels: list[_Level]
    begins: Values


def _levels(stages: Stages, entry: Numbers, weight: Values) -> _Levels:
    count = np.diff(stages.first)
    many = len(count)
    stage = np.repeat(np.arange(many), count)
    level, going = np.zeros(many, np.int64), np.flatnonzero(count)
    for number in range(many + 1):
        found = np.zeros(many, np.int64)
        if len(going):
            found[going] = 1 + np.maximum.reduceat(level[stages.head], stages.first[going])
        if np.array_equal(found, level):
            break
        assert number < many, "a way leads round in a circle"
        level = found
    order = np.argsort(level[stage], kind="stable")
    bounds = np.searchsorted(level[stage][order], np.arange(1, level.max(initial=0) + 2))
    every = []
    for begin, end in pairwise(bounds.tolist()):
        arcs = order[begin:end]
        here, first, of = np.unique(stage[arcs], return_index=True, return_inverse=True)
        two = np.flatnonzero(stages.kind[stage[arcs]] == BETTER_OF_TWO)
        every.append(
            _Level(
                here, first, stage[arcs], of.ravel(), stages.head[arcs], stages.channel[arcs],
                stages.share[arcs], stages.kind[here] == PREFERRED, two,
            )
        )  # fmt: skip
    return _Levels(every, np.bincount(entry, weight, minlength=many).astype(np.float64))


def _cheapest(levels: _Levels, prices: Values, rate: Values) -> tuple[float, Values]:
    """Return what all pay at these prices by their cheapest ways, and the time of each channel."""
    asked = np.maximum(prices, LEAST_PRICE / len(prices))
    asked = np.append(asked / asked.sum() / rate, 0.0)  # the last is of arcs without a channel
    cost, shares = np.zeros(len(levels.begins)), []
    for level in levels.levels:
        by, share = asked[level.channel] + cost[level.head], level.share
        if len(level.two):
            share = share.copy()
            share[level.two] = _of_two(level, by)
        mean = np.add.reduceat(share * by, level.first)
        least = np.minimum.reduceat(by, level.first)
        cost[level.stages] = np.where(level.preferred, least, mean)
        if level.preferred.any():
            cheap = by <= (least * (1 + 1e-12))[level.of]  # as cheap is as good
            alike = np.add.reduceat(cheap, level.first, dtype=np.int64)
            share = np.where(level.preferred[level.of], cheap / alike[level.of], share)
        shares.append(share)
    load, flow = np.zeros(len(asked)), levels.begins.copy()
    for level, share in zip(reversed(levels.levels), reversed(shares), strict=True):
        sent = flow[level.stage] * share
        load += np.bincount(level.channel % len(load), sent, len(load))
        flow += np.bincount(level.head, sent, len(flow))
    return float(cost @ levels.begins), load[:-1] / rate


def _of_two(level: _Level, by: Values) -> Values:
    """Return the share of each of ``level.two`` if the cheaper one of two drawn arcs is taken.

    Of n arcs, the two may be the same one. The arc of rank j, the cheapest first, is the cheaper
    with the chance ((n - j)² - (n - j - 1)²) / n².
    """
    order = np.lexsort((by[level.two], level.of[level.two]))
    of = level.of[level.two][order]
    many = np.bincount(of, minlength=len(level.stages))[of]
    rank = np.arange(len(of)) - np.searchsorted(of, of)
    share = np.empty(len(of))
    share[order] = (2 * (many - rank) - 1) / many**2
    return share
