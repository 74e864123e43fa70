"""Bounds by hand, and against the fewest phases that trying everything finds."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.contention.messages import ConSetCosts
from netloom.phases import Capacity, least_clocks, least_phases
from netloom.phases.plan.plans import negotiated
from netloom.topology import cube, graph_topology, mesh, topology, torus
from tests.phases.hand_made import joined
from tests.reference.partitioning import fewest_phases

ONE_WAY_RING = graph_topology(nx.cycle_graph(4, create_using=nx.DiGraph))
FROM_CORNER = [(0, node) for node in range(1, 9)]
ACROSS = [(0, 2), (0, 3), (1, 2), (1, 3)]

OPPOSITE = [(node, (node + 4) % 8) for node in range(8)]
BACK = [(node, (node + 3) % 4) for node in range(4)]
FROM_END, TO_END = [(0, 1), (0, 2), (0, 3)], [(1, 0), (2, 0), (3, 0)]
LINE = mesh(4)

BY_HAND = [  # network, pairs, capacity, phases, why
    (
        torus(4, 4),
        FROM_CORNER,
        (3, "node"),
        3,
        "8 connections start or end at node (0,0), at most 3",
    ),
    (LINE, FROM_END, (1, "channel"), 3, "3 connections start at node 0, at most 1"),
    (LINE, TO_END, (2, "channel"), 2, "3 connections end at node 0, at most 2"),
    (LINE, ACROSS, (1, "channel"), 4, "4 connections cross the edge of 2 nodes, at most 1"),
    (LINE, ACROSS, (1, "node"), 4, "4 connections cross the edge of 3 nodes, at most 1"),
    (LINE, ACROSS, (3, "node"), 2, "4 connections cross the edge of 3 nodes, at most 3"),
    (LINE, [(0, 1), (2, 3)], (1, "node"), 1, "shortest paths take 4 virtual channels of nodes"),
    (
        topology("ring:8"),
        OPPOSITE,
        (1, "channel"),
        2,
        "shortest paths take 32 virtual channels of c",
    ),
    (ONE_WAY_RING, BACK, (2, "node"), 2, "shortest paths take 16 virtual channels of nodes"),
]


@pytest.mark.parametrize(("network", "pairs", "capacity", "phases", "why"), BY_HAND)
def test_phases_by_hand(network, pairs, capacity, phases, why):
    given_ = joined(network.num_nodes, pairs, [1] * len(pairs))
    bound = least_phases(given_, network, Capacity(*capacity))
    assert bound.phases == phases
    assert bound.why.startswith(why)
    assert bound.why.endswith(" per phase")


@st.composite
def tiny(draw):
    sides = draw(st.sampled_from([(2,), (3,), (4,), (5,), (2, 2), (2, 3)]))
    network = cube(sides, draw(st.booleans()))
    node = st.integers(0, network.num_nodes - 1)
    pair = st.tuples(node, node).filter(lambda ends: ends[0] != ends[1])
    pairs = draw(st.lists(pair, min_size=1, max_size=5))
    order = draw(st.sets(st.sampled_from(list(zip(range(4), range(1, 5), strict=True)))))
    order = [both for both in sorted(order) if both[1] < len(pairs)]
    capacity = Capacity(draw(st.integers(1, 2)), draw(st.sampled_from(["node", "channel"])))
    return network, joined(network.num_nodes, pairs, [1] * len(pairs), order), capacity


@given(tiny())
@settings(max_examples=80)
def test_no_plan_has_fewer_phases_than_the_bound(problem):
    network, given_, capacity = problem
    assert least_phases(given_, network, capacity).phases <= fewest_phases(
        network, given_, capacity
    )


def test_words_by_hand():
    out = joined(16, [(0, 1), (0, 2), (0, 3), (1, 0)], [10, 10, 10, 10])
    assert least_clocks(out, torus(4, 4), ConSetCosts()) == 60
    assert least_clocks(out, torus(4, 4), ConSetCosts(both_ways=False)) == 80
    assert least_clocks(out, torus(4, 4), ConSetCosts(clocks_per_word=10)) == 300
    into = joined(16, [(1, 0), (2, 0)], [10, 5])
    assert least_clocks(into, torus(4, 4), ConSetCosts()) == 30
    round_ = joined(4, [(node, (node + 3) % 4) for node in range(4)], [10] * 4)
    assert least_clocks(round_, ONE_WAY_RING, ConSetCosts()) == 2 * 30
    across = joined(4, ACROSS, [10] * 4)
    assert least_clocks(across, mesh(4), ConSetCosts()) == 2 * 40
    quick = ConSetCosts(channel_clocks_per_word=0.5)
    assert least_clocks(across, mesh(4), quick) == 2 * 20


def test_negotiation_mostly_finds_what_trying_everything_finds():
    rng = np.random.default_rng(1)
    found = best = 0
    for _ in range(60):
        pairs = [rng.choice(4, 2, replace=False).tolist() for _ in range(5)]
        given_ = joined(4, pairs, [1] * 5)
        capacity = Capacity(int(rng.integers(1, 3)), ["node", "channel"][rng.integers(2)])
        network = [mesh(4), mesh(2, 2), topology("ring:4")][rng.integers(3)]
        least = fewest_phases(network, given_, capacity)
        tried = range(least_phases(given_, network, capacity).phases, 6)
        phases = next(p for p in tried if negotiated(given_, network, capacity, p))
        assert least <= phases
        found, best = found + phases, best + least
    assert found <= 1.02 * best
