"""What an explorer draws is what its numbers say: colors, lengths, places, signs, and labels.

Everything is read back: marks from what the canvases were told to draw, values from the legends and
labels that a reader sees. What they should be comes from the data of the page, read in Python.
"""

import numpy as np
import pytest

import netloom as nl
from netloom.questions.register import EXPLORED
from tests.pages.explorer.decoded import busy, unpacked
from tests.pages.explorer.drawn import Drawn, check_words, colors_of, record, told
from tests.pages.explorer.pages import Explorer
from tests.questions.small_answers import ANSWERS

NEAR = {"load": 0.06, "change": 0.07, "part": 0.1, "selected": 0.1, "pairs": 0.06}
"""Parts of a legend's span that its colors tell apart."""


def matches(legend, color, value, note=""):
    """Check that a color means a value, by what its legend says."""
    low, high = legend.values(color)
    slack = NEAR[legend.kind] * max(abs(legend.low), abs(legend.high))
    assert low - slack <= value <= high + slack, (note, color, value, (low, high))


def values_of(visit, view):
    """Return what the channels of a view are colored by: times where their rates differ."""
    rate = visit.network.rate
    even = (rate == rate[0]).all() or view.unit == "share"
    if even:
        return view.load
    seconds = view.unit == "bytes" and visit.js("it.network.rate_unit") == "Gb/s"
    return view.load / rate * (8e-9 if seconds else 1)


def check_network(visit, values, kind, panel=0):
    """Check that every channel is drawn, in the color of its value."""
    on = ("network", "network-beside")[panel]
    drawn = Drawn(visit)
    colors, channels = colors_of(visit, drawn, f"{on} base", panel)
    assert channels == set(range(len(values)))
    assert set(colors) == channels
    for channel in channels:
        matches(drawn.legends[kind], colors[channel], values[channel], f"{kind} {channel}")
    return drawn


def check_list(visit, values):
    """Check the labels, the bars and the order of the busiest channels or largest changes."""
    rows = visit.tab.locator("#busiest li").evaluate_all(
        "all => all.map(li => [li.dataset.channels, li.querySelector('.value').textContent,"
        " parseFloat(li.querySelector('.bar i').style.width)])"
    )
    most = np.abs(values).max(initial=0)
    assert bool(rows) == bool(most)
    before = np.inf
    for channels, said, width in rows:
        own = values[list(map(int, channels.split()))]
        assert np.allclose(own, own[0])
        assert told(said) == pytest.approx(own[0], rel=6e-3)
        assert width == pytest.approx(100 * abs(own[0]) / most, abs=0.1)
        assert abs(own[0]) <= before * (1 + 1e-9)
        before = abs(own[0])


def check_discs(visit, drawn):
    """Check that each number stands on the channel of the row that has it."""
    discs = [each for each in drawn.of("word", "network base") if each["text"] in set("123")]
    circles = {tuple(np.round(each["at"][:2], 1)) for each in drawn.of("circle", "network base")}
    for each in discs:
        if tuple(np.round(each["at"], 1)) not in circles:
            continue  # the number of a row or a column
        channel = visit.tab.locator("#busiest li").nth(int(each["text"]) - 1)
        own = int(channel.get_attribute("data-channels"))
        near = visit.js(
            "[0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].map((part) => { const { k, x, y } ="
            " it.panels[0].lens(), [a, b] = it.panels[0].scene.middle(given, part);"
            " return [k * a + x, k * b + y]; })",
            own,
        )
        assert min(np.hypot(*(np.array(at) - each["at"])) for at in near) < 0.1


def check_strip(drawn, values, legend):
    """Check the heights, the colors and the label of the strip of all channels."""
    words = [each["text"] for each in drawn.of("word", "loads")]
    top = told(words[0])
    line, *bars = [
        each["at"]
        for each in sorted(drawn.of("square", "loads"), key=lambda each: each["at"][2] == 1)
    ]
    floor, falling = 128 - 16, np.sort(values)[::-1]
    assert f"{len(values):,} channels" in words
    for each, at in zip(
        [e for e in drawn.of("square", "loads") if e["at"][2] == 1], bars, strict=True
    ):
        value = falling[min(len(falling) - 1, int((at[0] - 8) / line[2] * len(falling)))]
        tall = floor - at[1]
        assert tall / (floor - line[1] - 1) * top == pytest.approx(value, rel=0.01, abs=0.01 * top)
        matches(legend, each["color"], value, "strip")


def check_matrix(visit, drawn, view, values, legend):
    """Check the color of each pair: the busiest channel on its way."""
    side, blocks = visit.js("[it.matrix.side, it.matrix.blocks]")
    assert blocks == view.ranks
    worst = {}
    for flow, _, channels in view.walked()[0]:
        pair = view.flows[flow][:2]
        worst[pair] = max([worst.get(pair, 0), *(values[each] for each in channels)])
    cells = [each for each in drawn.of("square", "matrix")[1:] if each["at"][2] <= side / blocks]
    found = {}
    for each in cells:
        x, y = each["at"][0] - 44, each["at"][1] - 22
        found[round(y / side * blocks), round(x / side * blocks)] = each["color"]
    assert worst.keys() <= found.keys()
    for pair, value in worst.items():
        matches(legend, found[pair], value, f"pair {pair}")


def check_time(visit, drawn, view):
    """Check the bars of the busiest channel over time, and the axis of time below them."""
    frames = view.given["frames"]
    edges, peaks = unpacked(frames["edges"]), busy(frames, visit.network.channels).max(axis=1)
    top, axis, *marks = [each["at"] for each in drawn.of("square", "time")]
    bars = marks[: len(peaks)]
    for left, right, peak, bar in zip(edges, edges[1:], peaks, bars, strict=False):
        assert bar[0] == pytest.approx(left / edges[-1] * top[2], abs=0.01)
        assert bar[2] == pytest.approx((right - left) / edges[-1] * top[2], abs=0.01)
        assert bar[3] == pytest.approx(peak * 42, abs=0.01)
        assert bar[1] + bar[3] == pytest.approx(top[1] + 1 + 42)
    words = drawn.of("word", "time")
    assert words[0]["text"].replace("\u00a0", " ") == "busiest channel, up to 100 %"
    times = words[1:]
    assert len(times) >= 3
    for each in times:
        at = told(each["text"]) / edges[-1] * axis[2]
        assert each["at"][0] == pytest.approx(at, abs=0.5 + 0.006 * at)


def check_selection(visit, picked):
    """Check that what is selected has its own scale, whatever is shown below it."""
    view = visit.views[visit.js("it.state.view")]
    before = visit.js("[...document.querySelectorAll('#legends p')].map((p) => p.textContent)")
    visit.set(picked=picked)
    drawn = Drawn(visit)
    after = visit.js("[...document.querySelectorAll('#legends p')].map((p) => p.textContent)")
    chosen = visit.js("Array.from(it.chosenFlows())")
    walks = [each for each in view.walked()[0] if chosen[each[0]]]
    if picked["kind"] == "channel":
        walks = [each for each in walks if picked["channel"] in each[2]]
    load = view.loads(walks)
    assert after[: len(before)] == before
    if load.any():
        assert len(after) == len(before) + 1
        legend = drawn.legends["selected"]
        assert legend.high == pytest.approx(load.max(), rel=6e-3)
        colors, _ = colors_of(visit, drawn, "network top")
        assert set(colors) == set(np.flatnonzero(load))
        for channel, color in colors.items():
            matches(legend, color, load[channel], f"selected {channel}")
            assert not is_red(color)
    visit.set(picked=None)


def is_red(color):
    """Whether a color is that of a channel that delays more than the load that delays."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return red > 1.6 * green and red > 1.6 * blue


def check_verdict(visit, drawn, view):
    """Check that a picture is red only if its verdict is not fine, and grey only if it may be."""
    mark, said = (view.given["verdict"][each] for each in ("mark", "sentence"))
    if not said:
        return
    colors, _ = colors_of(visit, drawn, "network base")
    if mark == "fine":
        assert not any(map(is_red, colors.values()))
    if mark == "act" and view.load.any():
        ends = np.array(drawn.legends["load"].colors[:2])
        shades = np.array([list(bytes.fromhex(each[1:7])) for each in colors.values()])
        assert np.abs(shades[:, None] - ends).max() > 60


@pytest.mark.parametrize("verb", EXPLORED)
def test_all_that_is_drawn_is_what_its_labels_say(browser, tmp_path, verb):
    names = [each for each in ANSWERS if each.split(",")[0] == verb]
    answer = ANSWERS[names[0]]()
    visit = Explorer(browser, nl.explore(answer, tmp_path / "page.html"))
    assert (visit.errors, visit.requests) == ([], [])
    record(visit)
    compared = len({view.unit for view in visit.views}) < len(visit.views)
    for at, view in enumerate(visit.views):
        values = values_of(visit, view)
        for drawing in range(len(visit.network.drawings)):
            visit.set(view=at, mode="one", beside=-1, drawing=drawing)
            drawn = check_network(visit, values, "load")
            check_words(drawn)
            check_discs(visit, drawn)
            check_verdict(visit, drawn, view)
        check_list(visit, values)
        check_strip(drawn, values, drawn.legends["load"])
        if visit.js("!it.matrix.place.hidden"):
            check_matrix(visit, drawn, view, values, drawn.legends["load"])
            check_selection(visit, {"kind": "channel", "channel": int(view.load.argmax())})
            check_selection(visit, {"kind": "rank", "rank": 1})
        if view.given["frames"]:
            frames = busy(view.given["frames"], visit.network.channels)
            check_time(visit, drawn, view)
            middle = int(frames.max(axis=1).argmax())
            visit.set(frame=middle)
            check_list(visit, frames[middle])
            drawn = check_network(visit, frames[middle], "load")
            check_strip(drawn, values, drawn.legends.get("pairs") or drawn.legends["load"])
            visit.set(frame=-1)
    if compared:
        before, after = (view.load for view in visit.views[:2])
        visit.set(view=0, mode="change", beside=1, drawing=0)
        check_list(visit, after - before)
        check_words(check_network(visit, after - before, "change"))
        if visit.js("!it.matrix.place.hidden"):
            check_selection(visit, {"kind": "rank", "rank": 1})
        visit.set(mode="beside")
        for panel, view in enumerate(visit.views[:2]):
            check_network(visit, values_of(visit, view), "load", panel)
    assert visit.errors == []
    visit.context.close()
