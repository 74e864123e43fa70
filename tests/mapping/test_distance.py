"""Mappings with a wished average distance: as near as asked, and mappings all the same."""

import numpy as np
import pytest

from netloom.mapping import check_mapping
from netloom.mapping.allocation import mapping_with_distance
from netloom.routing import DimensionOrder, paths
from netloom.topology import torus
from netloom.workload import torus as torus_graph


def average(graph, network, node_of):
    found = paths(network, DimensionOrder(), node_of[graph.source], node_of[graph.target])
    return np.diff(found.offsets).mean()


@pytest.mark.parametrize("distance", [1, 1.25, 4.06, 6.1])
def test_johnsons_mappings(distance):
    """A torus program on the 8 x 8 torus, from one to just over six hops (section 3.2)."""
    graph, network = torus_graph(8, 8), torus(8, 8)
    node_of = check_mapping(mapping_with_distance(graph, network, distance), 64, 64)
    assert average(graph, network, node_of) == pytest.approx(distance, abs=0.01)
    again, other = (mapping_with_distance(graph, network, distance, seed) for seed in (1, 2))
    assert node_of.tolist() == again.tolist()
    assert (node_of.tolist() == other.tolist()) == (distance == 1)
