"""What holds of the pictures of all networks, at the width of a page and of a narrow window."""

import json
import re
from collections import Counter

import numpy as np
import pytest

from netloom.drawing.names import SIZE
from netloom.drawing.networks.chart import drawn, scene_of
from netloom.drawing.networks.curves import fits_grid
from netloom.drawing.networks.scene import DISC
from netloom.drawing.networks.traffic import Traffic
from netloom.topology import Cube, topology, without
from tests.networks import with_all

NETWORKS = [
    "leaf-spine:8x4x8", "leaf-spine:4x2x2/3", "leaf-spine:60x20x1", "leaf-spine:2x1x1",
    "fat-tree:4x3", "fat-tree:2x5", "fat-tree:k=8", "fat-tree:k=16", "xgft:4x4x4/1x2x4",
    "dragonfly:2x4x2", "dragonfly:2x4x2/5", "dragonfly:4x8x4", "dragonfly:8x16x8/60",
    "dragonfly+:4x4x4x4", "hyperx:4x4/4", "hyperx:4x4/4/2", "hyperx:6x3x4/1", "hyperx:5/1",
    "slim-fly:5/4", "jellyfish:32x5x3/1", "jellyfish:300x11x1/1", "rail:4x8x4x4",
    "torus:8x8", "mesh:16x16", "torus:16x16", "torus:3x5", "line:5", "line:100", "ring:32",
    "mesh:6x6/4", "butterfly:4x3", "twisted-torus:4x4x8", "torus:20x20", "mesh:3x4x5",
    "torus:4x4x4/2", "hypercube:4", "hypercube:9", "torus:4x4x4x4", "mesh:3x2x4x2",
]  # fmt: skip
MERGED = {"fat-tree:k=16", "jellyfish:300x11x1/1", "dragonfly:8x16x8/60", "hyperx:4x4/4/2"}
"""Those in which channels are drawn together, or only the busiest."""


@pytest.fixture(params=with_all(NETWORKS), scope="module")
def net(request):
    return topology(request.param)


@pytest.fixture(params=[328, 700])
def width(request):
    return request.param


def fits(net):
    return isinstance(net.routers, Cube) and fits_grid(net.routers)


def is_deep(net):
    cube = net.routers
    return isinstance(cube, Cube) and sum(side > 1 for side in cube.sides) == 3


def names_of(net, channels):
    return [net.channel_name(each).replace(" -> ", " → ") for each in channels]


def shown(scene):
    return np.concatenate([part.channel for part in scene.channels])


def test_each_channel_is_drawn_and_no_two_at_one_place(net, width, traffic_on):
    scene = scene_of(traffic_on(net), width)
    if net.name in MERGED:
        assert 7 in shown(scene)
        return
    assert set(shown(scene)) == set(range(net.num_network_channels))
    curves = [part for part in scene.channels if part.points is not None and not part.again]
    for part in curves:
        ends = part.points[:, [0, 3]].reshape(-1, 4)
        assert len(np.unique(np.round(ends, 4), axis=0)) == len(ends)
        places = np.concatenate([ends[:, :2], ends[:, 2:]])
        beside = len(places) - len(np.unique(np.round(places, 4), axis=0))
        assert beside == 0 or fits(net)  # a slot of its own at both ends, but of rows of nodes
    for part in scene.channels:
        if part.squares is None:
            continue
        assert len(np.unique(part.squares[:, :2], axis=0)) == len(part.channel)
        left, top, side = part.squares.T
        assert left.min() >= 0
        assert (left + side).max() <= width + 1e-6
        assert top.min() >= 0
        assert (top + side).max() <= scene.height + 1e-6


def test_curves_stay_inside_the_picture(net, width, traffic_on):
    scene = scene_of(traffic_on(net), width)
    points = [part.points for part in scene.channels if part.points is not None]
    points += [bundles.points for bundles in scene.bundles]
    for each in points:
        if len(each):
            assert each[:, [0, 3]].min() >= 0
            assert each[:, [0, 3], 0].max() <= width
            assert each[:, [0, 3], 1].max() <= scene.height


def test_words_touch_neither_each_other_nor_the_rim_nor_discs(net, width, traffic_on):
    scene = scene_of(traffic_on(net), width)
    spans = [word.extent for word in scene.words]
    assert len(spans) > 3
    for place, (left, right, top, bottom) in enumerate(spans):
        text = scene.words[place].text
        assert left >= -1, text
        assert right <= width + 1, text
        assert top >= -1, text
        assert bottom <= scene.height + 1, text
        for other in range(place):
            before = spans[other]
            apart = (
                right <= before[0] or before[1] <= left or bottom <= before[2] or before[3] <= top
            )
            assert apart, (text, scene.words[other].text)
    for place, disc in enumerate(scene.discs):
        for other in scene.discs[:place]:
            assert np.hypot(disc.x - other.x, disc.y - other.y) >= 2 * DISC, (disc, other)


def test_the_busiest_are_named_and_marked_and_in_the_title(net, width, traffic_on):
    of = traffic_on(net)
    scene = scene_of(of, width)
    texts = [word.text for word in scene.words]
    named = 3 if isinstance(net.routers, Cube) or net.family is not None else 5
    several = min(named, int((of.time > of.mean).sum()))
    busiest = np.argsort(-of.time, kind="stable")[:several]
    assert of.busiest == busiest.tolist()
    assert set(names_of(net, busiest)) <= set(texts)
    listed = [disc.number for disc in scene.discs]
    assert listed[-several:] == list(range(1, several + 1))  # in the list
    if net.name not in MERGED:
        many = Counter(listed)
        assert min(many.values()) >= 2  # and where they are
        assert sum(many.values()) - 2 * several == is_deep(net)  # the key has the busiest
    (name,) = names_of(net, [7 % net.num_network_channels])
    assert of.sentence.startswith(f"{name} carries 40\u00a0B, ")
    spec = drawn(scene, of).to_dict()
    assert " ".join(spec["title"]["text"]) == spec["description"] == of.sentence


@pytest.mark.parametrize("spec", ["mesh:3x3/2", "line:5/2", "torus:4x4x4/2"])
@pytest.mark.parametrize("second", [False, True])
def test_the_channel_of_a_host_may_be_the_busiest(spec, width, second):
    """Then it has its disc beside its square, and the key shows the busiest between routers."""
    net = topology(spec)
    loads = np.ones(net.num_channels)
    loads[net.num_network_channels] = 40.0
    if second:
        loads[3] = 30.0
    of = Traffic(net, loads, "bytes")
    scene = scene_of(of, width)
    many = Counter(disc.number for disc in scene.discs)
    assert many[1] == 2
    assert many.get(2, 0) == second * (2 + is_deep(net))
    key = [word.text for word in scene.words if word.text.startswith("the busiest")]
    assert key == ["the busiest between routers"] * (second and is_deep(net))
    assert drawn(scene, of).to_dict()["description"] == of.sentence


def test_colours_are_by_time_on_one_scale_and_the_background_s(net, traffic_on, rows_of):
    of = traffic_on(net)
    scene = scene_of(of, 700)
    for row in rows_of(scene, of):
        assert ("channel" in row) != ("channels" in row)
        assert row["heat"] == pytest.approx(float(of.heat(row["load"])), abs=1e-4)
    spec = json.dumps(drawn(scene, of).to_dict())
    assert spec.count('"gradient"') == sum(len(part.channel) > 0 for part in scene.channels) + len(
        scene.cells
    )
    assert re.search("#[0-9a-f]{6}", spec) is None
    sizes = {int(each.split(",")[0].split("}")[0]) for each in spec.split('ontSize": ')[1:]}
    assert min(sizes) >= SIZE


@pytest.mark.parametrize(
    "spec", ["leaf-spine:4x4x2", "dragonfly:2x4x2", "mesh:4x4x4", "hyperx:4x4/1"]
)
def test_what_is_broken_is_not_drawn(spec):
    whole = topology(spec)
    time = np.arange(whole.num_network_channels, dtype=float)
    time[[0, 5]] = np.nan
    scene = scene_of(Traffic(whole, time, "bytes"), 700)
    assert set(shown(scene)) == set(range(len(time))) - {0, 5}


def test_a_broken_network_has_its_own_channels_where_the_whole_one_had_them():
    from netloom.drawing.networks.chart import network_chart

    whole = topology("leaf-spine:4x2x2")
    broken = without(whole, channels="leaf0-spine1")
    load = np.arange(broken.num_channels, dtype=float)
    spec = network_chart(broken, load, "bytes on the channel").to_dict()
    rows = next(table for table in spec["datasets"].values() if "heat" in table[0])
    assert {row["channel"]: row["load"] for row in rows} == {
        name: float(channel)
        for channel, name in enumerate(names_of(broken, range(broken.num_channels)))
    }


@pytest.mark.parametrize("loads", [np.zeros(64), np.full(64, np.nan), np.full(64, 12.0)])
@pytest.mark.parametrize("width", [328, 700])
def test_pictures_of_nothing_and_of_all_alike_have_no_marks(loads, width):
    of = Traffic(topology("leaf-spine:8x4x8"), loads, "bytes")
    scene = scene_of(of, width)
    assert scene.discs == ()
    assert len(drawn(scene, of).to_dict()["layer"]) > 2
    assert "× the mean" not in of.sentence


def test_nearly_even_loads_do_not_look_hot():
    loads = np.full(64, 100.0)
    loads[3] = 104.0
    of = Traffic(topology("leaf-spine:8x4x8"), loads, "bytes")
    assert of.sentence == "All 64 channels carry nearly the same, up to 104\u00a0B"
    assert of.heat(loads).max() < 0.25
