"""Mappings onto hosts that hang on routers: bounds, loads and searches, against all mappings."""

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from netloom.mapping import OBJECTIVES, check_mapping, search_mapping
from netloom.mapping.kernels.search import anneal, fill, gather
from netloom.mapping.search.bounds import least
from netloom.mapping.search.generations import Held, nodes_of, room, search_arrays
from netloom.mapping.search.objectives import Measure, hops, hosts_count, objective_of
from netloom.routing import Minimal, ShortestPath, paths
from netloom.topology import Topology, mesh, topology, torus
from netloom.topology.core import attach_hosts
from netloom.workload import process_graph
from tests.mapping.search.started import partitioned

ROUTING = ShortestPath()
TREES = [
    "leaf-spine:2x1x2",
    "rail:1x2x2x1",
    "leaf-spine:3x2x2/2",
    "fat-tree:2x2",
    "xgft:2x2/1x2",
    "xgft:2x2/2x1",
]
RATES = [0.5, 1.0, 1.0, 2.0, 3.0]


@st.composite
def networks(draw, most=6):
    """Any network of hosts, each a node of its own, or several hosts a node."""
    found = draw(wired(most))
    if draw(st.booleans()):
        return found
    node = st.integers(0, max(found.num_hosts // 2 - 1, 0))
    owner = np.array([draw(node) for _ in range(found.num_hosts)])
    return replace(found, node_of_host=np.unique(owner, return_inverse=True)[1].astype(np.int32))


@st.composite
def wired(draw, most):
    """Trees, and hosts of one port or two on any routers, with channels that differ."""
    if draw(st.booleans()):
        return topology(draw(st.sampled_from(TREES)))
    links = st.integers(1, 4).map(nx.path_graph)
    graph = draw(st.sampled_from([nx.cycle_graph(3), nx.star_graph(3), None])) or draw(links)
    ends = np.array([*graph.edges, *((b, a) for a, b in graph.edges)], np.int32).reshape(-1, 2)
    ends = np.concatenate([ends, ends[: draw(st.integers(0, 1))]])  # perhaps a second cable
    count = graph.number_of_nodes()
    rates = st.sampled_from([1.0] if draw(st.booleans()) else RATES)
    routers = Topology(
        "any", count, *np.ascontiguousarray(ends.T),
        channel_bandwidth=np.array([draw(rates) for _ in ends], np.float64),
    )  # fmt: skip
    hosts = draw(st.integers(2, most))
    port_host = np.sort(
        np.append(np.arange(hosts), draw(st.lists(st.integers(0, hosts - 1), max_size=1)))
    )
    router = st.integers(0, count - 1)
    return attach_hosts(
        routers, np.array([draw(router) for _ in port_host]), name="any", port_host=port_host,
        bandwidth=np.array([draw(rates) for _ in port_host], np.float64),
        ejection=np.array([draw(router) for _ in port_host]) if draw(st.booleans()) else None,
    )  # fmt: skip


@st.composite
def problems(draw, most_tasks=4, most_hosts=6):
    network = draw(networks(most_hosts))
    nodes = sorted(draw(st.sets(st.integers(0, network.num_hosts - 1), min_size=2)))
    places = draw(st.integers(1, 2))
    tasks = draw(st.integers(2, min(most_tasks, len(nodes) * places)))
    task = st.integers(0, tasks - 1)
    pairs = st.tuples(task, task).filter(lambda ends: ends[0] != ends[1])
    edges = sorted(draw(st.sets(pairs, min_size=1)))
    amounts = draw(
        st.sampled_from([st.just(1.0), st.integers(1, 9), st.floats(0, 1e6, allow_subnormal=False)])
    )
    weights = draw(st.lists(amounts, min_size=len(edges), max_size=len(edges)))
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    app = process_graph(tasks, source, target, bytes=np.array(weights, np.float64))
    return app, network, np.array(nodes, np.int32), places


def all_mappings(app, nodes, places):
    for mapping in product(nodes.tolist(), repeat=app.num_tasks):
        if max(mapping.count(node) for node in mapping) <= places:
            yield np.array(mapping)


def by_hand(app, network, node_of, places, routing=ROUTING):
    """Hop-bytes and the longest time of a channel, path by path."""
    time, total = np.zeros(network.num_channels), 0.0
    for source, target, weight in zip(app.source, app.target, app.bytes, strict=True):
        if not network.crosses(node_of[source], node_of[target]):
            continue
        routed = paths(network, routing, [node_of[source]], [node_of[target]]).whole(network)
        shares = [1.0] if routed.probability is None else routed.probability
        for path, share in enumerate(shares):
            for channel in routed[path]:
                inside = channel < network.num_network_channels
                total += weight * share * inside
                if inside or hosts_count(network, places):
                    time[channel] += weight * share / network.channel_bandwidth[channel]
    return total, time


APART = attach_hosts(
    torus(3).routers, np.zeros(4, np.int64), name="any", ejection=np.array([0, 0, 1, 0])
)
"""A network whose third host receives at another router than it sends from."""


@given(problems())
@example((process_graph(2, [0], [1]), APART, np.array([0, 2], np.int32), 1))
@settings(max_examples=60, deadline=None)
def test_no_mapping_is_below_a_bound(problem):
    app, network, nodes, places = problem
    between = network.routers.channel_bandwidth
    names = [name for name in OBJECTIVES if name != "saturation" or (between == between[:1]).all()]
    objectives = {name: objective_of(name) for name in names}
    measures = {
        name: Measure(app, network, ROUTING, app.bytes, each, nodes, places)
        for name, each in objectives.items()
    }
    bounds = {name: least(measure) for name, measure in measures.items()}
    spread = {
        name: Measure(app, network, Minimal(), app.bytes, objective_of(name), nodes, places)
        for name in OBJECTIVES[:2]
    }
    least_spread = {name: least(measure) for name, measure in spread.items()}
    for node_of in all_mappings(app, nodes, places):
        for name, measure in spread.items():
            assert least_spread[name] <= measure(node_of) * (1 + 1e-9)
        hop_bytes, time = by_hand(app, network, node_of, places)
        assert measures["hop-bytes"](node_of) == pytest.approx(hop_bytes)
        assert measures["max-channel-load"](node_of) == pytest.approx(time.max())
        for name, measure in measures.items():
            assert bounds[name] <= measure(node_of) * (1 + 1e-9)


@given(
    problems(most_tasks=8, most_hosts=8),
    st.sampled_from(OBJECTIVES[:2]),
    st.sampled_from([ROUTING, Minimal()]),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_annealing_counts_what_a_recount_counts(problem, objective, routing, seed):
    app, network, nodes, places = problem
    asked = objective_of(objective)
    value_of = Measure(app, network, routing, app.bytes, asked, nodes, places)
    arrays = search_arrays(value_of)
    rng, loads = np.random.default_rng(seed), np.zeros(network.num_channels)
    place_of = rng.permutation(len(arrays.place_node))
    held = Held(arrays.place_row[place_of], place_of, np.argsort(place_of), loads)
    work, net, graph = room(arrays), tuple(arrays.net), tuple(arrays.graph)
    before = by_hand(app, network, nodes_of(arrays, held), places, routing)
    fill(net, graph, np.zeros_like(loads), tuple(held), work)
    moved = arrays.partners, arrays.num_tasks, tuple(held), arrays.near
    if objective == "hop-bytes":
        grown = gather(net, graph, *moved, 1.0, 0.1, 100, rng)
        after = by_hand(app, network, nodes_of(arrays, held), places, routing)
        assert before[0] + grown == pytest.approx(after[0], abs=1e-6)
        return
    assert held.loads == pytest.approx(before[1])
    anneal(net, graph, *moved, (0.5, 2.0, 3.0), 1.0, 0.1, 100, 0.9, work, rng)
    after = by_hand(app, network, nodes_of(arrays, held), places, routing)
    assert held.loads == pytest.approx(after[1], abs=1e-6)


LEAST = process_graph(4, [0, 0, 2], [2, 3, 3], bytes=[5e-324] * 3)
"""Edges of the least bytes that a float can say."""


@given(problems(), st.sampled_from(["hop-bytes", "max-channel-load"]))
@example((LEAST, topology("leaf-spine:2x1x2"), np.arange(4, dtype=np.int32), 1), "hop-bytes")
@settings(max_examples=25, deadline=None)
def test_a_search_finds_the_best_of_all_mappings(problem, objective):
    app, network, nodes, places = problem
    if not app.bytes.sum() > 0:
        return
    first = np.repeat(nodes, places)[: app.num_tasks]
    asked = objective_of(objective)
    value_of = Measure(app, network, ROUTING, app.bytes, asked, nodes, places)
    most = value_of.between(first)
    best = min(
        value_of(node_of)
        for node_of in all_mappings(app, nodes, places)
        if value_of.between(node_of) <= most * (1 + 1e-12)
    )
    found = search_mapping(
        app, network, routing=ROUTING, objective=objective, nodes=nodes, tasks_per_node=places,
        rounds=4,
    )  # fmt: skip
    assert found.value == pytest.approx(best)
    assert value_of.between(found.node_of) <= most * (1 + 1e-12)
    assert np.isin(
        check_mapping(found.node_of, app.num_tasks, network.num_hosts, places), nodes
    ).all()


@given(networks())
@settings(max_examples=60, deadline=None)
def test_hops_are_between_the_nearest_ports(network):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(network.num_routers))
    graph.add_edges_from(
        zip(
            network.routers.channel_source.tolist(),
            network.routers.channel_target.tolist(),
            strict=True,
        )
    )
    there = dict(nx.all_pairs_shortest_path_length(graph))
    into, out_of = network.injection_router.tolist(), network.ejection_router.tolist()
    ports = [np.flatnonzero(network.port_host == host) for host in range(network.num_hosts)]

    def one_way(source, target):
        return min(
            there[into[a]].get(out_of[b], np.inf) for a in ports[source] for b in ports[target]
        )

    every = range(network.num_hosts)
    expected = [
        [min(one_way(a, b), one_way(b, a)) if network.crosses(a, b) else 0 for b in every]
        for a in every
    ]
    assert hops(network, np.arange(network.num_hosts)).tolist() == expected


def test_leaves_stay_together():
    """Cliques of a leaf's size, scattered over ranks, come to a leaf each: nothing is left over."""
    tree = topology("leaf-spine:4x2x4")
    clique = np.arange(16) % 4
    source, target = np.nonzero((clique[:, None] == clique) & ~np.eye(16, dtype=bool))
    app = process_graph(16, source, target)
    found = partitioned(app, tree)
    assert (np.sort(found // 4) == np.repeat(np.arange(4), 4)).all()
    assert all(len(np.unique(found[clique == each] // 4)) == 1 for each in range(4))


def test_concentrated_meshes_are_halved_by_their_routers():
    net = attach_hosts(mesh(4, 4), np.arange(16).repeat(2), name="mesh:4x4/2")
    app = process_graph(32, np.arange(0, 32, 2), np.arange(1, 32, 2))
    found = search_mapping(app, net, objective="hop-bytes", rounds=1)
    assert found.value == found.bound == 0
