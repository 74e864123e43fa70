"""A network's labels are the names of its hosts: in rank files, mapping files and messages."""

import networkx as nx
import pytest
from typer.testing import CliRunner

import netloom as nl
from netloom.cli.app import app
from netloom.mapping.allocation import allocated_hosts, node_names
from netloom.topology import graph_topology, read_graph

NAMES = ["ada", "bob", "cat", "dan"]


@pytest.fixture
def ring(tmp_path):
    """A ring of four hosts in GraphML, called by an attribute of theirs."""
    graph = nx.cycle_graph(4)
    nx.set_node_attributes(graph, dict(enumerate(NAMES)), "label")
    nx.write_graphml(graph, tmp_path / "ring.graphml")
    return tmp_path / "ring.graphml"


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output + str(done.exception or "")


def test_labels_of_a_file_are_names(ring):
    found = read_graph(ring)
    assert found.labels == tuple(NAMES)
    assert found.channel_name(0) == "ada -> bob"
    by_id = graph_topology(nx.relabel_nodes(nx.cycle_graph(4), dict(enumerate(NAMES))))
    assert by_id.labels == tuple(NAMES)
    alike = nx.cycle_graph(4)
    nx.set_node_attributes(alike, "host", "label")  # the same for all: no names
    assert graph_topology(alike).labels == ()


def test_rank_files_use_them(ring, tmp_path):
    ranks, hosts = tmp_path / "ranks", tmp_path / "hosts"
    asked = *f"analyze ring:4 --on graph:{ring} --rankfile-format slurm --rankfile".split(), ranks
    code, out = run(*asked)
    assert code == 0, out
    assert ranks.read_text().split() == NAMES
    hosts.write_text("h1\nh2\nh3\nh4\n")
    assert run(*asked, "--hosts", hosts)[0] == 0
    assert ranks.read_text().split() == ["h1", "h2", "h3", "h4"]
    # what was written by names can be read again, by those of --hosts too
    ranks.write_text("h4\nh3\nh2\nh1\n")
    out = tmp_path / "m.json"
    code, said = run(*asked, "--hosts", hosts, "--mapping", ranks, "--save-mapping", out)
    assert code == 0, said
    assert nl.analyze("ring:4", f"graph:{ring}", mapping=str(out)).node_of.tolist() == [3, 2, 1, 0]


NAMED = '{"node_of": ["dan", 2, "ada", "bob"]}'


@pytest.mark.parametrize("text", ["dan\ncat # late\nada\nbob\n", "3\ncat\n0\n1\n", NAMED])
def test_mapping_files_may_use_them(ring, tmp_path, text):
    path = tmp_path / f"mapping.{'json' if text == NAMED else 'txt'}"
    path.write_text(text)
    found = nl.analyze("ring:4", f"graph:{ring}", mapping=str(path), random_mappings=0)
    assert found.node_of.tolist() == [3, 2, 0, 1]


def test_a_label_is_never_taken_for_a_number_of_another():
    found = graph_topology(nx.relabel_nodes(nx.path_graph(2), {0: "n1", 1: "n0"}))
    assert node_names(found) == {"n1": 0, "n0": 1}
    assert allocated_hosts("n1", found).tolist() == [0]
