"""Networks from files whose hosts hang on switches, by links that differ."""

import networkx as nx
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.topology import graph_topology, read_graph, to_networkx, topology
from netloom.topology.faults import without
from netloom.topology.graph import check_all_compute

SMALL = """
hosts: a b[0-1]   # three
a left 25Gb/s
b0 left 25Gb/s
left right 100Gb/s
left right 100Gb/s
b1 -> right 25Gb/s
right -> b1 25Gb/s
"""


def read(tmp_path, text, name="net.txt"):
    file = tmp_path / name
    file.write_text(text)
    return read_graph(file)


def arrays(net):
    """All that a network is but its name."""
    return [
        net.num_hosts, net.labels, net.source_end.tolist(), net.target_end.tolist(),
        net.channel_bandwidth.tolist(), net.channel_cycles.tolist(), net.port_host.tolist(),
        net.node_of_host.tolist(), net.computer_labels, net.reference_gbps,
    ]  # fmt: skip


def test_an_edge_list_says_which_are_hosts(tmp_path):
    net = read(tmp_path, SMALL)
    assert net.labels == ("a", "b0", "b1", "left", "right")
    assert (net.num_hosts, net.num_routers, net.num_network_channels) == (3, 2, 4)
    assert net.channel_bandwidth.tolist() == [4] * 4 + [1] * 6
    assert net.reference_gbps == 25
    assert net.routers.channel_bandwidth.tolist() == [4] * 4
    named = [net.channel_name(channel) for channel in range(net.num_channels)]
    assert named[:4] == ["left -> right#1", "left -> right#2", "right -> left#1", "right -> left#2"]
    assert named[4:] == [
        "a -> left",
        "b0 -> left",
        "b1 -> right",
        "left -> a",
        "left -> b0",
        "right -> b1",
    ]
    assert not net.computer_labels
    assert net.computer_name(2) == "b1"


def test_a_host_may_have_several_ports(tmp_path):
    net = read(tmp_path, "hosts: a b\na s1\na s0\nb s0\nb s1\ns0 s1\na s1\n")
    assert net.port_host.tolist() == [0, 0, 0, 1, 1]
    assert net.labels[2:] == ("s1", "s0")
    assert net.injection_router.tolist() == [0, 0, 1, 0, 1]
    assert net.ejection_router.tolist() == [0, 0, 1, 0, 1]


def test_hosts_may_send_to_one_switch_and_receive_from_another(tmp_path):
    net = read(tmp_path, "hosts: a b\na -> s\nb -> s\ns -> t\nt -> a\nt -> b\n")
    assert net.injection_router.tolist() == [0, 0]
    assert net.ejection_router.tolist() == [1, 1]


def test_a_list_of_hosts_alone_is_a_direct_network(tmp_path):
    assert read(tmp_path, "a b\nb c\nc a\nhosts: a b c\n").direct
    net = read(tmp_path, "a b 2\nb c 1\nc a 2\n")
    assert net.direct
    assert net.channel_bandwidth.tolist() == [1, 1, 1, 0.5, 1, 0.5]
    assert net.reference_gbps is None


def test_numbers_of_a_file_keep_their_order(tmp_path):
    net = read(tmp_path, "hosts: 5 3 4\n5 0\n4 1\n3 1\n0 2\n1 2\n")
    assert net.labels == ("3", "4", "5", "0", "1", "2")


def test_computers_own_hosts(tmp_path):
    graph = nx.Graph()
    for host, computer in (("g0", "n1"), ("g1", "n1"), ("g2", "n0"), ("g3", "")):
        graph.add_edge(host, "s")
        graph.nodes[host].update(kind="gpu", computer=computer)
    graph.nodes["s"]["kind"] = "switch"
    nx.write_graphml(graph, tmp_path / "net.graphml")
    net = read_graph(tmp_path / "net.graphml")
    assert net.computer_labels == ("n1", "n0", "g3")
    assert net.node_of_host.tolist() == [0, 0, 1, 2]
    assert arrays(graph_topology(to_networkx(net))) == arrays(net)


@pytest.mark.parametrize(
    ("attributes", "wrong"),
    [
        (
            {"bandwidth": "fast"},
            "link a - s: found a bandwidth of 'fast'; expected a bandwidth such",
        ),
        ({"Latency": "-1"}, "link a - s: found a latency of '-1'; expected a latency in cycles"),
    ],
)
def test_an_edge_of_a_graph_is_named(attributes, wrong):
    graph = nx.Graph()
    graph.add_edge("a", "s", **attributes)
    with pytest.raises(InputError, match=wrong):
        graph_topology(graph)
    with pytest.raises(InputError, match="a clock of '1'; expected a clock such as 1GHz"):
        graph_topology(nx.Graph([("a", "b")], clock="1"))


def test_the_examples_are_one_network_twice():
    xml, text = (
        topology("graph:examples/my-cluster.graphml"),
        topology("graph:examples/my-cluster.txt"),
    )
    assert arrays(xml) == arrays(text)
    spec = topology("leaf-spine:8x4x8")
    assert arrays(xml)[:4] == arrays(spec)[:4]
    assert set(xml.channel_bandwidth[: xml.num_network_channels]) == {2}
    assert xml.reference_gbps == 100


SPECS = ["leaf-spine:3x2x2", "leaf-spine:2x2x3/2", "fat-tree:2x3", "xgft:2x2/2x2", "fat-tree:k=4"]


@pytest.mark.parametrize("spec", [*SPECS, nx.petersen_graph()], ids=str)
def test_a_network_survives_export_and_import(spec):
    net = topology(spec)
    exported = to_networkx(net)
    assert exported.is_multigraph() == bool(net.twin_number.any())
    again = graph_topology(exported)
    assert arrays(again)[2:] == arrays(net)[2:]
    assert again.labels == net.labels
    assert again.direct == net.direct


@given(st.sampled_from(SPECS), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_a_tree_is_one_network_however_it_is_written(tmp_path_factory, spec, random):
    """As a spec, as GraphML and as an edge list, its lines and its routers in any order."""
    net = topology(spec)
    cables = [
        (net.name_of(int(a)), net.name_of(int(b)))
        for a, b in zip(net.source_end, net.target_end, strict=True)
        if a < b
    ]
    random.shuffle(cables)
    hosts = [net.name_of(host) for host in range(net.num_hosts)]
    folder = tmp_path_factory.mktemp("nets")
    text = read(folder, "\n".join([f"hosts: {' '.join(hosts)}", *map(" ".join, cables)]))
    graph = nx.MultiGraph()
    graph.add_nodes_from(hosts, kind="host")
    graph.add_edges_from(cables)
    nx.set_node_attributes(graph, {v: "switch" for v in graph if v not in hosts}, "role")
    nx.write_graphml(graph, folder / "net.graphml")
    xml = read_graph(folder / "net.graphml")
    for found in (text, xml):
        assert (found.num_hosts, found.num_network_channels, found.num_ports) == (
            net.num_hosts, net.num_network_channels, net.num_ports,
        )  # fmt: skip
        assert found.labels[: net.num_hosts] == tuple(hosts)
        names = sorted(found.channel_name(channel) for channel in range(found.num_channels))
        assert names == sorted(net.channel_name(channel) for channel in range(net.num_channels))
    assert arrays(text) == arrays(xml)


def test_hosts_that_are_joined_to_each_other_forward(tmp_path):
    """GPUs with links of their own beside a switch: a direct network that marks its switch."""
    path = tmp_path / "net.txt"
    path.write_text("hosts: a b c\na s\na b\nb s\nc b\n")
    net = read_graph(path)
    assert net.direct
    assert (net.switches, net.labels) == ((3,), ("a", "b", "c", "s"))
    assert without(net, channels="a-s").switches == (3,)
    with pytest.raises(InputError, match="a link between two hosts, which would forward"):
        check_all_compute(net)
