"""Any connections on any network: every plan passes the verifier and keeps above its bounds."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.contention.messages import ConSetCosts
from netloom.phases import Capacity, least_clocks, least_phases, partition, phase_clocks, verify
from netloom.phases.plan.plans import balanced
from netloom.topology import graph_topology, hypercube, mesh, torus, without, working_nodes
from tests.phases.hand_made import joined
from tests.reference.partitioning import heights_of, use_of


@pytest.fixture(autouse=True, scope="module")
def _fewer_moves():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("netloom.phases.plan.plans.MOVES", 20)
        patch.setattr("netloom.phases.plan.plans.LEAST_MOVES", 1000)
        patch.setattr("netloom.phases.plan.plans.TRIES", 20_000)
        yield


@st.composite
def networks(draw):
    kind = draw(st.sampled_from(["mesh", "torus", "hypercube", "faulty", "graph"]))
    if kind == "hypercube":
        return hypercube(draw(st.integers(1, 4)))
    if kind == "graph":
        nodes = draw(st.integers(2, 12))
        graph = nx.cycle_graph(nodes, create_using=nx.DiGraph)
        node = st.integers(0, nodes - 1)
        graph.add_edges_from(draw(st.sets(st.tuples(node, node), max_size=15)))
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        return graph_topology(graph)
    sides = draw(st.sampled_from([(2,), (5,), (8,), (2, 2), (3, 2), (3, 3), (4, 4), (3, 2, 2)]))
    network = mesh(*sides) if kind == "mesh" else torus(*sides)
    if kind != "faulty":
        return network
    broken = draw(st.sets(st.integers(0, network.num_channels - 1), max_size=3))
    failed = draw(st.sets(st.integers(0, network.num_nodes - 1), max_size=1))
    try:
        return without(network, channels=sorted(broken), nodes=sorted(failed))
    except InputError:  # in pieces
        return network


@st.composite
def problems(draw, most=24):
    network = draw(networks())
    node = st.sampled_from(working_nodes(network).tolist())
    pair = st.tuples(node, node).filter(lambda ends: ends[0] != ends[1])
    pairs = draw(st.lists(pair, min_size=1, max_size=most))
    count = len(pairs)
    words = st.integers(0, 50) if draw(st.booleans()) else st.just(7)
    order = []
    if draw(st.booleans()):
        turn = draw(st.permutations(range(count)))
        one = st.integers(0, count - 1)
        some = draw(st.sets(st.tuples(one, one), max_size=count))
        order = [(turn[min(both)], turn[max(both)]) for both in some if both[0] != both[1]]
        order = sorted(set(order))
    amounts = draw(st.lists(words, min_size=count, max_size=count))
    capacity = Capacity(draw(st.integers(1, 4)), draw(st.sampled_from(["node", "channel"])))
    costs = ConSetCosts(
        clocks_per_word=draw(st.sampled_from([2, 10])), both_ways=draw(st.booleans())
    )
    return joined(network.num_nodes, pairs, amounts, order), network, capacity, costs


def assert_right(plan, costs):
    verify(plan)
    bound = least_phases(plan.connections, plan.topology, plan.capacity)
    assert plan.num_phases >= bound.phases >= 1
    clocks = phase_clocks(plan, costs)
    assert clocks.tolist() == heights_of(plan, costs)
    assert clocks.sum() >= least_clocks(plan.connections, plan.topology, costs) * (1 - 1e-12)
    assert plan.use().tolist() == use_of(plan)


@given(problems(), st.sampled_from(["auto", "sequential"]), st.integers(1, 3))
@settings(max_examples=100)
def test_any_plan_is_right_and_repeats(problem, method, seed):
    given_, network, capacity, costs = problem
    plan = partition(given_, network, capacity, costs=costs, method=method, seed=seed)
    assert_right(plan, costs)
    again = partition(given_, network, capacity, costs=costs, method=method, seed=seed)
    assert again.phase.tolist() == plan.phase.tolist()
    assert again.routes.channels.tolist() == plan.routes.channels.tolist()


@given(problems(), st.sampled_from(["auto", "sequential"]))
@settings(max_examples=30)
def test_time_is_not_longer_where_it_is_what_counts(problem, method):
    given_, network, capacity, costs = problem
    few, short = (
        partition(given_, network, capacity, costs=costs, method=method, objective=objective)
        for objective in ("phases", "time")
    )
    assert_right(short, costs)
    if method == "sequential":
        few_clocks, clocks = (
            plan.num_phases * costs.switch_clocks + phase_clocks(plan, costs).sum()
            for plan in (few, short)
        )
        assert clocks <= few_clocks * (1 + 1e-12)


@given(problems(), st.integers(1, 3))
@settings(max_examples=60)
def test_balancing_any_plan_never_makes_it_longer(problem, seed):
    given_, network, capacity, costs = problem
    plan = partition(given_, network, capacity, costs=costs, method="sequential")
    better = balanced(plan, costs, seed=seed, most_moves=3000)
    assert_right(better, costs)
    assert better.num_phases <= plan.num_phases
    assert phase_clocks(better, costs).sum() <= phase_clocks(plan, costs).sum() * (1 + 1e-12)
    again = balanced(plan, costs, seed=seed, most_moves=3000)
    assert again.phase.tolist() == better.phase.tolist()
    assert again.routes.channels.tolist() == better.routes.channels.tolist()


@st.composite
def alike(draw):
    """Return a pattern that looks alike from every node, and its network."""
    sides = draw(st.sampled_from([(4,), (5,), (2, 2), (2, 4), (3, 3), (4, 4), (6, 2), (2, 2, 3)]))
    network = torus(*sides)
    at = np.array(np.unravel_index(np.arange(network.num_nodes), sides))
    displacement = st.tuples(*(st.integers(0, side - 1) for side in sides))
    away = draw(st.sets(displacement.filter(any), min_size=1, max_size=8))
    pairs, amounts = [], []
    for apart in sorted(away):
        there = (at + np.array(apart)[:, None]) % np.array(sides)[:, None]
        pairs += enumerate(np.ravel_multi_index(tuple(there), sides).tolist())
        amounts += [draw(st.integers(0, 9))] * network.num_nodes
    turn = draw(st.randoms(use_true_random=False)).sample(range(len(pairs)), len(pairs))
    given_ = joined(network.num_nodes, [pairs[t] for t in turn], [amounts[t] for t in turn])
    return given_, network


@given(alike(), st.integers(5, 12), st.sampled_from(["node", "channel"]), st.booleans())
@settings(max_examples=60)
def test_patterns_that_look_alike(pattern, limit, per, both_ways):
    given_, network = pattern
    costs = ConSetCosts(both_ways=both_ways)
    plan = partition(given_, network, Capacity(limit, per), costs=costs, method="symmetric")
    assert_right(plan, costs)
    assert plan.method == "symmetric"
