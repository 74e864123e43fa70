"""The groups of ranks with the least bandwidth: against all partitions and linear programs."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import netloom as nl
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.synthesis import joint, solved
from netloom.phases.collectives.trees import least_time, weakest_groups
from netloom.topology import topology
from tests.phases.collectives.boxes import plain
from tests.phases.collectives.test_joint import connected


def partitions(ranks):
    """Every way to put ranks into groups, as the group of each."""
    if not ranks:
        yield []
        return
    for before in partitions(ranks - 1):
        for group in range(max(before, default=-1) + 2):
            yield [*before, group]


def leaving(net, group):
    """Capacity of what leaves groups, per group less one; routers wherever that is least.

    Routers are in the group, or in none, in which the least leaves, one after the other: a cut of
    each group on its own, as in the definition.
    """
    ranks, forward = net.num_ranks, net.num_vertices - net.num_ranks
    many, total = max(group) + 1, 0
    for each in range(many):
        sides = []
        for chosen in range(2**forward):
            side = [chosen >> place & 1 for place in range(forward)]
            inside = np.array([own == each for own in group] + side, bool)
            assert len(inside) == ranks + forward
            sides.append(int(net.capacity[inside[net.source] & ~inside[net.target]].sum()))
        total += min(sides)
    return Fraction(total, many - 1)


def value(net, group):
    ends = group[net.source], group[net.target]
    total = int(net.capacity[(ends[0] >= 0) & (ends[0] != ends[1])].sum())
    return Fraction(total, len(np.unique(group[: net.num_ranks])) - 1)


@given(connected())
@settings(deadline=None, max_examples=60)
def test_no_other_groups_have_less(net):
    groups = partitions(net.num_ranks)
    least = min(leaving(net, group) for group in groups if max(group) > 0)
    found = weakest_groups(net)
    assert (found[: net.num_ranks] >= 0).all()
    assert value(net, found) >= least
    if net.num_vertices == net.num_ranks:
        assert value(net, found) == least


@st.composite
def cabled(draw):
    """A connected network of 3 to 8 vertices whose cables are as fast both ways."""
    size = draw(st.integers(3, 8))
    graph = nx.random_labeled_tree(size, seed=draw(st.integers(0, 10**6)))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    drawn = draw(st.sets(pairs, max_size=2 * size))
    graph.add_edges_from(pair for pair in drawn if pair[0] != pair[1])
    for each in graph.edges.values():
        each["bandwidth"] = draw(st.integers(1, 3))
    return topology(graph)


@given(cabled())
@settings(deadline=None, max_examples=30)
def test_cables_as_fast_both_ways_have_the_bound_of_the_linear_program(network):
    """Tutte and Nash-Williams: trees of cables, up one way and down the other, reach the bound."""
    net = rank_network(network)
    best = solved(net)[0]
    found = least_time("all-reduce", network, np.arange(network.num_hosts)).per_byte
    assert found == pytest.approx(1 / best / float(net.unit), rel=1e-9)
    assert joint(net).upper == pytest.approx(best, rel=1e-9)


@given(connected())
@settings(deadline=None, max_examples=30)
def test_it_is_no_more_than_pairs_of_trees_take(net):
    net = rank_network(net.topology)
    best = solved(net)[0]
    found = least_time("all-reduce", net.topology, np.arange(net.num_ranks)).per_byte
    assert found <= 1 / best / float(net.unit) * (1 + 1e-9)
    assert joint(net).upper == pytest.approx(best, rel=1e-9)


def test_islands_of_any_rates_are_found():
    """Three cliques of four in a ring, all cables equal: no rates tell the islands apart."""
    graph = nx.disjoint_union_all([nx.complete_graph(4)] * 3)
    graph.add_edges_from([(0, 4), (5, 8), (9, 1)])
    found = weakest_groups(rank_network(topology(graph)))
    assert found.tolist() == [3] * 4 + [7] * 4 + [11] * 4
    least = least_time("all-reduce", topology(graph), np.arange(12))
    assert least.per_byte == pytest.approx(2 * 2 / 6)
    assert least.why.startswith("3 groups of hosts")


@pytest.mark.parametrize(("rate", "wanted"), [(4, Fraction(4, 3)), (1, Fraction(16, 15))])
def test_switches_belong_to_the_groups_that_they_join(rate, wanted):
    """Four leaves of four hosts: uplinks of 1 hold fast hosts back, and slow hosts themselves."""
    graph = nx.Graph()
    for leaf in range(4):
        graph.add_edges_from(
            ((4 * leaf + each, f"leaf{leaf}") for each in range(4)), bandwidth=rate
        )
        graph.add_edge(f"leaf{leaf}", "spine", bandwidth=1)
    for name in graph:
        graph.nodes[name]["kind"] = "switch" if isinstance(name, str) else "host"
    net = rank_network(topology(graph))
    found = weakest_groups(net)
    assert value(net, found) == wanted
    assert len(np.unique(found[:16])) == (4 if rate == 4 else 16)


@pytest.mark.parametrize("seed", range(3))
def test_no_algorithm_beats_it_on_odd_networks(seed):
    graph = nx.connected_watts_strogatz_graph(8, 4, 0.5, seed=seed)
    asked = {
        "algorithm": "ring,recursive-doubling,rabenseifner,swing",
        "size": "64MB",
        "bandwidth": "100Gb/s",
        "latency": 0,
    }
    found = nl.compare_collectives("all-reduce", topology(graph), **asked)
    for each in found.points:
        assert each.seconds >= each.bound_seconds * (1 - 1e-9), each.algorithm


@pytest.mark.parametrize("spec", ["torus:8x8", "hypercube:6"])
def test_no_program_is_solved_where_groups_hold_as_much_back(spec):
    """Of these 32,768 and more flows."""
    net = plain(spec)
    found = joint(net)
    reached = float(found.rate * int(found.trees.sum()) * net.unit)
    assert reached == pytest.approx(net.num_links / 63 / 2, rel=1e-12)
    assert len(found.prices.price) == 2 * net.num_links
