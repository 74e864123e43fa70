"""The least load of the fullest channel where routing leaves packets a choice of ways.

Let every channel ask a price, all prices together 1. Every packet pays at least what its cheapest
way costs, so all together pay at least that sum; and if no channel carried more than z, they could
not pay more than z. The sum is thus a lower limit of z, whatever the prices (weak duality of linear
programming; Ahuja, Magnanti & Orlin, *Network flows*, chapter 17). The best prices make it exact.
Linear programming finds them where the ways are few. Otherwise prices rise where the cheapest ways
meet (multiplicative weights: Arora, Hazan & Kale 2012), which ends 0 to 2 % below after 1,600
rounds and up to 14 % after 50. The limit is always evaluated from the prices themselves: no
tolerance of a solver can make it too high.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.routing.route_tables import channels_by_port
from netloom.routing.virtual_channel_tables import O1TURN, ODD_EVEN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.routing import VirtualChannelRouting

MOST_ARCS = 2**21
"""Most hops of the ways of all packets that are listed at all."""

MOST_EXACT = 2**13
"""Most such hops whose best split is looked for by linear programming (a fifth of a second)."""

WORK, FEWEST_ROUNDS, MOST_ROUNDS = 2**27, 50, 1600
"""Hops that are priced in all (about a second), and the rounds in which that is done."""

ROUNDING = 1e-6

PRICE_STEP = 4.0
"""How fast prices rise: by this, over the root of the round, where the cheapest ways meet most."""


@dataclass(frozen=True, eq=False)
class Split:
    """How evenly packets that choose among their ways can load the channels.

    Attributes
    ----------
    least
        The fullest channel carries at least this, however packets choose.
    exact
        Whether some choice loads no channel more, but for rounding; if not, ``least`` may be some
        per cent too low.
    prices
        float64[num_channels], by which ``least`` is proved; they sum to 1.
    """

    least: float
    exact: bool
    prices: NDArray[np.float64]


def best_split(
    routing: VirtualChannelRouting,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> Split | None:
    """Return how evenly traffic can be split over the ways that a routing allows.

    Parameters
    ----------
    routing
        One whose routers choose: adaptive, a turn model, a table with choices.
    sources, targets, weights
        Pairs of different nodes, and how much goes from one to the other.

    Returns
    -------
    None where there are more than ``MOST_ARCS`` hops to choose from.

    Examples
    --------
    From corner to corner, adaptive packets use both ways alike:

    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.topology import mesh
    >>> free = virtual_channel_routing(mesh(3, 3), "adaptive", num_vcs=2)
    >>> ends = np.array([0], np.int32), np.array([8], np.int32)
    >>> best_split(free, *ends, np.array([1.0])).least
    0.5
    """
    from netloom.contention.kernels.choice import list_ways

    topology = routing.topology
    order = np.lexsort((sources, targets))
    source, target, weight = sources[order], targets[order], weights[order]
    begins = np.append(True, target[1:] != target[:-1])
    if routing.tables.kind in (O1TURN, ODD_EVEN):  # which look at the source
        begins[:] = True
    offsets = np.append(np.flatnonzero(begins), len(target))
    most = min(MOST_ARCS, len(offsets) * topology.num_channels)
    wiring = channels_by_port(topology), topology.channel_target
    ways = list_ways(routing.tables, wiring, target[offsets[:-1]], offsets, source, most)
    if not len(ways[1]):
        return None
    return _priced(ways, weight, topology.num_channels)


Ways = tuple["NDArray[np.int64]", "NDArray[np.int32]", "NDArray[np.int32]", "NDArray[np.int32]"]


def _priced(ways: Ways, weight: NDArray[np.float64], num_channels: int) -> Split:
    from netloom.contention.kernels.choice import take_cheapest

    arcs, load = len(ways[1]), np.empty(num_channels)
    prices = np.full(num_channels, 1 / num_channels)
    best = Split(take_cheapest(ways, weight, prices, load), False, prices)  # noqa: FBT003
    if arcs <= MOST_EXACT and load.max() > best.least * (1 + ROUNDING):
        prices = _best_prices(ways, weight, num_channels)
        return Split(take_cheapest(ways, weight, prices, load), True, prices)  # noqa: FBT003
    level, mean = np.zeros(num_channels), np.zeros(num_channels)
    for number in range(1, min(max(WORK // arcs, FEWEST_ROUNDS), MOST_ROUNDS) + 1):
        if load.max() <= best.least * (1 + ROUNDING):  # the cheapest ways are a split themselves
            return Split(best.least, True, best.prices)  # noqa: FBT003
        level += PRICE_STEP / np.sqrt(number) * load / load.max()
        prices = np.exp(level - level.max())
        prices /= prices.sum()
        mean += number**2 * prices
        for tried in (mean / mean.sum(), prices) if number % 20 == 0 else (prices,):
            least = take_cheapest(ways, weight, tried, load)
            best = Split(least, False, tried) if least > best.least else best  # noqa: FBT003
    return best


def _best_prices(ways: Ways, weight: NDArray[np.float64], num_channels: int) -> NDArray[np.float64]:
    """Return the prices by which the limit is exact: the duals of the channels' capacities."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    first, channels, heads, entries = ways
    arcs, places = len(channels), len(first) - 1
    tails = np.repeat(np.arange(places), np.diff(first))
    one, arc = np.ones(arcs), np.arange(arcs)
    kept = np.diff(first) > 0  # what is no target passes on all that it gets
    ends, both = np.concatenate([tails, heads]), np.concatenate([arc, arc])
    flow = csr_array((np.repeat([1.0, -1.0], arcs), (ends, both)), shape=(places, arcs))
    on_channel = csr_array((one, (channels, arc)), shape=(num_channels, arcs))
    none = csr_array((int(kept.sum()), 1))
    solve: Any = linprog  # whose types know no sparse arrays
    found = solve(
        np.append(np.zeros(arcs), 1.0),
        A_ub=hstack([on_channel, csr_array(-np.ones((num_channels, 1)))]),
        b_ub=np.zeros(num_channels),
        A_eq=hstack([flow[kept], none]),
        b_eq=np.bincount(entries, weight, minlength=places)[kept],
        method="highs",
    )
    prices = np.maximum(-found.ineqlin.marginals, 0)
    return np.asarray(prices / prices.sum())
