"""Nodes that run no tasks are refused wherever tasks, traffic or mappings would use them."""

import networkx as nx
import pytest

import netloom as nl
from netloom.errors import InputError
from netloom.topology import graph_topology, mesh, omega, read_graph, without
from netloom.topology.kinds import check_all_compute


def star(kinds, attribute="type"):
    """A node in the middle of the others, each of a kind; None is not marked."""
    graph = nx.star_graph(len(kinds) - 1)
    for node, kind in enumerate(kinds):
        if kind is not None:
            graph.nodes[node][attribute] = kind
    return graph


@pytest.mark.parametrize("attribute", ["type", "kind", "role", "Role"])
def test_a_marked_switch_is_refused(tmp_path, attribute):
    path = tmp_path / "star.graphml"
    nx.write_graphml(star(["switch", "host", "host"], attribute), path)
    found = read_graph(path)
    assert found.kinds == ("switch", "host", "host")
    with pytest.raises(InputError, match=r"star.graphml: found 1 node of type 'switch', on which"):
        check_all_compute(found)


@pytest.mark.parametrize(
    ("kinds", "what"),
    [
        (["Switch", None, None], "1 node of type 'switch'"),
        (["switch"] * 3, "3 nodes of type 'switch'"),
        (["router", "host", "host"], "1 node of type 'router'"),
        ([None, "host", "host"], "1 node of no type beside others"),
        (["disk", "disk", "host"], "2 nodes of type 'disk'"),
    ],
)
def test_what_is_refused(kinds, what):
    with pytest.raises(InputError, match=f"found {what}, on which netloom would put tasks"):
        check_all_compute(graph_topology(star(kinds)))


@pytest.mark.parametrize(
    "kinds",
    [[None] * 3, ["host"] * 3, ["CPU", "gpu", "Host"], ["router"] * 3, ["rack 7"] * 3, [""] * 3],
)
def test_what_is_not(kinds):
    check_all_compute(graph_topology(star(kinds)))
    check_all_compute(mesh(2, 2))


QUESTIONS = {
    "analyze": lambda on: nl.analyze("ring:3", on, random_mappings=0),
    "simulate": lambda on: nl.simulate(on, load=0.1),
    "find_saturation": nl.find_saturation,
    "predict_latency": lambda on: nl.predict_latency(on, offered=0.1),
    "find_mapping": lambda on: nl.find_mapping("ring:3", on, rounds=1),
    "compile_phases": lambda on: nl.compile_phases("ring:3", on),
    "simulate_loop": lambda on: nl.simulate_loop(on, app="ring:3", applied=0.1),
    "simulate_pattern": lambda on: nl.simulate_pattern(on, pattern="transpose"),
    "simulate_transactions": lambda on: nl.simulate_transactions(on, app="ring:3"),
}


@pytest.mark.parametrize("verb", QUESTIONS)
@pytest.mark.parametrize("which", ["omega:8", "graph", "broken"])
def test_all_verbs_alike(verb, which):
    marked = graph_topology(nx.relabel_nodes(star(["switch", "host", "host", "host"]), str))
    on = {"omega:8": "omega:8", "graph": marked, "broken": without(omega(8), channels="16->20")}
    with pytest.raises(InputError, match="on which netloom would put tasks and traffic"):
        QUESTIONS[verb](on[which])
