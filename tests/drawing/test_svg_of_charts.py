"""What holds of every picture as it is drawn: words that do not touch, ticks that tell apart."""

import re
from functools import cache

import polars as pl
import pytest
import vl_convert

from netloom.drawing.axes import axis, looks_of, panel
from netloom.drawing.frame import NARROW, framed, narrow_page
from netloom.questions.recorded import record
from tests.drawing.svg import labels_of_axes, outside, overlapping, read
from tests.questions.small_answers import ANSWERS

NETWORKS = {"channels", "network", "before", "after", "difference", "phases on the network"}
"""Parts that are pictures of networks."""

SENTENCES = ("analyze", "predict", "simulate_hot", "simulate_flows", "simulate_broadcast",
             "simulate_pattern", "simulate_transactions", "find_critical")  # fmt: skip
"""Questions whose pictures say something in numbers."""

MOST_LABELS = 7

RIM = 36
"""Pixels of a picture's rims, both sides."""


@cache
def kept(asked):
    return record(ANSWERS[asked]())


def drawn(parts, said="One sentence with a number, 12 %.", footer=()):
    return read(vl_convert.vegalite_to_svg(framed(parts, said, footer).to_dict()))


def is_numbers(labels):
    return all(re.match(r"[-−]?[\d.,]+", each) for each in labels)


def check(size, texts):
    assert overlapping(texts) == []
    assert outside(texts, size) == []
    for labels in labels_of_axes(texts):
        assert len(set(labels)) == len(labels), labels
    assert all(each.size >= 10.5 for each in texts)


@pytest.mark.parametrize("asked", list(ANSWERS))
def test_nothing_touches_in_the_whole_picture(asked):
    found = kept(asked)
    footer = found.answer.footer()
    assert footer
    assert all(isinstance(each, str) and each for each in footer)
    check(*drawn(found.answer.arranged(), footer=footer))


@pytest.mark.parametrize("asked", list(ANSWERS))
def test_charts_have_few_ticks_units_a_sentence_and_a_mark_for_each_entry_of_a_legend(asked):
    for name, part in kept(asked).answer.parts().items():
        if name in NETWORKS:
            continue
        svg = vl_convert.vegalite_to_svg(framed([part], "Short.").to_dict())
        _, texts = read(svg)
        for labels in labels_of_axes(texts):
            assert len(labels) <= MOST_LABELS or not is_numbers(labels), (name, labels)
        assert any("role-axis-title" in group for text in texts for group in text.groups), name
        said = " ".join(each.said for each in texts if any("role-title" in g for g in each.groups))
        assert said, name
        if asked.startswith(SENTENCES):
            assert re.search(r"\d|\b(No|Nothing|no)\b", said), (name, said)
        entries = re.findall(r'class="[^"]*role-legend-label[^"]*"[^>]*>\s*<text', svg)
        symbols = re.findall(r'class="[^"]*role-legend-symbol[^"]*"[^>]*>\s*<path[^>]*>', svg)
        assert len(symbols) == len(entries) or "legend-gradient" in svg, name
        for each in symbols:
            assert 'fill="none" stroke="none"' not in each


@pytest.mark.parametrize("asked", list(ANSWERS))
def test_charts_fit_a_narrow_page(asked):
    found = kept(asked)
    with narrow_page():
        for name, part in found.answer.parts().items():
            if name in NETWORKS:
                continue
            size, texts = drawn([part], "Short.")
            check(size, texts)
            assert size[0] <= NARROW + RIM + 10, name


def test_lines_that_lie_on_each_other_are_both_named():
    x, y = axis("x", "x (hops)", [1, 2]), axis("y", "y (cycles)", [1, 2])
    looks = looks_of(["one", "other", "third"])
    where = panel(x, y, looks)
    names = [name for name in looks for _ in range(2)]
    table = pl.DataFrame({"x": [1.0, 2.0] * 3, "y": [1.0, 2.0] * 2 + [1.0, 1.5], "of": names})
    layers = [*where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
    _, texts = drawn([where.drawn(layers, "title")])
    said = [each.said for each in texts]
    assert {"one", "= other", "third"} <= set(said)
    assert overlapping(texts) == []
