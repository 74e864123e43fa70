"""What no algorithm beats on a network, against closed forms, programs that reach it, and LPs."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.synthesis import exchange, joint
from netloom.phases.collectives.trees import least_time
from netloom.topology import graph_topology, topology
from netloom.workload.programs.collectives.program import COLLECTIVES


def per_byte(collective, spec, **options):
    """Seconds per byte with one rank on each host."""
    network = topology(spec)
    return least_time(collective, network, np.arange(network.num_hosts), **options).per_byte


@pytest.mark.parametrize(
    ("collective", "spec", "wanted"),
    [
        ("all-reduce", "leaf-spine:4x4x4", 2 * 15 / 16),
        ("all-gather", "leaf-spine:4x4x4", 15 / 16),
        ("reduce-scatter", "leaf-spine:4x2x4", 15 / 16),
        ("broadcast", "leaf-spine:4x4x4", 1),
        ("reduce", "leaf-spine:4x4x4", 1),
        ("gather", "leaf-spine:4x4x4", 15 / 16),
        ("scatter", "leaf-spine:4x4x4", 15 / 16),
        ("all-to-all", "leaf-spine:4x2x4", 4 * 12 / 16 / 2),  # four hosts behind two cables
        ("all-to-all", "torus:4x16", 64 * 4 / 64 / 2),  # 16/4 hops on average along the long side
        ("all-to-all", "torus:64x64", 64 * 64 / 4 / (2 * 64)),  # half to half, at any size
        ("all-to-all", "mesh:4x6", 24 / 4 / 4),  # half to half over four links
        ("all-reduce", "mesh:3x3", 2 / 3),  # published joint optima
        ("all-reduce", "mesh:4x4", 1 / 1.6),
        ("all-reduce", "line:4", 1),
        ("all-gather", "torus:8x8x8", 511 / 512 / 6),
        ("barrier", "torus:4x4", 0),
    ],
)
def test_bandwidth_is_the_closed_form(collective, spec, wanted):
    assert per_byte(collective, spec) == pytest.approx(wanted)


def per_unit(found):
    """Seconds per byte of pairs of trees."""
    return 1 / float(found.rate * int(found.trees.sum()) * found.network.unit)


@pytest.mark.parametrize("spec", ["mesh:2x3", "line:4", "ring:5", "leaf-spine:2x2x2", "torus:3x3"])
def test_optimal_schedules_do_not_beat_it(spec):
    network = rank_network(topology(spec))
    at_least = per_byte("all-reduce", spec)
    assert at_least <= per_unit(joint(network)) * (1 + 1e-9)
    assert per_byte("all-to-all", spec) <= 1 / exchange(network).bytes_per_second * (1 + 1e-6)


@pytest.mark.parametrize(
    ("collective", "wanted"),
    [
        ("all-reduce", 2 * 7 / (8 * 4)),  # eight nodes of four cards
        ("all-gather", 28 / 32 / 4),
        ("reduce-scatter", 28 / 32 / 4),
        ("broadcast", 1 / 4),
        ("reduce", 1 / 4),
        ("gather", 28 / 32 / 4),
        ("scatter", 28 / 32 / 4),
        ("all-to-all", 16 * 16 / 32 / 4),  # a unit of 16 cards behind four cables
        ("barrier", 0),
    ],
)
def test_nodes_are_held_by_all_their_cards_together(collective, wanted):
    assert per_byte(collective, "rail:2x4x4x1", by_node=True) == pytest.approx(wanted)
    assert per_byte(collective, "rail:2x4x4x1") >= wanted * (1 - 1e-9)
    # a node sends by cards that have no rank, too
    firsts = least_time(collective, topology("rail:2x4x4x1"), np.arange(0, 32, 4), by_node=True)
    assert firsts.per_byte <= wanted * (1 + 1e-9)


def test_ports_of_nodes_are_limits():
    assert per_byte("all-reduce", "torus:4x4", port=1.0) == pytest.approx(2 * 15 / 16)
    assert per_byte("all-reduce", "torus:4x4", port=4.0) == pytest.approx(2 * 15 / 16 / 4)
    assert per_byte("all-to-all", "ring:8", port=0.5) == pytest.approx(7 / 8 / 0.5)


def test_slow_cables_between_islands_are_found():
    fast = [(a + b, a + c) for a in (0, 4, 8) for b in range(4) for c in range(b)]
    graph = nx.Graph()
    graph.add_edges_from(fast, bandwidth=10.0)
    graph.add_edges_from([(3, 4), (7, 8), (11, 0)], bandwidth=1.0)
    net = graph_topology(graph)
    found = least_time("all-reduce", net, np.arange(12), bytes_per_second=10.0)
    assert found.per_byte == pytest.approx(2 * 2 / 6)  # three islands, two cables out of each
    assert found.why.startswith("3 groups of hosts")


def test_latency_is_the_furthest_path_and_the_count_of_those_told():
    net = topology("torus:4x4")
    found = least_time("all-reduce", net, np.arange(16), latency_seconds=1e-6, overhead=2e-6)
    assert found.alpha == pytest.approx(5e-6)
    assert found.latency >= 4 * 1e-6 + 2 * 2e-6
    switched = least_time(
        "broadcast", topology("leaf-spine:4x2x4"), np.arange(16), latency_seconds=1e-6
    )
    assert switched.alpha == pytest.approx(2e-6)
    assert switched.latency == pytest.approx(4e-6)
    assert switched.seconds(0) == switched.latency


@settings(max_examples=25, deadline=None)
@given(
    collective=st.sampled_from(COLLECTIVES),
    spec=st.sampled_from(["ring:6", "mesh:2x4", "leaf-spine:2x1x4", "hypercube:3"]),
    data=st.data(),
)
def test_more_bandwidth_is_never_slower_and_units_scale(collective, spec, data):
    net = topology(spec)
    hosts = data.draw(st.lists(st.integers(0, net.num_hosts - 1), min_size=2, max_size=6))
    if len(set(hosts)) < 2:
        return
    one, ten = (least_time(collective, net, hosts, bytes_per_second=each) for each in (1.0, 10.0))
    assert one.per_byte == pytest.approx(10 * ten.per_byte)
    tight = least_time(collective, net, hosts, port=0.1)
    assert tight.per_byte >= one.per_byte


@pytest.mark.parametrize(
    ("spec", "hosts", "across"),
    [
        ("torus:64x64", 4096, 128), ("torus:72x72", 5184, 144), ("hypercube:12", 4096, 2048),
        ("twisted-torus:64x32", 2048, 128), ("twisted-torus:128x64", 8192, 256),
        ("folded:32x32x16", 16384, 1024),
    ],
)  # fmt: skip
def test_an_all_to_all_is_held_by_the_bisection_at_any_size(spec, hosts, across):
    # half of the hosts send half of what they have to the others
    assert per_byte("all-to-all", spec) == pytest.approx(hosts / 4 / across)
