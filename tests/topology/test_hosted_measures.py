"""Measures of networks with hosts on switches: closed forms, other tools' counts, a search."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from netloom.topology import (
    average_distance,
    degree,
    diameter,
    hop_distances,
    num_links,
    topology,
    without,
)

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
