"""BookSim's anynet."""

from __future__ import annotations

from tests.topology.subnets.said import links, network


def cycles(net):
    """Return the latency of each channel by the names of its ends."""
    return {(a.removeprefix("router"), b.removeprefix("router")): c for a, b, _, c in links(net)}


def test_a_latency_is_of_the_direction_from_the_head_of_the_line(tmp_path):
    """As BookSim reads it: what a file does not say of a direction is 1."""
    text = "router 0 node 0 router 1 15 router 2\nrouter 1 node 1\nrouter 2 node 2 router 1 4\n"
    found = cycles(network(tmp_path, text))
    assert (found["0", "1"], found["1", "0"]) == (15, 1)
    assert (found["2", "1"], found["1", "2"]) == (4, 1)
    assert found["0", "2"] == found["2", "0"] == 1


def test_a_link_that_both_ends_list_is_one(tmp_path):
    net = network(tmp_path, "router 0 node 0 router 1 15\nrouter 1 node 1 router 0 7\n")
    assert net.num_network_channels == 2
    assert cycles(net)["0", "1"] == 15
    assert cycles(net)["1", "0"] == 7


def test_nodes_are_hosts_by_their_numbers_wherever_they_are_listed(tmp_path):
    text = "node 10 router 1\n" + "router 1 router 0 3\nrouter 0 router 1 3 "
    text += " ".join(f"node {i}" for i in range(10))
    net = network(tmp_path, text)
    assert net.labels == (*(f"node{i}" for i in range(11)), "router0", "router1")
    assert net.injection_router.tolist() == [0] * 10 + [1]
    assert net.cabling is None
    assert not net.notes


def test_a_node_may_have_a_latency(tmp_path):
    found = cycles(network(tmp_path, "router 0 node 0 5 node 1\n"))
    assert (found["node0", "0"], found["0", "node0"], found["node1", "0"]) == (5, 5, 1)
