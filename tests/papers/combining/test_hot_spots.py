from collections import Counter
from itertools import permutations
from math import comb, factorial, nan

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom_papers.combining.hot_spots import HotSpotTraffic, assign_hot_spots, place_hot_spots


def traffic(placed=(2, 0), assigned=((2, 0), (0, -1), (2, -1), (-1, -1)), **named):
    return HotSpotTraffic(np.array(placed, int), np.array(assigned, int), **{"rate": 0.5, **named})


def chi_square(found, expected):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    return float(((found - expected) ** 2 / expected).sum())


def test_random_hot_spots_are_different_and_none_is_favoured():
    found = np.array([place_hot_spots(8, 3, seed=seed) for seed in range(4000)])
    assert all(len(set(row)) == 3 for row in found.tolist())
    for place in range(3):  # in the order drawn: every module as likely at each place
        counts = np.bincount(found[:, place], minlength=8)
        assert chi_square(counts, [500] * 8) < 24.3  # 7 degrees of freedom, 0.1 %


def test_hot_spots_without_deviation_are_spaced_evenly_and_wrap_around():
    found = place_hot_spots(512, 8, spacing=61, seed=3)
    assert found.dtype == np.int32
    assert ((found - found[0]) % 512).tolist() == [0, 61, 122, 183, 244, 305, 366, 427]
    assert found.max() < 512
    assert found[0] != 0  # so they did wrap around


@pytest.mark.parametrize(
    ("modules", "spacing", "increments", "most"),  # 4 and 3 degrees of freedom, 0.1 %
    [(512, 16, {14, 15, 16, 17, 18}, 18.5), (64, 2, {1, 2, 3, 4}, 16.3)],
)
def test_spaced_increments_are_uniform(modules, spacing, increments, most):
    """An increment of 0, as 2 ± 2 has one, is drawn again: the same place is no new hot spot."""
    found = [place_hot_spots(modules, 8, spacing=spacing, deviation=2, seed=s) for s in range(500)]
    counts = Counter((np.diff(found) % modules).ravel().tolist())
    assert set(counts) == increments
    assert chi_square(list(counts.values()), [3500 / len(counts)] * len(counts)) < most


@pytest.mark.parametrize("deviation", [0, 1, 3])
def test_spaced_hot_spots_never_come_round(deviation):
    # H (S + V) = N exactly, the closest that the paper's check lets pass
    for seed in range(200):
        found = place_hot_spots(8 * (3 + deviation), 8, spacing=3, deviation=deviation, seed=seed)
        assert len(set(found.tolist())) == 8


def test_every_list_of_a_pe_is_as_likely_as_d_rounds_make_it():
    # c of D rounds succeed: C(D, c) p^c (1 - p)^(D - c); then each ordered choice of c from H
    modules, rounds, p, pes = [5, 0, 9, 2], 3, 0.6, 40_000
    found = assign_hot_spots(pes, np.array(modules), rounds, p, seed=1)
    assert found.shape == (pes, rounds)
    assert found.dtype == np.int32
    filled = found >= 0
    assert (filled[:, :-1] >= filled[:, 1:]).all()  # empty places are behind the last
    counts = Counter(tuple(m for m in row if m >= 0) for row in found.tolist())
    expected = {}
    for got in range(rounds + 1):
        chance = comb(rounds, got) * p**got * (1 - p) ** (rounds - got)
        ordered = list(permutations(modules, got))
        assert len(ordered) == factorial(4) // factorial(4 - got)
        expected.update(dict.fromkeys(ordered, pes * chance / len(ordered)))
    assert set(counts) <= set(expected)
    deviation = chi_square([counts[one] for one in expected], list(expected.values()))
    assert deviation < 78.7  # 41 lists, 40 degrees of freedom: 0.03 %


def test_placing_and_assigning_by_the_same_seed_are_independent():
    # an increment of 1, 2 or 3 tells nothing of whether the PE gets a hot spot
    placed = np.array([place_hot_spots(8, 2, spacing=2, deviation=1, seed=s) for s in range(2400)])
    given = [assign_hot_spots(1, np.arange(2), 1, 0.5, seed=s)[0, 0] >= 0 for s in range(2400)]
    counts = np.bincount(2 * ((placed[:, 1] - placed[:, 0]) % 8 - 1) + given, minlength=6)
    assert chi_square(counts, [400] * 6) < 20.5  # 5 degrees of freedom, 0.1 %


@pytest.mark.parametrize("field", ["rate", "hot_fraction", "assign", "new", "remove"])
@pytest.mark.parametrize("value", [-0.01, 1.01, nan])
def test_a_probability_is_one(field, value):
    with pytest.raises(InputError, match=f"{field}: found {value:g}"):
        traffic(**{field: value})
    assert getattr(traffic(**{field: 1}), field) == 1


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"placed": (4, 0)}, "hot_spots: found module 4; expected 0 to 3"),
        ({"placed": (-1, 0)}, "hot_spots: found module -1"),
        ({"placed": (2, 0, 2)}, "hot_spots: found module 2 twice"),
        ({"placed": ()}, "hot_spots: found none"),
        ({"assigned": ((2, 0), (3, -1))}, "hot_spots: found module 2; expected 0 to 1"),
        ({"assigned": ((2, 0), (3, -1), (0, 2), (-1, -1))}, "no hot spot, PE 1: 3, -1"),
        ({"assigned": ((2, 0), (0, -2), (0, 2), (-1, -1))}, "no hot spot, PE 1: 0, -2"),
        ({"assigned": ((2, 0), (9, -1), (0, 2), (-1, -1))}, "no hot spot, PE 1: 9, -1"),
        ({"assigned": ((2, 0), (2, 0), (-1, 0), (-1, -1))}, "empty place, PE 2: -1, 0"),
        ({"assigned": ((2, 0), (2, 0), (0, 2), (0, 0))}, "twice, PE 3: 0, 0"),
    ],
)
def test_hot_spots_that_cannot_be_are_named(arrays, message):
    with pytest.raises(InputError, match=message) as caught:
        traffic(**arrays)
    assert "\n" not in str(caught.value)
