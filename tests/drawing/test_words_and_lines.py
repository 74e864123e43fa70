"""Words over bars and below axes: what they are of can be seen without colours, and is not cut."""

import re

import polars as pl
import pytest
import vl_convert
from hypothesis import given, strategies as st

from netloom.drawing.axes import DASHED, DOTTED, SOLID, End, Look, axis, panel
from netloom.drawing.bars import Bar, bars, stacked
from netloom.drawing.frame import BEST, REFERENCE, THIS, framed, narrow_page
from netloom.drawing.names import APART, places
from tests.drawing.svg import labels_of_axes, outside, overlapping, read

WANTED = st.lists(st.tuples(st.floats(0, 250), st.floats(20, 150)), min_size=1, max_size=5)


def svg(part):
    return vl_convert.vegalite_to_svg(framed([part], "Short.").to_dict())


@given(wanted=WANTED.map(sorted))
def test_words_above_axes_do_not_touch_and_their_lines_cross_none(wanted):
    found = places(wanted, 250.0)
    for at, one in enumerate(found):
        assert one.right - one.left == pytest.approx(wanted[at][1])
        for place, other in enumerate(found):
            if place == at:
                continue
            if one.row == other.row:
                apart = max(one.left - other.right, other.left - one.right)
                assert apart >= APART - 1e-9
            if one.led and other.row < one.row:
                assert not other.left < wanted[at][0] < other.right


def test_a_line_leads_from_words_of_an_upper_row_to_their_part():
    parts = [
        Bar("first of them", 1.0, "1"),
        Bar("second of them", 2.0, "2", THIS),
        Bar("third of them", 60.0, "60", BEST),
    ]
    text = svg(stacked(parts, "Three parts", "time (cycles)"))
    lines = re.findall(rf'<line [^>]*y2="([-\d.]+)"[^>]*stroke="{REFERENCE}"', text)
    assert sum(float(down) > 15 for down in lines) == 1
    _, texts = read(text)
    assert {"first of them 1", "second of them 2", "third of them 60"} <= {t.said for t in texts}
    assert overlapping(texts) == []


def test_what_is_not_known_has_no_numbers_on_its_axis():
    _, texts = read(svg(stacked([], "Nothing is known", "time (cycles)")))
    assert labels_of_axes(texts) == []
    assert {"not known", "time (cycles)"} <= {each.said for each in texts}
    _, texts = read(svg(stacked([Bar("one", 3.0, "3")], "Known", "time (cycles)")))
    assert labels_of_axes(texts) != []


def test_bars_of_a_narrow_page_have_their_whole_names():
    names = ["waiting for the source's channel", "waiting for the target's channel", "messages"]
    rows = [
        Bar(name, at + 1.0, f"{at + 1} cycles, holds flows back", between=(0.5, at + 1.5))
        for at, name in enumerate(names)
    ]
    with narrow_page():
        size, texts = read(svg(bars(rows, "Three bars", "time (cycles)")))
    assert set(names) <= {each.said for each in texts}
    assert overlapping(texts) == []
    assert outside(texts, size) == []
    tops = {each.said: each.box[1] for each in texts}
    for name, row in zip(names, rows, strict=True):
        assert tops[name] < tops[row.said] < tops[name] + 30
    wide = bars(rows, "Three bars", "time (cycles)")
    labels = labels_of_axes(read(svg(wide))[1])
    assert names in labels


def test_names_below_narrow_axes_stand_after_a_piece_of_their_line():
    looks = {"a solid line": Look(THIS, SOLID), "a dashed line": Look(BEST, DASHED)}
    names = [name for name in looks for _ in range(2)]
    table = pl.DataFrame({"x": [0.0, 1.0] * 2, "y": [0.0, 1.0, 1.0, 0.0], "of": names})
    more = [
        End("an idle network's latency", 1.0, 0.5, REFERENCE, DOTTED),
        End("points that were simulated", 1.0, 0.6, THIS, ()),
        End.of_bound("what nothing is beyond", 1.0, 0.9),
    ]
    with narrow_page():
        where = panel(
            axis("x", "load", [0, 1]),
            axis("y", "time (cycles)", [0, 1]),
            [*looks, *(each.name for each in more)],
        )
        assert where.below
        drawn = where.drawn(where.ends_of(table, "of", looks, more), "Lines")
    text = svg(drawn)
    dashes = re.findall(r'<line [^>]*stroke-dasharray="([^"]*)"', text)
    assert sorted(dashes) == sorted(["6,4", "2,3", "8,3,2,3", "1,0"])
    said = {each.said for each in read(text)[1]}
    assert {*looks, *(each.name for each in more)} <= said
