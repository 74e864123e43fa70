"""Any directed graph as a network: from NetworkX, a GraphML file or an edge-list file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.spec import check_size
from netloom.textfiles import check_file, check_graphml, read_lines
from netloom.topology.core import Topology
from netloom.topology.cubes import Cube

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from pathlib import Path

    import networkx as nx


def graph_topology(graph: nx.Graph[Any], *, name: str = "graph:networkx") -> Topology:
    """Return a NetworkX graph as a network; an undirected edge becomes two channels.

    Nodes that are exactly 0 … N − 1 in the graph keep those numbers; others are numbered in the
    graph's own order. A node is called by its attribute ``label`` or ``name``, if all have one and
    no two the same, otherwise as in the graph. Channels are sorted by source, then target.
    Attributes ``type``, ``kind`` or ``role`` of nodes say what they are (see ``kinds``).

    Raises
    ------
    InputError
        If an edge is repeated or joins a node to itself, or if some node cannot reach another.

    Examples
    --------
    >>> import networkx as nx
    >>> graph_topology(nx.petersen_graph())
    <graph:networkx: 10 nodes, 30 directed channels>
    """
    directed = graph if graph.is_directed() else graph.to_directed()
    nodes = list(directed.nodes)
    marks = {
        node: {str(k).lower(): str(v) for k, v in directed.nodes[node].items()} for node in nodes
    }
    return _from_edges(nodes, list(directed.edges()), name, marks)


def read_graph(path: str | Path) -> Topology:
    """Read a network from a GraphML file (``.graphml``) or an edge list (anything else).

    An edge list has one link a line: ``a b`` joins two nodes in both directions, ``a -> b`` is
    one directed channel; ``#`` starts a comment. Labels may be any words.

    Raises
    ------
    InputError
        Naming the file, and the line in an edge list, where it cannot be read.
    """
    path = check_file(path, wanted="a GraphML or edge-list file")
    if path.suffix == ".graphml":
        import networkx as nx

        try:
            check_graphml(path)
            graph = nx.read_graphml(path)
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001  # any parser's failure is the file's
            reason = " ".join(str(error).split())
            raise InputError(str(path), f"unreadable GraphML ({reason})") from None
        return graph_topology(graph, name=f"graph:{path}")
    return _read_edge_list(path)


def to_networkx(topology: Topology) -> nx.DiGraph[int]:
    """Return the network as a NetworkX digraph; edge attribute ``channel`` holds the number.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> to_networkx(mesh(2, 2)).number_of_edges()
    8
    """
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph(name=topology.name)
    for node in range(topology.num_vertices):
        graph.add_node(node, label=topology.name_of(node))
        if isinstance(topology, Cube):
            graph.nodes[node]["coordinates"] = topology.coordinates(node)
    ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    graph.add_edges_from((s, t, {"channel": c}) for c, (s, t) in enumerate(ends))
    return graph


def _read_edge_list(path: Path) -> Topology:
    nodes: dict[Hashable, None] = {}
    edges: dict[tuple[Hashable, Hashable], None] = {}
    wanted = "lines such as 'a b' or 'a -> b'"
    for where, line in read_lines(path, wanted=wanted):
        words = line.split()
        one_way = len(words) == 3 and words[1] == "->"
        if len(words) != 2 and not one_way:
            raise InputError(where, f"'{line}'", "'a b' or 'a -> b'")
        source, target = words[0], words[-1]
        nodes.update({source: None, target: None})
        for edge in [(source, target)] if one_way else [(source, target), (target, source)]:
            if edge in edges and source != target:
                found = f"the same channel twice: {edge[0]} -> {edge[1]}"
                raise InputError(where, found, "each channel once")
            edges[edge] = None
    if not edges:
        raise InputError(str(path), "no links", wanted)
    return _from_edges(list(nodes), list(edges), f"graph:{path}")


def _from_edges(
    nodes: list[Hashable],
    edges: list[tuple[Hashable, Hashable]],
    name: str,
    marks: dict[Hashable, dict[str, str]] | None = None,
) -> Topology:
    check_size(len(edges), where=name, what="channels")
    if not nodes:
        raise InputError(name, "no nodes", "at least one")
    labels = _in_order(nodes)
    number = {label: index for index, label in enumerate(labels)}
    pairs = np.array([(number[a], number[b]) for a, b in edges], dtype=np.int32).reshape(-1, 2)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    for mistake, what in (
        (pairs[:, 0] == pairs[:, 1], "a channel from a node to itself"),
        (np.r_[False, np.all(pairs[1:] == pairs[:-1], axis=1)], "the same channel twice"),
    ):
        if mistake.any():
            a, b = pairs[int(np.argmax(mistake))]
            raise InputError(name, f"{what}: {labels[a]} -> {labels[b]}", "each channel once")
    plain = labels == list(range(len(labels))) or labels == [str(i) for i in range(len(labels))]
    words = () if plain else tuple(map(str, labels))
    if marks is not None:
        named = [_said(marks[label], "label", "name") for label in labels]
        words = tuple(named) if all(named) and len(set(named)) == len(named) else words
    found = Topology(name, len(labels), pairs[:, 0].copy(), pairs[:, 1].copy(), words)
    _check_connected(found)
    return found


def _said(marks: dict[str, str], *names: str) -> str:
    """Return the first of these attributes that a node has; empty where it has none."""
    return next((marks[name] for name in names if marks.get(name)), "")


def _in_order(nodes: Iterable[Hashable]) -> list[Hashable]:
    """Sort the labels when they are the numbers 0 … N − 1; leave any others as they come."""
    labels = list(nodes)
    as_numbers = {str(label): label for label in labels}
    wanted = [str(i) for i in range(len(labels))]
    return [as_numbers[w] for w in wanted] if set(as_numbers) == set(wanted) else labels


def _check_connected(topology: Topology) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = (np.ones(topology.num_channels), (topology.channel_source, topology.channel_target))
    shape = (topology.num_vertices, topology.num_vertices)
    parts, part = connected_components(coo_array(links, shape=shape), connection="strong")
    if parts > 1:
        other = int(np.argmax(part != part[0]))
        a, b = topology.name_of(0), topology.name_of(other)
        raise InputError(
            topology.name, f"nodes {a} and {b} that cannot both reach each other",
            "a strongly connected network",
        )  # fmt: skip
