import networkx as nx
import numpy as np
import pytest

from netloom.topology import topology
from netloom.workload import process_graph, read
from netloom.workload.graphs import generators


def edges(graph):
    return list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))


def both_ways(links):
    return sorted({(a, b) for a, b in links} | {(b, a) for a, b in links})


@pytest.mark.parametrize(
    "spec",
    ["mesh:4x3x2", "torus:4x3x2", "torus:2x2", "mesh:1x5x1", "line:7", "ring:7", "hypercube:5"],
)
def test_a_grid_of_tasks_has_the_edges_of_the_network_of_that_name(spec):
    graph, network = read(spec), topology(spec)
    channels = zip(network.source_end.tolist(), network.target_end.tolist(), strict=True)
    assert edges(graph) == sorted(channels)
    assert (graph.name, graph.num_tasks) == (spec, network.num_nodes)


def test_a_binary_tree_is_in_heap_order():
    links = [(parent, 2 * parent + side) for parent in range(6) for side in (1, 2)]
    assert edges(generators.binary_tree(12)) == both_ways([(a, b) for a, b in links if b < 12])


def test_all_to_all_sends_from_each_to_every_other():
    pairs = [(a, b) for a in range(5) for b in range(5) if a != b]
    assert edges(generators.all_to_all(5)) == pairs


def test_a_butterfly_sends_forward_to_two_rows_of_the_next_level():
    wanted = [
        (level * 8 + row, (level + 1) * 8 + other)
        for level in range(3)
        for row in range(8)
        for other in (row, row ^ (1 << level))
    ]
    graph = generators.butterfly(8)
    assert edges(graph) == sorted(wanted)
    assert graph.num_tasks == 32


def test_every_task_of_a_random_regular_graph_has_its_degree():
    graph = read("random-regular:30,4,5")
    assert set(np.bincount(graph.source)) == set(np.bincount(graph.target)) == {4}
    assert edges(graph) == both_ways(nx.random_regular_graph(4, 30, seed=5).edges)


@pytest.mark.parametrize(
    "graph",
    [
        generators.binary_tree(20),
        generators.mesh(3, 4),
        generators.torus(3, 2, 5),
        generators.ring(3),
        generators.hypercube(4),
        generators.all_to_all(6),
        generators.butterfly(4),
        generators.transpose(6),
        generators.bit_reverse(16),
        generators.tornado(3, 1, 6),
        read("shift:5/16"),
        read("random-permutation:16,7"),
    ],
    ids=lambda graph: graph.name,
)
def test_a_generated_graph_is_what_process_graph_would_make_of_its_edges(graph):
    again = process_graph(graph.num_tasks, graph.source[::-1], graph.target[::-1])
    for field in ("source", "target", "bytes", "messages"):
        generated, checked = getattr(graph, field), getattr(again, field)
        assert np.array_equal(generated, checked)
        assert generated.dtype == checked.dtype


def targets(graph):
    """Where each task sends, itself where it does not send."""
    sent = dict(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    return [sent.get(task, task) for task in range(graph.num_tasks)]


def bits(task, num_bits=5):
    return f"{task:0{num_bits}b}"


def test_transpose_swaps_row_and_column():
    assert targets(read("transpose:3")) == [0, 3, 6, 1, 4, 7, 2, 5, 8]


@pytest.mark.parametrize(
    ("spec", "moved"),
    [
        ("bit-complement:32", lambda b: b.translate(str.maketrans("01", "10"))),
        ("bit-reverse:32", lambda b: b[::-1]),
        ("shuffle:32", lambda b: b[1:] + b[:1]),
    ],
)
def test_permutations_of_bits(spec, moved):
    assert targets(read(spec)) == [int(moved(bits(task)), 2) for task in range(32)]


def test_shifts_go_ahead_by_their_distances():
    graph = read("shift:1,5/12")
    sent = set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    assert sent == {(i, (i + by) % 12) for i in range(12) for by in (1, 5)}


@pytest.mark.parametrize(
    ("spec", "rows", "columns"), [("tornado:5x8", 2, 3), ("neighbour:5x8", 1, 1)]
)
def test_permutations_of_coordinates(spec, rows, columns):
    wanted = [(i + rows) % 5 * 8 + (j + columns) % 8 for i in range(5) for j in range(8)]
    assert targets(read(spec)) == wanted
