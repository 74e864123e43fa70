"""Lower bounds: worked by hand, tight where a mapping reaches them, and what rounds them up."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from netloom.mapping.search.bounds import least, least_channel_load, least_hop_bytes
from netloom.mapping.search.objectives import Measure, objective_of
from netloom.routing import DimensionOrder, ShortestPath, parse_routing
from netloom.topology import graph_topology, hypercube, mesh, topology, torus, without
from netloom.topology.families import concentrated
from netloom.workload import process_graph, read
from tests.networks import DIRECT


def bounds(app, network, tasks_per_node=1, nodes=None):
    app = read(app) if isinstance(app, str) else app
    network = topology(network) if isinstance(network, str) else network
    nodes = np.arange(network.num_nodes) if nodes is None else np.asarray(nodes)
    here = problem(app, network, app.bytes, nodes, tasks_per_node)
    return least_hop_bytes(here), least_channel_load(here)


def problem(app, network, weights, nodes, tasks_per_node=1):
    asked, routing = objective_of("max-channel-load"), ShortestPath()
    return Measure(app, network, routing, weights, asked, nodes, tasks_per_node)


@pytest.mark.parametrize(
    ("program", "network", "hop_bytes", "load"),
    [
        # reached by the identity
        ("mesh:16x16", "torus:16x16", 960, 1),
        ("hypercube:6", "hypercube:6", 384, 1),
        ("all-to-all:16", "hypercube:4", 512, 8),
        ("all-to-all:64", "torus:8x8", 64 * 63 * 256 // 63, 64),  # 256 hops to all from any node
        ("all-to-all:8", "mesh:8", 168, 16),  # 4 x 4 pairs each way over the middle
        ("line:9", "mesh:3x3", 16, 1),
        # reached by none
        ("hypercube:4", "torus:8x2", 64 + 16, 2),  # degree 4, of 3; 8 pairs each way, over 4
        ("binary-tree:7", "mesh:7", 14, 2),  # three neighbours, of 2 near
        ("transpose:4", "mesh:4x4", 12, 1),
    ],
)
def test_by_hand(program, network, hop_bytes, load):
    assert bounds(program, network) == (hop_bytes, load)


def test_a_star_in_the_middle_and_at_the_edge():
    """Weights 4, 2, 1: the heavier, the nearer. From its leaves, each edge is one hop long."""
    star = process_graph(4, [0, 0, 0], [1, 2, 3], bytes=[4, 2, 1])
    ring = torus(9)
    # as the middle sees it: 4 + 2 + 2 x 1; as the leaves see it: 4 + 2 + 1
    assert least_hop_bytes(problem(star, ring, star.bytes, np.arange(9))) == 8  # 7.5, rounded up
    # two channels for three edges: the lightest two on one
    assert least_channel_load(problem(star, ring, star.bytes, np.arange(9))) == 4
    even = process_graph(4, [0, 0, 0], [1, 2, 3], bytes=[4, 4, 4])
    assert least_channel_load(problem(even, ring, even.bytes, np.arange(9))) == 8
    back = process_graph(4, [1, 2, 3], [0, 0, 0], bytes=[4, 4, 4])
    assert least_channel_load(problem(back, ring, back.bytes, np.arange(9))) == 8


def test_nodes_that_differ_are_assigned():
    """Two stars on a line: only one node fewer than wished has two neighbours at each distance."""
    stars = process_graph(6, [0, 0, 1, 1], [2, 3, 4, 5])
    inner, outer = bounds(stars, "mesh:6"), bounds(stars, "mesh:6", nodes=[0, 1, 2, 3, 4, 5])
    assert inner == outer == (4, 1)
    lone = process_graph(3, [0, 0], [1, 2])
    assert bounds(lone, "mesh:5", nodes=[0, 2, 4]) == (4, 1)  # two hops to each
    assert bounds(lone, "mesh:5", nodes=[0, 1, 4])[0] == 4  # 1 and 3 hops, from the middle
    wide = process_graph(4, [0, 0, 0], [1, 2, 3], bytes=[4, 2, 1])
    # nodes with 1 or 2 channels: one with 1 would have all three on it
    assert bounds(wide, "mesh:4")[1] == 4
    # all at corners of a mesh
    assert bounds("all-to-all:4", "mesh:3x3", nodes=[0, 2, 6, 8]) == (32, 2)


def test_some_nodes_have_fewer_channels():
    """A hub of four channels, and leaves of one: the second task with three edges is on a leaf."""
    hub = graph_topology(nx.star_graph(4))
    assert bounds(process_graph(5, [0, 0, 0], [1, 2, 3]), hub)[1] == 1
    assert bounds(process_graph(5, [0, 0, 0, 4, 4, 4], [1, 2, 3, 1, 2, 3]), hub)[1] == 3
    assert bounds(process_graph(5, [1, 2, 3, 1, 2, 3], [0, 0, 0, 4, 4, 4]), hub)[1] == 3
    two = process_graph(6, [0, 0, 0, 4, 4, 4], [1, 2, 3, 1, 2, 3])
    assert bounds(two, hub, tasks_per_node=2)[1] == 1  # both on the hub, one edge each inside


def test_several_tasks_a_node():
    pair = process_graph(2, [0, 1], [1, 0], bytes=[7, 5])
    assert bounds(pair, "mesh:2", tasks_per_node=2) == (0, 0)
    assert bounds(pair, "mesh:2") == (12, 7)
    four = process_graph(4, [0, 0, 0], [1, 2, 3], bytes=[4, 2, 1])
    # 2 and 1 leave the node, as the sender sees it; its partners see none that must
    assert bounds(four, "mesh:2", tasks_per_node=2) == (2, 3)
    assert bounds("all-to-all:8", "hypercube:2", tasks_per_node=2) == (64, 8)


def test_equal_and_whole_weights_add_up_to_multiples():
    star = process_graph(5, [0, 0, 0, 0], [1, 2, 3, 4])
    for weight in (1.0, 2.5, 1e-3, 1e9):
        assert least_load(star, [weight] * 4) == 2 * weight
    assert least_load(star, [6.0, 6, 6, 9]) == 12
    assert least_load(star, [0.0, 0, 0, 0]) == 0
    assert least_load(star, [0.1, 0.2, 0.3, 0.7]) == pytest.approx(0.7)


def least_load(app, weights):
    return least_channel_load(problem(app, mesh(2, 4), np.array(weights), np.arange(8)))


def test_any_network():
    """All-to-all of two cliques with a link between them: it has 36 paths each way."""
    network = graph_topology(nx.barbell_graph(6, 0))
    assert bounds("all-to-all:12", network)[1] == 36
    whole = torus(4, 4)
    broken = without(whole, nodes="5")
    assert bounds("mesh:3x5", broken, nodes=np.delete(np.arange(16), 5)) == (44, 1)


def test_large_networks_are_not_tabled():
    graph = read("hypercube:11")
    hop_bytes, load = bounds(graph, "mesh:32x64")
    # four neighbours one hop away, and the other seven two
    assert hop_bytes == 2048 * (4 + 2 * 7)
    assert load == 6  # of 11 edges at a corner, over two channels
    hop_bytes, load = bounds(graph, "torus:32x64")
    assert (hop_bytes, load) == (2048 * 18, 5)  # 36864 over 8192 channels
    assert bounds(read("mesh:32x64"), "mesh:32x64", nodes=np.arange(2048)) == (8000, 1)


def value_of(objective, app, network):
    routing = parse_routing("default", network)
    first, nodes = np.arange(app.num_tasks), np.arange(network.num_hosts)
    return Measure(app, network, routing, app.bytes, objective_of(objective), nodes).scaled(first)


def test_each_objective_and_mixtures():
    app, network = read("all-to-all:8"), mesh(8)
    nodes = np.arange(8)
    each = {
        name: least(value_of(name, app, network))
        for name in ("hop-bytes", "max-channel-load", "path-contention", "saturation")
    }
    # 16 paths meet on the busiest channel
    meet = 15 + 15 * 16 / 56**2
    assert each == {
        "hop-bytes": 168,
        "max-channel-load": 16,
        "path-contention": meet,
        "saturation": 16,
    }
    mixed = value_of("hop-bytes:1,max-channel-load:3", app, network)
    assert least(mixed) == pytest.approx(1) == mixed(nodes)
    lone = value_of("path-contention", read("mesh:4x4"), mesh(4, 4))
    assert least(lone) == 0 == lone(np.arange(16))
    one = value_of("saturation", read("hypercube:3"), hypercube(3))
    assert least(one) == 1 == one(np.arange(8))


@pytest.mark.parametrize("spec", [*DIRECT.values(), "mesh:4x4", "torus:5x3"])
@pytest.mark.parametrize("seed", range(3))
def test_routers_that_are_hosts_have_the_bounds_of_one_host_each(spec, seed):
    net, hosted = topology(spec), topology(f"{spec}/1")
    rng = np.random.default_rng(seed)
    tasks = int(rng.integers(2, net.num_hosts + 1))
    ends = rng.integers(0, tasks, (2, 3 * tasks))
    ends = ends[:, ends[0] != ends[1]]
    app = process_graph(tasks, *ends, bytes=rng.integers(1, 9, ends.shape[1]))
    assert bounds(app, net) == bounds(app, hosted)
    some = np.sort(rng.permutation(net.num_hosts)[:tasks])
    assert bounds(app, net, nodes=some) == bounds(app, hosted, nodes=some)


@pytest.mark.parametrize("objective", ["hop-bytes", "max-channel-load"])
def test_large_cubes_bound_their_hosts_alike(objective):
    one, app = mesh(36, 36), read("random-regular:1200,3")
    rate = np.append(one.channel_bandwidth, np.full(2 * one.num_hosts, np.inf))
    nodes = np.arange(one.num_hosts)
    first = np.arange(app.num_tasks, dtype=np.int32)
    found = [
        least(
            Measure(app, on, DimensionOrder(), app.bytes, objective_of(objective), nodes).scaled(
                first
            )
        )
        for on in (one, replace(concentrated(one, 1), channel_bandwidth=rate))
    ]
    assert found[0] == found[1] > 0
