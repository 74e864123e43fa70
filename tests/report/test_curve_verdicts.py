"""What curves come to, on curves made by hand: each sentence as sure as its numbers."""

from dataclasses import replace

import polars as pl
import pytest

from netloom import simulate
from netloom.drawing.frame import COLOURS
from netloom.questions.recorded import record
from netloom.questions.simulate.load import BY_LOAD
from netloom.questions.simulate.loop import BY_APPLIED
from netloom.report.page.curve_verdicts import compare_pair, curve_numbers, decide, highest_shared
from netloom.report.page.curves import Curve, CurveGroup, find_curves, names_of, telling
from netloom.report.page.figure import curve_figures

COLUMNS = {
    "load": float, "latency": float, "low": float, "high": float, "accepted": float,
    "accepted_low": float, "accepted_high": float, "runs": int, "behind": int,
}  # fmt: skip


def curve(label, points, fell=None, found=None, limit=None):
    """Return a curve of points (load, latency, half of the interval or None)."""
    rows = [
        {
            "load": load, "latency": latency, "low": half and latency - half,
            "high": half and latency + half, "accepted": load, "runs": 1, "behind": 0,
        }
        for load, latency, half in points
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=COLUMNS)
    kept = points[-1][0] if points else None
    return Curve(
        False, {"topology": label}, label, table, table, kept, fell, limit, found, None, ()
    )


def group(*curves, axes=BY_LOAD):
    return CurveGroup("uniform traffic", axes, ("topology",), curves, (), ())


def decided(*curves, axes=BY_LOAD):
    return decide(group(*curves, axes=axes))


def sentence_of(*curves, axes=BY_LOAD):
    return decided(*curves, axes=axes).verdict.sentence.replace("\u00a0", " ")


def said(*curves, axes=BY_LOAD):
    verdict = decided(*curves, axes=axes).verdict
    found = [verdict.sentence, *verdict.lines.values(), verdict.note]
    return [each.replace("\u00a0", " ") for each in found]


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
        ([sweep("a", 0.4), sweep("b", 0.4, 0.5)], "All carry the same load, 0.4."),
    ],
)
def test_who_carries_most_is_said_as_far_as_it_is_known(curves, sentence):
    assert sentence in said(*curves)
    assert sentence in said(*reversed(curves)) or "A and b" in sentence


def test_saturation_lies_below_a_proven_limit():
    limited = curve("a", [(0.1, 20.0, 1.0), (0.14, 30.0, 1.0)], 0.15, limit=0.1429)
    assert limited.saturation == (0.14, 0.1429)
    assert sentence_of(limited) == "A saturates between 0.14 and 0.143 flits/node/cycle."


def test_answers_that_claim_more_than_the_limit_are_not_believed():
    """As runs too short to show it were recorded once."""
    asked = {"traffic": "transpose", "load": [0.1, 0.13, 0.15], "cycles": 1000}
    found = record(simulate("mesh:8x8", **asked))
    table = found.tables["table"].with_columns(
        stable=pl.lit(True), packet_latency_mean=pl.lit(40.0)
    )
    claimed = replace(found, kept={**found.kept, "table": table})
    ((believed,),) = (each.simulated for each in find_curves([claimed]))
    assert believed.table["load"].to_list() == [0.1, 0.13]
    assert believed.saturation == (0.13, pytest.approx(1 / 7))


def test_a_middle_curve_can_be_told_from_the_fastest_though_the_slowest_can_not():
    curves = [curve(name, [(0.1, 20.0, 1.0), (0.2, latency, half)]) for name, latency, half in (
        ("a", 25.0, 0.5), ("b", 26.0, 0.1), ("c", 26.5, 3.0),
    )]  # fmt: skip
    assert (
        "At 0.2, the highest load that all have a latency of, a is faster: 25.00 ± 0.50 cycles. "
        "B takes 26.00 ± 0.10, +4.0 %. Between a and c no difference is sure."
    ) in said(*curves)


def test_without_intervals_none_is_spoken_of():
    slow = (("a", 25.0), ("b", 30.0))
    once = [curve(name, [(0.1, 20.0, None), (0.2, latency, None)]) for name, latency in slow]
    verdict = decided(*once, axes=BY_APPLIED).verdict
    assert "a is fastest: 25 cycles. B takes 30, +20" in verdict.lines["latency"]
    assert verdict.lines["latency"].endswith("These are single runs without intervals.")
    same = said(once[0], curve("c", [(0.1, 20.0, None), (0.2, 25.0, None)]), axes=BY_APPLIED)[1]
    assert same.endswith("they take the same: 25 cycles.")


def test_loads_that_differ_in_their_last_bit_are_the_same():
    one, other = curve("a", [(0.1 + 0.2, 20.0, 1.0)]), curve("b", [(0.3, 40.0, 1.0)])
    assert highest_shared((one, other)) == 0.3
    assert "40" in decided(one, other).tiles[0].label


def test_one_that_never_keeps_up_is_compared_and_keeps_its_colour():
    three = group(sweep("a", 0.4, 0.5), curve("b", [], 0.2), sweep("c", 0.4, 0.5))
    lines = decide(three).verdict.lines
    assert "the highest load that all but b have a latency of" in lines["latency"]
    assert "as much as b with less than 0.2" in lines["load"]
    assert curve_numbers(three).rows[1] == ("b", "–", "below 0.2", "–", "–")
    alone = decided(curve("b", [], 0.2)).verdict
    assert alone.marked == "✗ B saturates below 0.2 flits/node/cycle, the least load asked."
    for figure in curve_figures(three):
        found = {
            (each["transform"][0]["filter"]["equal"], each["mark"]["color"])
            for each in figure.spec["layer"] if "transform" in each
        }  # fmt: skip
        assert found >= {("a", COLOURS[0]), ("c", COLOURS[2])}
        assert found <= set(zip("abc", COLOURS, strict=False))
    assert "b: falls behind at 0.2, no latency." in curve_figures(three)[0].alternative


def test_a_router_that_falls_behind_at_once_stands_beside_one_that_does_not():
    good = record(simulate("mesh:4x4", load=[0.1, 0.2], cycles=400, vcs=4))
    bad = record(simulate("mesh:4x4", load=0.8, cycles=2000, vcs=1))
    assert not bad.tables["table"]["stable"][0]
    (found,) = find_curves([good, bad])
    assert len(found.simulated) == 2
    assert find_curves([bad]) == []


def with_behind(one, *behind):
    """Return a curve of three runs a load, of which so many fell behind."""
    table = one.table.with_columns(pl.Series("behind", behind), runs=pl.lit(3))
    return replace(one, table=table)


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
    assert told[0] == "For uniform traffic take a below 0.286 flits/node/cycle and b above."
    turned = compare_pair(high, low)
    assert turned.crossings == pair.crossings


def test_a_pair_is_compared_at_loads_of_either_and_only_where_both_are_known():
    one = curve("a", [(0.1, 20.0, 0.0), (0.3, 40.0, 0.0)])
    other = curve("b", [(0.2, 40.0, 0.0), (0.4, 80.0, 0.0)])
    pair = compare_pair(one, other)
    assert pair.loads.tolist() == [0.2, 0.3]
    # 1 / latency is straight: 1/20 and 1/40 make 3/80 half-way
    assert pair.ratio.tolist() == pytest.approx([40 * 3 / 80 - 1, (1 / (3 / 160)) / 40 - 1])
    assert sentence_of(one, other) == (
        "Which to take for uniform traffic is open: no load has a latency of each."
    )


def test_differences_within_the_intervals_are_not_sure():
    one = curve("a", [(0.1, 20.0, 1.0), (0.2, 25.0, 1.0), (0.3, 30.0, 1.0)])
    near = curve("b", [(0.1, 20.5, 1.0), (0.2, 25.5, 1.0), (0.3, 31.0, 1.0)])
    verdict = decided(one, near).verdict
    assert "no difference in latency is sure" in verdict.lines["latency"]
    assert verdict.sentence.replace("\u00a0", " ") == (
        "For uniform traffic decide by cost: latencies differ by at most 3.3 %, and both carry 0.3 "
        "flits/node/cycle."
    )
    far = curve("b", [(0.1, 24.0, 3.0), (0.2, 30.0, 3.0), (0.3, 34.0, 4.0)])
    assert decided(one, far).verdict.marked == (
        "? Which to take for uniform traffic is open: no difference in latency is sure."
    )


@pytest.mark.parametrize(
    ("curves", "mark", "sentence", "tiles", "chosen"),
    [
        (
            [sweep("a", 0.7, 0.8), sweep("b", 0.4, 0.5)],
            "fine",
            "Take a for uniform traffic: at least 1.4 times the load of b.",
            ["1.4×"],
            "a",
        ),
        (
            [
                curve("a", [(0.1, 20.0, 0.1), (0.3, 25.0, 0.1), (0.6, 60.0, 1.0)], 0.7),
                curve("b", [(0.1, 21.0, 0.1), (0.3, 50.0, 0.1)], 0.4),
            ],
            "fine",
            "Take a for uniform traffic: at least 1.5 times the load of b, 50 % less latency at "
            "0.3 flits/node/cycle.",
            ["1.5×", "−50 %"],
            "a",
        ),
        (
            [
                curve("a", [(0.1, 50.0, 0.1), (0.3, 60.0, 0.1), (0.6, 90.0, 1.0)], 0.7),
                curve("b", [(0.1, 21.0, 0.1), (0.3, 40.0, 0.1)], 0.4),
            ],
            "fine",
            "Take a for uniform traffic: at least 1.5 times the load of b, 50 % more latency at "
            "0.3 flits/node/cycle.",
            ["1.5×", "+50 %"],
            "a",
        ),
        (
            [
                curve("a", [(0.1, 20.0, 0.1), (0.3, 25.0, 0.1), (0.5, 60.0, 1.0)], 0.51),
                curve("b", [(0.1, 21.0, 0.1), (0.3, 27.0, 0.1), (0.5, 90.0, 1.0)], 0.52),
            ],
            "limited",
            "For uniform traffic decide by cost up to 0.3: latencies differ by at most 8 %, and "
            "both carry 0.5 flits/node/cycle.",
            ["8 %"],
            None,
        ),
        (
            [
                curve("a", [(0.1, 20.0, 0.1), (0.3, 25.0, 0.1)], 0.4),
                curve("b", [(0.1, 30.0, 0.1), (0.3, 50.0, 0.1)], 0.4),
            ],
            "fine",
            "Take a for uniform traffic: 50 % less latency at 0.3 flits/node/cycle, and both carry "
            "0.3 flits/node/cycle.",
            ["−50 %"],
            "a",
        ),
        (
            [sweep("a", 0.5, 0.6), sweep("b", 0.5, 0.6), sweep("c", 0.2, 0.25)],
            "fine",
            "For uniform traffic decide by cost: latencies of a and b are the same, and "
            "both carry 0.5 flits/node/cycle.",
            ["0 %"],
            None,
        ),
        ([sweep("a", 0.4)], "fine",
         "A carries all that was offered, up to 0.4 flits/node/cycle.", None, None),
        ([sweep("a", 0.4, 0.5)], "limited",
         "A saturates between 0.4 and 0.5 flits/node/cycle.", None, None),
        ([sweep("a", 0.4, 0.5, (0.45, 0.01))], "limited",
         "A saturates at 0.450 ± 0.010 flits/node/cycle.", None, None),
    ],
)  # fmt: skip
def test_which_one_to_take_is_the_first_thing_said(curves, mark, sentence, tiles, chosen):
    found = decided(*curves)
    assert found.verdict.mark == mark
    assert found.verdict.sentence.replace("\u00a0", " ") == sentence
    assert len(sentence.split()) <= 30
    if tiles is not None:
        assert [each.value.replace("\u00a0", " ") for each in found.tiles] == tiles
    assert (found.curve and found.curve.label) == chosen


def test_programs_are_no_choice():
    two = [
        curve("a.mtx", [(0.1, 20.0, 0.1), (0.6, 60.0, 1.0)], 0.7),
        curve("b.mtx", [(0.1, 30.0, 0.1), (0.3, 70.0, 1.0)], 0.4),
    ]
    together = replace(group(*two), name="2 programs or patterns on mesh:8x8", differ=("traffic",))
    sentence = decide(together).verdict.sentence
    assert sentence.startswith("A.mtx carries most of 2 programs or patterns on mesh:8x8:")
    assert "take" not in sentence.lower()


def test_loads_at_which_some_runs_fell_behind_are_drawn_hollow_and_not_compared():
    part = with_behind(
        curve("a", [(0.1, 20.0, 1.0), (0.2, 25.0, 1.0), (0.3, 60.0, None)], fell=0.35), 0, 0, 1
    )
    rest = curve("b", [(0.1, 21.0, 1.0), (0.2, 35.0, 1.0), (0.3, 61.0, 1.0)])
    assert part.at(0.3) is None
    assert highest_shared((part, rest)) == 0.2
    assert compare_pair(part, rest).loads.tolist() == [0.1, 0.2]
    assert decided(part, rest).verdict.note == "At 0.3, a carried the load in 2 of 3 runs."
    figure = curve_figures(group(part, rest))[0]
    assert "Hollow: some runs fell behind" in figure.caption
    assert [row[-1] for row in figure.data.rows] == ["3", "3", "2 of 3", "1", "1", "1"]
    kinds = [each["mark"]["type"] for each in figure.spec["layer"]]
    assert kinds.count("circle") == 2
    (hollow,) = (each for each in figure.spec["layer"] if each["mark"].get("filled") is False)
    assert hollow["mark"]["filled"] is False
    whole = curve_figures(group(rest, sweep("c", 0.3, 0.5)))[0]
    assert "Hollow" not in whole.caption


def test_a_curve_goes_on_to_the_load_that_the_text_says_it_keeps_up_with():
    """One of three seeds fell behind at 0.2: the curve ended at 0.1, the text said 0.2."""
    runs = [
        record(simulate("mesh:4x4", load=load, cycles=400, seed=seed))
        for load in (0.1, 0.2, 0.9) for seed in (1, 2, 3)
    ]  # fmt: skip
    first = runs[3]
    table = first.tables["table"].with_columns(
        stable=pl.lit(value=False), packet_latency_mean=pl.lit(None, pl.Float64)
    )
    runs[3] = replace(first, kept={**first.kept, "table": table})
    (found,) = find_curves(runs)
    (one,) = found.simulated
    assert one.kept_up == one.table["load"].max() == 0.2
    assert one.table["behind"].to_list() == [0, 1]
    assert one.table["high"].is_null().to_list() == [False, True]
    others = [each.tables["table"]["packet_latency_mean"][0] for each in runs[4:6]]
    assert one.table["latency"][-1] == pytest.approx(sum(others) / 2)


def test_names_of_files_have_no_folders_and_no_name_is_cut_off():
    files = ["/runs/of/today/lammps.mtx", "/runs/of/today/fft.mtx"]
    about = [{"topology": "mesh:8x8", "traffic": each} for each in files]
    assert names_of(about, telling(about)) == ["lammps", "fft"]
    alike = [{"traffic": "/a/run.mtx"}, {"traffic": "/b/run.mtx"}]
    assert names_of(alike, telling(alike)) == ["/a/run.mtx", "/b/run.mtx"]
    long = [f"{name}, with the routing of the second proposal" for name in ("first", "second")]
    drawn = group(*(sweep(name, 0.4, 0.5) for name in long))
    figure = curve_figures(drawn)[0]
    assert 'Names leave out "with the routing of the second proposal".' in figure.caption
    assert ends_of(figure) == ["first", "= second"]  # the curves are the same
    wide = group(*(sweep(f"{name}-{'x' * 60}", 0.4, 0.5) for name in "abc"))
    found = curve_figures(wide)[0]
    assert {each.removeprefix("● ").removeprefix("= ") for each in ends_of(found)} == {
        f"{name}-{'x' * 60}" for name in "abc"
    }
    assert found.narrow is not None


def test_the_title_says_once_what_all_curves_share():
    routers = [
        record(simulate("mesh:4x4", load=[0.05, 0.1], cycles=200, router=name))
        for name in ("three-stage", "single-cycle")
    ]
    (found,) = find_curves(routers)
    assert found.name == "uniform traffic on mesh:4x4"
    assert [each.label for each in found.simulated] == ["three-stage router", "single-cycle router"]
    figure = curve_figures(found)[0]
    assert figure.title == "Packet latency by load: uniform traffic on mesh:4x4"
    assert 'Names leave out "router".' in figure.caption
    assert sorted(ends_of(figure)) == ["single-cycle", "three-stage"]
    long = [f"/runs/{name * 30}.mtx" for name in "ab"]
    curves = [
        replace(each, figures={**each.figures, "traffic": name})
        for each, name in zip((routers[0],) * 2, long, strict=True)
    ]
    (both,) = find_curves(curves)
    assert both.name == "2 programs or patterns on mesh:4x4"
    assert [each.label for each in both.simulated] == ["a" * 30, "b" * 30]


def ends_of(figure):
    """The names at the ends of curves, from the top down."""
    sets = figure.spec["datasets"].values()
    return [row["said"] for rows in sets for row in rows if "across" in row and "said" in row]
