import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.routing import DimensionOrder, ShortestPath, find_deadlock, parse_routing, paths, ports
from netloom.routing.source_routing import shortest_path_table
from netloom.topology import (
    Cube,
    average_distance,
    degree,
    diameter,
    graph_topology,
    mesh,
    num_links,
    read_graph,
    to_networkx,
    torus,
    without,
    working_nodes,
)


def ends(topology):
    return set(zip(topology.source_end.tolist(), topology.target_end.tolist(), strict=True))


def test_a_link_is_both_its_channels_and_an_arrow_is_one():
    net = mesh(4, 4)
    found = without(net, channels="1-2,7->11")
    assert ends(net) - ends(found) == {(1, 2), (2, 1), (7, 11)}
    assert found.num_channels == net.num_channels - 3
    assert found.name == "mesh:4x4 without 1-2, 7->11"
    assert not isinstance(found, Cube)
    assert np.array_equal(net.source_end[found.whole_channel], found.source_end)
    assert np.array_equal(net.target_end[found.whole_channel], found.target_end)


def test_channels_can_be_named_by_number():
    net = mesh(4, 4)
    channel = int(np.flatnonzero((net.source_end == 1) & (net.target_end == 2))[0])
    assert without(net, channels=[channel]).name == "mesh:4x4 without 1->2"


def test_a_failed_node_keeps_its_number_but_has_no_channels():
    found = without(mesh(3, 3), nodes="(1,1)", channels=["0-1", "4-5"])
    assert found.name == "mesh:3x3 without 0-1, node 4"
    assert found.num_nodes == 9
    assert found.failed_nodes == (4,)
    assert not (found.source_end == 4).any() | (found.target_end == 4).any()
    assert working_nodes(found).tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert found.name_of(5) == "(1,2)"
    assert found.channel_name(0) == "(0,0) -> (1,0)"


def test_what_is_broken_can_break_further():
    once = without(torus(4, 4), channels="0-1", nodes=[10])
    twice = without(once, channels="1->2", nodes="(0,3)")
    assert twice.name == "torus:4x4 without 0-1, 1->2, node 3, node 10"
    assert twice.name == without(torus(4, 4), channels="0-1,1->2", nodes="3,10").name
    assert twice.whole.name == "torus:4x4"
    lost = without(once, channels=[0])
    assert ends(once) - ends(lost) == {(int(once.source_end[0]), int(once.target_end[0]))}


def test_labels_of_a_file_name_nodes_even_with_hyphens(tmp_path):
    file = tmp_path / "net.txt"
    file.write_text("sw-1 sw-2\nsw-2 sw-3\nsw-3 sw-1\nsw-3 x\nx sw-1\n")
    found = without(read_graph(file), channels="sw-1-sw-2")
    assert found.name.endswith("without sw-1-sw-2")
    assert found.num_channels == 8
    assert without(read_graph(file), nodes="x").failed_nodes == (3,)


@pytest.mark.parametrize(
    ("parts", "wrong"),
    [
        ({"channels": [48]}, "channel 48; expected channels 0 to 47 of mesh:4x4"),
        ({"nodes": [-1]}, "'-1'"),
        ({"nodes": range(16)}, "0 working nodes"),
    ],
)
def test_what_cannot_break_is_named(parts, wrong):
    with pytest.raises(InputError, match=wrong):
        without(mesh(4, 4), **parts)


def test_a_one_way_channel_is_no_link():
    net = graph_topology(nx.DiGraph([(0, 1), (1, 2), (2, 0), (0, 2)]))
    with pytest.raises(InputError, match="no channel 1 -> 0"):
        without(net, channels="0-1")


def test_nothing_broken_is_the_network_itself():
    net = mesh(3, 3)
    found = without(net)
    assert ends(found) == ends(net)
    assert found.name == "mesh:3x3 without nothing"


def test_the_rest_of_the_house_stands_a_node_without_channels():
    found = without(torus(4, 4), nodes=[0, 9])
    wired = ports(found)
    assert wired.num_network_ports == 4
    assert sorted(wired.out_port[found.source_end == 1].tolist()) == [0, 1, 2]
    table = shortest_path_table(found)
    assert (table.next_channel[9] == -1).all()
    assert (table.next_channel[:, 9] == -1).all()
    assert find_deadlock(found, table)
    assert find_deadlock(found, ShortestPath())
    assert degree(found) == 4
    assert num_links(found) == 32 - 8
    assert to_networkx(found).nodes[9] == {"label": "(2,1)"}
    routed = paths(found, ShortestPath(), [1, 5], [13, 8])
    assert routed.lengths.tolist() == [1, 2]


def test_dimension_order_says_what_to_take_instead():
    found = without(mesh(3, 3), channels="0-1")
    with pytest.raises(InputError, match="layered"):
        parse_routing("dimension-order", found)
    assert str(parse_routing("default", found)) == "layered"
    with pytest.raises(InputError):
        paths(found, DimensionOrder(), [0], [1])


def test_distances_are_those_between_nodes_that_work():
    line_of_two = without(mesh(3), nodes=[2])
    assert (diameter(line_of_two), average_distance(line_of_two)) == (1, 1)
    ring_of_eight = without(mesh(3, 3), nodes=[4])
    assert (diameter(ring_of_eight), average_distance(ring_of_eight)) == (4, 16 / 7)
    assert average_distance(without(mesh(2, 2), channels="0-1")) == pytest.approx(20 / 12)
