"""Cables that are out and ranks that change places: the page finds what Python finds."""

import numpy as np
import pytest

from tests.pages.explorer.detours import ends_of, without
from tests.pages.explorer.drawn import Drawn, record

WALKED = ["torus", "trace", "tree", "fabric", "graph", "few entries"]


def cables(visit):
    """Return the busiest cable, and one that carries about the mean: both ways of each."""
    load = visit.views[0].load
    order = np.argsort(-load, kind="stable")
    for channel in (int(order[0]), int(np.abs(load - load.mean()).argmin())):
        yield [channel, visit.network.twin(channel)]


def check_walks(visit, out):
    """Check that the page's walks are Python's, and miss what is out. Return the walks."""
    view = visit.views[0]
    walks, lost = without(view, set(out))
    assert np.allclose(visit.loads(), view.loads(walks))
    assert visit.js("it.model.walks.lost") == lost
    assert not any(set(channels) & set(out) for _, _, channels in walks)
    assert not np.asarray(visit.loads())[out].any()
    return walks, lost


def arrives(visit, walk):
    """Whether a walk goes from the router of its sender to that of its receiver."""
    view, network = visit.views[0], visit.network
    flow, _, channels = walk
    ends = tuple(network.router_of[view.host_of[rank]] for rank in view.flows[flow][:2])
    if not channels:
        return ends[0] == ends[1]
    return ends_of(network, channels) == ends


@pytest.mark.parametrize("name", WALKED)
def test_cables_that_are_out_are_walked_around_and_put_back(visits, name):
    visit = visits(name)
    for out in cables(visit):
        assert -1 not in out
        visit.set(picked={"kind": "channel", "channel": out[0]})
        visit.tab.click("#take-out")
        assert sorted(visit.js("it.state.out")) == sorted(out)
        walks, lost = check_walks(visit, out)
        assert lost == 0  # these networks have other ways
        assert all(arrives(visit, walk) for walk in walks)
        assert visit.text("verdict") == ""  # that was about what was answered
        before, after = (visit.amount(max(each)) for each in (visit.views[0].load, visit.loads()))
        assert visit.text("sentence").startswith("With 1 cable out the busiest channel carries")
        assert f"{before} → {after}" in visit.text("sentence")
        assert visit.name_of(out[0]) in visit.tab.inner_text("#outs")
        visit.set(picked={"kind": "channel", "channel": out[0]})
        assert visit.tab.inner_text("#take-out") == "Put this cable back"
        visit.tab.click("#take-out")
        assert visit.js("it.state.out") == []
        assert np.allclose(visit.loads(), visit.views[0].load)
    out = [each for both in cables(visit) for each in both]
    visit.set(out=out)
    walks, lost = check_walks(visit, out)
    assert sum(not arrives(visit, walk) for walk in walks) == lost
    visit.tab.click("#undo")
    assert np.allclose(visit.loads(), visit.views[0].load)
    assert visit.tab.is_hidden("#undo")


@pytest.mark.parametrize("name", ["torus", "trace", "tree"])
def test_a_cable_that_is_out_stays_marked(visits, name):
    visit = visits(name)
    record(visit)
    channel = int(visit.views[0].load.argmax())
    out = sorted([channel, visit.network.twin(channel)])
    visit.set(picked={"kind": "channel", "channel": channel})
    visit.tab.click("#take-out")
    for drawing in range(len(visit.network.drawings)):
        visit.set(drawing=drawing)
        drawn = Drawn(visit)
        crosses = [each["at"] for each in drawn.of("word", "network base") if each["text"] == "×"]
        places = [
            visit.js(
                "(([x, y]) => { const box = it.panels[0].top.getBoundingClientRect();"
                " return [x - box.left, y - box.top]; })(window.netloom.at(given))",
                each,
            )
            for each in out
        ]
        assert np.allclose(crosses, places)
        dashed = [each for each in drawn.of("curve", "network base") if each["dash"] == [5, 4]]
        assert len(dashed) == (
            2 if visit.js("it.panels[0].scene.row(given).curve >= 0", channel) else 0
        )
        assert visit.js("it.panels[0].svg('')").count("×</text>") == 2
        values = visit.js("Array.from(it.panels[0].look.values)")
        assert np.allclose(values, visit.loads())
        assert not np.asarray(values)[out].any()


@pytest.mark.parametrize("name", ["tree", "few entries", "trace"])
def test_pairs_without_a_way_are_counted(visits, name):
    visit = visits(name)
    network = visit.network
    router = network.router_of[visit.views[0].host_of[0]]
    out = network.leaving[router] + network.entering[router]
    visit.set(out=out)
    _, lost = check_walks(visit, out)
    assert lost > 0
    word = "pair has" if lost == 1 else "pairs have"
    assert f"{lost:,} {word} no way left" in visit.text("sentence")


@pytest.mark.parametrize("name", ["torus", "tree", "fabric", "few entries"])
def test_swapped_ranks_are_walked_anew(visits, name):
    visit = visits(name)
    view = visit.views[0]
    one, other = 1, view.ranks - 2
    visit.tab.fill("#swap-one", str(one))
    visit.tab.fill("#swap-other", str(other))
    visit.tab.click("#swap button")
    host_of = list(view.host_of)
    host_of[one], host_of[other] = host_of[other], host_of[one]
    walks, lost = view.walked(host_of=host_of)
    assert lost == 0
    assert np.allclose(visit.loads(), view.loads(walks))
    assert visit.js("it.state.swap") == [one, other]
    assert visit.js("it.model.hostOf(given)", one) == view.host_of[other]
    assert f"ranks {one} and {other} swapped" in visit.text("sentence")
    visit.tab.click("#undo")
    assert np.allclose(visit.loads(), view.load)


def test_two_answers_are_compared_by_buttons(visits):
    visit = visits("fabric")
    before, after = (view.load for view in visit.views)
    visit.tab.get_by_text("difference", exact=True).click()
    assert visit.js("Array.from(it.panels[0].look.values)") == (after - before).tolist()
    row = visit.tab.locator("#busiest li").first.get_attribute("data-channels")
    visit.tab.mouse.move(*visit.at(int(row)))
    pointed = visit.js("it.pointed")
    change = after[pointed] - before[pointed]
    way = "less" if change < 0 else "more"
    assert f"{visit.amount(abs(change))} {way} in {visit.views[1].name}" in visit.text("tip")
    visit.tab.get_by_text("side by side", exact=True).click()
    assert visit.tab.is_visible("#network-beside")
    scales = visit.js(
        "it.panels.map(({ look: { scale } }) => [scale.delays, scale.full, scale.end])"
    )
    assert scales[0] == scales[1]
    visit.tab.click("#zoom-in")
    cameras = visit.js("it.panels.map((each) => each.camera)")
    assert cameras[0] == cameras[1]
    assert cameras[0]["k"] > 1
