import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import netloom as nl
from netloom.base.errors import InputError
from netloom.routing import ShortestPath, find_deadlock, paths, ports
from netloom.routing.source_routing import shortest_path_table
from netloom.topology import (
    Cube,
    degree,
    mesh,
    num_links,
    read_graph,
    to_networkx,
    topology,
    torus,
    without,
    working_nodes,
)
from netloom.topology.faults import broken_parts, check_working, first_broken
from netloom.topology.names import NamedParts, channel_words


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


TREE = topology("leaf-spine:4x2x2/2")
FABRIC = topology("fabric:examples/dgx-40.ibnetdiscover")
SPINE, LEAF = "A10-P1-IBSPINE-04", "B09-P1-IBLEAF-01-05"


def gone(whole, found):
    """The names of the channels that a network lacks."""
    return {whole.channel_name(int(channel)) for channel in np.flatnonzero(~found.channel_up)}


def test_a_host_without_a_link_is_broken_too():
    found = without(TREE, channels="h3->leaf1")
    assert found.failed_nodes == (3,)
    assert found.name == f"{TREE.name} without node h3"
    assert gone(TREE, found) == {"h3 -> leaf1", "leaf1 -> h3"}
    assert working_nodes(found).tolist() == [0, 1, 2, 4, 5, 6, 7]
    assert found.name_of(3) == "h3"
    assert found.port_host.tolist() == [0, 1, 2, 4, 5, 6, 7]


def test_a_host_with_another_port_goes_on():
    net = topology("xgft:2x2/2x2")
    found = without(net, channels="h0-leaf0")
    assert not found.failed_nodes
    assert gone(net, found) == {"h0 -> leaf0", "leaf0 -> h0"}
    with pytest.raises(InputError, match="no way from host h0 to host h1"):
        without(found, channels="h1-leaf1")


def test_nodes_are_hosts_routers_and_computers():
    found = without(TREE, nodes="spine1,h[2-3],7")
    assert found.failed_nodes == (2, 3, 7, TREE.labels.index("spine1"))
    assert broken_parts(found)["nodes"] == ["h2", "h3", "h7", "spine1"]
    rails = topology("rail:1x4x2x2")
    assert without(rails, nodes="n3").failed_nodes == (6, 7)
    assert without(rails, nodes="n3.1").failed_nodes == (7,)
    assert first_broken(found, [0, 1, 7]) == 2
    with pytest.raises(InputError, match="task 1 on host h7, which failed"):
        check_working(found, np.array([0, 7], np.int32))


@pytest.mark.parametrize(
    ("words", "ways", "name"),
    [
        (f"{SPINE} port 33", 2, f"{SPINE} port 33"),
        (f"{LEAF} port 39", 2, f"{SPINE} port 33"),
        (f"{SPINE} port 33 - {LEAF} port 39", 2, f"{SPINE} port 33"),
        (f"{SPINE} port 33 → {LEAF} port 39", 1, f"{SPINE} port 33 -> {LEAF} port 39"),
        (f"{SPINE}->{LEAF}", 1, f"{SPINE} port 33 -> {LEAF} port 39"),
        (f"MF0;{SPINE}:MQM9701/U1-MF0;{LEAF}:MQM9701/U1", 2, f"{SPINE} port 33"),
    ],
)
def test_a_cable_is_called_by_its_ports_as_answers_call_it(words, ways, name):
    found = without(FABRIC, channels=words)
    there = f"MF0;{SPINE}:MQM9701/U1 port 33 -> MF0;{LEAF}:MQM9701/U1 port 39"
    assert gone(FABRIC, found) == {there, " -> ".join(there.split(" -> ")[::-1])} or ways == 1
    assert there in gone(FABRIC, found)
    assert len(gone(FABRIC, found)) == ways
    assert found.name == f"{FABRIC.name} without {name}"
    assert without(FABRIC, channels=name).name == found.name


def test_a_switch_may_be_called_without_what_its_firmware_adds():
    found = without(FABRIC, nodes=SPINE)
    assert found.name == f"{FABRIC.name} without node {SPINE}"
    assert broken_parts(found)["nodes"] == [f"MF0;{SPINE}:MQM9701/U1"]
    assert without(FABRIC, nodes=f"MF0;{SPINE}:MQM9701/U1").name == found.name


def test_the_recipe_of_a_broken_network_makes_it_again():
    cluster = topology("graph:examples/my-cluster.graphml")
    for net, words in ((TREE, "leaf3->spine1#2,leaf0-spine0"), (cluster, "leaf3->spine1,h4-leaf0")):
        found = without(net, channels=words, nodes="h0,h6")
        form = nl.analyze("ring:2", found).provenance.configuration
        again = without(
            topology(form["on"]), channels=form["failed_channels"], nodes=form["failed_nodes"]
        )
        assert again.name == found.name
        assert np.array_equal(again.whole_channel, found.whole_channel)
        assert again.failed_nodes == found.failed_nodes


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_words_of_channels_name_just_these(data):
    specs = ["leaf-spine:4x2x2/2", "leaf-spine:3x3x1/3", "torus:3x3", "rail:1x2x2x2"]
    net = topology(data.draw(st.sampled_from(specs)))
    channel = st.integers(0, net.num_channels - 1)
    broken = np.array(sorted(data.draw(st.sets(channel, max_size=12))), np.int64)
    parts = NamedParts(net)
    named = [channel for word in channel_words(net, broken) for channel in parts.channels(word)]
    assert sorted(named) == broken.tolist()
