"""Each drawing of a network has every channel once, and what is broken apart."""

import json

import pytest

from netloom.drawing.networks.curves import MOST_SIDE
from netloom.pages.explorer.network import network_json
from netloom.topology import topology, without
from tests.networks import with_all
from tests.pages.explorer.decoded import Network, places, unpacked

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


def check_inside(drawing):
    """Check that all lies inside the picture."""
    curves, squares = (places(drawing[each]["places"]) for each in ("curves", "squares"))
    far = [*curves[:, 0::2].ravel(), *(squares[:, 0] + squares[:, 2])]
    low = [*curves[:, 1::2].ravel(), *(squares[:, 1] + squares[:, 2])]
    assert min([*far, *low]) >= -1, drawing["label"]
    assert max(far) <= drawing["width"] + 1
    assert max(low) <= drawing["height"] + 1


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
        check_inside(each)


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


@pytest.mark.parametrize("on", ["torus:8x8", "mesh:3x3x3"])
def test_a_broken_network_draws_what_is_left_where_it_was(on):
    whole = topology(on)
    before, after = drawn(whole), drawn(without(whole, channels="0-1"))
    assert after["missing"] == 2
    for one, other in zip(before["drawings"], after["drawings"], strict=True):
        (known, _), (left, gone) = (
            [
                {tuple(e) for e in places(p).round(2).tolist()}
                for p in (d["curves"]["places"], d["gone"])
            ]
            for d in (one, other)
        )
        if known:
            assert known == left | gone
            assert len(gone) == 2


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
