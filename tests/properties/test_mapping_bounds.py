"""Starts and bounds of the mapping search, against all mappings there are."""

from itertools import product

import networkx as nx
import numpy as np
from hypothesis import assume, given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.mapping import OBJECTIVES, check_mapping
from netloom.mapping.search.bounds import least
from netloom.mapping.search.objectives import Measure, hops, joint_weights, objective_of
from netloom.mapping.search.starts import place_order
from netloom.routing import parse_routing
from netloom.topology import graph_topology, hypercube, mesh, torus, without, working_nodes
from netloom.workload import process_graph
from tests.mapping.search.started import embed, partitioned
from tests.properties.test_hosted_mapping import problems as onto_hosts
from tests.reference import embedding as reference


@st.composite
def networks(draw, most=6):
    kind = draw(st.sampled_from(["cube", "hypercube", "faulty", "graph"]))
    if kind == "hypercube":
        return hypercube(draw(st.integers(1, 2 if most < 8 else 3)))
    if kind == "graph":
        nodes = draw(st.integers(2, most))
        graph = nx.path_graph(nodes)
        node = st.integers(0, nodes - 1)
        more = draw(st.sets(st.tuples(node, node).filter(lambda ends: ends[0] != ends[1])))
        graph.add_edges_from(more)
        return graph_topology(graph)
    sides = [(2,), (4,), (5,), (2, 2), (3, 2), *([(3, 3), (3, 4), (2, 2, 3)] if most > 8 else [])]
    network = draw(st.sampled_from([mesh, torus]))(*draw(st.sampled_from(sides)))
    if kind == "cube":
        return network
    try:
        return without(
            network,
            channels=draw(st.sets(st.integers(0, network.num_channels - 1), max_size=2)),
            nodes=draw(st.sets(st.integers(0, network.num_nodes - 1), max_size=1)),
        )
    except InputError:  # in pieces
        return network


@st.composite
def problems(draw, most_nodes=6, most_tasks=4, most_room=2):
    network = draw(networks(most_nodes))
    working = working_nodes(network).tolist()
    nodes = sorted(draw(st.sets(st.sampled_from(working), min_size=1)))
    room = draw(st.integers(1, most_room))
    tasks = draw(st.integers(1, min(most_tasks, len(nodes) * room)))
    task = st.integers(0, tasks - 1)
    edges = sorted(draw(st.sets(st.tuples(task, task).filter(lambda ends: ends[0] != ends[1]))))
    amounts = st.sampled_from([st.just(1.0), st.integers(0, 9), st.floats(0, 1e6)])
    weights = draw(st.lists(draw(amounts), min_size=len(edges), max_size=len(edges)))
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    app = process_graph(tasks, source, target, bytes=np.array(weights, np.float64))
    return app, network, np.array(nodes), room


@given(problems(), st.sampled_from(["default", "shortest-path", "up-down"]))
@settings(max_examples=120, deadline=None)
def test_no_mapping_is_below_a_bound(problem, routing):
    app, network, nodes, room = problem
    links = set(zip(network.source_end.tolist(), network.target_end.tolist(), strict=True))
    assume(routing != "up-down" or all((end, start) in links for start, end in links))
    routed = parse_routing(routing, network)
    together = objective_of(",".join(OBJECTIVES))
    every = Measure(app, network, routed, app.bytes, together, nodes)
    values = [
        every.each(np.array(mapping))
        for mapping in product(nodes.tolist(), repeat=app.num_tasks)
        if max(mapping.count(node) for node in mapping) <= room
    ]
    for name in OBJECTIVES:
        one = Measure(app, network, routed, app.bytes, objective_of(name), nodes, room)
        best = min(value[name] for value in values)
        assert least(one) <= best * (1 + 1e-12)


def test_a_program_in_two_parts_is_bounded_by_no_rounding():
    """Its second eigenvalue is 0, which arithmetic misses by a little."""
    app = process_graph(3, [0], [2], bytes=[108823.078125])
    one = Measure(
        app, mesh(2), parse_routing("default", mesh(2)), app.bytes,
        objective_of("max-channel-load"), np.arange(2), 2,
    )  # fmt: skip
    assert least(one) == 0


@given(problems(most_nodes=12, most_tasks=9, most_room=1), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_an_embedding_is_found_where_there_is_one(problem, seed):
    """Of few tasks, and of all edges; networkx tries all subgraphs."""
    app, network, nodes, _ = problem
    app = process_graph(app.num_tasks, app.source, app.target)
    guest = nx.Graph(zip(app.source.tolist(), app.target.tolist(), strict=True))
    channels = set(zip(network.source_end.tolist(), network.target_end.tolist(), strict=True))
    host = nx.Graph(pair for pair in channels if pair[::-1] in channels)
    host.add_nodes_from(nodes.tolist())
    host = host.subgraph(nodes.tolist())
    found = embed(app, network, nodes=nodes, weights=1 + 1e-9 * app.bytes, seed=seed)
    there_is = nx.isomorphism.GraphMatcher(host, guest).subgraph_is_monomorphic()
    alike = len(np.unique(joint_weights(app, app.bytes).data)) < 2  # else, a part of it may do
    if found is None:
        assert not there_is or not app.num_edges
        return
    assert np.isin(check_mapping(found, app.num_tasks, network.num_nodes), nodes).all()
    edges = zip(app.source.tolist(), app.target.tolist(), strict=True)
    embedded = reference.is_embedding(edges, channels, found.tolist())
    assert embedded == there_is
    assert embedded or not alike


@given(problems(most_nodes=12, most_tasks=12), st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_tasks_are_placed_in_the_order_of_the_reference(problem, deep, random):
    app = problem[0]
    joint = joint_weights(app, np.ones(app.num_edges))
    guest = joint.indptr.astype(np.int64), joint.indices.astype(np.int64)
    neighbours = [guest[1][a:b].tolist() for a, b in zip(guest[0][:-1], guest[0][1:], strict=True)]
    tasks = app.num_tasks
    first, root = random.sample(range(tasks), tasks), random.randrange(tasks)
    order = place_order(guest, root, np.array(first), deep=deep)
    assert order.tolist() == reference.place_order(neighbours, root, deep, first)


@given(
    st.one_of(problems(most_nodes=12, most_tasks=20, most_room=3), onto_hosts(12, 12)),
    st.integers(1, 3),
)
@settings(max_examples=150, deadline=None)
def test_a_partition_is_a_mapping_onto_few_nodes(problem, seed):
    app, network, nodes, room = problem
    found = partitioned(app, network, nodes=nodes, tasks_per_node=room, seed=seed)
    check_mapping(found, app.num_tasks, network.num_hosts, room)
    assert np.isin(found, nodes).all()
    assert len(np.unique(found)) == -(-app.num_tasks // room)


@given(networks(most=12))
@settings(max_examples=60, deadline=None)
def test_hops_are_the_shorter_way(network):
    channels = zip(network.source_end.tolist(), network.target_end.tolist(), strict=True)
    graph = nx.DiGraph(channels)
    working = working_nodes(network)
    there = dict(nx.all_pairs_shortest_path_length(graph))
    expected = [[min(there[a][b], there[b][a]) for b in working.tolist()] for a in working.tolist()]
    assert hops(network, working, working).tolist() == expected
