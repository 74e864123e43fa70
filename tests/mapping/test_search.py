"""A search finds better mappings, keeps what it is given, and is as good as its word."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloom.contention import measure
from netloom.errors import InputError
from netloom.mapping.objectives import OBJECTIVES, measure_by, objective_of
from netloom.mapping.search import find_mapping
from netloom.mapping.search_arrays import search_arrays
from netloom.mapping.search_kernel import anneal, fill
from netloom.mapping.search_rounds import places_of
from netloom.routing import parse_routing
from netloom.topology import hypercube, mesh, omega, torus, without
from netloom.workload import process_graph, read
from tests.reference import mapping_cost

NETWORKS = [mesh(3, 3), torus(4, 3), hypercube(3), mesh(2, 2, 2), torus(5)]


@st.composite
def programs(draw, most_tasks):
    tasks = draw(st.integers(2, most_tasks))
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, tasks - 1), st.integers(0, tasks - 1), st.integers(1, 9)),
            min_size=1,
            max_size=20,
        ).filter(lambda found: any(start != end for start, end, _ in found))
    )
    source, target, size = (list(column) for column in zip(*pairs, strict=True))
    return process_graph(tasks, source, target, bytes=size)


@given(
    st.sampled_from(NETWORKS).flatmap(
        lambda net: st.tuples(st.just(net), programs(net.num_nodes), st.integers(1, 2))
    ),
    st.sampled_from(["default", "shortest-path"]),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_annealing_counts_what_a_recount_counts(task, routing_name, seed):
    topology, app, tasks_per_node = task
    routing = parse_routing(routing_name, topology)
    nodes = np.arange(topology.num_nodes, dtype=np.int32)
    arrays = search_arrays(app, topology, routing, app.bytes, nodes, tasks_per_node)
    rng = np.random.default_rng(seed)
    place_of = rng.permutation(len(arrays.place_node))
    node_of, item_at = arrays.place_node[place_of], np.argsort(place_of)
    loads = np.zeros(topology.num_channels)
    terms = (0.5, 2.0, 3.0)
    before = fill(tuple(arrays.net), tuple(arrays.graph), node_of, loads, terms)
    assert before == pytest.approx(
        mapping_cost.cost(
            mapping_cost.channel_loads(app, topology, routing, app.bytes, node_of), *terms
        )
    )
    grown = anneal(
        tuple(arrays.net), tuple(arrays.graph), app.num_tasks, node_of, place_of, item_at,
        arrays.near, loads, terms, 0.5 * before, 0.1 * before, 300, rng,
    )  # fmt: skip
    found = mapping_cost.channel_loads(app, topology, routing, app.bytes, node_of)
    assert loads == pytest.approx([found[channel] for channel in range(topology.num_channels)])
    counted = mapping_cost.cost(found, *terms)
    assert before + grown == pytest.approx(counted, rel=1e-6, abs=1e-9 * before)
    assert sorted(place_of) == list(range(len(place_of)))
    assert (item_at[place_of] == np.arange(len(place_of))).all()
    assert (node_of == arrays.place_node[place_of]).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_small_programs_get_the_best_mapping_there_is(objective):
    app = process_graph(6, [0, 1, 2, 3, 4, 5, 0, 2], [3, 4, 5, 1, 2, 0, 1, 3],
                        bytes=[5, 1, 7, 2, 9, 4, 3, 8])  # fmt: skip
    topology, routing = mesh(2, 3), parse_routing("default", mesh(2, 3))
    value_of = measure_by(objective_of(objective), app, topology, routing, app.bytes, np.arange(6))
    best = min(value_of(np.array(order)) for order in itertools.permutations(range(6)))
    found = find_mapping(app, topology, objective=objective, rounds=12, seed=3)
    assert found.value == pytest.approx(best)
    assert found.bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("objective", [*OBJECTIVES, "hop-bytes:1,path-contention:2"])
def test_no_start_is_better_and_the_value_is_what_is_measured(objective):
    app, topology = read("random-regular:24,3"), torus(5, 5)
    found = find_mapping(app, topology, objective=objective, rounds=6, seed=1)
    routing = parse_routing("default", topology)
    value_of = measure_by(objective_of(objective), app, topology, routing, app.bytes, np.arange(24))
    assert found.value == pytest.approx(value_of(found.node_of))
    assert found.value <= min(found.starts.values()) + 1e-12
    for name, node_of in found.mappings.items():
        assert found.starts[name] == pytest.approx(value_of(node_of))
    assert len(np.unique(found.node_of)) == 24


def test_a_seed_and_rounds_decide_all():
    app, topology = read("random-regular:16,3"), mesh(4, 4)
    one, same = (find_mapping(app, topology, rounds=8, seed=4) for _ in range(2))
    assert one.node_of.tolist() == same.node_of.tolist()
    assert (one.value, one.found_by, one.rounds) == (same.value, same.found_by, same.rounds)


def test_a_met_bound_ends_the_search():
    found = find_mapping(read("mesh:4x4"), torus(4, 4), objective="hop-bytes", seconds=60)
    assert found.value == found.bound == 48
    assert found.seconds < 20


def test_only_allowed_nodes_are_used():
    allowed = [1, 2, 4, 7, 8, 11, 13, 14]
    found = find_mapping(read("ring:8"), mesh(4, 4), nodes=allowed, rounds=4)
    assert sorted(found.node_of.tolist()) == allowed


def test_nodes_take_several_tasks():
    app = read("ring:12")
    found = find_mapping(app, torus(2, 3), tasks_per_node=2, objective="hop-bytes", rounds=6)
    assert np.bincount(found.node_of).max() == 2
    assert found.value == 12  # pairs of neighbours share a node: six edges each way between nodes


def test_switches_and_memories_run_no_tasks():
    found = find_mapping(read("mesh:2x2"), omega(8), rounds=1)
    assert found.node_of.max() < 8


def test_edges_without_bytes_meet_others_where_nothing_else_moves():
    """Identity keeps all bytes on nodes, so that annealing has no cost to set temperatures by."""
    app = process_graph(8, [0, 2, 0, 1, 0], [1, 3, 4, 4, 6], bytes=[1, 1, 0, 0, 0])
    for objective in ("path-contention", "path-contention:1,hop-bytes:1"):
        found = find_mapping(app, mesh(4), objective=objective, tasks_per_node=2, rounds=4)
        assert 0 <= found.value <= min(found.starts.values())


def test_broken_networks_are_mapped_around():
    broken = without(torus(4, 4), nodes=[5])
    nodes = [node for node in range(16) if node != 5]
    found = find_mapping(read("ring:12"), broken, nodes=nodes, routing="shortest-path", rounds=3)
    assert 5 not in found.node_of
    routing = parse_routing("shortest-path", broken)
    app = read("ring:12")
    again = measure(broken, routing, found.node_of[app.source], found.node_of[app.target])
    assert again.weighted_channel_load.max() == found.value


def test_places_keep_tasks_on_their_nodes():
    place_node = np.array([3, 3, 5, 5, 7, 7])
    place_of = places_of(np.array([5, 3, 5], np.int32), place_node)
    assert sorted(place_of.tolist()) == list(range(6))
    assert place_node[place_of[:3]].tolist() == [5, 3, 5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "speed"}, "objective: found 'speed'; expected hop-bytes"),
        ({"objective": "hop-bytes:0"}, "objective: found a share of '0'"),
        ({"seconds": 0}, "seconds: found 0"),
        ({"nodes": [0, 99]}, "nodes: found"),
        ({"nodes": [0, 1]}, "nodes: found 8 tasks for 2 nodes, 1 a node"),
        ({"tasks_per_node": 0}, "tasks_per_node: found 0"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        find_mapping(read("ring:8"), mesh(3, 3), **options)


def test_a_program_that_sends_nothing_is_refused():
    with pytest.raises(InputError, match="no traffic"):
        find_mapping(process_graph(3, [], []), mesh(2, 2))
