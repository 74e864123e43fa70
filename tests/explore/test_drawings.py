"""Each drawing of a network has every channel once, and what is broken apart."""

import json

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.drawing.networks.cubes import MOST_SIDE
from netloom.explore.network import drawings_of, network_json
from netloom.topology import topology, without
from tests.explore.decoded import Network, places, unpacked
from tests.networks import with_all

DGX = "fabric:examples/dgx-40.ibnetdiscover"

DRAWN = {
    "ring:8": ["lines"],
    "torus:8x8": ["lines"],
    f"torus:{MOST_SIDE + 1}x4": ["squares", "lines"],
    "mesh:2x2": ["lines"],
    "torus:2x2x2": ["planes", "space"],
    "mesh:3x4x5": ["planes", "space"],
    "torus:3x1x4": ["lines"],
    "hypercube:5": ["dimensions"],
    "twisted-torus:8x4x4": None,
    "leaf-spine:4x2x4": ["levels"],
    "fat-tree:4x3": ["levels"],
    "dragonfly:2x4x2": ["ring"],
    "hyperx:4x4/1": ["lines of routers", "levels"],
    "slim-fly:5/1": ["levels"],
    "jellyfish:12x3x2/7": ["levels"],
    "graph:examples/my-cluster.txt": ["levels"],
    "graph:examples/my-cluster.graphml": ["levels"],
    DGX: ["levels"],
}
"""Networks, and what their drawings are called."""


def drawn(network):
    """Return the JSON of a network, as a page reads it."""
    return json.loads(json.dumps(network_json(network), allow_nan=False))


@pytest.mark.parametrize("on", with_all(DRAWN))
def test_every_channel_is_drawn_once(on):
    network = topology(on)
    given = drawn(network)
    assert DRAWN.get(on) in (None, [each["label"] for each in given["drawings"]])
    for each in given["drawings"]:
        curves, squares = unpacked(each["curves"]["channel"]), unpacked(each["squares"]["channel"])
        found = sorted([*curves.tolist(), *squares.tolist()])
        assert found == list(range(network.num_network_channels)), each["label"]
        assert places(each["curves"]["places"]).shape == (len(curves), 8)
        assert places(each["squares"]["places"]).shape == (len(squares), 3)
        assert places(each["gone"]).shape == (0, 8)


@pytest.mark.parametrize("on", with_all(DRAWN))
def test_all_is_inside_the_picture(on):
    for each in drawn(topology(on))["drawings"]:
        curves, squares = places(each["curves"]["places"]), places(each["squares"]["places"])
        far = [*curves[:, 0::2].ravel(), *(squares[:, 0] + squares[:, 2])]
        low = [*curves[:, 1::2].ravel(), *(squares[:, 1] + squares[:, 2])]
        assert min(far) >= -1, each["label"]
        assert max(far) <= each["width"] + 1
        assert min(low) >= -1
        assert max(low) <= each["height"] + 1


@pytest.mark.parametrize("on", [on for on in DRAWN if not on.startswith(("mesh", "jelly"))])
def test_routers_are_each_at_a_place_of_their_own(on):
    network = topology(on)
    for each in drawn(network)["drawings"]:
        routers = unpacked(each["routers"]["router"]).tolist()
        boxes = places(each["routers"]["places"])
        assert len(routers) == len(boxes)
        assert len({tuple(box) for box in boxes.tolist()}) == len(boxes)
        if each["label"] in ("lines", "levels"):
            assert set(routers) == set(range(network.num_routers))


@pytest.mark.parametrize(
    ("on", "gone"),
    [("torus:8x8", "0-1"), ("leaf-spine:4x2x4", "leaf0-spine1"), ("mesh:3x3x3", "0-1")],
)
def test_broken_channels_are_apart(on, gone):
    network = without(topology(on), channels=gone)
    given = drawn(network)
    assert given["missing"] == 2
    assert given["channels"] == network.whole.num_network_channels - 2
    for each in given["drawings"]:
        curves = unpacked(each["curves"]["channel"]).tolist()
        squares = unpacked(each["squares"]["channel"]).tolist()
        assert sorted(curves + squares) == list(range(given["channels"])), each["label"]
        assert len(places(each["gone"])) == (0 if squares else 2)


def test_a_broken_network_draws_what_is_left_where_it_was():
    whole, broken = (
        drawn(each)["drawings"][0]
        for each in (topology("torus:8x8"), without(topology("torus:8x8"), channels="0-1"))
    )
    before = {tuple(each) for each in places(whole["curves"]["places"]).round(2).tolist()}
    after = {tuple(each) for each in places(broken["curves"]["places"]).round(2).tolist()}
    gone = {tuple(each) for each in places(broken["gone"]).round(2).tolist()}
    assert before == after | gone
    assert len(gone) == 2


def test_a_picture_of_three_dimensions_has_its_coordinates():
    (space,) = (each for each in drawn(topology("mesh:2x3x4"))["drawings"] if each.get("depth"))
    depth = unpacked(space["depth"]).reshape(3, 24)
    assert depth.max(axis=1).tolist() == [3, 2, 1]  # x first: the side that is last
    assert len({tuple(each) for each in depth.T.tolist()}) == 24


def test_names_ports_and_rates_are_those_of_the_fabric():
    network = topology(DGX)
    given = drawn(network)
    page = Network(given)
    assert len(page.router_names) == len(set(page.router_names)) == network.num_routers
    assert given["rate_unit"] == "Gb/s"
    cabling, inside = network.cabling, network.num_network_channels
    assert page.ports == list(
        zip(cabling.out_port[:inside].tolist(), cabling.in_port[:inside].tolist(), strict=True)
    )
    for channel in range(inside):
        twin = page.twin(channel)
        assert page.twin(twin) == channel
        assert (page.source[twin], page.target[twin]) == (
            page.target[channel],
            page.source[channel],
        )


def test_ports_of_a_broken_fabric_are_those_that_are_left():
    whole = topology(DGX)
    name = whole.name_of(whole.router_vertex(0))
    other = whole.name_of(whole.router_vertex(int(whole.routers.channel_target[0])))
    broken = without(whole, channels=f"{name}-{other}#1")
    assert broken.num_network_channels == whole.num_network_channels - 2
    kept = broken.whole_channel[: broken.num_network_channels]
    page = Network(drawn(broken))
    assert [out for out, _ in page.ports] == whole.cabling.out_port[kept].tolist()
    assert all(page.twin(page.twin(each)) == each for each in range(page.channels))


@pytest.mark.parametrize("on", ["torus:32x32", "graph:examples/two-hosts.graphml"])
def test_what_cannot_be_drawn_is_refused_in_a_line(on, monkeypatch):
    monkeypatch.setattr("netloom.explore.network.MOST_CHANNELS", 1000)
    network = topology(on)
    with pytest.raises(InputError) as refused:
        drawings_of(network)
    assert "1 to 1,000 channels between routers to draw" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_depth_is_of_cubes_of_three_dimensions_only():
    assert all(each.depth is None for each in drawings_of(topology("torus:4x4")))
    spread = drawings_of(topology("torus:4x4x4"))[1].depth
    assert np.ptp(spread, axis=0).tolist() == [3, 3, 3]
