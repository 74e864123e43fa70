"""Trees that reach the optimum, verified one by one, on published and on random networks."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.trees import forest, optimum, straight
from netloom.topology import topology
from tests.phases.collectives.boxes import a100, box, plain
from tests.phases.collectives.verified import faults

PLAIN = "torus:4x4 torus:2x3 mesh:3x3 mesh:4x4 hypercube:4 petersen ring:8 leaf-spine:4x2x4"


@pytest.mark.parametrize("spec", PLAIN.split())
def test_trees_reach_the_optimum(spec):
    assert faults(forest(optimum(plain(spec)))) == []


@pytest.mark.parametrize("name", ["dgx1", "ndv2-2", "ndv2-4", "dgx2-2"])
def test_trees_of_published_boxes(name):
    assert faults(forest(optimum(box(name)))) == []


@pytest.mark.parametrize("boxes", [1, 2, 4])
def test_trees_through_switches(boxes):
    found = forest(optimum(a100(boxes)))
    assert faults(found) == []
    assert found.trees.tolist() == [{1: 1, 2: 13, 4: 1}[boxes]] * 8 * boxes


@pytest.mark.parametrize("root", [0, 4])
def test_trees_of_a_broadcast(root):
    found = forest(optimum(plain("mesh:3x3"), np.eye(9, dtype=int)[root]))
    assert faults(found) == []
    assert found.trees.tolist() == [2 * (rank == root) for rank in range(9)]


def test_trees_of_a_scatter_run_backwards():
    net = box("dgx2-2").reversed()
    assert faults(forest(optimum(net))) == []


@st.composite
def switched(draw):
    """Ranks and switches in random circles: every vertex has as much bandwidth in as out."""
    ranks, switches = draw(st.integers(2, 6)), draw(st.integers(0, 3))
    size, graph = ranks + switches, nx.MultiDiGraph()
    graph.add_nodes_from((each, {"kind": "gpu"}) for each in range(ranks))
    graph.add_nodes_from((each, {"kind": "switch"}) for each in range(ranks, size))
    circles = [list(range(size)), *draw(st.lists(st.permutations(range(size)), max_size=4))]
    for number, circle in enumerate(circles):
        circle = circle[: draw(st.integers(2, size))] if number else circle
        rate = draw(st.sampled_from([1, 2, 3]))
        for here, there in zip(circle, [*circle[1:], circle[0]], strict=True):
            graph.add_edge(here, there, bandwidth=rate)
    return graph


@given(switched(), st.data())
@settings(deadline=None, max_examples=60)
def test_trees_on_any_even_network(graph, data):
    kinds = nx.get_node_attributes(graph, "kind")
    direct = nx.MultiDiGraph(graph)
    nx.set_node_attributes(direct, "", "kind")
    ranks = [each for each in graph if kinds[each] == "gpu"]
    net = rank_network(topology(direct), ranks)
    weights = np.array([data.draw(st.integers(0, 2)) for _ in ranks])
    weights = weights if weights.any() else None
    assert faults(forest(optimum(net, weights))) == []


def test_trees_take_no_vertex_of_a_route_twice():
    """Ways through switches that are split off one after the other may come back."""
    net = rank_network(topology("leaf-spine:3x2x4"), range(10))
    routes = forest(optimum(net)).routes
    entered = list(zip(routes.owners().tolist(), net.target[routes.values].tolist(), strict=True))
    assert len(set(entered)) == len(entered)
    twice = (0, 1, 2, 3)  # from rank 0 through a leaf, up and down again, to rank 1
    ring = replace(net, source=np.array([0, 2, 3, 2]), target=np.array([2, 3, 2, 1]))
    assert straight(ring, twice) == (0, 3)


def test_a_switch_that_is_not_even_is_refused():
    graph = nx.DiGraph([(0, 2), (2, 1), (1, 0), (0, 1), (2, 0)])
    net = rank_network(topology(graph), [0, 1])
    with pytest.raises(InputError, match="switch 2 with 1 in and 2 out"):
        forest(optimum(net))


def test_an_optimum_is_met_by_trees_to_the_last_link():
    """The bottleneck of an all-gather is full."""
    found = optimum(plain("mesh:4x4"))
    trees = forest(found)
    used = np.zeros(found.network.num_links)
    for batch in range(len(trees.root)):
        for route in trees.route[batch][trees.route[batch] >= 0]:
            used[trees.routes.of(route)] += trees.many[batch]
    full = used * trees.rate / found.network.rate
    assert full[found.leaving] == pytest.approx(1)
