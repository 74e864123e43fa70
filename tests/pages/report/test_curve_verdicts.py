"""What curves come to, on curves made by hand: each sentence as sure as its numbers."""

from dataclasses import replace

import polars as pl
import pytest

from netloom import simulate
from netloom.pages.curve_verdicts import compare_pair, decide, highest_shared
from netloom.pages.curves import Curve, CurveGroup, find_curves
from netloom.questions.recorded import record
from netloom.questions.simulate.load import BY_LOAD

COLUMNS = {
    "load": float, "latency": float, "low": float, "high": float, "accepted": float,
    "accepted_low": float, "accepted_high": float, "runs": int, "behind": int,
}  # fmt: skip


def curve(label, points, fell=None, found=None, limit=None):
    """Return a curve of points (load, latency, half of the interval or None)."""
    rows = [
        (load, at, half and at - half, half and at + half, load, None, None, 1, 0)
        for load, at, half in points
    ]
    table = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    kept = points[-1][0] if points else None
    ends = kept, fell, limit, found
    return Curve(False, {"topology": label}, label, table, table, *ends, None, ())


def exact(label, latencies, fell=None):
    """Return a curve of latencies by load, each known to 0.1 cycles."""
    return curve(label, [(load, latency, 0.1) for load, latency in latencies.items()], fell)


def sweep(label, last, fell=None, found=None):
    return curve(label, [(0.1, 20.0, 1.0), (last, 30.0, 1.0)], fell, found)


def group(*curves, axes=BY_LOAD):
    return CurveGroup("uniform traffic", axes, ("topology",), curves, (), ())


def decided(*curves, axes=BY_LOAD):
    return decide(group(*curves, axes=axes))


def said(*curves, axes=BY_LOAD):
    """Return all that a verdict says: its sentence behind its mark, its lines and its note."""
    verdict = decided(*curves, axes=axes).verdict
    found = [verdict.marked, *verdict.lines.values(), verdict.note]
    return [each.replace("\u00a0", " ") for each in found]


CURVES = {
    "": [sweep("a", 0.4), sweep("a", 0.4, 0.5)],
    "found": [sweep("a", 0.4, 0.5, (0.45, 0.01)), sweep("b", 0.4, 0.5, (0.455, 0.01))],
    "far": [sweep("a", 0.7, 0.8), sweep("b", 0.4, 0.5)],
    "open": [sweep("a", 0.6), sweep("b", 0.4, 0.5)],
    "never": [sweep("a", 0.4), curve("b", [], 0.2)],
    "overlap": [sweep("a", 0.5, 0.6), sweep("b", 0.4, 0.6), sweep("c", 0.2, 0.25)],
    "two": [sweep("a", 0.5, 0.6), sweep("b", 0.5, 0.6), sweep("c", 0.2, 0.25)],
    "less": [exact("a", {0.1: 20, 0.3: 25, 0.6: 60}, 0.7), exact("b", {0.1: 21, 0.3: 50}, 0.4)],
    "more": [exact("a", {0.1: 50, 0.3: 60, 0.6: 90}, 0.7), exact("b", {0.1: 21, 0.3: 40}, 0.4)],
    "near": [
        exact("a", {0.1: 20, 0.3: 25, 0.5: 60}, 0.51),
        exact("b", {0.1: 21, 0.3: 27, 0.5: 90}, 0.52),
    ],
    "half": [exact("a", {0.1: 20, 0.3: 25}, 0.4), exact("b", {0.1: 30, 0.3: 50}, 0.4)],
    "middle": [
        curve("a", [(0.1, 20.0, 1.0), (0.2, 25.0, 0.5)]),
        curve("b", [(0.1, 20.0, 1.0), (0.2, 26.0, 0.1)]),
        curve("c", [(0.1, 20.0, 1.0), (0.2, 26.5, 3.0)]),
    ],
    "apart": [
        curve("a", [(0.1, 20.0, 0.0), (0.3, 40.0, 0.0)]),
        curve("b", [(0.2, 40.0, 0.0), (0.4, 80.0, 0.0)]),
    ],
}


LEVEL = [(0.1, 20.0, 1.0), (0.2, 25.0, 1.0), (0.3, 30.0, 1.0)]
CURVES |= {
    "within": [
        curve("a", LEVEL),
        curve("b", [(load, latency + load * 10 / 3, half) for load, latency, half in LEVEL]),
    ],
    "unsure": [
        curve("a", LEVEL),
        curve("b", [(0.1, 24.0, 3.0), (0.2, 30.0, 3.0), (0.3, 34.0, 4.0)]),
    ],
}


@pytest.mark.parametrize(
    ("name", "sentence", "tile"),
    [
        ("far", "A carries most: up to 0.7, 1.4 to 2 times as much as b with up to 0.4.", "1.4×"),
        ("far", "✓ Take a for uniform traffic: at least 1.4 times the load of b.", "1.4×"),
        ("open", "A carries most: at least 0.6, at least 1.2 times as much as b with up to 0.4.",
         "1.2×"),
        ("never", "A carries most: at least 0.4, at least 2 times as much as b with less than 0.2.",
         "2×"),
        ("overlap", "A and b carry most, 1.6 to 3 times as much as c with up to 0.2; which of them "
         "carries more is open.", None),
        ("found", "Which carries most is open: where they saturate is not known closely enough.",
         None),
        ("less", "✓ Take a for uniform traffic: at least 1.5 times the load of b, 50 % less "
         "latency at 0.3 flits/node/cycle.", "−50 %"),
        ("more", "✓ Take a for uniform traffic: at least 1.5 times the load of b, 50 % more "
         "latency at 0.3 flits/node/cycle.", "+50 %"),
        ("near", "! For uniform traffic decide by cost up to 0.3: latencies differ by at most 8 %, "
         "and both carry 0.5 flits/node/cycle.", "8 %"),
        ("half", "✓ Take a for uniform traffic: 50 % less latency at 0.3 flits/node/cycle, and "
         "both carry 0.3 flits/node/cycle.", "−50 %"),
        ("two", "✓ For uniform traffic decide by cost: latencies of a and b are the same, and both "
         "carry 0.5 flits/node/cycle.", "0 %"),
        ("middle", "At 0.2, the highest load that all have a latency of, a is faster: 25.00 ± 0.50 "
         "cycles. B takes 26.00 ± 0.10, +4.0 %. Between a and c no difference is sure.", None),
        ("within", "✓ For uniform traffic decide by cost: latencies differ by at most 3.3 %, and "
         "both carry 0.3 flits/node/cycle.", None),
        ("unsure", "? Which to take for uniform traffic is open: no difference in latency is sure.",
         None),
        ("apart", "? Which to take for uniform traffic is open: no load has a latency of each.",
         None),
    ],
)  # fmt: skip
def test_which_one_to_take_and_who_carries_most_are_said_as_far_as_they_are_known(
    name, sentence, tile
):
    assert sentence in said(*CURVES[name])
    assert sentence in said(*reversed(CURVES[name])) or "a and b" in sentence.lower()
    assert len(said(*CURVES[name])[0].split()) <= 31
    shown = [each.value.replace("\u00a0", " ") for each in decided(*CURVES[name]).tiles]
    assert tile is None or tile in shown


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (CURVES[""][0], "✓ A carries all that was offered, up to 0.4 flits/node/cycle."),
        (CURVES[""][1], "! A saturates between 0.4 and 0.5 flits/node/cycle."),
        (CURVES["found"][0], "! A saturates at 0.450 ± 0.010 flits/node/cycle."),
        (CURVES["never"][1], "✗ B saturates below 0.2 flits/node/cycle, the least load asked."),
        (
            curve("a", [(0.1, 20.0, 1.0), (0.14, 30.0, 1.0)], 0.15, limit=0.1429),
            "! A saturates between 0.14 and 0.143 flits/node/cycle.",
        ),
    ],
)
def test_a_lone_curve_is_told_below_its_proven_limit(one, sentence):
    assert said(one)[0] == sentence


def test_answers_that_claim_more_than_the_limit_are_not_believed():
    """As runs too short to show it were recorded once."""
    asked = {"traffic": "transpose", "load": [0.1, 0.13, 0.15], "cycles": 1000}
    found = record(simulate("mesh:8x8", **asked))
    table = found.tables["table"].with_columns(
        stable=pl.lit(True), packet_latency_mean=pl.lit(40.0)
    )
    claimed = replace(found, tables={**found.tables, "table": table})
    ((believed,),) = (each.simulated for each in find_curves([claimed]))
    assert believed.table["load"].to_list() == [0.1, 0.13]
    assert believed.saturation == (0.13, pytest.approx(1 / 7))


def test_loads_that_differ_in_their_last_bit_are_the_same():
    one, other = curve("a", [(0.1 + 0.2, 20.0, 1.0)]), curve("b", [(0.3, 40.0, 1.0)])
    assert highest_shared((one, other)) == 0.3
    assert "40" in decided(one, other).tiles[0].label


def test_curves_that_cross_are_said_to_and_where_it_is_sure():
    low = curve("a", [(0.1, 20.0, 0.5), (0.2, 24.0, 0.5), (0.3, 34.0, 1.0), (0.4, 50.0, 2.0)])
    high = curve("b", [(0.1, 26.0, 0.5), (0.2, 27.0, 0.5), (0.3, 33.5, 1.0), (0.4, 41.0, 2.0)])
    pair = compare_pair(low, high)
    assert pair.faster.tolist() == [1, 1, 0, -1]
    (crossing,) = pair.crossings
    assert (crossing.low, crossing.high) == (0.2, 0.4)
    assert crossing.load == pytest.approx(0.2 + 0.1 * 3 / 3.5)
    told = said(low, high)
    assert (
        "The latencies of a and b cross at 0.286 (between 0.2 and 0.4): a is faster below, b above."
    ) in told
    assert told[0][2:] == "For uniform traffic take a below 0.286 flits/node/cycle and b above."
    assert compare_pair(high, low).crossings == pair.crossings


def test_a_pair_is_compared_at_loads_of_either_and_only_where_both_are_known():
    pair = compare_pair(*CURVES["apart"])
    assert pair.loads.tolist() == [0.2, 0.3]
    # 1 / latency is straight: 1/20 and 1/40 make 3/80 half-way
    assert pair.ratio.tolist() == pytest.approx([40 * 3 / 80 - 1, (1 / (3 / 160)) / 40 - 1])


def test_a_curve_goes_on_to_the_load_that_the_text_says_it_keeps_up_with():
    """One of three seeds fell behind at 0.2: the curve ended at 0.1, the text said 0.2."""
    runs = [
        record(simulate("mesh:4x4", load=load, cycles=400, seed=seed))
        for load in (0.1, 0.2, 0.9)
        for seed in (1, 2, 3)
    ]
    first = runs[3]
    table = first.tables["table"].with_columns(
        stable=pl.lit(value=False), packet_latency_mean=pl.lit(None, pl.Float64)
    )
    runs[3] = replace(first, tables={**first.tables, "table": table})
    (found,) = find_curves(runs)
    (one,) = found.simulated
    assert one.kept_up == one.table["load"].max() == 0.2
    assert one.table["behind"].to_list() == [0, 1]
    assert one.table["high"].is_null().to_list() == [False, True]
    others = [each.tables["table"]["packet_latency_mean"][0] for each in runs[4:6]]
    assert one.table["latency"][-1] == pytest.approx(sum(others) / 2)
