"""What channels have to carry where packets are routed hop by hop: by chance, or by choice.

A *stage* is all that a routing still knows of a packet at a router: where it is going, and in which
part of its way. From a stage lead arcs to others, most of them by a channel. A stage is left by its
arcs in fixed shares (what is drawn at random), by the arc that its router prefers (what looks at
credits), or by the better of two arcs that are drawn at random. Shares of a stage need not add to
1: what is sure to travel two ways one after the other follows both arcs at once.

Where nothing is preferred, the load of every channel is known. Elsewhere the least load of the
fullest channel is bounded by prices, as in ``expected_load``: let every channel ask a price, all
prices together 1. If no channel worked more than z, packets could not pay more than z together, and
they pay at least what they do if every choice falls to the cheapest arc. Prices come from linear
programming over the loads that were found so (Dantzig & Wolfe, *Decomposition principle for linear
programs*, 1960); the bound is evaluated from the prices alone, so that no tolerance of a solver can
make it too high.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.contention.expected_load import Split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SHARED, PREFERRED, BETTER_OF_TWO = 0, 1, 2
"""How a stage is left: see the module."""

CLOSE = 1e-6
"""Costs and bounds that differ by less, relatively, are the same but for rounding."""

MOST_WORK = 2**28
"""Arcs that are priced in all (some seconds), and ..."""

MOST_ROUNDS = 400
"""... how often at most."""

FIRST_ROUNDS = 12
"""Rounds in which prices follow loads, before they come from linear programs."""

LEAST_PRICE = 1e-9
"""Of the mean price: no channel is free, so that no way leads round in circles."""


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

    first: NDArray[np.int64]
    head: NDArray[np.int64]
    channel: NDArray[np.int64]
    share: NDArray[np.float64]
    kind: NDArray[np.int8]


def drawn_loads(
    stages: Stages, entry: NDArray[np.int64], weight: NDArray[np.float64], num_channels: int
) -> NDArray[np.float64]:
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
    return _follow(stages, stages.share, entry, weight, num_channels)


def chosen_loads(
    stages: Stages,
    entry: NDArray[np.int64],
    weight: NDArray[np.float64],
    rate: NDArray[np.float64],
) -> Split:
    """Return how evenly packets can load the channels, however routers choose among their arcs.

    Parameters
    ----------
    stages, entry, weight
        As in ``drawn_loads``.
    rate
        float64[num_channels], the bandwidth by which loads are divided.

    Examples
    --------
    A channel that is three times as fast takes three quarters of what may choose:

    >>> fork = Stages(*map(np.array, ([0, 2, 2], [1, 1], [0, 1], [0.5, 0.5], [1, 1])))
    >>> chosen_loads(fork, np.array([0]), np.array([2.0]), np.array([1.0, 3.0])).least
    0.5
    """
    times: list[NDArray[np.float64]] = []
    rounds = int(np.clip(MOST_WORK // max(len(stages.head), 1), FIRST_ROUNDS, MOST_ROUNDS))
    prices = np.full(len(rate), 1 / len(rate))
    best, limit = Split(0.0, False, prices), np.inf  # noqa: FBT003
    level = np.zeros(len(rate))
    for number in range(1, rounds + 1):
        paid, time = _cheapest(stages, entry, weight, prices, rate)
        best = Split(paid, False, prices) if paid > best.least else best  # noqa: FBT003
        times.append(time)
        limit = min(limit, float(time.max()))
        if number < FIRST_ROUNDS and limit > best.least * (1 + CLOSE):
            level += 4 / np.sqrt(number) * time / time.max()
            prices = np.exp(level - level.max())
            prices /= prices.sum()
            continue
        if limit > best.least * (1 + CLOSE):
            attained, prices = _best_mixture(np.array(times))
            limit = min(limit, attained)
        if limit <= best.least * (1 + CLOSE):
            return Split(best.least, True, best.prices)  # noqa: FBT003
    return best


def sequences(
    stages: Stages,
    entry: NDArray[np.int64],
    weight: NDArray[np.float64],
    begun: Sequence[tuple[int, ...]],
    kind_of: NDArray[np.int64],
    *,
    most: int,
) -> dict[tuple[int, ...], float] | None:
    """Return the sequences of kinds of channels that packets take, and how many take each.

    Parameters
    ----------
    stages, entry, weight
        As in ``drawn_loads``; shares of a stage add to 1.
    begun
        What the sequence of the packets of each entry begins with.
    kind_of
        int64[num_channels], the kind of each channel.
    most
        How many sequences are told apart; None is returned where there are more.

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
        arc, each = _arcs_of(stages, at)
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


def _best_mixture(times: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return how short the longest time is in the best mixture of some loads; and its prices."""
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


def _cheapest(
    stages: Stages,
    entry: NDArray[np.int64],
    weight: NDArray[np.float64],
    prices: NDArray[np.float64],
    rate: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    """Return what all pay at these prices by their cheapest ways, and the time of each channel."""
    asked = np.maximum(prices, LEAST_PRICE / len(prices))
    asked = np.append(asked / asked.sum() / rate, 0.0)[stages.channel]
    cost, share = _costs(stages, asked)
    time = _follow(stages, share, entry, weight, len(rate)) / rate
    return float(cost[entry] @ weight), time


def _costs(
    stages: Stages, asked: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what the cheapest way on from each stage costs, and the shares that its arcs have.

    ``asked`` is what each arc asks. Sweep by sweep, until no cost changes.
    """
    first = stages.first
    count = np.diff(first)
    going = np.flatnonzero(count)
    stage = np.repeat(np.arange(len(count)), count)
    kind = stages.kind[stage]
    two = np.flatnonzero(kind == BETTER_OF_TWO)
    share, cost = stages.share.copy(), np.zeros(len(count))
    cost[going] = np.inf
    while True:
        by = asked + cost[stages.head]
        if len(two):
            share[two] = _of_two(stages, stage, two, by)
        at = first[:-1][going]
        best = np.minimum.reduceat(by, at) if len(by) else by
        with np.errstate(invalid="ignore"):  # 0 * inf, of stages that nothing is known of yet
            terms = np.where(share > 0, share * by, 0.0)
        mean = np.add.reduceat(terms, at) if len(by) else by
        found = np.zeros(len(count))
        found[going] = np.where(stages.kind[going] == PREFERRED, best, mean)
        if np.array_equal(found, cost):
            break
        cost = found
    chosen = kind == PREFERRED
    cheap = chosen & (by <= cost[stage] * (1 + 1e-12))
    alike = np.bincount(stage[cheap], minlength=len(count))
    share[chosen] = np.where(cheap, 1 / np.maximum(alike[stage], 1), 0.0)[chosen]
    return cost, share


def _of_two(
    stages: Stages, stage: NDArray[np.int64], arcs: NDArray[np.int64], by: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the share of each of these arcs if the cheaper one of two that are drawn is taken.

    Of n arcs, the two may be the same one. The arc of rank j, the cheapest first, is the cheaper
    with the chance ((n - j)² - (n - j - 1)²) / n².
    """
    order = np.lexsort((by[arcs], stage[arcs]))
    of = stage[arcs][order]
    many = np.diff(stages.first)[of]
    rank = np.arange(len(of)) - np.searchsorted(of, of)
    share = np.empty(len(of))
    share[order] = (2 * (many - rank) - 1) / many**2
    return share


def _follow(
    stages: Stages,
    share: NDArray[np.float64],
    entry: NDArray[np.int64],
    weight: NDArray[np.float64],
    num_channels: int,
) -> NDArray[np.float64]:
    """Return the load of all channels where packets follow arcs in these shares, hop by hop."""
    load = np.zeros(num_channels + 1)  # the last is of arcs without a channel
    count, many = np.diff(stages.first), len(stages.kind)
    flow = np.bincount(entry, weight, minlength=many)
    hops = 0
    while True:
        here = np.flatnonzero((flow > 0) & (count > 0))
        if not len(here):
            return load[:-1]
        arc, each = _arcs_of(stages, here)
        sent = flow[here[each]] * share[arc]
        load += np.bincount(stages.channel[arc] % (num_channels + 1), sent, num_channels + 1)
        flow = np.bincount(stages.head[arc], sent, minlength=many)
        hops += 1
        assert hops <= many, "a way leads round in a circle"


def _arcs_of(stages: Stages, at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the arcs of some stages, one stage after the other, and the place of the stage."""
    lengths = np.diff(stages.first)[at]
    each = np.repeat(np.arange(len(at)), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(len(each)) + np.repeat(stages.first[at] - before, lengths), each
