"""Tables and paths of a page put on channels what the routing puts there."""

import json

import numpy as np
import pytest

from netloom.pages.explorer.file import view_json
from netloom.pages.explorer.network import Flows, View, loads_of, network_json, ways_of
from netloom.questions.answers import Verdict
from netloom.routing import parse_routing, paths
from netloom.topology import topology
from tests.networks import COMPUTERS, TWO_WAY
from tests.pages.explorer import decoded

DGX = "fabric:examples/dgx-40.ibnetdiscover"

TABLED = [
    *((on, "dimension-order") for on in ("torus:4x5", "mesh:3x3x2", "hypercube:4", "hyperx:3x4/2")),
    ("torus:4x4", "dimension-order:0,1"),
    *((on, "d-mod-k") for on in ("leaf-spine:3x2x4", "fat-tree:4x3")),
    *((on, "minhop") for on in ("torus:4x4", "fat-tree:4x3", "jellyfish:12x3x2/7")),
    ("dragonfly:2x4x2", "minimal-group"),
    ("mesh:4x4", "dfsssp"),
    ("slim-fly:5/1", "minhop"),
    ("graph:examples/my-cluster.txt", "shortest-path"),
    ("torus:4x4", "layered"),
    *((on, "minhop") for on in TWO_WAY if on not in COMPUTERS),
]
"""Where the way of a packet depends on its destination alone."""

FOLLOWED = [
    *((on, "minimal") for on in ("torus:4x4", "leaf-spine:3x2x4", "fat-tree:4x3", "slim-fly:5/1")),
    *((on, "valiant") for on in ("mesh:3x3", "hyperx:3x3/1")),
    ("dragonfly:2x4x2", "valiant-group"),
    ("fat-tree:4x3", "nca"),
    *((on, "ecmp") for on in ("leaf-spine:3x4x4", "jellyfish:12x3x2/7")),
    ("torus:4x4", "valiant"),
    ("fat-tree:4x3", "s-mod-k"),
    ("jellyfish:12x3x2/7", "up-down"),
    *((on, "minhop") for on in COMPUTERS),
]
"""Where it does not."""


def some_flows(network, seed=1):
    """Return flows of ranks on hosts in some order: two share a host, some pairs come twice."""
    random = np.random.default_rng(seed)
    hosts = random.permutation(network.num_hosts)[:24].astype(np.int32)
    host_of = np.append(hosts, hosts[:1])
    ends = random.integers(0, len(host_of), (2, 80)).astype(np.int32)
    return Flows(host_of, ends[0], ends[1], random.integers(1, 1000, 80).astype(np.float64))


def expected(network, routing, flows):
    """Return what the paths of a routing put on channels, hop by hop."""
    found = paths(network, routing, *flows.hosts)
    load = np.zeros(network.num_channels)
    for path in range(len(found)):
        flow = path if found.pair is None else found.pair[path]
        share = 1.0 if found.probability is None else found.probability[path]
        for channel in found[path]:
            load[channel] += flows.amount[flow] * share
    return load[: network.num_network_channels]


def page_view(network, flows, ways, load):
    """Return a view as the page reads it."""
    nothing = Verdict("", "")
    view = View("view", nothing, "", network, "bytes", load, flows, ways)
    given = json.loads(json.dumps([network_json(network), view_json(view)], allow_nan=False))
    return decoded.View(given[1], decoded.Network(given[0]))


def check(network, name, *, tabled):
    """Check that ways are a table or not, and put on channels what the paths do."""
    routing, flows = parse_routing(name, network), some_flows(network)
    ways, why = ways_of(network, routing, flows)
    load = expected(network, routing, flows)
    assert (isinstance(ways, np.ndarray), why) == (tabled, "")
    assert np.allclose(loads_of(network, flows, ways), load)
    view = page_view(network, flows, ways, load)
    assert np.allclose(view.loads(), load)
    assert view.walked()[1] == 0
    for flow, _, channels in view.walked()[0]:
        ends = [network.routers.channel_target[each] for each in channels]
        starts = [network.routers.channel_source[each] for each in channels]
        assert ends[:-1] == starts[1:], flow  # a walk, not a set of channels
    return view


@pytest.mark.parametrize(("on", "name"), TABLED)
def test_a_table_puts_on_channels_what_the_paths_do(on, name):
    check(topology(on), name, tabled=True)


@pytest.mark.parametrize(("on", "name"), FOLLOWED)
def test_paths_put_on_channels_what_the_routing_does(on, name):
    view = check(topology(on), name, tabled=False)
    shares = np.bincount(
        [flow for flow, _, _ in view.walks], [share for _, share, _ in view.walks], len(view.flows)
    )
    assert np.allclose(shares, 1)


@pytest.mark.parametrize("name", ["lfts:examples/dgx-40-minhop.lfts", "updn"])
def test_tables_of_a_fabric_put_on_channels_what_they_say(name):
    check(topology(DGX), name, tabled=True)


def test_pairs_without_a_way_stop_nothing():
    table = np.full((4, 4), -1, np.int32)
    network = topology("mesh:2x2")
    ranks = np.arange(4, dtype=np.int32)
    flows = Flows(ranks, ranks, ranks[::-1].copy(), np.ones(4))
    assert not loads_of(network, flows, table).any()
    view = page_view(network, flows, table, np.zeros(8))
    assert view.walked()[1] == 4
