"""One fat tree, named, renumbered or read from a file: simulators and models say the same of it."""

from dataclasses import replace

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.contention.channel_queueing import (
    ChannelRouter,
    host_flows,
    predict_channels,
    prepare_channels,
)
from netloom.routing import parse_routing
from netloom.topology import read_graph, topology, tree_shape
from netloom.workload import parse_traffic
from netloom.workload.programs.messages import messages
from netloom_papers.worms import Worm, WormEngine

WAYS = [
    ("leaf-spine:4x2x3", "xgft:3x4/1x2"),
    ("fat-tree:k=4", "xgft:2x2x4/1x2x2"),
    ("leaf-spine:3x2x2/2", "xgft:2x3/1x2/1x2"),
]
TRAFFICS = ["uniform", "pairs:0-5,1-5*2,4-2,3-0", "hot-spot:0.2:1", "next-group"]


def from_file(net, order, path):
    """Return the network read from a file that lists its links, with routers in another order."""
    graph = nx.MultiGraph()
    names = [net.name_of(vertex) for vertex in range(net.num_ends)]
    graph.add_nodes_from(names[: net.num_hosts], kind="host")
    graph.add_nodes_from((names[net.num_hosts + router] for router in order), kind="switch")
    ends = np.array([net.source_end, net.target_end]).T
    links = ends[ends[:, 0] < ends[:, 1]]
    graph.add_edges_from((names[a], names[b]) for a, b in links)
    nx.write_graphml(graph, path)
    found = read_graph(path)
    return replace(found, family=tree_shape(found))


@st.composite
def trees(draw):
    specs = draw(st.sampled_from(WAYS))
    nets = [topology(spec) for spec in specs]
    return nets, draw(st.permutations(range(nets[0].num_routers)))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("tree") / "net.graphml"


@given(trees(), st.sampled_from(TRAFFICS))
@settings(max_examples=20, deadline=None)
def test_the_model_of_latency_says_the_same(path, ways, traffic):
    (net, same), order = ways
    found = []
    for each in (net, same, from_file(net, order, path)):
        routing, pattern = parse_routing("default", each), parse_traffic(traffic, each)
        source, target, share = pattern.matrix()
        flows = host_flows(each, routing, source, target, share * pattern.rate.sum(), vcs=2)
        prepared = prepare_channels(flows, ChannelRouter(vcs=2), flits=5)
        point = predict_channels(prepared, 0.1)
        found.append([point.latency, prepared.full_load, *sorted(point.utilisation)])
    assert found[1] == pytest.approx(found[0])
    assert found[2] == pytest.approx(found[0])


@given(trees(), st.integers(0, 2**32), st.sampled_from(["timestamp", "biased", "source"]))
@settings(max_examples=40, deadline=None)
def test_worms_arrive_at_the_same_time(path, ways, seed, arbitration):
    """Whose arbitration does not go by the numbers of channels."""
    (net, same), order = ways
    chance = np.random.default_rng(seed)
    source, target = chance.integers(net.num_hosts, size=(2, 60))
    start, flits = chance.integers(40, size=60), chance.integers(1, 9, size=60)
    table = messages(net.num_hosts, source=source, target=target, flits=flits, start=start)
    rows = []
    for each in (net, same, from_file(net, order, path)):
        worm = Worm(arbitration=arbitration, end_channels=1)
        engine = WormEngine(each, parse_routing("default", each), worm)
        engine.append(table)
        engine.advance(10**6)
        rows.append(engine.rows["complete"].tolist())
        rows.append(sorted(engine.channel_flits().tolist()))
    assert rows[:2] == rows[2:4] == rows[4:]
