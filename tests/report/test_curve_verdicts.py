"""What curves say in sentences, on curves made by hand: each sentence as sure as its numbers."""

from dataclasses import replace

import polars as pl
import pytest

from netloom.report.page.curve_charts import curve_figures
from netloom.report.page.curve_kinds import AXES
from netloom.report.page.curve_verdicts import common_load, curve_numbers, curve_sentences
from netloom.report.page.curves import Curve, CurveGroup, find_curves
from netloom.verbs import simulate
from netloom.verbs.recorded import record

COLUMNS = {
    "load": float, "latency": float, "low": float, "high": float, "accepted": float,
    "accepted_low": float, "accepted_high": float, "runs": int,
}  # fmt: skip


def curve(label, points, fell=None, found=None, limit=None):
    """Return a curve of points (load, latency, half of the interval or None)."""
    rows = [
        {
            "load": load, "latency": latency, "low": half and latency - half,
            "high": half and latency + half, "accepted": load, "runs": 1,
        }
        for load, latency, half in points
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=COLUMNS)
    kept = points[-1][0] if points else None
    return Curve(
        False, {"topology": label}, label, table, table, kept, fell, limit, found, None, ()
    )


def group(*curves, axes="offered"):
    return CurveGroup("uniform traffic", AXES[axes], ("topology",), curves, (), ())


def said(*curves, axes="offered"):
    return [each.replace("\u00a0", " ") for each in curve_sentences(group(*curves, axes=axes))]


def sweep(label, last, fell=None, found=None):
    return curve(label, [(0.1, 20.0, 1.0), (last, 30.0, 1.0)], fell, found)


@pytest.mark.parametrize(
    ("curves", "sentence"),
    [
        (
            [sweep("a", 0.7, 0.8), sweep("b", 0.4, 0.5)],
            "A carries most: up to 0.7, 1.4 to 2 times as much as b with up to 0.4.",
        ),
        (
            [sweep("a", 0.6), sweep("b", 0.4, 0.5)],
            "A carries most: at least 0.6, at least 1.2 times as much as b with up to 0.4.",
        ),
        (
            [sweep("a", 0.4), curve("b", [], 0.2)],
            "A carries most: at least 0.4, at least 2 times as much as b with less than 0.2.",
        ),
        (
            [sweep("a", 0.5, 0.6), sweep("b", 0.4, 0.6), sweep("c", 0.2, 0.25)],
            "A and b carry most, 1.6 to 3 times as much as c with up to 0.2; which of them "
            "carries more is open.",
        ),
        (
            [sweep("a", 0.4, 0.5, (0.45, 0.01)), sweep("b", 0.4, 0.5, (0.455, 0.01))],
            "Which carries most is open: where they saturate is not known closely enough.",
        ),
        ([sweep("a", 0.4), sweep("b", 0.4, 0.5)], "All keep up with the same load, 0.4."),
    ],
)
def test_who_carries_most_is_said_as_far_as_it_is_known(curves, sentence):
    assert sentence in said(*curves)
    assert sentence in said(*reversed(curves)) or "A and b" in sentence


def test_saturation_lies_below_a_proven_limit():
    limited = curve("a", [(0.1, 20.0, 1.0), (0.14, 30.0, 1.0)], 0.15, limit=0.1429)
    assert limited.saturation == (0.14, 0.1429)
    assert said(limited)[0].startswith(
        "A keeps up with 0.14 and can carry no more than 0.1429: it saturates between them"
    )


def test_answers_that_claim_more_than_the_limit_are_not_believed():
    """As runs too short to show it were recorded once."""
    asked = {"traffic": "transpose", "load": [0.1, 0.13, 0.15], "cycles": 1000}
    found = record(simulate("mesh:8x8", **asked))
    table = found.tables["table"].with_columns(
        stable=pl.lit(True), packet_latency_mean=pl.lit(40.0)
    )
    claimed = replace(found, tables=found.tables | {"table": table})
    ((believed,),) = (each.simulated for each in find_curves([claimed]))
    assert believed.table["load"].to_list() == [0.1, 0.13]
    assert believed.saturation == (0.13, pytest.approx(1 / 7))


def test_a_middle_curve_can_be_told_from_the_fastest_though_the_slowest_can_not():
    curves = [curve(name, [(0.1, 20.0, 1.0), (0.2, latency, half)]) for name, latency, half in (
        ("a", 25.0, 0.5), ("b", 26.0, 0.1), ("c", 26.5, 3.0),
    )]  # fmt: skip
    assert (
        "At 0.2, the highest load that all have a latency of, a is faster: 25 ± 0.5 cycles; "
        "b takes 26 ± 0.1, +4.0 %. Between a and c no difference is sure."
    ) in said(*curves)


def test_without_intervals_none_is_spoken_of():
    slow = (("a", 25.0), ("b", 30.0))
    once = [curve(name, [(0.1, 20.0, None), (0.2, latency, None)]) for name, latency in slow]
    told = said(*once, axes="applied")[-1]
    assert "a is fastest: 25 cycles; b takes 30, +20 %." in told
    assert "single runs without intervals" in told
    same = said(once[0], curve("c", [(0.2, 25.0, None)]), axes="applied")[-1]
    assert same.endswith("they take the same: 25 cycles.")


def test_loads_that_differ_in_their_last_bit_are_the_same():
    one, other = curve("a", [(0.1 + 0.2, 20.0, 1.0)]), curve("b", [(0.3, 40.0, 1.0)])
    assert common_load(group(one, other)) == 0.3
    assert "b takes 40" in said(one, other)[-1]


def test_one_that_never_keeps_up_is_compared_and_keeps_its_colour():
    three = group(sweep("a", 0.4, 0.5), curve("b", [], 0.2), sweep("c", 0.4, 0.5))
    told = curve_sentences(three)
    assert "B falls behind at 0.2, the least load asked." in told
    assert any("the highest load that all but b have a latency of" in each for each in told)
    assert curve_numbers(three).rows[1] == ("b", "–", "below 0.2", "–", "–")
    for figure in curve_figures(three):
        scales = [each["encoding"]["color"]["scale"] for each in figure.spec["layer"]
                  if "color" in each.get("encoding", {})]  # fmt: skip
        assert scales
        assert all(scale["domain"] == ["a", "b", "c"] for scale in scales)
    assert "b: falls behind at 0.2, no latency." in curve_figures(three)[0].alternative


def test_a_router_that_falls_behind_at_once_stands_beside_one_that_does_not():
    good = record(simulate("mesh:4x4", load=[0.1, 0.2], cycles=400, vcs=4))
    bad = record(simulate("mesh:4x4", load=0.8, cycles=2000, vcs=1))
    assert not bad.tables["table"]["stable"][0]
    (found,) = find_curves([good, bad])
    assert len(found.simulated) == 2
    assert find_curves([bad]) == []
