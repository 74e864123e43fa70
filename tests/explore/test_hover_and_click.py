"""What is pointed at and clicked tells the numbers that Python has."""


import numpy as np
import pytest

from tests.explore.pages import ANSWERS

NAMES = list(ANSWERS)
WALKED = [name for name in NAMES if name != "dragonfly"]
"""Pages that know who sends what."""

BY_HAND = """given => {
  const { scene } = netloom.explorer.panels[0];
  const { places, channel } = scene.curves, { squares } = scene;
  const far = (x, y) => {
    let least = Infinity;
    for (let at = 0; at < channel.length; at++) {
      let [x0, y0] = [places[8 * at], places[8 * at + 1]];
      for (let part = 1; part <= 40; part++) {
        const t = part / 40, r = 1 - t, w = [r * r * r, 3 * t * r * r, 3 * t * t * r, t * t * t];
        let [x1, y1] = [0, 0];
        for (let p = 0; p < 4; p++) {
          x1 += w[p] * places[8 * at + 2 * p];
          y1 += w[p] * places[8 * at + 2 * p + 1];
        }
        const [dx, dy] = [x1 - x0, y1 - y0];
        const along = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1);
        const s = Math.max(0, Math.min(1, along));
        least = Math.min(least, Math.hypot(x - x0 - s * dx, y - y0 - s * dy));
        [x0, y0] = [x1, y1];
      }
    }
    for (let at = 0; at < squares.channel.length; at++) {
      const [left, top, side] = squares.places.subarray(3 * at, 3 * at + 3);
      const dx = Math.max(left - x, 0, x - left - side), dy = Math.max(top - y, 0, y - top - side);
      least = Math.min(least, Math.hypot(dx, dy));
    }
    return least;
  };
  const { values } = netloom.explorer.panels[0].look;
  return given.map(([x, y, reach]) => [far(x * scene.width, y * scene.height),
    scene.hit(x * scene.width, y * scene.height, reach, values)]);
}"""
"""How far the nearest channel is from places, and the channel that the page finds there."""


@pytest.mark.parametrize("name", NAMES)
def test_a_page_complains_of_nothing_and_asks_for_nothing(visits, name):
    visit = visits(name)
    assert visit.errors == []
    assert visit.requests == []
    assert visit.tab.evaluate("document.body.dataset.ready") == "yes"
    assert visit.tab.title() == visit.tab.evaluate("document.title")
    assert visit.text("sentence")


@pytest.mark.parametrize("name", NAMES)
def test_the_page_reads_what_python_wrote(visits, name):
    visit = visits(name)
    for at, view in enumerate(visit.views):
        assert visit.js("Array.from(it.models[given].view.load)", at) == view.load.tolist()
        if view.table is None and view.walks is None:
            continue
        assert np.allclose(visit.loads(f"it.models[{at}]"), view.load)
        visit.set(view=at)
        again = visit.js("Array.from(it.model.carried(it.model.crossing && Uint8Array.from("
                         "{length: it.model.walks.many}, () => 1)))")  # fmt: skip
        assert np.allclose(again, view.load)


@pytest.mark.parametrize("reach", [7.0, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_a_channel_is_found_wherever_it_is_near(visits, name, reach):
    random = np.random.default_rng(5)
    given = [[*each, reach] for each in random.random((150, 2)).tolist()]
    found = visits(name).tab.evaluate(BY_HAND, given)
    near = [channel >= 0 for far, channel in found if far <= 0.8 * reach]
    away = [channel for far, channel in found if far > 1.2 * reach]
    assert near
    assert all(near), f"{near.count(False)} of {len(near)} places near a channel tell nothing"
    assert set(away) <= {-1}
