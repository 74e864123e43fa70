"""Where the start-up of a run ends: the observations to leave out of its means.

MSER-5: observations are averaged in fives, and leading averages are dropped as long as this makes
the mean of the rest more certain. K. P. White, "An effective truncation heuristic for bias
reduction in simulation output", Simulation 69 (1997); K. P. White, M. J. Cobb and S. C. Spratt,
"A comparison of five steady-state truncation heuristics for simulation", Proc. Winter Simulation
Conference (2000).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BATCH = 5
"""Observations averaged into one: the 5 of MSER-5."""

LEAST_BATCHES = 10
"""Fewer say nothing about where a start-up ends."""


def mser5(batch_means: ArrayLike) -> int | None:
    """Return how many leading batches belong to the start-up, or None where it has not ended.

    Of all d, take the one with the least Σ_{i ≥ d} (Yᵢ − Ȳ_d)² / (n − d)², Ȳ_d the mean of those
    after the first d: the squared standard error of Ȳ_d, were they independent. A least value in
    the second half of the run means that the run is too short to tell.

    The last quarter of the run (at least 5 batches) is never cut into. A d as late as that would
    be answered by None anyway; and the statistic of the last few batches is worthless, as it is 0
    when they are equal by chance, which happens all the time where packets seldom meet.

    Parameters
    ----------
    batch_means
        float[n]: means of 5 successive observations each, or of successive windows of time.

    Returns
    -------
    dropped
        Number of batches to leave out, at most n / 2; the smallest of equally good ones. None if
        n < 10 or the start-up has not ended within the first half.

    Examples
    --------
    >>> mser5([90, 60, 30, 12, 10, 11, 10, 9, 10, 11, 9, 10])
    4
    >>> print(mser5(range(12)))
    None
    """
    means = np.asarray(batch_means, np.float64)
    assert means.ndim == 1, "one mean a batch"
    assert np.isfinite(means).all(), "an empty batch has no mean"
    count = len(means)
    if count < LEAST_BATCHES:
        return None
    # Measured from the last value, equal batches at the end sum to exactly 0.
    backwards = (means - means[-1])[::-1]
    kept = np.arange(1, count + 1)
    squares = np.cumsum(backwards**2) - np.cumsum(backwards) ** 2 / kept
    error = (np.maximum(squares, 0) / kept**2)[::-1]
    spared = max(5, -(-count // 4))
    dropped = int(np.argmin(error[: count - spared + 1]))
    return dropped if 2 * dropped <= count else None


def warmup_packets(latencies: ArrayLike) -> int | None:
    """Return how many packets of a run belong to its start-up, or None where it has not ended.

    Parameters
    ----------
    latencies
        int or float[n]: packet latencies in order of arrival, cycles. Up to 4 at the end that do
        not fill a batch are not looked at.

    Returns
    -------
    dropped
        A multiple of 5; see :func:`mser5`.

    Examples
    --------
    >>> warmup_packets([100] * 10 + [20, 21, 20, 19, 20] * 20)
    10
    """
    observed = np.asarray(latencies, np.float64)
    whole = len(observed) // BATCH * BATCH
    dropped = mser5(observed[:whole].reshape(-1, BATCH).mean(axis=1))
    return None if dropped is None else BATCH * dropped
