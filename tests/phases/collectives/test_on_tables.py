"""Schedules on installed routes: what they send, when, and over which channels."""

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.pipelines import Asked, on_tables
from netloom.phases.collectives.synthesis import proven
from netloom.routing import parse_routing, paths
from netloom.topology import topology
from tests.reference.collectives_checked import check

EXAMPLES = Path(__file__).parents[3] / "examples"


def scheduled(net, by, ranks=None, collective="all-gather", chunks=1):
    """Return a schedule that is right, on routes asked for anew, its depth and its rounds."""
    network = rank_network(net, ranks)
    found, rounds = on_tables(Asked(network, collective, 1.0, chunks=chunks), by)
    check(found.program)
    hosts = network.vertices[: network.num_ranks]
    ends = hosts[found.program.source], hosts[found.program.target]
    routes = paths(net, by, *ends).whole(net)
    assert routes.offsets.tolist() == found.routes.offsets.tolist()
    assert routes.channels.tolist() == found.routes.values.tolist()
    # a round takes what the slowest channel of a route takes for a chunk, or less
    slowest = net.channel_bandwidth[routes.channels].min()
    each = 1 / (network.num_ranks * chunks * slowest)
    assert found.bound_seconds * (1 - 1e-9) <= rounds * each
    assert found.finish_seconds <= rounds * each * (1 + 1e-9)
    return found, judge(proven(found)).depth, rounds


def test_the_dgx_fabric_on_its_own_tables():
    net = topology(f"fabric:{EXAMPLES / 'dgx-40.ibnetdiscover'}")
    routing = parse_routing(f"lfts:{EXAMPLES / 'dgx-40-minhop.lfts'}", net)
    found, rounds = on_tables(Asked(rank_network(net), "all-gather", 1.0), routing)
    assert 541 <= rounds <= 541 / 0.95
    assert found.program.num_messages == 542 * 541
    check(found.program)


@pytest.mark.parametrize(
    ("spec", "routing"),
    [
        ("leaf-spine:4x2x4", "d-mod-k"),
        ("fat-tree:4x2", "s-mod-k"),
        ("mesh:3x3/2", "dimension-order"),
        ("dragonfly:2x4x2", "shortest-path"),
    ],
)
@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
def test_any_network_with_one_route_per_pair(spec, routing, collective):
    net = topology(spec)
    scheduled(net, parse_routing(routing, net), collective=collective, chunks=2)


@settings(deadline=None, max_examples=20)
@given(
    st.tuples(st.integers(2, 4), st.integers(1, 3), st.integers(1, 4)),
    st.integers(1, 3),
    st.sampled_from(["all-gather", "reduce-scatter"]),
    st.data(),
)
def test_some_hosts_of_a_leaf_spine(shape, chunks, collective, data):
    net = topology(f"leaf-spine:{'x'.join(map(str, shape))}")
    count = data.draw(st.integers(2, net.num_hosts))
    ranks = data.draw(st.permutations(range(net.num_hosts)))[:count]
    _, depth, _ = scheduled(net, parse_routing("d-mod-k", net), ranks, collective, chunks)
    assert 1 <= depth < count


def test_two_ranks_take_one_round_per_chunk():
    net = topology("leaf-spine:2x1x2")
    _, depth, rounds = scheduled(net, parse_routing("d-mod-k", net), [0, 3], chunks=3)
    assert (depth, rounds) == (1, 3)
