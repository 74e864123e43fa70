import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError, NoRouteError
from netloom.contention import measure
from netloom.routing import DimensionOrder, ShortestPath, source_routes
from netloom.topology import graph_topology, mesh, torus


def test_two_paths_that_meet_in_both_dimensions_meet_once():
    found = measure(mesh(3, 3), DimensionOrder(), [0, 1], [8, 8])
    assert found.path_contention.tolist() == [1, 1]
    assert found.logical_path_length.tolist() == [1, 1]
    assert found.channel_load.max() == 2


def test_two_paths_round_a_ring_that_close_it_do_not_meet():
    found = measure(torus(4), DimensionOrder(), [0, 2], [2, 0])
    assert found.path_contention.tolist() == [0, 0]
    assert found.channel_load.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


def test_tasks_on_one_node_use_no_channel():
    found = measure(mesh(2, 2), DimensionOrder(), [3, 0], [3, 1], [7.0, 5.0])
    assert found.path_length.tolist() == [0, 1]
    assert found.contending_weight.tolist() == [0.0, 5.0]
    assert found.weighted_channel_load.sum() == 5


def test_given_routes_may_meet_and_part_and_meet_again():
    net = mesh(2, 4)
    routes = source_routes(net, [[0, 1, 2, 3], [4, 0, 1, 5, 6, 2, 3, 7]])
    found = measure(net, routes, [0, 4], [3, 7])
    assert found.path_contention.tolist() == [1, 1]
    assert found.channel_load.max() == 2


def test_arrays_that_do_not_match_are_refused():
    with pytest.raises(InputError, match="2 targets"):
        measure(mesh(3), DimensionOrder(), [0], [1, 2])


def test_heaviest_channel_of_any_routing():
    net = graph_topology(nx.path_graph(4))
    found = measure(net, ShortestPath(), [0, 1, 2, 3], [3, 2, 2, 3])
    assert found.heaviest_channel.tolist() == [2, 2, 0, 0]


def test_an_unreachable_target_is_named():
    one_way = nx.DiGraph([(0, 1), (1, 0)])
    net = graph_topology(one_way)
    routes = source_routes(net, [[0, 1]])
    with pytest.raises(NoRouteError, match="host 1 to host 0"):
        measure(net, routes, [1], [0])


def test_big_weights_stay_exact():
    weights = np.array([2.0**51, 1.0, 3.0])
    found = measure(mesh(4), DimensionOrder(), [0, 1, 2], [3, 3, 3], weights)
    assert found.contending_weight.tolist() == [2.0**51 + 4] * 3
