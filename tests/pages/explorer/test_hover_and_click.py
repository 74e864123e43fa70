"""What is pointed at and clicked tells the numbers that Python has."""

from datetime import UTC, datetime

import numpy as np
import pytest

from tests.pages.explorer.decoded import busy
from tests.pages.explorer.pages import SIX, Explorer

NAMES = list(SIX)
WALKED = [name for name in NAMES if name != "dragonfly"]
"""Pages that know who sends what."""


def farness(curves, squares, at):
    """Return how far the nearest channel is from a place: from pieces of its curve, its square."""
    curves = np.reshape(np.array(curves, float), (-1, 4, 2))
    t = np.linspace(0, 1, 41)[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    points = weights @ curves
    begins, steps = points[:, :-1], np.diff(points, axis=1)
    along = ((at - begins) * steps).sum(2) / np.maximum((steps**2).sum(2), 1e-12)
    off = at - begins - np.clip(along, 0, 1)[..., None] * steps
    left, top, side = np.reshape(np.array(squares, float), (-1, 3)).T
    across = np.maximum(np.maximum(left - at[0], at[0] - left - side), 0)
    down = np.maximum(np.maximum(top - at[1], at[1] - top - side), 0)
    return min(np.hypot(*off.T).min(initial=np.inf), np.hypot(across, down).min(initial=np.inf))


@pytest.mark.parametrize("name", NAMES)
def test_the_page_reads_what_python_wrote(visits, name):
    visit = visits(name)
    for at, view in enumerate(visit.views):
        assert visit.js("Array.from(it.models[given].view.load)", at) == view.load.tolist()
        if view.table is None and view.walks is None:
            continue
        assert np.allclose(visit.loads(f"it.models[{at}]"), view.load)
        visit.set(view=at)
        again = visit.js(
            "Array.from(it.model.carried(it.model.crossing && Uint8Array.from("
            "{length: it.model.walks.many}, () => 1)))"
        )
        assert np.allclose(again, view.load)


@pytest.mark.parametrize(("name", "reach"), [("torus", 7.0), ("fabric", 1.0), ("dragonfly", 7.0)])
def test_a_channel_is_found_wherever_it_is_near(visits, name, reach):
    visit = visits(name)
    scene = "it.panels[0].scene"
    curves = visit.js(f"Array.from({scene}.curves.places)")
    squares = visit.js(f"Array.from({scene}.squares.places)")
    size = visit.js(f"[{scene}.width, {scene}.height]")
    given = np.random.default_rng(5).random((150, 2)) * size
    found = visit.js(
        f"given.map((each) => {scene}.hit(...each, it.panels[0].look.values))",
        [[*each, reach] for each in given.tolist()],
    )
    far = [farness(curves, squares, at) for at in given]
    near = [hit >= 0 for hit, each in zip(found, far, strict=True) if each <= 0.8 * reach]
    assert near
    assert all(near), f"{near.count(False)} of {len(near)} places near a channel tell nothing"
    assert {hit for hit, each in zip(found, far, strict=True) if each > 1.2 * reach} <= {-1}


def channels_to_try(visit):
    """Return the busiest channel that stands alone, the least busy, and one between."""
    order = np.argsort(-visit.views[0].load, kind="stable").tolist()
    return [order[0], order[len(order) // 3], order[-1]]


def hover(visit, channel):
    """Point at a channel and return what is pointed at, and the lines of the tooltip."""
    x, y = visit.at(channel)
    visit.tab.mouse.move(x, y)
    shown = visit.tab.evaluate(
        "[...document.querySelectorAll('#tip:not([hidden]) div')].map(each => each.textContent)"
    )
    return visit.js("it.pointed"), [line.replace("\u00a0", " ") for line in shown]


@pytest.mark.parametrize("name", NAMES)
def test_a_tooltip_tells_what_a_channel_carries(visits, name):
    visit = visits(name)
    view = visit.views[0]
    for channel in channels_to_try(visit):
        pointed, lines = hover(visit, channel)
        assert pointed >= 0
        load = view.load[pointed]
        said = f"{visit.amount(load)}" if view.unit != "share" else f"{100 * load:.3g} % busy"
        assert said in lines[0]
        assert lines[0].startswith(visit.name_of(pointed).replace("\u00a0", " "))
        if name in WALKED:
            over = sorted(view.over(pointed).values(), reverse=True)[:3]
            told = [line.rpartition(": ")[2] for line in lines if " → " in line and ": " in line]
            assert told == [visit.amount(each) for each in over]
    visit.tab.mouse.move(0, 0)
    assert visit.tab.is_hidden("#tip")


@pytest.mark.parametrize("name", WALKED)
def test_a_channel_that_is_clicked_tells_its_pairs(visits, name):
    visit = visits(name)
    view = visit.views[0]
    x, y = visit.at(int(view.load.argmax()))
    visit.tab.mouse.click(x, y)
    picked = visit.js("it.state.picked")
    assert picked["kind"] == "channel"
    channel, over = picked["channel"], view.over(picked["channel"])
    assert sum(over.values()) == pytest.approx(view.load[channel])
    assert visit.name_of(channel) in visit.tab.inner_text("#sentence")
    assert visit.amount(view.load[channel]) in visit.text("sentence")
    senders = {view.flows[flow][0] for flow in over}
    receivers = {view.flows[flow][1] for flow in over}
    told = visit.text("told")
    for many, word in ((over, "pair"), (senders, "sender"), (receivers, "receiver")):
        assert f"{len(many):,} {word}{'' if len(many) == 1 else 's'}" in told
    rows = visit.tab.locator("#pairs-body tr td:nth-child(3)").all_inner_texts()
    amounts = sorted(over.values(), reverse=True)
    assert [row.replace("\u00a0", " ") for row in rows] == [visit.amount(e) for e in amounts[:12]]
    if len(over) > 12:
        assert f"and {len(over) - 12:,} more" in visit.text("more")
    assert visit.js(
        "it.model.flowsOver(given).reduce((sum, each) => sum + each[1], 0)", channel
    ) == (pytest.approx(view.load[channel]))
    chosen = visit.js("Array.from(it.chosenFlows())")
    assert {flow for flow, each in enumerate(chosen) if each} == set(over)
    visit.tab.keyboard.press("Escape")
    assert visit.js("it.state.picked") is None
    assert visit.tab.is_hidden("#details")


def brushed(visit, rows, columns):
    """Drag over a block of the matrix, and return the state's block."""
    matrix = visit.tab.locator("#matrix canvas")
    matrix.scroll_into_view_if_needed()
    box = matrix.bounding_box()
    side, ranks = visit.js("[it.matrix.side, it.matrix.ranks]")
    place = [(each + 0.5) * side / ranks for each in (columns[0], rows[0], columns[1], rows[1])]
    visit.tab.mouse.move(box["x"] + 44 + place[0], box["y"] + 22 + place[1])
    visit.tab.mouse.down()
    visit.tab.mouse.move(box["x"] + 44 + place[2], box["y"] + 22 + place[3], steps=3)
    visit.tab.mouse.up()
    return visit.js("it.state.picked")


def inside(view, rows, columns):
    """Return the flows from some ranks to some others."""
    return {
        at
        for at, (source, target, _) in enumerate(view.flows)
        if rows[0] <= source <= rows[1] and columns[0] <= target <= columns[1]
    }


@pytest.mark.parametrize("name", WALKED)
def test_a_block_of_the_matrix_selects_its_pairs(visits, name):
    visit = visits(name)
    view = visit.views[0]
    rows, columns = [0, view.ranks // 2], [view.ranks // 3, view.ranks - 1]
    assert brushed(visit, rows, columns) == {"kind": "pairs", "from": rows, "to": columns}
    wanted = inside(view, rows, columns)
    chosen = visit.js("Array.from(it.chosenFlows())")
    assert {flow for flow, each in enumerate(chosen) if each} == wanted
    load = view.loads([each for each in view.walked()[0] if each[0] in wanted])
    assert np.allclose(visit.js("Array.from(it.model.carried(it.chosen))"), load)
    lit = visit.js("Array.from(it.panels[0].look.selected.values, (each) => each > 0)")
    assert lit == (load > 0).tolist()
    total = sum(view.flows[flow][2] for flow in wanted)
    said = f"{len(wanted):,} pairs, {visit.amount(total)}; most of it on"
    assert said in visit.text("sentence")
    assert visit.text("sentence").endswith(visit.amount(load.max()))


@pytest.mark.parametrize("name", NAMES)
def test_a_part_of_the_strip_selects_its_channels(visits, name):
    visit = visits(name)
    strip = visit.tab.locator("#loads canvas")
    strip.scroll_into_view_if_needed()
    box = strip.bounding_box()
    visit.tab.mouse.move(box["x"] + 2, box["y"] + 40)  # left of the first
    visit.tab.mouse.down()
    visit.tab.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 40, steps=3)
    visit.tab.mouse.up()
    picked = visit.js("it.state.picked")
    load = visit.views[0].load
    wanted = np.flatnonzero((load >= picked["low"]) & (load <= picked["high"])).tolist()
    assert 0.25 * len(load) <= len(wanted)
    assert picked["high"] == pytest.approx(load.max())
    assert visit.js("it.model.channelsOf(it.state.picked)") == wanted
    if name in WALKED:
        chosen = visit.js("Array.from(it.chosenFlows())")
        walks, known = visit.views[0].walked()[0], set(wanted)
        crossing = {flow for flow, _, channels in walks if known & set(channels)}
        assert {flow for flow, each in enumerate(chosen) if each} == crossing
    visit.tab.keyboard.press("Escape")


def test_play_begins_at_the_first_message_and_ends_with_the_last(browser, files):
    visit = Explorer(browser, files("trace"))
    visit.tab.clock.install(time=datetime(2026, 1, 1, tzinfo=UTC))
    visit.tab.clock.pause_at(datetime(2026, 1, 2, tzinfo=UTC))  # time passes only when told
    frames = busy(visit.views[0].given["frames"], visit.network.channels)
    first = int(np.flatnonzero(frames.max(axis=1))[0])
    assert first > 0  # ranks compute before they send
    visit.tab.click("#time button")
    seen = [visit.js("it.state.frame")]
    assert visit.tab.inner_text("#time button") == "Stop"
    for _ in range(3):
        visit.tab.clock.run_for(120)
        seen.append(visit.js("it.state.frame"))
    assert seen == list(range(first, first + 4))
    assert np.allclose(visit.js("Array.from(it.panels[0].look.values)"), frames[first + 3])
    visit.tab.click("#time button")
    visit.tab.clock.run_for(1200)
    assert visit.js("it.state.frame") == first + 3  # stopped
    visit.tab.click("#time button")
    visit.tab.clock.run_for(120 * len(frames))
    assert visit.js("it.state.frame") == len(frames) - 1
    assert visit.tab.inner_text("#time button") == "Play"
    visit.tab.click("#time button")  # once more from the start
    assert visit.js("it.state.frame") == first
    assert visit.errors == []
    visit.context.close()


def test_two_fingers_come_nearer(browser, files):
    visit = Explorer(browser, files("torus"), has_touch=True)
    visit.tab.evaluate("document.getElementById('network').scrollIntoView()")
    box = visit.tab.locator("#network").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 200
    fingers = visit.context.new_cdp_session(visit.tab)
    for kind, apart in (("touchStart", 40), ("touchMove", 60), ("touchMove", 80)):
        points = [{"x": x + side * apart, "y": y, "id": at} for at, side in enumerate((-1, 1))]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    camera = visit.js("it.state.camera")
    assert camera["k"] == pytest.approx(2, rel=0.05)
    assert visit.tab.evaluate("visualViewport.scale") == 1
    assert visit.js("it.state.picked") is None
    assert visit.errors == []
    visit.context.close()
