import networkx as nx
import pytest

from netloom.base.errors import InputError
from netloom.topology import graph_topology, num_links, read_graph, topology


def ends(net):
    return list(zip(net.source_end.tolist(), net.target_end.tolist(), strict=True))


def test_an_edge_list_holds_links_and_single_channels(tmp_path):
    file = tmp_path / "net.txt"
    file.write_text("# three routers\na b\nb -> c  # one way\nc -> a\n")
    net = topology(f"graph:{file}")
    assert net.labels == ("a", "b", "c")
    assert ends(net) == [(0, 1), (1, 0), (1, 2), (2, 0)]
    assert net.channel_name(2) == "b -> c"
    assert num_links(net) == 1


def star(kinds, attribute="type"):
    """A vertex in the middle of the others, each of a kind; None is not marked."""
    graph = nx.star_graph(len(kinds) - 1)
    for node, kind in enumerate(kinds):
        if kind is not None:
            graph.nodes[node][attribute] = kind
    return graph


@pytest.mark.parametrize("attribute", ["type", "kind", "role", "Role"])
def test_hosts_come_before_the_switch_that_they_hang_on(tmp_path, attribute):
    path = tmp_path / "star.graphml"
    nx.write_graphml(star(["switch", "host", "host"], attribute), path)
    found = read_graph(path)
    assert (found.num_hosts, found.num_routers, found.num_channels) == (2, 1, 4)
    assert found.labels == ("1", "2", "0")
    assert found.channel_name(0) == "1 -> 0"
    assert not found.direct


@pytest.mark.parametrize(
    ("kinds", "hosts"),
    [
        (["Switch", "host", "CPU"], 2),
        (["router", "host", "host"], 2),
        (["core", "edge", "edge"], 0),
        (["switch", "core", "core"], 2),
    ],
)
def test_words_for_hosts_and_for_routers(kinds, hosts):
    graph = star(kinds)
    if not hosts:  # a core switch above the layers of a tree
        graph.add_nodes_from(["a", "b"], type="server")
        graph.add_edges_from([(1, "a"), (2, "b")])
    assert graph_topology(graph).num_hosts == (hosts or 2)


@pytest.mark.parametrize(
    ("kinds", "what"),
    [
        (["switch"] * 3, "3 routers and no host"),
        (["leaf", "spine", "spine"], "3 routers and no host"),
        (["Switch", None, None], "1, of which no kind is said, beside others"),
        ([None, "host", "host"], "0, of which no kind is said, beside others"),
        (
            ["disk", "disk", "host"],
            r"0 of kind 'disk'; expected a host \(accelerator, .*, worker\)",
        ),
        (["rack 7", "rack 8", "rack 7"], "0 of kind 'rack 7'"),
        (["core", "host", "switch"], "the kind 'core' beside hosts"),
    ],
)
def test_what_is_not_clear_is_refused(kinds, what):
    with pytest.raises(InputError, match=f"^graph:networkx: found {what}"):
        graph_topology(star(kinds))


@pytest.mark.parametrize(
    "kinds",
    [[None] * 3, ["host"] * 3, ["CPU", "gpu", "Host"], ["router"] * 3, ["rack 7"] * 3, [""] * 3],
)
def test_vertices_that_are_all_alike_are_hosts_and_routers_in_one(kinds):
    found = graph_topology(star(kinds))
    assert found.direct
    assert (found.num_hosts, found.num_channels, found.labels) == (3, 4, ())
