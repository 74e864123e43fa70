import random

from hypothesis import given, strategies as st

from netloom.experiments.file import Point
from netloom.experiments.findings import curves_of, next_step, up_to_saturation
from netloom.experiments.store import Outcome

LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5]


def points(knee=3, seeds=(1,), levels=LEVELS, on="mesh:4x4"):
    return [
        Point("simulate", "simulate", fields, fields, sweep="load", knee=knee)
        for level in levels
        for seed in seeds
        for fields in [{"on": on, "load": level, "seed": seed}]
    ]


def run(asked, falls_behind, order=None):
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
    asked, known, answered = run(points(), lambda point: point.level > 0.33)
    assert sorted(point.level for point in answered) == [0.1, 0.2, 0.3, 0.325, 0.3375, 0.35, 0.4]
    counted, missing = up_to_saturation(asked, known)
    assert [point.level for point in counted] == [0.1, 0.2, 0.3, 0.325, 0.3375]
    assert not missing


def test_a_curve_that_never_saturates_has_all_its_points_and_no_knee():
    for told in (False, None):
        asked, known, answered = run(points(), lambda point, told=told: told)
        assert [point.level for point in answered] == LEVELS
        assert up_to_saturation(asked, known) == (asked, 0)


def test_a_curve_past_saturation_from_the_start_is_looked_at_below():
    _, _, answered = run(points(knee=2), lambda point: point.level > 0.06)
    assert [point.level for point in answered] == [0.1, 0.05, 0.075]


def test_half_of_the_seeds_decide():
    asked = points(seeds=(1, 2, 3, 4), knee=0)
    for behind, last in ((1, 0.5), (2, 0.3)):
        _, _, answered = run(
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
    in_order, known, _ = run(asked, falls_behind)
    expected = up_to_saturation(in_order, known)
    in_disorder, known, _ = run(asked, falls_behind, random.Random(order.random()))
    assert up_to_saturation(in_disorder, known) == expected


def test_points_of_two_networks_are_two_curves():
    first, second = points(), points(on="torus:4x4")
    mixed = [point for pair in zip(first, second, strict=True) for point in pair]
    assert [curve.points for curve in curves_of(mixed)] == [first, second]
