"""Intervals cover as often as they say; percentiles are those of the sorted values."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.signal import lfilter

from netloom.simulation.steady import (
    autocorrelation,
    batch_interval,
    merge_correlated,
    percentiles,
    run_interval,
)

BATCHES = 64


def test_equal_counts_give_the_textbook_interval():
    means = np.random.default_rng(1).normal(50, 4, 20)
    mean, half_width = batch_interval(means * 30, np.full(20, 30))
    low, high = stats.t.interval(0.95, 19, means.mean(), stats.sem(means))
    assert mean == pytest.approx(means.mean())
    assert [mean - half_width, mean + half_width] == pytest.approx([low, high])


def test_a_batch_weighs_what_it_holds():
    mean, half_width = batch_interval([10, 60, 0], [1, 2, 0])
    # r = 70/3; residuals 10 - 70/3 = -40/3, 60 - 140/3 = 40/3; t(0.975, 1) = 12.7062
    assert mean == pytest.approx(70 / 3)
    assert half_width == pytest.approx(12.7062 * (2 * 2 * (40 / 3) ** 2) ** 0.5 / 3, rel=1e-5)


def test_too_little_for_an_interval():
    assert np.isnan(batch_interval([0, 0], [0, 0])).all()
    mean, half_width = batch_interval([30], [4])
    assert mean == 7.5
    assert np.isnan(half_width)


def coverage(phi, count, replications=300, seed=7):
    """How often the interval holds the true mean, 0, of an AR(1) series."""
    rng = np.random.default_rng(seed)
    covered = 0
    for _ in range(replications):
        series = lfilter([1], [1, -phi], rng.normal(size=count + 1000))[1000:]
        size = count // BATCHES
        sums = series[: size * BATCHES].reshape(BATCHES, size).sum(axis=1)
        mean, half_width = run_interval(sums, np.full(BATCHES, size))
        covered += abs(mean) <= half_width
    return covered / replications


@pytest.mark.parametrize(
    ("phi", "count"), [(0.0, 640), (0.5, 6400), (0.9, 6400), (0.97, 25600), (0.99, 25600)]
)
def test_intervals_cover_the_mean_as_often_as_they_say(phi, count):
    """Of 300, 95 % cover but for 3.8 % by chance (3 standard errors)."""
    assert 0.94 <= coverage(phi, count) <= 0.99


def test_intervals_of_skewed_correlated_means_cover():
    """The waits of an M/M/1 queue at 90 % of its capacity, in 6 400 services: a mean of 9.

    So short a window holds few busy periods: no interval from it covers in 95 of 100 cases, but
    those of batches that are only merged while correlated do in 79.
    """
    rng, covered, plain = np.random.default_rng(10), 0, 0
    for _ in range(300):
        steps = rng.exponential(1, 9000) - rng.exponential(1 / 0.9, 9000)
        walk = np.concatenate([[0.0], np.cumsum(steps)])
        waits = (walk - np.minimum.accumulate(walk))[-6400:]
        sums, counts = waits.reshape(BATCHES, 100).sum(axis=1), np.full(BATCHES, 100)
        mean, half_width = run_interval(sums, counts)
        covered += abs(mean - 9) <= half_width
        mean, half_width = batch_interval(*merge_correlated(sums, counts))
        plain += abs(mean - 9) <= half_width
    assert covered >= 0.86 * 300
    assert covered > plain + 20


def test_corrections_by_hand():
    """Ten batches without correlation, one of which stands out."""
    sums = np.array([1.0, 3, 3, 1, 1, 3, 3, 1, 1, 7])
    off, correlated = sums - 2.4, autocorrelation(sums, np.ones(10))
    left = max(correlated + (1 + 3 * correlated) / 10, 0)
    skewness = np.mean(off**3) / np.mean(off**2) ** 1.5
    t = 2.2621571628
    beyond = 1 + skewness / (6 * 10**0.5) * (1 + 2 * t**2) / t
    wanted = batch_interval(sums, np.ones(10))[1] * ((1 + left) / (1 - left)) ** 0.5 * beyond
    assert run_interval(sums, np.ones(10)) == pytest.approx((2.4, wanted))
    assert run_interval([5] * 10, [1] * 10) == (5, 0)
    assert np.isnan(run_interval([5], [1])[1])


def test_intervals_of_ratios_cover_the_mean():
    """Batches of equal time hold unequal numbers of packets."""
    rng = np.random.default_rng(8)
    counts = rng.poisson(20, (300, 40))
    sums = rng.gamma(counts, 3.0)  # each packet exponential with mean 3
    covered = 0
    for batch_sums, batch_counts in zip(sums, counts, strict=True):
        mean, half_width = batch_interval(batch_sums, batch_counts)
        covered += abs(mean - 3) <= half_width
    assert 0.90 <= covered / 300 <= 0.98


def test_autocorrelation_by_hand():
    assert autocorrelation([1, -1, 1, -1], [1, 1, 1, 1]) == pytest.approx(-0.75)
    assert autocorrelation([2, 4, 6], [1, 2, 3]) == 0
    assert autocorrelation([0] * 20, [0] * 20) == 0
    assert autocorrelation([0.1, 0.2, 0.3, 0.7], [1, 2, 3, 7]) == 0  # only rounding differs


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**4)), min_size=1, max_size=70))
def test_merging_keeps_the_totals_and_ten_batches(batches):
    sums, counts = np.array(batches).T
    merged_sums, merged_counts = merge_correlated(sums, counts)
    assert merged_sums.sum() == sums.sum()
    assert merged_counts.sum() == counts.sum()
    assert len(merged_sums) == len(merged_counts)
    assert len(merged_sums) >= min(10, len(sums))


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=400),
    st.lists(st.sampled_from([1, 25, 50, 75, 90, 99, 100]), min_size=1, max_size=4),
)
def test_percentiles_are_numpys(values, percents):
    found = percentiles(np.bincount(values), percents)
    exact = [sorted(values)[-(-p * len(values) // 100) - 1] for p in percents]
    assert found.tolist() == exact
