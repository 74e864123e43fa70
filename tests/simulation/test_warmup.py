"""MSER-5 against its definition, and on series whose start-up is known."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.signal import lfilter

from netloom.simulation.steady import mser5, warmup_packets


def squared_error(means, dropped):
    """Σ (Y − Ȳ)² / (n − d)², in fractions."""
    rest = [Fraction(value) for value in means[dropped:]]
    mean = sum(rest) / len(rest)
    return sum((value - mean) ** 2 for value in rest) / len(rest) ** 2


@given(st.lists(st.integers(0, 200), min_size=10, max_size=40))
def test_the_definition_tried_for_every_truncation(means):
    spared = max(5, -(-len(means) // 4))
    errors = [squared_error(means, d) for d in range(len(means) - spared + 1)]
    dropped = mser5(means)
    best = min(errors)
    if dropped is None:
        in_time = min(errors[: len(means) // 2 + 1])
        assert best < in_time or float(best) == pytest.approx(float(in_time), rel=1e-9)
    else:
        assert 2 * dropped <= len(means)
        assert float(errors[dropped]) == pytest.approx(float(best), rel=1e-9, abs=1e-9)


def autoregressive(rng, count, phi):
    return lfilter([1], [1, -phi], rng.normal(size=count + 200))[200:]


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_truncation_lands_after_the_transient(phi):
    rng = np.random.default_rng(3)
    for _ in range(50):
        observed = 100 + autoregressive(rng, 5000, phi)
        observed[:500] += np.linspace(60, 10, 500)  # still 10 too high when it ends
        dropped = warmup_packets(observed)
        assert dropped is not None
        assert 495 <= dropped <= 2500


def test_a_series_that_still_rises_is_not_warmed_up():
    rng = np.random.default_rng(5)
    for _ in range(50):
        assert warmup_packets(np.arange(5000) / 50 + autoregressive(rng, 5000, 0.5)) is None


def test_few_packets_that_meet_do_not_pass_for_a_start_up():
    """The last batches are often all equal, which the statistic takes for certainty."""
    rng = np.random.default_rng(6)
    for _ in range(50):
        assert warmup_packets(12 + (rng.random(5000) < 0.05)) is not None


def test_rounding_does_not_choose_among_equal_batches():
    for constant in (12.6, 17.3, 1234.2):
        assert mser5([9000.1, 6000.7, 3000.3] + [constant] * 97) == 3


def test_too_few_to_tell():
    assert mser5([]) is None
    assert mser5([1.0] * 9) is None
    assert warmup_packets([1] * 49) is None
    assert warmup_packets([1] * 50) == 0


def test_what_does_not_fill_a_batch_is_left_out():
    latencies = [100] * 10 + [20, 21, 20, 19, 20] * 20
    assert warmup_packets([*latencies, 1, 10_000, 1, 1]) == 10
