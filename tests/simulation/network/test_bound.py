"""Bounds on throughput: sums by hand, and every pair and every cut by brute force."""

from dataclasses import replace
from itertools import combinations
from unittest.mock import patch

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from netloom.base.errors import NoRouteError
from netloom.bounds.demand import listed_pairs
from netloom.contention import expected_load
from netloom.routing import source_routes, table, virtual_channel_routing
from netloom.simulation.network import bound
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.routers import Router, end_channels
from netloom.topology import cube, graph_topology, mesh, torus
from netloom.workload import parse_traffic
from netloom.workload.traffic import pairs, permutation, uniform
from tests.properties.strategies import traffics
from tests.properties.test_expected_load import listed
from tests.reference.expected_load import loads

WIDE = Router(vcs=4, injection_channels=0, ejection_channels=0)


def bound_of(network, pattern, routing="dimension-order", router=None):
    traffic = parse_traffic(pattern, network) if isinstance(pattern, str) else pattern
    router = router or Router(vcs=4)
    routed = virtual_channel_routing(network, routing, num_vcs=router.vcs)
    return throughput_bound(network, routed, traffic, router)


def cuts_of(network, pattern, router=None):
    """What holds for every routing: ends and cuts."""
    with patch.object(bound, "_of_routing", lambda *_: None):
        found = bound_of(network, pattern, "adaptive", router)
    assert found.kind == "network"
    return found


def test_uniform_traffic_on_a_mesh_is_bound_by_its_bisection():
    # 32 nodes send 32/63 of their flits across, over 8 channels
    found = bound_of(mesh(8, 8), "uniform")
    assert found.load == pytest.approx(8 * 63 / (32 * 32))
    assert found.what == "the 8 channels from row 3 to row 4"
    assert bound_of(mesh(8, 8), "uniform-self").load == pytest.approx(8 * 64 / (32 * 32))


def test_uniform_traffic_on_a_torus():
    # half the ring, four coordinates: 32 nodes send 32/63 out, over two channels a ring
    found = bound_of(torus(8, 8), "uniform", router=WIDE)
    assert found.load == pytest.approx(16 * 63 / (32 * 32))
    assert found.what == "the 16 channels out of rows 0 to 3"
    # unequal sides: the longer ring
    found = bound_of(torus(4, 8), "uniform", "adaptive", WIDE)
    assert found.load == pytest.approx(8 * 31 / (16 * 16))
    assert found.what == "the 8 channels out of columns 0 to 3"


def test_transpose_fills_the_channels_of_the_corners():
    # along a row first, the 7 packets of row 0 all turn at its end, into the channel down; the 8
    # nodes of the diagonal do not send
    found = bound_of(mesh(8, 8), "transpose")
    assert found.load == pytest.approx(1 / 7)
    assert found.what == "channel (0,0) -> (1,0)"
    # by rows first or by columns first, as a coin falls, half as many
    assert bound_of(mesh(8, 8), "transpose", "o1turn").load == pytest.approx(2 / 7)
    # no cut knows: from column 0 to 1 go 7 packets over 8 channels, 3 to 4 has 16 over 8. Adaptive
    # packets fill 10 channels beside the diagonal: 22 of them have to cross these
    free = bound_of(mesh(8, 8), "transpose", "adaptive")
    assert free.load == pytest.approx(10 / 22)
    assert free.what.startswith("10 channels such as (")
    assert free.what.endswith(", however packets choose their ways")


def test_tornado_fills_one_direction_of_every_ring():
    # three channels ahead, never half-way round: dimension order leaves no choice
    found = bound_of(torus(8, 8), "tornado")
    assert (found.load, found.what) == (pytest.approx(1 / 3), "channel (0,0) -> (1,0)")
    # adaptive routing too goes one way round; the cut counts both
    for name in ("adaptive", "adaptive-sticky-escape"):
        assert bound_of(torus(8, 8), "tornado", name).load == pytest.approx(1 / 3, rel=2e-6)
        assert bound_of(torus(16, 16), "tornado", name).load == pytest.approx(1 / 7, rel=2e-6)
    # a permutation that goes half-way: half of it either way
    assert bound_of(torus(8), permutation((np.arange(8) + 4) % 8)).load == pytest.approx(1 / 2)


def test_hot_spot_by_hand():
    # 63 nodes send 0.2 to the hot node, and their share of the other 0.8
    found = bound_of(mesh(8, 8), "hot-spot:0.2:27")
    assert found.load == pytest.approx(1 / (63 * (0.2 + 0.8 / 63)))
    assert found.what == "ejection at node (3,3)"
    two = bound_of(mesh(8, 8), "hot-spot:0.2:27,28")
    assert two.load == pytest.approx(1 / (62 * 0.1 + 0.2 + 0.8))
    # four ejection channels: now the channel from below, with the traffic of four rows
    four = bound_of(mesh(8, 8), "hot-spot:0.2:27", router=Router(ejection_channels=4))
    assert four.load == pytest.approx(1 / (32 * 0.2 + 32 * 4 * 0.8 / 63))
    assert four.what == "channel (4,3) -> (3,3)"


def test_given_routes_and_tables():
    ring = torus(5)
    routes = source_routes(ring, [[0, 1, 2], [1, 2], [2, 3]])
    traffic = pairs(5, [0, 1, 2], [2, 2, 3])
    found = bound_of(ring, traffic, routes)
    assert (found.load, found.what) == (pytest.approx(1 / 2), "ejection at node 2")
    found = bound_of(ring, traffic, routes, WIDE)
    assert (found.load, found.what) == (pytest.approx(1 / 2), "channel 1 -> 2")
    with pytest.raises(NoRouteError, match="from host 3 to host 4"):
        bound_of(ring, pairs(5, [3], [4]), routes)

    star = graph_topology(nx.star_graph(4))
    found = bound_of(star, "uniform", "shortest-path", WIDE)
    said = "the channels out of 1, 1 flits/cycle in all"  # leaf 1 sends all
    assert (found.load, found.what) == (pytest.approx(1), said)
    line = mesh(4)
    right = line.line_base[0, 0]
    left = line.line_base[0, 1]
    only = table(line, lambda node, target: right + node if target > node else left + 3 - node)
    assert bound_of(line, "uniform", only, WIDE).load == pytest.approx(1 / (4 / 3))


def test_valiant_makes_two_trips():
    # to any of 64 nodes and on: 2 * 32 * 32 / 64 packets over the 8 channels of a middle
    found = bound_of(mesh(8, 8), "uniform", "valiant")
    assert (found.load, found.what) == (pytest.approx(1 / 4), "channel (3,0) -> (4,0)")
    # whatever the permutation, as long as all nodes send: that is what it is for
    for pattern in ("tornado", "bit-complement", "uniform-self"):
        assert bound_of(torus(8, 8), pattern, "valiant").load == pytest.approx(1 / 2)


def test_a_limit_that_was_not_reckoned_is_the_networks(monkeypatch):
    monkeypatch.setattr(expected_load, "MOST_ARCS", 99)
    found = bound_of(torus(8, 8), "tornado", "adaptive")
    assert (found.load, found.kind) == (pytest.approx(2 / 3), "network")
    assert found.sentence.startswith("with any routing and these ends, no more than 0.6667 can be")
    assert found.sentence.endswith("(the limit of this routing may be lower)")
    # dimension order is one of the ways, and it loads no channel more than the cut
    assert bound_of(torus(8, 8), "uniform", "adaptive").kind == "routing"


def test_a_table_with_choices_is_split_evenly():
    square = mesh(2, 2)
    channel = {square.channel_name(c): c for c in range(square.num_channels)}
    along = {0: channel["(0,0) -> (0,1)"], 1: channel["(0,1) -> (0,0)"]}
    along |= {2: channel["(1,0) -> (1,1)"], 3: channel["(1,1) -> (1,0)"]}
    across = {0: channel["(0,0) -> (1,0)"], 1: channel["(0,1) -> (1,1)"]}
    across |= {2: channel["(1,0) -> (0,0)"], 3: channel["(1,1) -> (0,1)"]}

    def along_first(node, target):
        return across[node] if node % 2 == target % 2 else along[node]

    def either_from_the_corner(node, target):
        return [along[0], across[0]] if (node, target) == (0, 3) else along_first(node, target)

    traffic = pairs(4, [0, 0, 1], [3, 1, 2], weights=[1, 1, 0.1])
    fixed, free = (table(square, ways) for ways in (along_first, either_from_the_corner))
    # node 0 sends 2 of 2.1, so 2 / 1.05 flits a cycle at load 1: by one channel, or by two
    one = bound_of(square, traffic, fixed, WIDE)
    assert (one.load, one.kind) == (pytest.approx(2.1 / 4), "routing")
    assert one.what == "channel (0,0) -> (0,1)"
    # with the 0.1 from node 1, which go by node 0: two channels share 2.1 of 2.1
    assert bound_of(square, traffic, free, WIDE).load == pytest.approx(1)


@st.composite
def networks(draw):
    sides = draw(
        st.lists(st.integers(1, 6), min_size=1, max_size=3).filter(lambda s: 1 < np.prod(s) < 60)
    )
    return cube(sides, draw(st.lists(st.booleans(), min_size=len(sides), max_size=len(sides))))


def fullest_cut(network, flow):
    """Traffic over channels, of every cut of every dimension and every router: pair by pair."""
    fullest, cuts = 0.0, np.eye(network.num_nodes, dtype=bool).tolist()
    at = [network.coordinates(node) for node in range(network.num_nodes)]
    ends = list(zip(network.source_end.tolist(), network.target_end.tolist(), strict=True))
    for axis, side in enumerate(network.sides):
        for low, high in combinations(range(side + 1), 2):
            if high - low == side or (low and not network.wraps[axis]):
                continue
            cuts.append([low <= place[axis] < high for place in at])
    for inside in cuts:
        for out in (True, False):
            traffic = sum(w for a, b, w in flow if inside[a] == out != inside[b])
            channels = sum(inside[a] == out != inside[b] for a, b in ends)
            fullest = max(fullest, traffic / channels)
    return fullest


@given(st.data())
def test_ends_and_cuts_are_those_of_all_pairs(data):
    network = data.draw(networks())
    traffic = data.draw(traffics(network.num_nodes))
    shares = traffic.matrix()
    flow = [(a, b, w * traffic.rate.sum()) for a, b, w in zip(*shares, strict=True)]
    assert len(flow) <= listed_pairs(traffic)
    received = max(sum(w for _, b, w in flow if b == node) for node in range(network.num_nodes))
    injection, ejection = end_channels(network, WIDE)
    cut = fullest_cut(network, flow)
    limits = [traffic.rate.max() / injection, received / ejection, cut]
    assert cuts_of(network, traffic, WIDE).load == pytest.approx(1 / max(limits))


@given(st.data())
def test_no_routing_carries_more_than_the_cuts_let_through(data):
    network = data.draw(networks())
    traffic = data.draw(traffics(network.num_nodes))
    source, target, weight = traffic.matrix()
    flow = listed(source, target, weight * traffic.rate.sum())
    fullest = max(loads(network, flow, range(len(network.sides))[::-1]))
    by_cuts = cuts_of(network, traffic, WIDE)
    by_split = bound_of(network, traffic, "adaptive", WIDE)
    by_channels = bound_of(network, traffic, "dimension-order", WIDE)
    assert by_channels.load <= by_split.load * (1 + 1e-6)
    assert by_split.load <= by_cuts.load * (1 + 1e-6)
    if by_channels.what.startswith("channel "):
        assert by_channels.load == pytest.approx(1 / fullest)
    if by_cuts.what.startswith("the "):
        assert by_cuts.load >= 1 / fullest * (1 - 1e-9)


def test_large_networks_are_summed_in_closed_form():
    network = mesh(512, 512)
    routing = virtual_channel_routing(network, "dimension-order", num_vcs=2)
    traffic = uniform(network.num_nodes)
    found = throughput_bound(network, routing, traffic, Router())
    nodes = 512**2
    assert found.load == pytest.approx(512 * (nodes - 1) / (nodes / 2) ** 2)
    assert found.what == "the 512 channels from row 255 to row 256"


@pytest.mark.parametrize("routing", ["shortest-path", "adaptive"])
def test_channels_of_a_direct_network_that_are_slow(routing):
    # a square: from corner 0 to corner 3 by 1 or by 2, over channels of half and a quarter
    rates = {(0, 1): 0.5, (0, 2): 0.25}
    plain = mesh(2, 2)
    ends = zip(plain.channel_source.tolist(), plain.channel_target.tolist(), strict=True)
    rate = np.array([rates.get(pair, 1.0) for pair in ends])
    network = replace(plain, channel_bandwidth=rate)
    found = bound_of(network, pairs(4, [0], [3]), routing)
    assert found.kind == "routing"
    assert found.load == pytest.approx(0.25 if routing == "shortest-path" else 0.75)
