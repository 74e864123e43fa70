"""Routes against plain shortest paths, and routers that give up only where they may."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.phases import Capacity, first_violation, least_phases
from netloom.phases.kernels.partition import rip_up, route
from netloom.phases.plan.plans import State, negotiated, sequential, task_of
from netloom.routing.kernels.priced_paths import find
from netloom.topology import cube, graph_topology, mesh, to_networkx, topology
from tests.phases.hand_made import joined
from tests.properties.strategies import cubes
from tests.reference import partitioning as definition


def price_of(network, capacity, price, source, channels):
    return sum(price[place] for place in definition.places_of(network, capacity, source, channels))


def assert_joins(network, source, target, channels):
    at = source
    for channel in channels:
        assert network.source_end[channel] == at
        at = network.target_end[channel]
    assert at == target


def found_by_kernel(task, price, source, target, limit=np.inf):
    free, channels = task.surcharge, task.scratch[-1]
    paid, hops = find(task.net, task.scratch, price, free, source, target, limit, channels)
    return paid, channels[:hops].tolist()


@st.composite
def pairs_of(draw, network, most):
    node = st.integers(0, network.num_nodes - 1)
    pair = st.tuples(node, node).filter(lambda ends: ends[0] != ends[1])
    return draw(st.lists(pair, min_size=1, max_size=most))


@given(cubes(3, 24).filter(lambda network: network.num_nodes > 1), st.data())
@settings(max_examples=60)
def test_the_cheapest_path_is_that_of_networkx(network, data):
    capacity = Capacity(1, data.draw(st.sampled_from(["node", "channel"])))
    source, target = data.draw(pairs_of(network, 1))[0]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    price = rng.integers(1, 9, capacity.places(network)) / 4.0 + 0.75
    task = task_of(joined(network.num_nodes, [(source, target)], [1]), network, capacity, 1)
    paid, channels = found_by_kernel(task, price, source, target)
    assert_joins(network, source, target, channels)
    assert paid == price_of(network, capacity, price, source, channels)
    graph = to_networkx(network)
    for start, end, attributes in graph.edges(data=True):
        place = end if capacity.per == "node" else attributes["channel"]
        graph[start][end]["price"] = price[place]
    expected = nx.shortest_path_length(graph, source, target, weight="price")
    expected += price[source] if capacity.per == "node" else 0
    assert paid == expected == definition.cheapest(network, capacity, price, source, target)
    assert found_by_kernel(task, price, source, target, limit=paid) == (np.inf, [])
    assert found_by_kernel(task, price, source, target, limit=paid + 0.25)[0] == paid


def test_sums_that_round_differently_leave_routes_whole():
    """Node 1 is settled at a price that a detour of more hops undercuts by a rounding error."""
    source, detour, before, reached, target = 0, 2, 3, 1, 4
    links = [(source, reached), (source, detour), (detour, before), (before, reached)]
    graph = nx.DiGraph([*links, (reached, target), (target, source)])
    network, capacity = graph_topology(graph), Capacity(1, "channel")
    number = to_networkx(network).edges
    direct = next(
        price
        for price in 7.5 + np.arange(1, 99) * 2.0**-50
        if np.nextafter(price, 0) - 1.0 + 2.0 == price + 1.0
    )
    price = np.ones(network.num_channels)
    price[number[source, reached]["channel"]] = direct
    price[number[detour, before]["channel"]] = np.nextafter(direct, 0) - 2.0
    price[number[reached, target]["channel"]] = 3.0
    task = task_of(joined(5, [(source, target)], [1]), network, capacity, 1)
    paid, channels = found_by_kernel(task, price, source, target)
    assert_joins(network, source, target, channels)
    assert paid == pytest.approx(direct + 3.0)


def hub():
    """A ring of 60 around a hub, and two nodes behind nodes of the ring; a diameter of 4."""
    ring, middle = 60, 60
    graph = nx.cycle_graph(ring)
    graph.add_edges_from((node, middle) for node in range(ring))
    graph.add_edges_from([(16, 61), (46, 62)])
    return graph_topology(graph)


def test_cheap_ways_too_long_do_not_hide_short_ones():
    network, given_ = hub(), joined(63, [(0, 61), (30, 62)], [1, 1])
    for phases in (1, 2):
        plan = negotiated(given_, network, Capacity(1), phases)
        assert plan is None or first_violation(plan) is None
    assert plan is not None


def empty_state(task, given_, num_phases, limit):
    """Return a state without routes, with the prices of the paper's router."""
    places, count = (num_phases, task.places), len(given_)
    table = np.array([definition.sequential_price(used, limit) for used in range(count + 2)])
    empty = np.zeros(places, np.int32), np.ones(places), np.zeros(places)
    routes = np.zeros((count, len(task.scratch[-1])), np.int32)
    return State(*empty, table, np.full(count, -1, np.int32), routes, np.zeros(count, np.int32))


def route_one(task, state, one, limit, *, first_fit=False):
    return route(task, state, np.array([one]), limit, np.full(len(state.phase), -1), first_fit)


@given(cubes(3, 16).filter(lambda network: network.num_nodes > 1), st.data())
@settings(max_examples=60)
def test_every_step_of_the_paper_s_router_takes_the_cheapest_path(network, data):
    """Step by step, from the state that the kernel was in; ties may go either way."""
    pairs = data.draw(pairs_of(network, 25))
    limit, phases = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    first_fit = data.draw(st.booleans())
    capacity = Capacity(limit, data.draw(st.sampled_from(["node", "channel"])))
    given_ = joined(network.num_nodes, pairs, [1] * len(pairs))
    task = task_of(given_, network, capacity, 1)
    path = np.zeros(network.num_nodes, np.int32)  # no way is too long
    task = task._replace(scratch=(*task.scratch[:-1], path))
    state = empty_state(task, given_, phases, limit)
    for one in task.turn.tolist():
        used = state.use.tolist()
        offered = definition.cheapest_of_phases(network, capacity, used, *pairs[one])
        lost = route_one(task, state, one, limit, first_fit=first_fit)
        assert lost == (min(offered) == np.inf)
        phase = int(state.phase[one])
        if lost:
            assert phase == -1
            continue
        if first_fit:
            assert phase == next(p for p in range(phases) if offered[p] < np.inf)
        else:
            assert offered[phase] == min(offered)
        channels = state.routes[one, : state.lengths[one]].tolist()
        assert_joins(network, *pairs[one], channels)
        price = [definition.sequential_price(u, limit) for u in used[phase]]
        assert price_of(network, capacity, price, pairs[one][0], channels) == offered[phase]
        for place in definition.places_of(network, capacity, pairs[one][0], channels):
            used[phase][place] += 1
        assert state.use.tolist() == used
        assert state.price.tolist() == [[state.table[u] for u in row] for row in used]
    routed = np.flatnonzero(state.phase >= 0)
    rip_up(task, state, np.arange(len(pairs)))
    assert not state.use.any()
    assert (state.price == 1).all()
    assert (state.phase[routed] == -1).all()


def test_turns_go_by_order_then_the_longest_first():
    given_ = joined(8, [(0, 1), (0, 3), (0, 7), (1, 2), (2, 7)], [1] * 5, [(0, 2), (2, 1)])
    task = task_of(given_, mesh(8), Capacity(1), 1)
    assert task.turn.tolist() == [4, *sorted([0, 3], key=task.turn.tolist().index), 2, 1]
    offsets, values = task.before
    assert values[offsets[2] : offsets[3]].tolist() == [0]
    offsets, values = task.after
    assert values[offsets[2] : offsets[3]].tolist() == [1]


@pytest.mark.parametrize("router", [negotiated, sequential])
def test_what_cannot_be_is_not_found(router):
    given_ = joined(4, [(0, 3), (1, 2), (2, 0)], [1, 1, 1])
    assert router(given_, mesh(4), Capacity(1), 2) is None
    plan = router(given_, mesh(4), Capacity(1), 3)
    assert first_violation(plan) is None
    assert plan.num_phases == 3


def test_negotiation_goes_around_what_the_first_path_blocks():
    """On the mesh, 0 -> 2 has to go all the way around 1 -> 4."""
    capacity = Capacity(1)
    for seed in range(5):
        given_ = joined(9, [(0, 2), (1, 4)], [1, 1])
        plan = negotiated(given_, mesh(3, 3), capacity, 1, seed=seed)
        assert first_violation(plan) is None
        assert plan.routes.lengths.tolist() == [6, 1]
    ring = topology("ring:6")
    around = joined(6, [(0, 3), (5, 4)], [1, 1])
    assert least_phases(around, ring, capacity).phases == 1
    plan = negotiated(around, ring, capacity, 1)
    assert plan.routes.lengths.tolist() == [3, 1]
    assert plan.use().tolist() == [[1, 1, 1, 1, 1, 1]]


def test_connections_go_home_if_that_costs_little():
    given_ = joined(8, [(0, 1), (2, 3), (4, 5), (6, 7)], [1] * 4)
    home = np.array([1, 0, 1, 0])
    plan = negotiated(given_, cube((8,)), Capacity(1), 2, home=home)
    assert plan.phase.tolist() == home.tolist()
    crowd = joined(8, [(0, 1), (0, 1)], [1, 1])
    plan = negotiated(crowd, cube((8,)), Capacity(1), 2, home=np.array([1, 1]))
    assert sorted(plan.phase.tolist()) == [0, 1]


@pytest.mark.parametrize("router", [negotiated, sequential])
def test_a_chain_through_one_node_takes_a_phase_each(router):
    chain = [(one, one + 1) for one in range(5)]
    given_ = joined(3, [(0, 2), (1, 0), (2, 1), (0, 1), (1, 2), (2, 0)], [1] * 6, chain)
    plan = router(given_, mesh(3), Capacity(1), 6)
    assert first_violation(plan) is None
    assert plan.phase.tolist() == [0, 1, 2, 3, 4, 5]
