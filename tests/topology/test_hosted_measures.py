"""Measures of networks with hosts on switches: closed forms, other tools' counts, exhaustion."""

import json
from dataclasses import replace
from itertools import product
from math import comb
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.topology import (
    average_distance,
    bisection_bounds,
    bisection_width,
    cube,
    degree,
    diameter,
    hop_distances,
    num_links,
    topology,
    without,
)
from netloom.topology.families import concentrated

FABRICS = json.loads((Path(__file__).parent / "data" / "fabric_hops.json").read_text())["hops"]


def as_graph(net):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(net.num_ends))
    graph.add_edges_from(zip(net.source_end.tolist(), net.target_end.tolist(), strict=True))
    return graph


def searched_distances(net):
    """Hops between different hosts by a search that goes through no host."""
    graph, hosts = as_graph(net), range(net.num_hosts)
    found = np.zeros((net.num_hosts, net.num_hosts))
    for source in hosts:
        inside = graph.subgraph([source, *range(net.num_hosts, net.num_ends)])
        steps = nx.single_source_shortest_path_length(inside, source)
        for target in hosts:
            if target != source:
                found[source, target] = min(steps[r] for r in graph.predecessors(target)) - 1
    return found


@pytest.mark.parametrize("spec", FABRICS)
def test_hops_are_those_that_a_subnet_manager_routes(spec):
    net, seen = topology(spec), FABRICS[spec]
    assert (net.num_hosts, net.num_routers) == (seen["hosts"], seen["switches"])
    assert diameter(net) == seen["max"]
    assert average_distance(net) == pytest.approx(seen["mean"], abs=5e-5)


@pytest.mark.parametrize(
    ("spec", "most", "mean"),
    [
        ("twisted-torus:4x4x8", 6, 3.4646), ("torus:4x4x8", 8, 4.0315),
        ("twisted-torus:4x8x8", 6, 4.3294), ("torus:4x8x8", 10, 5.0196),
        ("twisted-torus:8x4", 4, 2.7097), ("torus:8x4", 6, 3.0968),
        ("twisted-torus:8x8x16", 12, 6.9756), ("torus:8x8x16", 16, 8.0078),
        ("slim-fly:5/4", 2, 1.8291), ("dragonfly:2x4x2", 3, 2.3192),
    ],
)  # fmt: skip
def test_diameters_and_mean_distances_are_the_known_ones(spec, most, mean):
    net = topology(spec)
    assert diameter(net) == most
    assert average_distance(net) == pytest.approx(mean, abs=5e-5)


@pytest.mark.parametrize(
    "spec",
    ["fat-tree:3x3", "xgft:3x2x2/1x2x3", "xgft:4x1x2/1x1x1", "xgft:3x3/2x2", "rail:2x2x3x2",
     "hyperx:3x4/2", "hyperx:3x1x2/1/2", "mesh:3x4/2", "torus:5x2/3", "hypercube:3/2",
     "cube:4wx3/1", "dragonfly:1x3x2", "dragonfly:2x2x2/3", "dragonfly+:2x2x2x1", "slim-fly:3/2",
     "jellyfish:10x3x2/5", "butterfly:3x3", "butterfly:2x1", "omega:8", "omega:4/4",
     "twisted-torus:4x2/2", "xgft:4/2", "xgft:1x3/1x2"],
)  # fmt: skip
def test_distances_agree_with_a_search(spec):
    net = topology(spec)
    expected, hosts = searched_distances(net), net.num_hosts
    assert np.array_equal(hop_distances(net), expected)
    some = np.array([hosts - 1, 0])
    assert np.array_equal(hop_distances(net, some), expected[some])
    assert np.array_equal(hop_distances(net, some, backwards=True), expected.T[some])
    assert diameter(net) == expected.max()
    assert average_distance(net) == pytest.approx(expected.sum() / (hosts * (hosts - 1)))


def test_distances_on_a_broken_network_are_those_of_what_works():
    net = without(topology("leaf-spine:3x2x2"), nodes="h1,spine0")
    assert hop_distances(net)[0].tolist() == [0, np.inf, 2, 2, 2, 2]
    assert diameter(net) == 2
    assert average_distance(net) == pytest.approx((4 + 4 * 3) * 2 / 20)
    longer = without(topology("leaf-spine:3x2x2"), channels="leaf0-spine0,leaf1-spine1")
    assert diameter(longer) == 4


@pytest.mark.parametrize(
    ("spec", "most", "links"),
    [("leaf-spine:4x2x4/2", 8, 16), ("fat-tree:k=4", 4, 32), ("fat-tree:4x3", 8, 128),
     ("hyperx:3x4/2/2", 10, 60), ("dragonfly:2x4x2", 5, 90), ("butterfly:3x2", 3, 0),
     ("slim-fly:5/4", 7, 175), ("torus:4x4/4", 4, 32), ("rail:2x4x8x4", 16, 64),
     ("omega:8", 4, 16), ("butterfly:3x1", 0, 0)],
)  # fmt: skip
def test_degrees_and_links_are_those_between_routers(spec, most, links):
    net = topology(spec)
    assert (degree(net), num_links(net)) == (most, links)


def exhaustive_bisection(net):
    """The least cut over all sets of routers, hosts cut off from theirs as need be."""
    routers, per_router = net.num_routers, net.num_hosts // net.num_routers
    sets = np.array(list(product([False, True], repeat=routers)))
    source, target = net.routers.channel_source, net.routers.channel_target
    cut = (sets[:, source] & ~sets[:, target]).sum(axis=1)
    hosts = per_router * sets.sum(axis=1)
    half = net.num_hosts // 2
    moved = np.minimum(abs(hosts - half), abs(net.num_hosts - hosts - half))
    return (cut + moved).min()


@pytest.mark.parametrize(
    "spec",
    ["hyperx:4/4", "hyperx:3/1", "hyperx:3/2", "hyperx:5/3", "hyperx:2x3/2", "hyperx:3x3/1",
     "hyperx:3x3/2", "hyperx:4x3/1/2", "hyperx:4x3/8/2", "hyperx:2x2x3/2", "hyperx:2x5/3",
     "hyperx:1x4/2"],
)  # fmt: skip
def test_bisection_of_a_hyperx_by_exhaustion(spec):
    net = topology(spec)
    assert bisection_bounds(net) == (exhaustive_bisection(net),) * 2


@pytest.mark.parametrize("hosts", [1, 2, 3])
@pytest.mark.parametrize(
    ("sides", "wraps"),
    [((4,), (1,)), ((6,), (0,)), ((8,), (1,)), ((2, 3), (0, 1)), ((2, 3), (0, 0)), ((4, 3), (0, 1)),
     ((4, 3), (1, 0)), ((4, 3), (1, 1)), ((2, 2, 3), (0, 0, 1)), ((3, 3), (1, 1)), ((3, 4), (1, 0)),
     ((2, 5), (0, 0)), ((3, 3), (0, 0)), ((2, 2, 2), (0, 0, 0)), ((2, 6), (1, 1))],
)  # fmt: skip
def test_bisection_of_cubes_with_several_hosts_by_exhaustion(sides, wraps, hosts):
    net = concentrated(cube(sides, [bool(wrap) for wrap in wraps]), hosts)
    lower, upper = bisection_bounds(net)
    exact = exhaustive_bisection(net)
    assert lower <= exact + 1e-9
    assert upper >= exact
    even = {(4,), (6,), (8,), (2, 2, 2), (2, 6)}
    if sides in even or (sides[0] == 4 and wraps[0] <= wraps[1]):
        assert lower == upper


def best_tree_cut(net):
    """The least cut of a small tree: every half of the hosts, routers on the cheaper side."""
    from itertools import combinations

    best = np.inf
    graph = nx.DiGraph()
    for a, b in zip(net.source_end.tolist(), net.target_end.tolist(), strict=True):
        capacity = graph.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1
        graph.add_edge(a, b, capacity=capacity)
    hosts = range(net.num_hosts)
    for half in combinations(hosts, net.num_hosts // 2):
        for host in hosts:
            ends = (-1, host) if host in half else (host, -2)
            graph.add_edge(*ends)  # without capacity: never cut
        best = min(best, nx.minimum_cut_value(graph, -1, -2))
        graph.remove_nodes_from([-1, -2])
    return best


@pytest.mark.parametrize("spec", ["fat-tree:2x3", "leaf-spine:4x1x2", "leaf-spine:2x3x3",
                                  "leaf-spine:3x1x2", "xgft:2x2x2/1x2x1", "xgft:2x3/1x1",
                                  "xgft:3x2/2x1", "leaf-spine:2x1x3/2",
                                  "leaf-spine:3x1x3"])  # fmt: skip
def test_bisection_of_trees_by_exhaustion(spec):
    net = topology(spec)
    lower, upper = bisection_bounds(net)
    exact = best_tree_cut(net)
    assert lower <= exact <= upper
    assert lower == upper or net.num_hosts % 2 or spec in {"leaf-spine:3x1x2", "xgft:2x3/1x1"}


@pytest.mark.parametrize(
    ("spec", "width"),
    [
        ("fat-tree:k=8", 64), ("fat-tree:4x3", 32), ("leaf-spine:8x4x8", 16),
        ("leaf-spine:8x4x8/2", 32), ("xgft:4x4x4/1x2x4", 16), ("rail:2x4x8x4", 32),
        ("hyperx:8/8", 16), ("hyperx:4x4/4", 16), ("mesh:8x8/4", 8), ("torus:4x4x4/1", 32),
    ],
)  # fmt: skip
def test_known_bisections(spec, width):
    assert bisection_width(topology(spec)) == width


def test_bandwidth_counts_and_a_width_that_is_not_known_is_refused():
    net = topology("leaf-spine:8x4x8")
    rates = net.channel_bandwidth.copy()
    rates[: net.num_network_channels] = 1.5
    assert bisection_width(replace(net, channel_bandwidth=rates)) == 24
    rates[0] = 1
    with pytest.raises(InputError, match="12 routers with 64 hosts"):
        bisection_width(replace(net, channel_bandwidth=rates))
    with pytest.raises(InputError, match="a bisection width between"):
        bisection_width(topology("dragonfly:2x4x2"))
    with pytest.raises(InputError, match="a bisection width between"):
        bisection_width(topology("twisted-torus:4x4x8"))
    assert bisection_width(topology("twisted-torus:2x4")) == 8  # its bounds meet
    with pytest.raises(InputError, match="as many hosts each"):
        bisection_bounds(topology("dragonfly+:2x2x2x2"))
    with pytest.raises(InputError, match="16 hosts"):
        bisection_bounds(without(topology("fat-tree:k=4"), nodes="core0"))


def test_spectral_bounds_hold():
    for spec in ("slim-fly:3/2", "dragonfly:1x2x2", "jellyfish:12x3x1/2", "hyperx:3x4/2"):
        net = topology(spec)
        if spec.startswith("hyperx"):  # as if nobody knew what it is
            net = replace(net, family=None, router_network=replace(net.routers, family=None))
        if net.num_routers > 16:
            lower, upper = bisection_bounds(net)
            assert 0 < lower <= upper <= net.num_hosts / 2
            continue
        lower, upper = bisection_bounds(net)
        assert 0 < lower - 1e-9 <= exhaustive_bisection(net) <= upper
    twisted = topology("twisted-torus:4x2")
    halves = exhaustive_halves(twisted)
    lower, upper = bisection_bounds(twisted)
    assert lower - 1e-9 <= halves <= upper


def exhaustive_halves(net):
    sets = np.array(list(product([False, True], repeat=net.num_ends)))
    sets = sets[sets.sum(axis=1) == net.num_ends // 2]
    assert len(sets) == comb(net.num_ends, net.num_ends // 2)
    return (sets[:, net.source_end] & ~sets[:, net.target_end]).sum(axis=1).min()
