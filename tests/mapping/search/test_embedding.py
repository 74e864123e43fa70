"""Embeddings: structure is found whatever the tasks are called, and nothing where there is none."""

import numpy as np
import pytest

from netloom.mapping import check_mapping
from netloom.mapping.search.objectives import hops
from netloom.topology import mesh, topology, torus, without
from netloom.workload import process_graph, read
from tests.mapping.search.started import embed
from tests.mapping.search.test_partition_start import renumbered
from tests.reference.embedding import is_embedding


def lengths(graph, network, node_of):
    apart = hops(network, np.arange(network.num_nodes))
    return apart[node_of[graph.source], node_of[graph.target]]


def assert_embedded(graph, network, node_of):
    assert node_of is not None
    assert node_of.dtype == np.int32
    check_mapping(node_of, graph.num_tasks, network.num_nodes)
    edges = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    channels = zip(network.source_end.tolist(), network.target_end.tolist(), strict=True)
    assert is_embedding(edges, channels, node_of.tolist())


@pytest.mark.parametrize(
    ("program", "network"),
    [
        ("mesh:16x16", "torus:16x16"),
        ("mesh:32x32", "torus:32x32"),
        ("mesh:8x8x8", "torus:8x8x8"),
        ("hypercube:6", "hypercube:6"),
        ("mesh:4x4x4", "hypercube:6"),
        ("torus:4x4x4", "hypercube:6"),
        ("mesh:5x6", "mesh:8x8"),
        ("line:64", "mesh:8x8"),
        ("line:20", "torus:8x8"),
        ("ring:64", "mesh:8x8"),
        ("ring:256", "torus:16x16"),
        ("binary-tree:15", "mesh:5x5"),
        ("binary-tree:63", "hypercube:7"),
    ],
)
@pytest.mark.parametrize("seed", [None, 2])
def test_what_fits_is_found(program, network, seed):
    graph = read(program) if seed is None else renumbered(read(program), seed)
    assert_embedded(graph, topology(network), embed(graph, topology(network), seed=seed or 1))


@pytest.mark.parametrize("network", ["torus:4x4x4", "hypercube:6"])
def test_the_heavy_part_of_a_measured_program(network):
    """LAMMPS on 4 x 4 x 4 processes: six heavy neighbours each, and hardly anything to others."""
    graph = renumbered(read("examples/lammps-64.mtx"), 4)
    found = check_mapping(embed(graph, topology(network)), 64, 64)
    hop = lengths(graph, topology(network), found)
    joint = np.zeros((64, 64))
    joint[graph.source, graph.target] = graph.bytes
    joint += joint.T
    heavy = joint[graph.source, graph.target] > 1e6
    assert heavy.sum() == 64 * 6
    assert (hop[heavy] == 1).all()
    assert graph.bytes @ hop / graph.bytes.sum() < 1.001


def test_light_edges_are_left_out_and_their_tasks_put_near():
    """A heavy ring of 15, and a task that talks a little to two of it, and one to that."""
    ring = read("ring:15")
    source = np.append(ring.source, [15, 15, 16])
    target = np.append(ring.target, [4, 6, 15])
    weight = np.append(np.full(30, 1000.0), [3, 2, 1])
    graph = process_graph(17, source, target, bytes=weight)
    network = torus(3, 7)
    found = check_mapping(embed(graph, network), 17, 21)
    hop = dict(
        zip(
            zip(graph.source.tolist(), graph.target.tolist(), strict=True),
            lengths(graph, network, found).tolist(),
            strict=True,
        )
    )
    assert all(hop[pair] == 1 for pair in zip(ring.source, ring.target, strict=True))
    # nowhere is the first better off, given where the ring is and what was free then
    free = np.setdiff1d(np.arange(21), found[:15])
    apart = hops(network, free)
    cost = 3 * apart[:, found[4]] + 2 * apart[:, found[6]]
    assert 3 * hop[15, 4] + 2 * hop[15, 6] == cost.min()
    free = np.setdiff1d(np.arange(21), found[:16])
    assert hop[16, 15] == hops(network, free)[:, found[15]].min()


def test_other_components_find_room_too():
    half = read("mesh:4x8")
    source = np.append(half.source, half.source + 32)
    target = np.append(half.target, half.target + 32)
    graph = renumbered(process_graph(64, source, target), 5)
    assert_embedded(graph, torus(8, 8), embed(graph, torus(8, 8)))
    pairs = renumbered(process_graph(64, np.arange(0, 64, 2), np.arange(1, 64, 2)), 6)
    assert_embedded(pairs, mesh(8, 8), embed(pairs, mesh(8, 8)))


def test_broken_nodes_and_allocations():
    broken = without(torus(8, 8), nodes="9,10")
    for program in ("mesh:7x8", "line:62"):  # the rows without them; all that is left
        graph = renumbered(read(program), 7)
        assert_embedded(graph, broken, embed(graph, broken))
    nodes = np.arange(16, 48)
    graph = renumbered(read("mesh:4x8"), 8)
    found = embed(graph, torus(8, 8), nodes=nodes)
    assert_embedded(graph, torus(8, 8), found)
    assert sorted(found) == nodes.tolist()


@pytest.mark.parametrize(
    ("program", "network"),
    [
        ("binary-tree:15", "mesh:4x4"),  # 10 : 5 in two colours, where nodes are 8 : 8
        ("mesh:2x9", "mesh:5x4"),  # too far apart
        ("hypercube:4", "torus:16"),
    ],
)
def test_nothing_is_found_where_there_is_nothing(program, network):
    assert embed(read(program), topology(network)) is None


def test_silent_programs_and_one_way_channels():
    assert embed(process_graph(4, [], []), mesh(2, 2)) is None
    assert embed(process_graph(4, [0], [1], bytes=[0]), mesh(2, 2)) is None
    one_way = without(torus(4), channels="0->1")
    assert_embedded(read("line:4"), one_way, embed(read("line:4"), one_way))
    assert embed(read("ring:4"), one_way) is None


def test_weights_say_what_is_heavy():
    """Of a ring with its diameters, on a ring: one or the other, if it has most of the weight."""
    ring = read("ring:8")
    source = np.append(ring.source, np.arange(4))
    target = np.append(ring.target, np.arange(4) + 4)
    graph = process_graph(8, source, target)
    joined = np.abs(graph.source - graph.target) != 4
    weights = np.where(joined, 10.0, 1.0)
    found = embed(graph, torus(8), weights=weights)
    assert (lengths(graph, torus(8), found)[joined] == 1).all()
    assert embed(graph, torus(8), weights=np.where(joined, 1.0, 2.0)) is None  # all alike
    assert embed(graph, torus(8), weights=np.where(joined, 1.0, 5.0)) is not None  # the diameters
    assert embed(graph, torus(8), weights=np.where(joined, 1.0, 3.0)) is None  # too little of all
