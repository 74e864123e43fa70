"""Tables in few lanes: all ways are there, no circle in any lane, and they are good ones."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from netloom.bounds import bisection_bound, busiest_bound
from netloom.contention import effective_bisection, shift_loads
from netloom.fabrics import few_lanes
from netloom.fabrics.few_lanes import in_few_lanes
from netloom.fabrics.kernels.few_lanes import find_row, improve
from netloom.routing.forwarding.tables import dependency_graph, lane_circle, lanes_used
from netloom.topology import topology, without
from tests.fabrics.networks import uneven
from tests.reference.few_lanes import found_row, load_and_alike


def waits_of(net, table):
    """Return a graph of (lane, channel), from all entries of a table, of all routers and ends."""
    ends = np.concatenate([table.next_channel, table.others])
    lanes = np.zeros(len(ends), int) if table.lanes is None else table.lanes.level[:, 0]
    graph = nx.DiGraph()
    for row, lane in zip(ends.tolist(), lanes.tolist(), strict=True):
        for held in row:
            asked = -1 if held < 0 else row[net.routers.channel_target[held]]
            if asked >= 0:
                graph.add_edge((lane, held), (lane, asked))
    return graph


def arrivals(net, row):
    """Return where packets end that start at each router."""
    found = []
    for start in range(net.num_routers):
        router, hops = start, 0
        while row[router] >= 0 and hops <= net.num_routers:
            router, hops = int(net.routers.channel_target[row[router]]), hops + 1
        found.append(router)
    return found


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), lanes=st.integers(1, 3))
def test_all_ways_and_no_circles(seed, lanes):
    net = uneven(np.random.default_rng(seed))
    table = in_few_lanes(net, lanes, seed=seed, effort=0.02)
    ends = [*net.ejection_router.tolist(), *range(net.num_routers)]
    for row, end in zip([*table.next_channel, *table.others], ends, strict=True):
        assert set(arrivals(net, row)) == {end}
    assert nx.is_directed_acyclic_graph(waits_of(net, table))
    assert lane_circle(net, table) == ()
    assert lanes_used(table) <= lanes
    load = shift_loads(net, table).total_load / net.channel_bandwidth
    assert load[: net.num_network_channels].max() >= busiest_bound(net).value * (1 - 1e-9)
    drawn = effective_bisection(net, table, samples=200)
    assert drawn.mean <= bisection_bound(net) + 2 * (drawn.ci[1] - drawn.mean) + 1e-9


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), lanes=st.integers(1, 2))
def test_what_the_search_counts(seed, lanes):
    """Loads, and squares of what belongs to one source or destination, are those of the table."""
    rng = np.random.default_rng(seed)
    net = uneven(rng)
    frame = few_lanes._Frame(net)
    search, graph = frame.search(lanes, rng, 0, 4), dependency_graph(net, lanes)
    few_lanes._reserve(search, graph, 1)
    improve(search, graph, 0, frame.rows)
    few_lanes._reserve(search, graph, -1)
    improve(search, graph, frame.rows, search.singles + 20)
    load, alike = load_and_alike(net, search.table[: search.rows], net.ejection_router)
    assert search.load.tolist() == load.tolist()
    assert search.alike.tolist() == alike.tolist()
    uses = np.zeros_like(graph.uses)
    for row, lane in zip(search.table, search.lane, strict=True):
        for held in row[row >= 0]:
            asked = row[net.routers.channel_target[held]]
            if asked >= 0:
                uses[lane * net.num_network_channels + held, graph.slot[asked]] += 1
    assert (uses == graph.uses).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
@example(seed=3000000)
def test_a_row_is_found_as_defined(seed):
    """The kernel's row is that of its twin, given what others have taken and random costs."""
    rng = np.random.default_rng(seed)
    net = uneven(rng, most=6)
    frame = few_lanes._Frame(net)
    search, graph = frame.search(1, rng, 0, 4), dependency_graph(net)
    few_lanes._reserve(search, graph, 1)
    improve(search, graph, 0, frame.rows)
    few_lanes._reserve(search, graph, -1)
    row = int(rng.integers(frame.rows))
    for held in search.table[row][search.table[row] >= 0]:
        asked = search.table[row][net.routers.channel_target[held]]
        if asked >= 0:
            graph.uses[held, graph.slot[asked]] -= 1
    search.weight[:] = rng.integers(1, 4, len(search.weight)) * 8
    search.room[:] = 2.0 ** rng.integers(0, 4, len(search.room))  # sums in any order are the same
    waits = nx.DiGraph()
    for held, slot in zip(*np.nonzero(graph.uses), strict=True):
        offset = graph.out_offsets[graph.channel_target[held]]
        waits.add_edge(int(held), int(graph.out_channels[offset + slot]))
    shared = search.taste[0] * search.via / search.room
    expected = found_row(net, int(search.exits[row]), waits, search.weight, shared)
    total = find_row(search, graph, row, 0, False)
    if expected is None:
        assert total == np.inf
        assert (search.table[row] == -1).all()
        return
    entries, costs = expected
    if len(set(costs.values())) == len(costs):
        assert search.table[row].tolist() == entries.tolist()
        if row < search.rows:
            sent = search.sent[:, row % search.sent.shape[1]]
            assert total == pytest.approx(sum(sent[each] * costs[each] for each in costs))


@pytest.mark.parametrize(
    ("spec", "lanes", "most"),
    [("mesh:4x4/1", 1, 16), ("hypercube:5", 1, 16), ("torus:4x4", 1, 10), ("torus:4x4", 2, 8)],
)
def test_known_best(spec, lanes, most):
    net = topology(spec)
    table = in_few_lanes(net, lanes, effort=0.3)
    assert shift_loads(net, table).total_load[: net.num_network_channels].max() <= most
    assert lane_circle(net, table) == ()


def test_damaged_dragonfly():
    """A router and two cables are gone; what is left is in one lane, and near the bound in two."""
    net = without(topology("dragonfly:2x4x2"), channels="g0r0-g0r1,g2r1-g2r2", nodes="g4r1")
    bound = busiest_bound(net).value
    found = [in_few_lanes(net, lanes, effort=0.1) for lanes in (1, 2)]
    load = [shift_loads(net, each).total_load[: net.num_network_channels].max() for each in found]
    assert all(lane_circle(net, each) == () for each in found)
    assert load[0] <= 2.4 * bound
    assert load[1] <= 1.3 * bound


def test_the_same_seed_gives_the_same_table():
    net = topology("jellyfish:10x3x2/1")
    first, again, other = (in_few_lanes(net, seed=seed, effort=0.1) for seed in (1, 1, 2))
    assert (first.next_channel == again.next_channel).all()
    assert (first.next_channel != other.next_channel).any()
