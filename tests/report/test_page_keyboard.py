"""Channels of networks tell by keyboard what they tell the pointer."""

import re

import pytest

import netloom as nl
from netloom.drawing.save import save_chart
from netloom.report import chart_of
from netloom.report.page.pages import figures_on
from tests.browser import PATIENCE


def tip(tab):
    tab.wait_for_selector("#vg-tooltip-element.visible", timeout=PATIENCE)
    return tab.query_selector("#vg-tooltip-element").inner_text()


def test_channels_tell_their_load_by_keyboard_the_busiest_first(visit, page):
    place, figure = next(
        (place, figure)
        for place, figure in enumerate(figures_on(page.sections), 1)
        if "× the mean" in figure.title
    )
    stops = visit.tab.locator(f"#figure-{place} .drawing svg [tabindex]")
    assert stops.count() == 1
    loads = sorted((float(row[1]) for row in figure.data.rows), reverse=True)
    stops.first.focus()
    keys = "ArrowDown", "ArrowDown", "Home", "ArrowDown"
    for key, load in zip(keys, (*loads[:3], loads[0]), strict=True):
        said = re.search(r"% of the channel\s+([\d.]+)", tip(visit.tab))[1]
        assert float(said) == pytest.approx(load, abs=0.05)
        told = visit.tab.evaluate("document.activeElement.getAttribute('aria-label')")
        assert told.startswith("channel ")
        visit.tab.keyboard.press(key)
    assert stops.count() == 1
    visit.tab.evaluate("document.activeElement.blur()")
    visit.tab.wait_for_selector("#vg-tooltip-element.visible", state="hidden", timeout=PATIENCE)


def test_a_picture_as_a_page_has_a_title_and_tells_by_keyboard_whom_cables_lead_to(
    browser, tmp_path
):
    found = nl.check_fabric("leaf-spine:4x2x2", samples=0, routing="minhop")
    path = save_chart(chart_of(found), tmp_path / "fabric.html")
    tab = browser.new_page()
    try:
        tab.goto(path.as_uri(), timeout=PATIENCE)
        tab.wait_for_selector("svg [tabindex='0']", timeout=PATIENCE)
        assert tab.title().endswith(found.to_dict()["verdict"]["sentence"])
        tab.keyboard.press("Tab")
        said = tip(tab)
        assert "paths on the channel" in said
        assert re.search(r"most paths lead to\s+h\d \(6\)", said)
    finally:
        tab.close()
