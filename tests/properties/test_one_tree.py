"""A fat tree is one network, however it is written and its routers are numbered."""

from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import netloom as nl
from netloom.topology import graph_topology, read_graph, topology

SPECS = ["leaf-spine:4x2x4", "leaf-spine:2x2x3/2", "fat-tree:2x3", "xgft:2x3x2/1x2x2/1x2x1"]


def written(spec, random, folder):
    """The same tree as GraphML, as an edge list and as a graph, links and switches shuffled."""
    net = topology(spec)
    hosts = [net.name_of(host) for host in range(net.num_hosts)]
    cables = [
        (net.name_of(int(a)), net.name_of(int(b)))
        for a, b in zip(net.source_end, net.target_end, strict=True)
        if a < b
    ]
    switches = [net.name_of(net.router_vertex(router)) for router in range(net.num_routers)]
    random.shuffle(cables)
    random.shuffle(switches)
    called = dict(zip(switches, (f"sw{number}" for number in range(len(switches))), strict=True))
    cables = [(called.get(a, a), called.get(b, b)) for a, b in cables]
    text = folder / "net.txt"
    text.write_text("\n".join([f"hosts: {','.join(hosts)}", *map(" ".join, cables)]))
    graph = nx.MultiGraph()
    graph.add_nodes_from(called.values(), kind="switch")
    graph.add_nodes_from(hosts, kind="host")
    random.shuffle(cables)
    graph.add_edges_from(cables, bandwidth="100Gb/s")
    nx.write_graphml(graph, folder / "net.graphml")
    return read_graph(text), read_graph(folder / "net.graphml"), graph_topology(graph)


def figures(on, app, mapping):
    """What an analysis says that does not depend on how routers are numbered."""
    found = nl.analyze(app, on, mapping=mapping, random_mappings=2).to_dict()
    kept = ("routing", "hosts", "routers", "hop_bytes", "path_length", "channel_load",
            "weighted_channel_load", "host_channel_load", "path_contention", "random_mapping",
            "saturation")  # fmt: skip
    return {key: found.get(key) for key in kept}


def same(one, other):
    """Whether plain data is equal, sums of floats to within their order."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, float):
        return one == pytest.approx(other, rel=1e-12)
    return one == other


@given(st.sampled_from(SPECS), st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=12, deadline=None)
def test_all_ways_to_write_a_tree_give_one_analysis(tmp_path_factory, spec, random, shuffled):
    net = topology(spec)
    mapping = np.arange(net.num_hosts)
    if shuffled:
        random.shuffle(mapping)
    apps = [f"all-to-all:{net.num_hosts}", f"ring:{net.num_hosts}"]
    wanted = [figures(net, app, mapping) for app in apps]
    assert wanted[0]["routing"] == "d-mod-k"
    for again in written(spec, random, tmp_path_factory.mktemp("tree")):
        found = [figures(again, app, mapping) for app in apps]
        assert all(same(*pair) for pair in zip(found, wanted, strict=True))


def limits(on):
    """What a search and a compiler cannot beat, and the loads that they begin with."""
    app = f"random-regular:{on.num_hosts},3"
    found = nl.find_mapping(app, on, rounds=1).to_dict()["objective"]
    compiled = nl.compile_phases(app, on, channels=2)
    return {
        "before": found["before"],
        "bound": found["bound"],
        "phases": compiled.lower_bound_phases,
    }


@pytest.mark.parametrize("spec", SPECS[:3])
def test_all_ways_to_write_a_tree_have_the_same_limits(tmp_path, spec):
    wanted = limits(topology(spec))
    for again in written(spec, Random(5), tmp_path):
        assert same(limits(again), wanted)
