"""Prices of links from the dual values of a linear program, in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from netloom.phases.collectives.prices import Prices
from netloom.workload.programs.many_lists import Lists

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints

FINEST = 5040
"""Largest common denominator of prices that is looked for."""

EXACT = 1e-9
"""Part of the highest price by which small fractions may be off what the solver found."""

MOST_EXACT = 2.0**51
"""All prices together, if they are no small fractions: the finest that stay exact in sums."""


def prices_of(tables: Floats, level: Floats) -> Prices:
    """Return prices as whole numbers. Any prices are valid, and these prove what the duals do.

    Parameters
    ----------
    tables
        float64[num_tables, num_links]. What is below 0 by rounding counts as 0.
    level
        float64[2, num_forwarding].

    Examples
    --------
    >>> found = prices_of(np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 0.75]]), np.zeros((2, 0)))
    >>> found.price, found.channels.of(0), found.channels.of(1)
    (array([2, 1, 3]), array([0, 1], dtype=int32), array([2], dtype=int32))
    """
    given = np.append(np.maximum(tables, 0.0).ravel(), level.ravel())
    found = _whole(given)
    table, levels = found[: tables.size].reshape(tables.shape), found[tables.size :]
    row, link = np.nonzero(table)
    offsets = np.append(0, np.cumsum((table > 0).sum(axis=1), dtype=np.int64))
    return Prices(
        Lists(offsets, link.astype(np.int32)), table[row, link], levels.reshape(level.shape)
    )


def _whole(values: Floats) -> Ints:
    """Return numbers in the ratios of some: exactly if these are small, else as fine as fits."""
    most = float(np.abs(values).max(initial=0.0))
    if not most:
        return np.zeros(len(values), np.int64)
    known, place = np.unique(np.round(values / most, 12), return_inverse=True)
    near = [Fraction(each).limit_denominator(FINEST) for each in known.tolist()]
    scale = lcm(*(each.denominator for each in near))
    if scale > FINEST or np.abs([float(each) for each in near] - known).max() > EXACT:
        found = np.rint(values * (MOST_EXACT / float(np.abs(values).sum())))
        return found.astype(np.int64)
    parts = np.array([int(each * scale) for each in near], np.int64)
    return parts[place] // max(int(np.gcd.reduce(parts)), 1)


def on_channels(prices: Prices, link: Ints, num_links: int) -> Prices:
    """Return prices of links as those of their channels.

    Parameters
    ----------
    link
        int64[num_channels], the link that each channel is part of.
    """
    channels, price = [], []
    for number in range(len(prices.channels.offsets) - 1):
        first, last = prices.channels.offsets[number : number + 2]
        each = np.zeros(num_links, np.int64)
        each[prices.channels.values[first:last]] = prices.price[first:last]
        some = np.flatnonzero(each[link])
        channels.append(some.astype(np.int32))
        price.append(each[link[some]])
    offsets = np.append(0, np.cumsum([len(each) for each in channels], dtype=np.int64))
    return Prices(Lists(offsets, np.concatenate(channels)), np.concatenate(price), prices.level)
