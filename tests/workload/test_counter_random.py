"""Looked-up random numbers are as good as drawn ones, and the same in any order."""

import numpy as np
import pytest
from scipy import stats

from netloom.workload.counter_random import durations, random_bits

SPLITMIX64 = [0x910A2DEC89025CC1, 0xBEEB8DA1658EEC67, 0xF893A2EEFB32555E]
"""The first outputs of SplitMix64 seeded with 1."""

MASK = 2**64 - 1


def scrambled(bits):
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def splitmix(state, count):
    """SplitMix64, in plain Python: the next ``count`` values after a state."""
    values = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        values.append(scrambled(state))
    return values


def test_each_chain_is_a_splitmix64_generator():
    assert splitmix(1, 3) == SPLITMIX64  # the twin is the published generator
    golden = 0x9E3779B97F4A7C15
    key = scrambled((scrambled(9) + 2 * golden) & MASK)  # of seed 9, stream 2
    state = scrambled((key + 5 * golden) & MASK)  # of chain 5
    assert random_bits(9, 2, chain=5, index=np.arange(4)).tolist() == splitmix(state, 4)


def test_every_value_stands_for_itself():
    table = random_bits(3, 1, chain=np.arange(20), index=np.arange(30)[:, np.newaxis])
    assert table.shape == (30, 20)
    assert len(np.unique(table)) == 600
    assert table[17, 4] == random_bits(3, 1, chain=4, index=17)
    others = [random_bits(*key, 4, 17) for key in ((4, 1), (3, 2), (2**70 + 3, 1), (0, 0))]
    assert len({int(table[17, 4]), *map(int, others[:2]), int(others[3])}) == 4


@pytest.mark.parametrize(
    ("law", "mean", "deviation"),
    [
        ("fixed", 7.0, 0),
        ("fixed", 7.3, (0.3 * 0.7) ** 0.5),
        ("uniform", 7.5, 15 / 12**0.5),
        ("uniform", 0.2, 0.4),
        ("exponential", 30.2, 30.2),
    ],
)
def test_durations_have_the_mean_they_are_asked_for(law, mean, deviation):
    drawn = durations(law, mean, 5, 0, np.arange(1000), np.arange(400)[:, np.newaxis])
    assert drawn.shape == (400, 1000)
    assert drawn.dtype == np.int32
    assert abs(drawn.mean() - mean) < 4.5 * max(deviation, 1e-12) / drawn.size**0.5
    if mean > 1:
        assert drawn.std() == pytest.approx(deviation, rel=0.01, abs=1e-9)
    bounds = {"fixed": (int(mean), -int(-mean // 1)), "uniform": (0, -int(-2 * mean // 1))}
    low, high = bounds.get(law, (0, 37 * mean))
    assert low <= drawn.min() <= drawn.max() <= high


def test_a_uniform_law_takes_every_value_as_often():
    """Of 0 to 2t the two ends are rounded to from one side only."""
    counts = np.bincount(durations("uniform", 2.0, 1, 0, np.arange(400_000)))
    assert stats.chisquare(counts, np.array([0.5, 1, 1, 1, 0.5]) * 100_000).pvalue > 1e-4
