"""How far a mean of one run can be trusted: confidence intervals from batch means.

Successive packets are correlated, so that their own spread says too little. The run is cut into
batches of equal length instead. When these are long enough, their means are all but independent
(A. M. Law, "Simulation Modeling and Analysis", section 9.5). Near saturation they never are, nor
are they normal: what is left of both is corrected for, as Skart does (A. Tafazzoli, J. R. Wilson,
E. K. Lada and N. M. Steiger, "Performance of Skart", INFORMS Journal on Computing 23, 2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from netloom.base.arrays import Floats, Ints

LEAST_BATCHES = 10
"""Batches are not merged into fewer: Student's t, and the interval with it, would grow too wide."""

CORRELATED = 0.2
"""Lag-1 autocorrelation from which batches count as too short. Intervals of AR(1) series cover
the true mean more often with 0.2 than with 0.3, and lose nothing where batches are independent."""

MOST_CORRELATED = 0.8
"""Correlation of batches beyond which intervals are not widened further: it is a guess by then."""


def batch_interval(batch_sums: ArrayLike, batch_counts: ArrayLike) -> tuple[float, float]:
    """Return the mean over all batches and the half-width of its 95 % confidence interval.

    The mean is the ratio r = Σ sᵢ / Σ cᵢ, so that a batch weighs as much as it holds. Its variance
    is k / (k − 1) · Σ (sᵢ − r cᵢ)² / (Σ cᵢ)² over k batches (the ratio estimator of W. G. Cochran,
    "Sampling Techniques", chapter 6, for a large population), its quantile Student's t with k − 1
    degrees of freedom. K counts the batches that hold something. For equal counts this is the
    common interval of batch means.

    Parameters
    ----------
    batch_sums, batch_counts
        float[k]: the sum of each batch's observations, and their number or another size of the
        batch that the mean is taken over, such as cycles. A batch may be empty.

    Returns
    -------
    mean, half_width
        NaN and NaN if there is no observation. Half-width NaN if fewer than two batches hold any.

    Examples
    --------
    >>> mean, half_width = batch_interval([10.0, 14.0, 12.0], [1, 1, 1])
    >>> round(mean, 3), round(half_width, 3)
    (12.0, 4.968)
    """
    sums, counts = np.asarray(batch_sums, np.float64), np.asarray(batch_counts, np.float64)
    batches, total = int(np.count_nonzero(counts)), counts.sum()
    if total == 0:
        return np.nan, np.nan
    mean = float(sums.sum() / total)
    if batches < 2:
        return mean, np.nan
    off = _off_mean(sums, counts)
    error = np.sqrt(batches / (batches - 1) * (off @ off)) / total
    return mean, _quantile(batches) * float(error)


def _quantile(batches: int) -> float:
    """Return the 97.5 % quantile of Student's t of so many batches."""
    from scipy.special import stdtrit

    return float(stdtrit(batches - 1, 0.975))


def interval_over_runs(values: ArrayLike) -> tuple[float, float]:
    """Return the mean over runs, all alike, and half its 95 % interval (NaN of one run).

    Examples
    --------
    >>> mean, half = interval_over_runs([1.0, 2.0, 3.0])
    >>> round(mean, 2), round(half, 2)
    (2.0, 2.48)
    """
    given = np.asarray(values, np.float64)
    return batch_interval(given, np.ones(len(given)))


def run_interval(batch_sums: ArrayLike, batch_counts: ArrayLike) -> tuple[float, float]:
    """Return the mean of successive batches of a run and the half-width of its 95 % interval.

    Batches are merged while they are correlated, see :func:`merge_correlated`. To what
    :func:`batch_interval` says of them, two factors come:

    - √((1 + φ) / (1 − φ)) for the correlation φ that is left, as of an AR(1) series. The bias of
      its estimate, −(1 + 3 φ) / k, is taken off, and what is negative counts as 0;
    - where long latencies are rare, the mean of a run without them is low *and* its spread small.
      The further side of N. J. Johnson's interval for skewed means ("Modified t tests and
      confidence intervals for asymmetrical populations", JASA 73, 1978), t + γ (1 + 2 t²) / 6 √k
      standard errors with skewness γ, is the half-width on both.

    Examples
    --------
    >>> latencies, ones = [10.0, 10.0, 13.0, 10.0, 11.0, 16.0], [1] * 6
    >>> round(batch_interval(latencies, ones)[1], 2), round(run_interval(latencies, ones)[1], 2)
    (2.54, 3.57)
    """
    sums, counts = merge_correlated(batch_sums, batch_counts)
    mean, half_width = batch_interval(sums, counts)
    if np.isnan(half_width) or half_width == 0:
        return mean, half_width
    batches = int(np.count_nonzero(counts))
    found = autocorrelation(sums, counts)
    left = min(max(found + (1 + 3 * found) / batches, 0.0), MOST_CORRELATED)
    quantile = _quantile(batches)
    beyond = _skewed_quantile(_off_mean(sums, counts), batches, quantile) / quantile
    return mean, float(half_width * np.sqrt((1 + left) / (1 - left)) * beyond)


def _skewed_quantile(off: Floats, batches: int, quantile: float) -> float:
    """Return how many standard errors the further side of a skewed mean's interval is away."""
    second = float(off @ off) / batches
    skewness = float(np.sum(np.abs(off) ** 3 * np.sign(off))) / batches / second**1.5
    return quantile + float(abs(skewness) / (6 * np.sqrt(batches)) * (1 + 2 * quantile**2))


def autocorrelation(batch_sums: ArrayLike, batch_counts: ArrayLike) -> float:
    """Return the lag-1 autocorrelation of batches: near 0 if they are long enough.

    Σ eᵢ eᵢ₊₁ / Σ eᵢ², with eᵢ = sᵢ − r cᵢ and r the mean over all batches; 0 if all batches have
    the same mean, or are empty.

    Examples
    --------
    >>> autocorrelation([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1])
    0.25
    """
    sums, counts = np.asarray(batch_sums, np.float64), np.asarray(batch_counts, np.float64)
    if counts.sum() == 0:
        return 0.0
    off = _off_mean(sums, counts)
    spread = float(off @ off)
    if spread <= 1e-24 * float(sums @ sums):  # nothing but rounding
        return 0.0
    return float(off[1:] @ off[:-1]) / spread


def merge_correlated(batch_sums: ArrayLike, batch_counts: ArrayLike) -> tuple[Floats, Floats]:
    """Return batches merged in pairs as long as they are correlated, but never fewer than 10.

    Of an odd number of batches the last three become one. The totals are those given.

    Examples
    --------
    >>> sums, counts = merge_correlated(range(40), [1] * 40)
    >>> sums.tolist(), counts.tolist()[:3]
    ([6.0, 22.0, 38.0, 54.0, 70.0, 86.0, 102.0, 118.0, 134.0, 150.0], [4.0, 4.0, 4.0])
    """
    batches = np.stack([np.asarray(batch_sums, np.float64), np.asarray(batch_counts, np.float64)])
    while batches.shape[1] >= 2 * LEAST_BATCHES and autocorrelation(*batches) > CORRELATED:
        pairs = batches.shape[1] // 2
        batches = np.add.reduceat(batches, np.arange(pairs) * 2, axis=1)
    return batches[0], batches[1]


def percentiles(counts: ArrayLike, percents: Sequence[int]) -> Ints:
    """Return percentiles of whole numbers given by their histogram, by nearest rank, exactly.

    The p-th percentile is the smallest value such that at least p % of all are not larger: the
    ⌈p n / 100⌉-th smallest of n (``inverted_cdf`` in NumPy).

    Parameters
    ----------
    counts
        int[most + 1]: how many there are of each value 0, 1, 2 .... At least one in all.
    percents
        Whole numbers from 1 to 100.

    Returns
    -------
    values
        int64 of as many values.

    Examples
    --------
    >>> percentiles([0, 2, 1, 1], [50, 99]).tolist()
    [1, 3]
    """
    up_to = np.cumsum(np.asarray(counts, np.int64))
    assert up_to.size, "a histogram has values"
    assert up_to[-1] > 0, "nothing has no percentiles"
    ranks = -(-np.asarray(percents, np.int64) * up_to[-1] // 100)
    values: Ints = np.searchsorted(up_to, ranks).astype(np.int64)
    return values


def _off_mean(sums: Floats, counts: Floats) -> Floats:
    """How far the sum of each batch is off what its size and the mean over all would make it."""
    off: Floats = sums - sums.sum() / counts.sum() * counts
    return off


class Batches(NamedTuple):
    """Sums and counts of observations, batch by batch: float64 or int64[batches] each."""

    sums: NDArray[np.generic]
    counts: NDArray[np.generic]


def paired_ratio(first: Batches, second: Batches) -> tuple[float, float]:
    """Return the ratio of two means, and the half-width of its 95 % confidence interval.

    Two runs with the same packets over the same cycles share their random variation (common random
    numbers; A. M. Law, "Simulation Modeling and Analysis", section 11.2). So the interval of their
    ratio, computed batch by batch, is far narrower than those of the two means if the runs hardly
    differ. It has no width if they are equal.

    With means m and n, the relative deviation of the ratio r = m / n is, to first order, Σ dᵢ with
    dᵢ = (sᵢ − m cᵢ) / Σ s − (tᵢ − n eᵢ) / Σ t. Variation that both runs share cancels. Both are NaN
    if one run has no observation or its mean is 0.

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


def _deviations(batches: Batches) -> tuple[float, Floats]:
    """Return the mean, and by what part of itself each batch moves it."""
    sums, counts = (np.asarray(values, np.float64) for values in batches)
    mean = float(sums.sum() / counts.sum())
    deviations: Floats = (sums - mean * counts) / sums.sum()
    return mean, deviations
