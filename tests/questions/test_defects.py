"""Defects that fit measured curves, each without noise, alone and with the halves of the nodes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from netloom.questions.collective_prepared import CollectiveQuestion, prepare
from netloom.questions.defects import (
    DEFECTS,
    Defect,
    Suspects,
    explained,
    next_test,
    only_one,
    run_of,
)
from netloom.questions.measured import MeasuredPoint

SIZES = 4.0 ** np.arange(5, 17)
HALVES = (range(8), range(4), range(4, 8))
FACTORS = {"slower": 2.7, "GPUDirect": 1.5, "µs": 200.0, "later": 3.0}
ALL_REDUCE = [*DEFECTS, Defect("nothing but rings Simple at all sizes", "all", only="rings Simple")]


@cache
def library(collective="all-reduce", on="leaf-spine:2x8x32@dgx-a100"):
    return prepare(CollectiveQuestion(collective=collective, on=on)).library


@cache
def suspects(runs=1, algorithm="rings"):
    return Suspects(
        [run_of(library(), each, "all-reduce", [algorithm], SIZES) for each in HALVES[:runs]]
    )


def factor_of(defect):
    many = len(defect.factors) > 1
    known = (by for word, by in FACTORS.items() if many and word in defect.name)
    return next(known, defect.factors[0])


def curve(defect, runs, places=None):
    each = [run.later(defect, factor_of(defect)) for run in runs]
    places = places or [True] * len(runs)
    return np.concatenate([by * has for by, has in zip(each, places, strict=True)])


def named(groups):
    return [[each.name for each in group] for group in groups]


@pytest.mark.parametrize("defect", ALL_REDUCE, ids=lambda each: each.name)
def test_each_defect_is_found_from_one_curve(defect):
    found = suspects().ranked(curve(defect, suspects().runs))
    assert defect.name in [each.best.defect.name for each in found[0]]


@pytest.mark.parametrize("defect", ALL_REDUCE, ids=lambda each: each.name)
def test_each_defect_is_found_with_halves(defect):
    places = {"all": [True] * 3, "cable": [True, False, False], "computer": [True, False, True]}
    later = curve(defect, suspects(3).runs, places[defect.place])
    first = suspects(3).ranked(later)[0]
    assert defect.name in [each.best.defect.name for each in first]
    assert {each.best.defect.place for each in first} == {defect.place}


def test_three_causes_of_one_curve_are_named_together():
    groups = suspects().ranked(curve(DEFECTS[0], suspects().runs))
    alike = {"one card at half rate", "two flows on an uplink", "half of a leaf's uplinks down"}
    assert alike <= {*named(groups)[0]}


def test_no_defect_is_named_if_all_is_as_expected():
    assert suspects().ranked(np.zeros(len(SIZES))) == []
    assert suspects().ranked(np.full(len(SIZES), 0.05)) == []


def test_nothing_is_named_that_does_not_fit():
    odd = np.where(np.arange(len(SIZES)) % 2, 2.0, -2.0)
    assert suspects().ranked(odd) == []


def test_the_next_test_parts_a_card_from_cables():
    def build(members):
        return run_of(library(), members, "all-reduce", ["rings"], SIZES)

    groups = suspects().ranked(curve(DEFECTS[0], suspects().runs))
    said = next_test(groups, suspects().runs, build)
    assert said.startswith("run each half of the computers")
    assert "×1: " in said or "×1 and ×1" in said


def points(took, ranks=(64, 32, 32), algorithm="rings"):
    """Return points of files, whose times over expected ones are given run by run."""
    found, runs = [], suspects(len(ranks)).runs
    for at, (run, times) in enumerate(zip(runs, np.split(took, len(ranks)), strict=True)):
        for row, (size, expected) in enumerate(zip(SIZES, run.seconds, strict=True)):
            measured = expected * float(np.exp(times[row]))
            found.append(
                MeasuredPoint(
                    file=f"{at}.txt",
                    run="",
                    line=row + 1,
                    ranks=ranks[at],
                    algorithm=algorithm,
                    size=size,
                    measured=measured,
                    expected=expected,
                    bound=0.0,
                    band=0.2,
                    ratio=measured / expected,
                    bus_bandwidth=size / measured,
                    expected_bus_bandwidth=size / expected,
                )
            )
    return found


def test_files_say_in_which_half_a_card_is_slow():
    later = curve(DEFECTS[0], suspects(3).runs, [True, False, True])
    (first, *_) = explained(points(later), "all-reduce", library())
    assert first.name == "one card at half rate"
    assert first.words.endswith("in computers 4 to 7")
    assert first.next_test == "run each half of computers 4 to 7"
    np.testing.assert_allclose(first.ratio_by_size, np.exp(later))
    assert first.misfit == pytest.approx(0, abs=1e-9)


def test_files_name_their_computers_in_any_order():
    later = curve(DEFECTS[0], suspects(3).runs, [True, False, True])
    names = [f"node{each}" for each in range(8) for _ in range(8)]
    hosts = {("0.txt", 64): names, ("1.txt", 32): names[32:], ("2.txt", 32): names[:32]}
    (first, *_) = explained(points(later), "all-reduce", library(), hosts)
    assert first.words.endswith("in node0, node1, node2 and node3")
    assert first.next_test == "run each half of node0, node1, node2 and node3"


def test_points_of_algorithms_that_a_library_has_not_are_not_explained():
    assert explained(points(np.zeros(12), (64,), "swing"), "all-reduce", library()) == ()


def test_an_all_to_all_without_pxn():
    tapered = library("all-to-all", "rail:2x4x8x1@dgx-a100")
    run = run_of(tapered, range(8), "all-to-all", ["direct", "pxn"], SIZES)
    no_pxn = next(each for each in only_one(run) if each.name == "no PXN")
    groups = Suspects([run]).ranked(run.later(no_pxn, 1.0))
    assert "no PXN" in named(groups)[0]
