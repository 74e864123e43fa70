"""Recursive bisection: right sizes always, and near to each other what talks."""

import networkx as nx
import numpy as np
import pytest

from netloom.mapping import check_mapping, random_mapping
from netloom.mapping.search.objectives import hops
from netloom.mapping.search.starts import Part, bisect, compact_nodes, gain, ground_of, halves
from netloom.topology import graph_topology, hypercube, mesh, topology, torus, without
from netloom.workload import process_graph, read
from tests.mapping.search.started import partitioned


def hop_bytes(graph, network, node_of):
    apart = hops(network, np.arange(network.num_nodes))
    return float(graph.bytes @ apart[node_of[graph.source], node_of[graph.target]])


def renumbered(graph, seed):
    other = np.random.default_rng(seed).permutation(graph.num_tasks)
    source, target = other[graph.source], other[graph.target]
    return process_graph(graph.num_tasks, source, target, bytes=graph.bytes)


@pytest.mark.parametrize(
    ("program", "network", "most"),
    [
        ("mesh:16x16", "torus:16x16", 1.7),
        ("mesh:8x8x8", "torus:8x8x8", 1.6),
        ("hypercube:6", "hypercube:6", 1.2),
        ("binary-tree:63", "mesh:8x8", 1.8),
        ("line:60", "mesh:8x8", 1.7),
        ("examples/lammps-64.mtx", "torus:4x4x4", 1.2),
    ],
)
def test_programs_are_brought_together(program, network, most):
    """Far nearer than at random, and near what the best multilevel mappers reach."""
    graph, network = renumbered(read(program), 3), topology(network)
    found = check_mapping(partitioned(graph, network), graph.num_tasks, network.num_nodes)
    assert hop_bytes(graph, network, found) <= most * graph.bytes.sum()
    drawn = random_mapping(graph.num_tasks, network.num_nodes)
    assert hop_bytes(graph, network, found) < 0.85 * hop_bytes(graph, network, drawn)


def test_pairs_and_lines_are_exact():
    pairs = renumbered(process_graph(16, np.arange(0, 16, 2), np.arange(1, 16, 2)), 1)
    assert hop_bytes(pairs, mesh(4, 4), partitioned(pairs, mesh(4, 4))) == 8
    line = renumbered(read("line:8"), 2)
    assert hop_bytes(line, mesh(8), partitioned(line, mesh(8))) == 14


def test_several_tasks_a_node():
    """Four cliques of four, joined in a ring, on four nodes: only the ring's edges move."""
    source, target = np.nonzero(np.kron(np.eye(4), np.ones((4, 4)) - np.eye(4)))
    ring = np.arange(4)
    graph = process_graph(16, np.append(source, 4 * ring), np.append(target, (4 * ring + 5) % 16))
    found = partitioned(renumbered(graph, 4), torus(4), tasks_per_node=4)
    assert np.bincount(found).tolist() == [4] * 4
    assert hop_bytes(renumbered(graph, 4), torus(4), found) == 4


def test_few_tasks_stay_together():
    found = partitioned(renumbered(read("mesh:4x4"), 5), torus(16, 16))
    rows, columns = np.divmod(found, 16)
    assert all(np.isin((at - at[0] + 8) % 16 - 8, range(-3, 4)).all() for at in (rows, columns))
    assert len(np.unique(rows)) == len(np.unique(columns)) == 4


def test_compact_nodes_are_blocks_and_subcubes():
    for network, number, channels in (
        (mesh(8, 8), 16, 48),
        (torus(8, 8), 9, 24),
        (hypercube(6), 8, 24),
        (torus(8), 3, 4),
    ):
        ground = ground_of(network, np.arange(network.num_hosts))
        chosen = compact_nodes(network, ground, np.arange(network.num_nodes), number)
        inside = np.isin(network.source_end, chosen) & np.isin(network.target_end, chosen)
        assert (len(np.unique(chosen)), inside.sum()) == (number, channels)
    allowed = np.array([0, 1, 7, 30, 31, 32])  # both ends of a ring are next to each other
    found = compact_nodes(torus(33), ground_of(torus(33), np.arange(33)), allowed, 3)
    assert sorted(found.tolist()) in ([0, 1, 32], [30, 31, 32], [0, 31, 32])


def test_halves_of_wrapped_and_odd_regions():
    near, far, middles = halves(ground_of(torus(8), np.arange(8)), np.array([6, 7, 0, 1, 2]), 1)
    assert (near.tolist(), far.tolist(), middles.tolist()) == ([6, 7], [0, 1, 2], [6, 1])
    near, far, _ = halves(ground_of(mesh(3, 3), np.arange(9)), np.arange(9), 1)
    crossing = np.isin(mesh(3, 3).channel_source, near) & np.isin(mesh(3, 3).channel_target, far)
    assert (len(near), len(far), crossing.sum()) == (4, 5, 4)  # Chittor 1991: 4, not 3


def test_any_network():
    """Two cliques with a link between them: no edge but that one is longer than a channel."""
    barbell = nx.barbell_graph(6, 0)
    network = graph_topology(barbell)
    ends = np.array(barbell.edges).T
    graph = renumbered(process_graph(12, *ends), 6)
    assert hop_bytes(graph, network, partitioned(graph, network)) <= graph.num_edges + 2
    broken = without(mesh(4, 4), nodes="5", channels="0-1")
    found = check_mapping(partitioned(renumbered(read("ring:15"), 1), broken), 15, 16)
    assert 5 not in found


@pytest.mark.parametrize(
    "graph",
    [
        process_graph(9, [], []),
        process_graph(9, [0], [8]),
        process_graph(9, [0, 3], [1, 4], bytes=[1e300, 1e-300]),
        process_graph(9, [0, 3], [1, 4], bytes=[1e-300, 1e-300]),
        process_graph(9, [0, 3], [1, 4], bytes=[0, 0]),
        read("all-to-all:9"),
    ],
)
def test_strange_programs(graph):
    found = partitioned(graph, mesh(3, 4))
    check_mapping(found, 9, 12)
    assert found.tolist() == partitioned(graph, mesh(3, 4)).tolist()


def part_of(weights, drawn):
    source, target = np.nonzero(weights)
    return Part(source, target, weights[source, target], np.asarray(drawn, np.float64))


def test_few_tasks_are_halved_best_and_many_exactly():
    rng = np.random.default_rng(1)
    for tasks, share in ((6, 2), (8, 4), (20, 7), (40, 20), (40, 3)):
        weights = np.triu(rng.integers(0, 9, (tasks, tasks)) * 1000, 1)
        part = part_of(weights + weights.T, rng.normal(0, 5000, tasks))
        first = bisect(part, share, 1)
        assert first.sum() == share
        others = [np.isin(np.arange(tasks), rng.permutation(tasks)[:share]) for _ in range(300)]
        assert gain(part, first) >= max(gain(part, other) for other in others)


def test_what_tasks_are_drawn_to_decides_between_equal_cuts():
    """A line of 20, whose ends are drawn apart: a little is enough to say which way round."""
    line = np.eye(20, k=1, dtype=np.int64) * 100
    for sign in (1, -1):
        drawn = np.zeros(20)
        drawn[0], drawn[19] = 50 * sign, -50 * sign
        first = bisect(part_of(line + line.T, drawn), 10, 1)
        assert np.flatnonzero(first).tolist() == list(range(10) if sign > 0 else range(10, 20))
