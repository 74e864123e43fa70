"""How two runs of the same packets compare: what they share in chance does not count.

Two runs that are given the same packets, over the same cycles, have the same luck. The spread of
their ratio, batch by batch, says how sure it is: far surer than the two apart where they hardly
differ, and exactly where they do not (common random numbers; A. M. Law, "Simulation Modeling and
Analysis", section 11.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.simulation.intervals import batch_interval, merge_correlated

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Batches(NamedTuple):
    """Sums and counts of observations, batch by batch: float64 or int64[batches] each."""

    sums: NDArray[np.generic]
    counts: NDArray[np.generic]


def paired_ratio(first: Batches, second: Batches) -> tuple[float, float]:
    """Return the ratio of two means, and the half-width of its 95 % confidence interval.

    With means m and n the ratio r = m / n deviates, to first order, by the sum over batches of
    dᵢ = (sᵢ − m cᵢ) / Σ s − (tᵢ − n eᵢ) / Σ t, relative to itself: what both do drops out.

    Parameters
    ----------
    first, second
        Of the two runs, over the same spans of time.

    Returns
    -------
    ratio, half_width
        NaN and NaN where one has no observation, or its mean is 0.

    Examples
    --------
    >>> runs = [Batches(np.array(sums), np.array([10, 10])) for sums in ([50, 70], [100, 140])]
    >>> paired_ratio(runs[1], runs[0])
    (2.0, 0.0)
    """
    assert len(first.sums) == len(second.sums), "batches of other times"
    totals = [float(np.sum(each.sums)) for each in (first, second)]
    if not all(np.sum(each.counts) for each in (first, second)) or not all(totals):
        return np.nan, np.nan
    (mean, deviation), (other, its) = (_deviations(each) for each in (first, second))
    many = np.ones(len(deviation))
    _, half = batch_interval(*merge_correlated(deviation - its, many))
    return mean / other, float(mean / other * half * len(many))


def _deviations(batches: Batches) -> tuple[float, NDArray[np.float64]]:
    """Return the mean, and by what part of itself each batch moves it."""
    sums, counts = (np.asarray(values, np.float64) for values in batches)
    mean = float(sums.sum() / counts.sum())
    deviations: NDArray[np.float64] = (sums - mean * counts) / sums.sum()
    return mean, deviations
