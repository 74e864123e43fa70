import networkx as nx
import pytest

from netloom.base.errors import InputError
from netloom.topology import diameter, graph_topology, num_links, topology


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


def test_labels_that_are_numbers_keep_them(tmp_path):
    file = tmp_path / "net.txt"
    file.write_text("2 1\n1 0\n")
    assert ends(topology(f"graph:{file}")) == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_graphml_and_networkx_come_back_the_same(tmp_path):
    file = tmp_path / "net.graphml"
    nx.write_graphml(nx.petersen_graph(), file)
    from_file, direct = topology(f"graph:{file}"), graph_topology(nx.petersen_graph())
    assert ends(from_file) == ends(direct)
    assert diameter(direct) == 2


def test_a_wrong_file_is_one_clear_line(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        topology(f"graph:{tmp_path / 'none.txt'}")
    broken = tmp_path / "net.graphml"
    broken.write_text("<graphml><graph>")
    with pytest.raises(InputError, match="unreadable GraphML"):
        topology(f"graph:{broken}")
