"""What an experiment has found: answers, curves, and several seeds as one row."""

import json
import random

import pytest
from hypothesis import given, strategies as st

import netloom as nl
from netloom.experiments.file import Point
from netloom.experiments.findings import (
    COSTS,
    curves_of,
    load_results,
    next_step,
    over_seeds,
    results,
    up_to_saturation,
)
from netloom.experiments.runner import run
from netloom.experiments.store import Outcome
from tests.experiments.small import write


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = write(tmp_path_factory.mktemp("experiment"))
    run(path, workers=2)
    return path


def test_one_row_an_observation_and_what_varies_comes_first(file):
    table = results(file)
    assert table.columns[:4] == ["section", "on", "load", "seed"]
    assert table.filter(section="analyze")["on"].to_list() == ["torus:4x4", "mesh:4x4"]
    assert not set(COSTS) & set(table.columns)
    simulated = table.filter(section="simulate")
    for curve in simulated.partition_by("on"):
        assert curve["load"].is_sorted()
        assert curve["offered"].to_list() == curve["load"].to_list()
        assert curve.filter(load=0.3)["stable"].all()
        assert not curve.filter(load=curve["load"].max())["stable"].all()


def test_the_answers_are_those_of_the_verbs(file):
    found = load_results(file)
    for each in found.answered[::5]:
        fields = dict(each.point.fields)
        if fields.get("app") == "ring.mtx":
            fields["app"] = str(file.parent / "ring.mtx")
        again = getattr(nl, each.point.verb)(**fields).to_dict()
        stored = dict(each.record.figures)
        same = set(again) - {"provenance", "cpu_seconds", "app"}
        assert {name: stored[name] for name in same} == json.loads(
            json.dumps({name: again[name] for name in same})
        )
        assert str(file.parent) not in json.dumps(stored)


# -- curves ----------------------------------------------------------------------------------------


LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5]


def points(knee=3, seeds=(1,), levels=LEVELS, on="mesh:4x4"):
    return [
        Point("simulate", "simulate", fields, fields, sweep="load", knee=knee)
        for level in levels
        for seed in seeds
        for fields in [{"on": on, "load": level, "seed": seed}]
    ]


def go_up(asked, falls_behind, order=None):
    """Answer everything that is wanted, and perhaps more, in any order: what has been answered."""
    known, answered = {}, []
    all_asked = list(asked)
    (curve,) = curves_of(asked)
    while (step := next_step(curve, known)).wanted:
        if step.added:
            all_asked += [point for point in step.wanted if point not in all_asked]
        ready = list(step.wanted)
        if order is not None:
            ready += step.perhaps[: order.randrange(3)]
            order.shuffle(ready)
            ready = ready[: order.randrange(1, len(ready) + 1)]
        for point in ready:
            known[point.key] = Outcome(refused=False, saturated=falls_behind(point))
            answered.append(point)
    return all_asked, known, answered


def test_a_curve_ends_where_the_network_falls_behind_and_the_knee_is_looked_at():
    asked, known, answered = go_up(points(), lambda point: point.level > 0.33)
    assert sorted(point.level for point in answered) == [0.1, 0.2, 0.3, 0.325, 0.3375, 0.35, 0.4]
    counted, missing = up_to_saturation(asked, known)
    assert [point.level for point in counted] == [0.1, 0.2, 0.3, 0.325, 0.3375]
    assert not missing


def test_a_curve_that_never_saturates_has_all_its_points_and_no_knee():
    for told in (False, None):
        asked, known, answered = go_up(points(), lambda point, told=told: told)
        assert [point.level for point in answered] == LEVELS
        assert up_to_saturation(asked, known) == (asked, 0)


def test_a_curve_past_saturation_from_the_start_is_looked_at_below():
    _, _, answered = go_up(points(knee=2), lambda point: point.level > 0.06)
    assert [point.level for point in answered] == [0.1, 0.05, 0.075]


def test_half_of_the_seeds_decide():
    asked = points(seeds=(1, 2, 3, 4), knee=0)
    for behind, last in ((1, 0.5), (2, 0.3)):
        _, _, answered = go_up(
            asked,
            lambda point, behind=behind: point.level > 0.25 and point.fields["seed"] <= behind,
        )
        assert max(point.level for point in answered) == last


@given(
    st.floats(0.01, 0.6),
    st.integers(0, 4),
    st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True),
    st.randoms(use_true_random=False),
)
def test_what_counts_does_not_depend_on_the_order_of_answers(limit, knee, seeds, order):
    def falls_behind(point):
        return point.level * (1 + point.fields["seed"] / 50) > limit

    asked = points(knee, seeds)
    in_order, known, _ = go_up(asked, falls_behind)
    expected = up_to_saturation(in_order, known)
    in_disorder, known, _ = go_up(asked, falls_behind, random.Random(order.random()))
    assert up_to_saturation(in_disorder, known) == expected


def test_points_of_two_networks_are_two_curves():
    first, second = points(), points(on="torus:4x4")
    mixed = [point for pair in zip(first, second, strict=True) for point in pair]
    assert [curve.points for curve in curves_of(mixed)] == [first, second]


# -- several seeds ---------------------------------------------------------------------------------


def test_what_one_seed_lacks_has_no_mean_and_what_some_say_is_counted():
    rows = [
        {"on": "a", "seed": 1, "latency": None, "up": False, "state": "past"},
        {"on": "a", "seed": 2, "latency": 30.0, "up": True, "state": "steady"},
    ]
    (row,) = over_seeds(rows, ["on"], ["latency", "up", "state"])
    assert row == {"on": "a", "latency": None, "up": "1 of 2", "state": "2 kinds"}


def test_rows_of_one_answer_stay_apart_and_loads_stand_together():
    rows = [
        {"load": load, "on": on, "seed": seed, "n": seed, "size": size}
        for on in ("torus", "mesh") for load in (0.1, 0.2) for seed in (1, 3) for size in (1, 2)
    ]  # fmt: skip
    found = over_seeds(rows, ["load", "on"], ["size"])
    assert [(row["load"], row["on"]) for row in found] == [
        (load, on) for load in (0.1, 0.2) for on in ("torus", "torus", "mesh", "mesh")
    ]
    assert {row["size"] for row in found} == {"1", "2"}
