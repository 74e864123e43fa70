"""How explorers look and are used: widths, themes, keyboard, addresses, files, and paper."""

import csv
import io
import json
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from tests.browser import hexed
from tests.pages.explorer.decoded import unpacked
from tests.pages.explorer.drawn import Drawn, check_words, record
from tests.pages.explorer.pages import SIX, Explorer
from tests.pages.report.charts import check_inks, contrast

NAMES = list(SIX)
SVG = "{http://www.w3.org/2000/svg}"

SMALL = """[...document.querySelectorAll('body *')].filter(each => each.checkVisibility()
    && [...each.childNodes].some(one => one.nodeType === 3 && one.data.trim())
    && parseFloat(getComputedStyle(each).fontSize) < 12).map(each => each.outerHTML)"""
"""What has letters of less than 12 pixels."""


def state_of(visit):
    return visit.js("JSON.parse(JSON.stringify(it.state))")


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("fabric", {"view": 0, "mode": "change", "beside": 1}),
        ("fabric", {"view": 1, "out": [5, 9], "swap": [3, 7]}),
        ("torus", {"picked": {"kind": "pairs", "from": [0, 7], "to": [8, 63]}, "view": 1}),
        ("torus", {"picked": {"kind": "rank", "rank": 5}, "camera": {"k": 2, "x": -0.25, "y": 0}}),
        ("trace", {"frame": 12, "drawing": 1}),
        ("tree", {"measure": "jobs", "picked": {"kind": "job", "job": 1}}),
        ("dragonfly", {"picked": {"kind": "router", "router": 3}}),
    ],
)
def test_an_address_leads_back(browser, files, visits, name, state):
    visit = visits(name)
    visit.set(**state)
    before, address = state_of(visit), visit.tab.evaluate("location.hash.slice(1)")
    assert {key: before[key] for key in state} == state
    other = Explorer(browser, files(name), address)
    assert state_of(other) == before
    assert other.loads() == pytest.approx(visit.loads())
    assert other.text("sentence") == visit.text("sentence")
    assert other.errors == []
    other.context.close()


SEVERAL = 40
"""What stands for several jobs, where colors are of jobs."""

WRONG = [
    "view=9", "view=-1", "view=x", "mode=change", "mode=change%209", "drawing=7", "out=999999",
    "out=a%20b", "swap=1", "swap=0%2099999", "frame=1000000", "frame=1.5", "camera=0%200%200",
    "camera=2%20x%200", "picked=%7B", "picked=3", f"picked={quote(json.dumps({'kind': 'rank'}))}",
    f"picked={quote(json.dumps({'kind': 'channel', 'channel': 10**6}))}",
    f"picked={quote(json.dumps({'kind': 'channel', 'channel': 1.5}))}",
    f"picked={quote(json.dumps({'kind': 'constructor'}))}",
    f"picked={quote(json.dumps({'kind': 'job', 'job': -1}))}", "measure=color", "%",
    "measure=jobs", "measure=time",
]  # fmt: skip


@pytest.mark.parametrize("name", ["trace", "dragonfly"])
def test_addresses_of_what_is_not_there_do_no_harm(visits, name):
    visit = visits(name)
    for address in WRONG:
        visit.go(address)
        assert visit.errors == [], address
        assert visit.tab.inner_text("#sentence"), address
    visit.go("")


def test_jobs_color_the_channels_that_they_use(visits):
    visit = visits("tree")
    view = visit.views[0]
    jobs = [set() for _ in range(visit.network.channels)]
    job_of = unpacked(view.given["flows"]["job_of"])
    for flow, _, channels in view.walked()[0]:
        for channel in channels:
            jobs[channel].add(int(job_of[view.flows[flow][0]]) + 1)
    expected = [0 if not each else each.pop() if len(each) == 1 else SEVERAL for each in jobs]
    assert {1, 2} < set(expected) <= {0, 1, 2, SEVERAL}
    assert visit.js("[...it.models[0].jobs]") == expected
    assert visit.js("it.models[1].measures") == ["load"]


@pytest.mark.parametrize("name", NAMES)
def test_the_busiest_are_walked_through_by_keyboard(visits, name):
    visit = visits(name)
    visit.tab.focus("#busiest")
    rows = [
        list(map(int, each.split()))
        for each in visit.tab.locator("#busiest li").evaluate_all(
            "all => all.map(li => li.dataset.channels)"
        )
    ]
    load = visit.views[0].load

    def picked():
        return visit.js("it.model.channelsOf(it.state.picked)")

    for row in rows[:3]:
        visit.tab.keyboard.press("ArrowDown")
        assert picked() == row
    assert load[rows[0]].min() == load.max()
    active = visit.tab.get_attribute("#busiest", "aria-activedescendant")
    assert visit.tab.get_attribute(f"#{active}", "aria-selected") == "true"
    visit.tab.keyboard.press("ArrowUp")
    assert picked() == rows[min(len(rows), 3) - 2]
    visit.tab.keyboard.press("End")
    assert picked() == rows[-1]
    visit.tab.keyboard.press("Escape")
    assert visit.js("it.state.picked") is None


@pytest.mark.parametrize(
    ("name", "text", "picked"),
    [
        ("tree", "spine1", {"kind": "router", "router": 5}),
        ("tree", "h7", {"kind": "rank", "rank": 7}),
        ("tree", "spine77", None),
        ("tree", "LEAF2", {"kind": "router", "router": 2}),
        ("torus", "rank 12", {"kind": "rank", "rank": 12}),
        ("torus", "12", {"kind": "rank", "rank": 12}),
        ("torus", "(0,3)", {"kind": "rank", "rank": 3}),
        ("dragonfly", "g1r2", {"kind": "router", "router": 6}),
    ],
)
def test_names_are_found(visits, name, text, picked):
    visit = visits(name)
    visit.tab.fill("#find", text)
    visit.tab.press("#find", "Enter")
    assert visit.js("it.state.picked") == picked
    assert (text in visit.tab.inner_text("#find-said")) == (picked is None)
    visit.tab.fill("#find", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_as_svg_has_every_channel(visits, name):
    visit = visits(name)
    root = ElementTree.fromstring(visit.js("it.panels[0].svg('a <b> & \"c\"')"))
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text == 'a <b> & "c"'
    drawing = "it.network.drawings[0]"
    curves, squares, rims, boxes = visit.js(
        f"[{drawing}.curves.channel.length, {drawing}.squares.channel.length,"
        f" {drawing}.rims.length / 9, {drawing}.boxes.length]"
    )
    assert len(root.findall(f"{SVG}path")) == curves + rims
    assert len(root.findall(f"{SVG}rect")) == squares + boxes + 1
    assert all(each.get("stroke").startswith("rgb(") for each in root.findall(f"{SVG}path"))


@pytest.mark.parametrize("name", ["torus", "fabric", "graph"])
def test_pages_fit_any_window_and_can_be_read_in_both_themes(visits, name):
    visit = visits(name)
    record(visit)
    assert visit.tab.evaluate(SMALL) == []
    for theme in ("dark", "light"):
        visit.tab.emulate_media(color_scheme=theme)
        for width in (390, 820, 1280):
            visit.tab.set_viewport_size({"width": width, "height": 900})
            visit.js("it.show()")
            assert visit.tab.evaluate("document.documentElement.scrollWidth") <= width
            assert visit.js("it.panels[0].size.width") <= width
            check_words(Drawn(visit, "word"))
        visit.set(picked={"kind": "channel", "channel": 0})
        check_inks(visit.tab, 20)
        colors = visit.js("it.colors")
        for ink in ("ink", "quiet"):
            for paper in ("paper", "card", "box"):
                assert contrast(hexed(colors[ink]), hexed(colors[paper])) >= 4.5, (ink, paper)
        visit.set(picked=None)


def test_the_matrix_and_the_strip_are_used_by_keyboard(visits):
    visit = visits("torus")
    visit.tab.focus("#matrix canvas")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown"):
        visit.tab.keyboard.press(key)
    assert "rank 2" in visit.tab.inner_text("#heard")
    visit.tab.keyboard.press("Enter")
    assert visit.js("it.state.picked") == {"kind": "pairs", "from": [2, 3], "to": [1, 2]}
    visit.tab.focus("#loads canvas")
    many = []
    for _ in range(12):
        visit.tab.keyboard.press("ArrowRight")
        many.append(visit.js("it.model.channelsOf(it.state.picked).length"))
    assert many[0] > 0
    assert many == sorted(many)


def saved(visit, button):
    """Return the name and the bytes of a file that a button saves."""
    visit.tab.evaluate("document.querySelector('#method').open = true")
    with visit.tab.expect_download() as taken:
        visit.tab.click(f"#{button}")
    return taken.value.suggested_filename, taken.value.path().read_bytes()


def test_pictures_and_selections_are_saved(visits):
    visit = visits("torus")
    view = visit.views[0]
    name, text = saved(visit, "save-svg")
    assert name == "torus-8x8-rank-order.svg"
    assert ElementTree.fromstring(text).tag == f"{SVG}svg"
    name, image = saved(visit, "save-png")
    assert name == "torus-8x8-rank-order.png"
    assert image.startswith(b"\x89PNG")
    channel = int(view.load.argmax())
    wanted = sorted(view.flows[flow][2] for flow in view.over(channel))
    loads = sorted(view.load.tolist(), reverse=True)
    for picked, column, numbers in (
        ({"kind": "channel", "channel": channel}, 2, wanted),
        (None, 1, loads),
    ):
        visit.set(picked=picked)
        _, text = saved(visit, "save-csv")
        _, *rows = csv.reader(io.StringIO(text.decode()))
        assert sorted(float(row[column]) for row in rows) == sorted(numbers)


def test_paper_is_light_and_has_lines_in_place_of_pixels(browser, files):
    visit = Explorer(browser, files("tree"), color_scheme="dark")
    visit.tab.emulate_media(media="print")
    visit.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert visit.tab.locator(".print svg path").count() >= visit.network.channels
    assert visit.tab.is_visible(".print svg")
    assert not visit.tab.is_visible("#network canvas.base")
    assert not visit.tab.is_visible(".controls")
    paper = visit.tab.evaluate("document.querySelector('.print svg > rect').getAttribute('fill')")
    assert contrast(hexed(paper), "#ffffff") < 1.3
    visit.tab.evaluate("dispatchEvent(new Event('afterprint'))")
    visit.tab.emulate_media(media="screen", color_scheme="dark")
    assert visit.tab.locator(".print").count() == 0
    assert contrast(hexed(visit.js("it.colors.paper")), "#ffffff") > 10
    visit.context.close()
