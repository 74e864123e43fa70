"""The page on a phone, and on paper: several alternatives, all of whose numbers are in sight."""

import re

import pytest

import netloom as nl
from netloom.questions.recorded import record
from netloom.report.page.pages import page_of
from netloom.report.page.write import render
from tests.browser import SMALLEST, TOO_WIDE, Visit


@pytest.fixture(scope="module")
def several(browser, tmp_path_factory):
    """A page of three networks, two mappings of each, and three routers."""
    networks = ("torus:4x4", "mesh:4x4", "hypercube:4")
    answers = [
        record(nl.analyze("binary-tree:15", on, mapping=mapping, random_mappings=0))
        for on in networks
        for mapping in ("identity", "random")
    ]
    three = [nl.simulate("torus:4x4", load=0.2, vcs=vcs, cycles=600) for vcs in (2, 4, 8)]
    path = tmp_path_factory.mktemp("several") / "several.html"
    path.write_text(render(page_of([*answers, *map(record, three)])), encoding="utf-8")
    found = Visit(browser, path, has_touch=True, is_mobile=True)
    found.drawn()
    yield found
    found.context.close()


CUT_TABLES = """[...document.querySelectorAll('table.fixed')]
    .filter(each => each.getBoundingClientRect().width > each.parentElement.clientWidth + 1)
    .map(each => each.parentElement.ariaLabel)"""
"""Tables of few alternatives that are wider than their place: none of their numbers may be cut."""


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_three_alternatives_have_all_their_numbers_in_sight(several, width):
    tab = several.tab
    tab.set_viewport_size({"width": width, "height": 900})
    size = "narrow" if width < 1180 else "wide"
    tab.wait_for_selector(f"html[data-size={size}]", state="attached")
    assert tab.locator("table.fixed").count() >= 1
    assert tab.locator("table.fixed").first.locator("thead th").count() == 4
    assert tab.evaluate(CUT_TABLES) == []
    assert tab.evaluate(TOO_WIDE) == []


def test_fingers_find_what_they_need(several):
    tab = several.tab
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.wait_for_selector("html[data-size=narrow]", state="attached")
    sizes = tab.evaluate(
        "[...document.querySelectorAll('button, summary, nav a')].filter(each => each.offsetParent)"
        ".map(each => [each.textContent, each.getBoundingClientRect().height])"
    )
    assert len(sizes) > 10
    assert [each for each in sizes if each[1] < 44] == []
    head = tab.locator(".grid th button", has_text="paths met").first
    cells = tab.locator("table:has(th button) tbody").first
    before = cells.all_inner_texts()
    head.tap()
    assert head.locator("..").get_attribute("aria-sort") == "ascending"
    assert cells.all_inner_texts() != before


def test_commands_break_between_words_only(several):
    broken = several.tab.evaluate(
        "[...document.querySelectorAll('code .word')].filter(each =>"
        " each.getClientRects().length > 1 || each.getBoundingClientRect().height > 34)"
        ".map(each => each.textContent)"
    )
    assert several.tab.locator("code .word").count() > 8
    assert broken == []
    said = several.tab.locator(".command code").first.evaluate("each => each.textContent")
    assert re.fullmatch(r"netloom \S+( \S+)+", said)


def test_paper_keeps_the_heads_of_tables_and_letters_that_can_be_read(several):
    tab = several.tab
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 703, "height": 1000})  # A4 between its margins
    tab.wait_for_selector("html[data-size=narrow]", state="attached")
    heads = tab.locator(".grid > .span-12 th button")
    assert heads.count() > 4
    assert all(heads.nth(at).is_visible() for at in range(heads.count()))
    assert not tab.is_visible("button.copy")
    assert not tab.is_visible("figure.aside")
    assert tab.evaluate(SMALLEST.replace("figure.chart svg", "figure:not(.aside) svg")) >= 6.5
    tab.emulate_media(media="screen")
