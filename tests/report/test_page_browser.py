"""The page as a person meets it: in a browser without network."""

import re
import zlib
from dataclasses import replace
from itertools import pairwise

import pytest

import netloom as nl
from netloom.report.page.pages import figures_on, page_of
from netloom.report.page.write import THEMES, render
from tests.browser import SMALLEST, TOO_WIDE, Visit, background, hexed, pixels
from tests.report.page_samples import small_results
from tests.report.test_page import contrast


def test_nothing_is_wrong_and_nothing_is_asked_of_the_network(visit):
    assert visit.errors == []
    assert visit.requests == []


def test_every_chart_is_drawn_and_has_a_size(visit, page):
    boxes = visit.tab.evaluate(
        "[...document.querySelectorAll('figure.chart')].map(each => {"
        " const svg = each.querySelector('svg'), box = svg.getBoundingClientRect();"
        " return [box.width, box.height, svg.querySelectorAll('path, text').length,"
        " svg.role + ': ' + svg.ariaLabel, svg.querySelectorAll('[role]').length] })"
    )
    assert len(boxes) == len(list(figures_on(page.sections)))
    for found, figure in zip(boxes, figures_on(page.sections), strict=True):
        width, height, marks, name, inside = found
        assert width > 100, name
        assert height > 80, name
        assert marks > 10, name
        network = figure.data.columns[:1] == ("channel",)
        role, stops = ("group", 1) if network else ("img", 0)
        assert name == f"{role}: {figure.title}. {figure.alternative}"
        assert inside == stops  # it is read as one picture, in networks also the busiest channel


def test_the_network_tells_a_channels_load_under_the_pointer(visit, page):
    place, figure = next(
        (place, figure)
        for place, figure in enumerate(figures_on(page.sections), 1)
        if "× the mean" in figure.title
    )
    assert figure.data.total == 64
    channel, load = figure.data.rows[0]
    marks = visit.tab.locator(f"#figure-{place} .mark-symbol path")
    marks.first.scroll_into_view_if_needed()
    for each in range(marks.count()):
        marks.nth(each).dispatch_event("pointermove", {"bubbles": True})
        marks.nth(each).dispatch_event("mousemove", {"bubbles": True})
        tip = visit.tab.query_selector("#vg-tooltip-element.visible")
        said = tip.inner_text() if tip else ""
        if channel in said:
            break
    assert channel in said
    shown = re.search(r"% of the channel\s+([\d.]+)", said)[1]
    assert float(shown) == pytest.approx(float(load), abs=0.05)
    visit.tab.mouse.move(0, 0)


def test_a_curve_tells_its_points_under_the_pointer(visit):
    point = visit.tab.locator("#figure-1 .mark-symbol.role-mark path:not([opacity='0'])").last
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    visit.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    said = visit.tab.wait_for_selector("#vg-tooltip-element.visible").inner_text()
    assert "4x4" in said
    assert "±" in said
    visit.tab.mouse.move(0, 0)


def test_dark_and_light_follow_the_system_and_the_button(browser, file):
    visit = Visit(browser, file, color_scheme="dark")
    tab = visit.drawn("dark")
    label = "document.querySelector('#figure-1 .role-axis-label text').getAttribute('fill')"
    dark, dark_label = background(tab), tab.evaluate(label)
    tab.emulate_media(color_scheme="light")
    visit.drawn("light")
    light, light_label = background(tab), tab.evaluate(label)
    assert contrast(dark, "#000000") < 1.3 < contrast(dark, "#ffffff")
    assert contrast(light, "#ffffff") < 1.3
    assert dark_label != light_label
    assert contrast(dark_label, background(tab, "figure.chart")) < 3 < contrast(dark_label, dark)
    assert tab.inner_text("#theme") == "Dark"
    tab.click("#theme")
    visit.drawn("dark")
    assert background(tab) == dark
    assert tab.evaluate(label) == dark_label
    assert tab.inner_text("#theme") == "Light"
    assert visit.errors == []
    visit.context.close()


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


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_nothing_is_cut_off_in_any_window(visit, width):
    visit.tab.set_viewport_size({"width": width, "height": 900})
    size = "narrow" if width < 1180 else "wide"
    visit.tab.wait_for_selector(f"html[data-size={size}]", state="attached")
    assert visit.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.tab.evaluate(TOO_WIDE) == []
    assert visit.tab.evaluate(CUT_OFF) == []
    assert visit.tab.evaluate(SHRUNK) == []
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
    visit.tab.set_viewport_size({"width": 1280, "height": 900})
    visit.tab.wait_for_selector("html[data-size=wide]", state="attached")


def test_alternatives_stand_side_by_side_on_one_scale(visit, page):
    row = next(row for row in page.sections[0].rows if "packets took" in row[0].title)
    places = [list(figures_on(page.sections)).index(figure) + 1 for figure in row]
    boxes = [visit.tab.locator(f"#figure-{place}").bounding_box() for place in places]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]
    labels = [
        visit.tab.locator(f"#figure-{place} .role-axis-label text").all_inner_texts()
        for place in places
    ]
    assert labels[0] == labels[1]
    assert len(labels[0]) > 6


def test_tables_are_sorted_by_click_and_by_keyboard(visit, page):
    tab = visit.tab
    tab.click("#numbers-1 summary")
    head = next(
        place
        for place, name in enumerate(page.numbers[0].table.columns, 1)
        if name.startswith("latency") or "packet latency" in name
    )
    cells = f"#numbers-1 tbody tr :nth-child({head})"
    before = tab.locator(cells).all_inner_texts()
    known = sorted(float(each.replace(",", "")) for each in before if each != "–")
    tab.click(f"#numbers-1 th:nth-child({head}) button")
    rising = tab.locator(cells).all_inner_texts()
    assert [float(each.replace(",", "")) for each in rising if each != "–"] == known
    assert set(rising[len(known) :]) <= {"–"}
    tab.keyboard.press("Enter")  # the button still has the focus
    falling = tab.locator(cells).all_inner_texts()
    assert [float(each.replace(",", "")) for each in falling if each != "–"] == known[::-1]
    assert falling[0] != "–"
    sorted_by = "document.querySelectorAll('#numbers-1 [aria-sort=descending]').length"
    assert tab.evaluate(sorted_by) == 1
    ring = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring == "solid"


def test_all_numbers_can_be_downloaded(visit, page):
    if not visit.tab.is_visible("#numbers-1 button.csv"):
        visit.tab.click("#numbers-1 summary")
    with visit.tab.expect_download() as taken:
        visit.tab.click("#numbers-1 button.csv")
    found = taken.value
    assert found.suggested_filename == page.numbers[0].file
    assert found.path().read_bytes().decode() == page.numbers[0].csv
    assert visit.errors == []


def test_the_contents_lead_to_every_part(visit, page):
    links = visit.tab.locator("nav a")
    assert links.count() == len(page.sections) + 3 + bool(page.explorers)
    for place in range(links.count()):
        links.nth(place).click()
        target = links.nth(place).get_attribute("href")
        shown = f"document.querySelector('{target}').getBoundingClientRect().top < innerHeight"
        assert visit.tab.evaluate(shown), target


def test_two_networks_are_printed_on_four_pages_at_most(browser, tmp_path):
    found = small_results()
    compared = ("simulate", "predict_latency", "analyze")
    two = replace(found, answered=tuple(
        each for each in found.answered if each.point.verb in compared
    ))  # fmt: skip
    path = tmp_path / "two.html"
    path.write_text(render(page_of([two])), encoding="utf-8")
    visit = Visit(browser, path)
    visit.drawn()
    paper = visit.tab.pdf(format="A4", print_background=True)
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 4
    visit.context.close()


def test_paper_is_light_and_has_no_controls(browser, file):
    visit = Visit(browser, file, color_scheme="dark")
    tab = visit.drawn("dark")
    tab.emulate_media(media="print", color_scheme="dark")
    visit.drawn("light")
    assert contrast(hexed(tab.evaluate("getComputedStyle(document.body).color")), "#ffffff") > 7
    assert not tab.is_visible("#theme")
    assert not tab.is_visible("figure details")
    assert tab.evaluate(
        "[...document.querySelectorAll('figure.chart')]"
        ".every(each => getComputedStyle(each).breakInside === 'avoid')"
    )
    tab.emulate_media(media="screen", color_scheme="dark")
    visit.drawn("dark")
    paper = tab.pdf(format="A4", print_background=True)
    streams = re.findall(rb"stream\r?\n(.*?)endstream", paper, re.DOTALL)
    drawn = b"".join(zlib.decompressobj().decompress(each) for each in streams if each[:1] == b"x")
    fills = {
        "#" + "".join(f"{round(255 * float(part)):02x}" for part in rgb.split())
        for rgb in re.findall(rb"([\d.]+ [\d.]+ [\d.]+) rg\b", drawn)
    }
    assert THEMES["light"]["axis"]["labelColor"] in fills
    assert THEMES["dark"]["axis"]["labelColor"] not in fills
    visit.context.close()


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
    assert tab.get_by_role("main").count() == 1
    assert tab.get_by_role("navigation").count() == 1
    for theme in ("light", "dark"):
        tab.emulate_media(color_scheme=theme)
        visit.drawn(theme)
        pairs = tab.evaluate(
            "[...document.querySelectorAll('body *')].filter(each => !each.closest('svg')"
            " && [...each.childNodes].some(one => one.nodeType === 3 && one.data.trim())"
            " && !each.matches('script, style, noscript *, noscript')).map(each => {"
            " let on = each;"
            " while (/rgba\\(0, 0, 0, 0\\)/.test(getComputedStyle(on).backgroundColor))"
            "   on = on.parentElement;"
            " return getComputedStyle(each).color + '|' + getComputedStyle(on).backgroundColor })"
        )
        assert len(pairs) > 100
        for pair in set(pairs):
            ink, paper = map(hexed, pair.split("|"))
            assert contrast(ink, paper) >= 4.5, (theme, ink, paper)
        card = background(tab, "figure.chart")
        inks = tab.evaluate(
            "[...document.querySelectorAll('.role-axis text, .role-legend text, .role-title text')]"
            ".map(each => getComputedStyle(each).fill)"
        )
        assert len(inks) > 50
        assert all(contrast(hexed(ink), card) >= 4.5 for ink in set(inks))
    tab.emulate_media(color_scheme="light")
    visit.drawn("light")


def test_without_scripts_the_words_and_tables_stay(browser, file):
    visit = Visit(browser, file, java_script_enabled=False)
    text = visit.tab.inner_text("main")
    assert "Scripts do not run here" in text
    assert "It shows: Line chart of packet latency" in text
    assert not visit.tab.is_visible("#theme")
    visit.context.close()


def test_a_screenshot_has_its_size_and_shows_something(visit):
    visit.tab.evaluate("scrollTo(0, document.querySelector('#part-1').offsetTop)")
    width, height, colours = pixels(visit.tab.screenshot())
    assert (width, height) == (1280, 900)
    empty = {bytes.fromhex(background(visit.tab, of)[1:]) for of in ("body", "figure.chart")}
    assert len(colours) > 50
    inked = sum(count for colour, count in colours.items() if colour not in empty)
    assert 0.03 < inked / (width * height) < 0.6


NETWORKS = ["leaf-spine:4x2x4", "dragonfly:2x4x2", "hyperx:4x4/1", "mesh:4x4x2", "torus:18x18"]


@pytest.fixture(scope="module")
def networks(browser, tmp_path_factory):
    """A page with the picture of one network of each kind."""
    found = [nl.analyze("ring:16", on, random_mappings=0) for on in NETWORKS]
    path = nl.report(found, tmp_path_factory.mktemp("networks") / "report.html")
    visit = Visit(browser, path, color_scheme="light")
    visit.drawn()
    yield visit
    visit.context.close()


@pytest.mark.parametrize("width", [1400, 1180, 1179, 820, 600, 390])
def test_pictures_of_networks_fit_every_window_and_stay_legible(networks, width):
    networks.tab.set_viewport_size({"width": width, "height": 900})
    size = "narrow" if width < 1180 else "wide"
    networks.tab.wait_for_selector(f"html[data-size={size}]", state="attached")
    assert networks.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert networks.tab.evaluate(TOO_WIDE) == []
    assert networks.tab.evaluate(CUT_OFF) == []
    assert networks.tab.evaluate(SMALLEST) >= 11
    titles = networks.tab.locator("figure.chart strong").all_inner_texts()
    assert all(any(title.startswith(on) for title in titles) for on in NETWORKS)
    assert networks.errors == []


def test_a_dark_page_has_dark_pictures_of_networks(networks):
    networks.tab.emulate_media(color_scheme="dark")
    networks.drawn("dark")
    inks = set(
        networks.tab.evaluate(
            "[...document.querySelectorAll('#figure-1 svg text')].map(each =>"
            " getComputedStyle(each).fill)"
        )
    )
    assert inks
    for ink in map(hexed, inks):
        paper = THEMES["dark"]["style"]["network-disc"]["stroke"]
        disc = THEMES["dark"]["style"]["network-disc"]["fill"]
        assert max(contrast(ink, paper), contrast(ink, disc)) >= 4.5
    networks.tab.emulate_media(color_scheme="light")
    networks.drawn("light")
