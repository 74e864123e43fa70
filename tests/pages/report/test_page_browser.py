"""The page as a person meets it: in a browser without network, on a phone, and on paper."""

import re
import zlib
from itertools import pairwise

import pytest

import netloom as nl
from netloom.pages.page import figures_on
from netloom.pages.write import THEMES
from tests.browser import PATIENCE, SMALLEST, TOO_WIDE, Visit, background, hexed, pixels
from tests.pages.report.charts import check_inks, contrast

CUT_OFF = """[...document.querySelectorAll('figure.chart svg')].flatMap(svg => {
    const box = svg.getBoundingClientRect(), card = svg.closest('figure').getBoundingClientRect();
    const out = (each, by) => each.left < by.left - 1 || each.right > by.right + 1
        || each.top < by.top - 1 || each.bottom > by.bottom + 1;
    const parts = [...svg.querySelectorAll('text, .mark-line path, .mark-symbol path')]
        .filter(each => each.tagName !== 'text' || each.textContent.trim())
        .filter(each => out(each.getBoundingClientRect(), box));
    return [...parts.map(each => each.textContent || each.parentElement.className.baseVal),
        ...(out(box, card) ? ['the whole chart'] : [])]
        .map(said => svg.closest('figure').id + ': ' + said) })"""
"""What of a chart is not in it, and charts that are not in their cards."""

SHRUNK = """[...document.querySelectorAll('figure.chart svg')]
    .filter(svg => svg.getBoundingClientRect().width < 0.9 * svg.viewBox.baseVal.width)
    .map(svg => svg.closest('figure').id)"""
"""Charts that are shown much smaller than they were drawn."""

CUT_TABLES = """[...document.querySelectorAll('table.fixed')]
    .filter(each => each.getBoundingClientRect().width > each.parentElement.clientWidth + 1)
    .map(each => each.parentElement.ariaLabel)"""
"""Tables of few alternatives that are wider than their place: none of their numbers may be cut."""

NETWORKS = ["leaf-spine:4x2x4", "dragonfly:2x4x2", "hyperx:4x4/1", "mesh:4x4x2", "torus:18x18"]


def resized(tab, width):
    tab.set_viewport_size({"width": width, "height": 900})
    size = "narrow" if width < 1180 else "wide"
    tab.wait_for_selector(f"html[data-size={size}]", state="attached")


def of_a_network(page):
    """Return the place and the figure of the first network that is drawn."""
    return next(
        (place, figure)
        for place, figure in enumerate(figures_on(page.sections), 1)
        if "× the mean" in figure.title
    )


def tip(tab):
    tab.wait_for_selector("#vg-tooltip-element.visible", timeout=PATIENCE)
    return tab.query_selector("#vg-tooltip-element").inner_text()


def test_every_chart_is_drawn_and_nothing_is_asked_of_the_network(visit, page):
    boxes = visit.tab.evaluate(
        "[...document.querySelectorAll('figure.chart')].map(each => {"
        " const svg = each.querySelector('svg'), box = svg.getBoundingClientRect();"
        " return [box.width, box.height, svg.querySelectorAll('path, text').length,"
        " svg.role + ': ' + svg.ariaLabel, svg.querySelectorAll('[role]').length] })"
    )
    for found, figure in zip(boxes, figures_on(page.sections), strict=True):
        width, height, marks, name, inside = found
        assert width > 100, name
        assert height > 80, name
        assert marks > 10, name
        network = figure.data.columns[:1] == ("channel",)
        role, stops = ("group", 1) if network else ("img", 0)
        assert name == f"{role}: {figure.title}. {figure.alternative}"
        assert inside == stops  # it is read as one picture, in networks also the busiest channel
    visit.tab.evaluate("scrollTo(0, document.querySelector('#part-1').offsetTop)")
    width, height, colours = pixels(visit.tab.screenshot())
    empty = {bytes.fromhex(background(visit.tab, of)[1:]) for of in ("body", "figure.chart")}
    inked = sum(count for colour, count in colours.items() if colour not in empty)
    assert 0.03 < inked / (width * height) < 0.6
    assert (visit.errors, visit.requests) == ([], [])


def test_the_network_tells_a_channels_load_under_the_pointer(visit, page):
    place, figure = of_a_network(page)
    channel, load = figure.data.rows[0]
    marks = visit.tab.locator(f"#figure-{place} .mark-symbol path")
    marks.first.scroll_into_view_if_needed()
    for each in range(marks.count()):
        marks.nth(each).dispatch_event("pointermove", {"bubbles": True})
        marks.nth(each).dispatch_event("mousemove", {"bubbles": True})
        shown = visit.tab.query_selector("#vg-tooltip-element.visible")
        said = shown.inner_text() if shown else ""
        if channel in said:
            break
    assert channel in said
    told = re.search(r"% of the channel\s+([\d.]+)", said)[1]
    assert float(told) == pytest.approx(float(load), abs=0.05)
    visit.tab.mouse.move(0, 0)


def test_channels_tell_their_load_by_keyboard_the_busiest_first(visit, page):
    place, figure = of_a_network(page)
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
    visit.tab.evaluate("document.activeElement.blur()")
    visit.tab.wait_for_selector("#vg-tooltip-element.visible", state="hidden", timeout=PATIENCE)


def test_dark_and_light_follow_the_system_and_the_button(browser, file):
    visit = Visit(browser, file, color_scheme="dark")
    tab = visit.drawn("dark")
    label = "document.querySelector('#figure-1 .role-axis-label text').getAttribute('fill')"
    dark, dark_label = background(tab), tab.evaluate(label)
    tab.emulate_media(color_scheme="light")
    visit.drawn("light")
    assert contrast(dark, "#000000") < 1.3 < contrast(dark, "#ffffff")
    assert contrast(background(tab), "#ffffff") < 1.3
    assert dark_label != tab.evaluate(label)
    tab.click("#theme")
    visit.drawn("dark")
    assert (background(tab), tab.evaluate(label)) == (dark, dark_label)
    assert tab.inner_text("#theme") == "Light"
    assert visit.errors == []
    visit.context.close()


def test_paper_is_light_and_has_no_controls(browser, file):
    visit = Visit(browser, file, color_scheme="dark")
    tab = visit.drawn("dark")
    tab.emulate_media(media="print", color_scheme="dark")
    visit.drawn("light")
    assert contrast(hexed(tab.evaluate("getComputedStyle(document.body).color")), "#ffffff") > 7
    assert not tab.is_visible("#theme")
    assert not tab.is_visible("figure details")
    tab.emulate_media(media="screen", color_scheme="dark")
    visit.drawn("dark")
    paper = tab.pdf(format="A4", print_background=True)
    streams = re.findall(rb"stream\r?\n(.*?)endstream", paper, re.DOTALL)
    shown = b"".join(zlib.decompressobj().decompress(each) for each in streams if each[:1] == b"x")
    fills = {
        "#" + "".join(f"{round(255 * float(part)):02x}" for part in rgb.split())
        for rgb in re.findall(rb"([\d.]+ [\d.]+ [\d.]+) rg\b", shown)
    }
    assert THEMES["light"]["axis"]["labelColor"] in fills
    assert THEMES["dark"]["axis"]["labelColor"] not in fills
    visit.context.close()


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_nothing_is_cut_off_in_any_window(visit, width):
    resized(visit.tab, width)
    assert visit.tab.evaluate("document.documentElement.scrollWidth") <= width
    for found in (TOO_WIDE, CUT_OFF, SHRUNK):
        assert visit.tab.evaluate(found) == []
    rows = visit.tab.evaluate(
        "[...document.querySelectorAll('.grid')].map(grid => {"
        " const tops = {};"
        " for (const each of grid.querySelectorAll('figure.chart')) {"
        "  const box = each.getBoundingClientRect();"
        "  const size = [Math.round(box.width), Math.round(box.height)];"
        "  (tops[Math.round(box.top)] ??= []).push(size);"
        " } return Object.values(tops) }).flat()"
    )
    assert [row for row in rows if len(set(map(tuple, row))) > 1] == []  # side by side, alike
    assert max(map(len, rows)) == (1 if width < 800 else 2)
    resized(visit.tab, 1280)


def test_tables_are_sorted_by_click_and_by_keyboard_and_downloaded(visit, page):
    tab = visit.tab
    tab.click("#numbers-1 summary")
    names = page.numbers[0].table.columns
    head = next(place for place, name in enumerate(names, 1) if name.startswith("latency"))
    cells = f"#numbers-1 tbody tr :nth-child({head})"

    def told():
        return [float(e.replace(",", "")) for e in tab.locator(cells).all_inner_texts() if e != "–"]

    known = sorted(told())
    tab.click(f"#numbers-1 th:nth-child({head}) button")
    assert told() == known
    assert tab.locator(cells).last.inner_text() == "–"
    tab.keyboard.press("Enter")  # the button still has the focus
    assert told() == known[::-1]
    assert tab.locator(cells).first.inner_text() != "–"
    assert tab.locator("#numbers-1 [aria-sort=descending]").count() == 1
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    with tab.expect_download() as taken:
        tab.click("#numbers-1 button.csv")
    assert taken.value.suggested_filename == page.numbers[0].file
    assert taken.value.path().read_bytes().decode() == page.numbers[0].csv


def test_headings_names_and_contrast_are_as_they_should_be(visit):
    tab = visit.tab
    levels = tab.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map(each => +each.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert tab.evaluate("document.documentElement.lang") == "en"
    unnamed = (
        "[...document.querySelectorAll('[role=img], [role=region], nav, section, button')]"
        ".filter(each => !each.ariaLabel && !each.textContent.trim()).length"
    )
    assert tab.evaluate(unnamed) == 0
    assert tab.title() == tab.inner_text("h1") == "Torus or mesh?"
    for theme in ("dark", "light"):
        tab.emulate_media(color_scheme=theme)
        visit.drawn(theme)
        check_inks(tab, 100)


@pytest.fixture(scope="module")
def networks(browser, tmp_path_factory):
    """A page with the picture of one network of each kind."""
    found = [nl.analyze("ring:16", on, random_mappings=0) for on in NETWORKS]
    path = nl.report(found, tmp_path_factory.mktemp("networks") / "report.html")
    visit = Visit(browser, path, color_scheme="light")
    visit.drawn()
    yield visit
    visit.context.close()


@pytest.mark.parametrize("width", [1400, 1179, 390])
def test_pictures_of_networks_fit_every_window_and_stay_legible(networks, width):
    resized(networks.tab, width)
    assert networks.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert networks.tab.evaluate(TOO_WIDE) == []
    assert networks.tab.evaluate(CUT_OFF) == []
    assert networks.tab.evaluate(SMALLEST) >= 11
    titles = networks.tab.locator("figure.chart strong").all_inner_texts()
    assert all(any(title.startswith(on) for title in titles) for on in NETWORKS)
    assert networks.errors == []


@pytest.fixture(scope="module")
def several(browser, tmp_path_factory):
    """A page of three networks, two mappings of each, and three routers, on a phone."""
    answers = [
        nl.analyze("binary-tree:15", on, mapping=mapping, random_mappings=0)
        for on in ("torus:4x4", "mesh:4x4", "hypercube:4")
        for mapping in ("identity", "random")
    ]
    three = [nl.simulate("torus:4x4", load=0.2, vcs=vcs, cycles=600) for vcs in (2, 4, 8)]
    path = nl.report([*answers, *three], tmp_path_factory.mktemp("several") / "several.html")
    found = Visit(browser, path, has_touch=True, is_mobile=True)
    found.drawn()
    yield found
    found.context.close()


def test_alternatives_have_all_their_numbers_in_sight_and_commands_break_between_words(several):
    tab = several.tab
    for width in (1400, 820, 390):
        resized(tab, width)
        assert tab.locator("table.fixed").first.locator("thead th").count() == 4
        assert tab.evaluate(CUT_TABLES) == []
        assert tab.evaluate(TOO_WIDE) == []
    broken = tab.evaluate(
        "[...document.querySelectorAll('code .word')].filter(each =>"
        " each.getClientRects().length > 1 || each.getBoundingClientRect().height > 34)"
        ".map(each => each.textContent)"
    )
    assert broken == []
    said = tab.locator(".command code").first.evaluate("each => each.textContent")
    assert re.fullmatch(r"netloom \S+( \S+)+", said)


def test_fingers_find_what_they_need(several):
    tab = several.tab
    resized(tab, 390)
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


def test_paper_keeps_the_heads_of_tables_and_letters_that_can_be_read(several):
    tab = several.tab
    tab.emulate_media(media="print")
    resized(tab, 703)  # A4 between its margins
    heads = tab.locator(".grid > .span-12 th button")
    assert heads.count() > 4
    assert all(heads.nth(at).is_visible() for at in range(heads.count()))
    assert not tab.is_visible("button.copy")
    assert not tab.is_visible("figure.aside")
    assert tab.evaluate(SMALLEST.replace("figure.chart svg", "figure:not(.aside) svg")) >= 6.5
    tab.emulate_media(media="screen")
