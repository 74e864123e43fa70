"""Any directed graph as a network: from NetworkX, a GraphML file or an edge-list file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.base.textfiles import check_file, check_graphml
from netloom.topology.cubes import Cube
from netloom.topology.drawings import Drawing, Link, Vertex
from netloom.topology.edge_lists import read_edge_list
from netloom.topology.rates import (
    CLOCK,
    DELAY,
    NOTHING,
    RATE,
    Said,
    bandwidth_of,
    clock_of,
    latency_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import networkx as nx

    from netloom.topology.core import Topology


def graph_topology(graph: nx.Graph[Any], *, name: str = "graph:networkx") -> Topology:
    """Return a NetworkX graph as a network. An undirected edge becomes two channels.

    Nodes that are exactly 0 … N − 1 in the graph keep that order. Others are numbered in the
    graph's own. A node is called by its attribute ``label`` or ``name``, if all have one and no
    two the same, otherwise as in the graph. Channels are sorted by source, then target. Edges of a
    multigraph that join the same two nodes are parallel channels.

    Attributes of nodes, in any case of letters: ``kind``, ``type`` or ``role`` says what is a host
    and what a router (see ``kinds``). Hosts are numbered before routers. ``computer`` names the
    computer that owns a host, where one owns several. Attributes of edges: ``bandwidth``, a number
    or a rate such as ``100Gb/s`` or ``12.5GB/s``, and ``latency``, in cycles or as a time such as
    ``600ns``. A time needs the graph's attribute ``clock`` (``1GHz``). An attribute must be on all
    edges or on none. Bandwidths are relative to the rate of most host ports, or of most channels in
    a direct network. If several rates are as frequent, they are relative to the slowest.

    Raises
    ------
    InputError
        If an edge joins a node to itself or a host to a host, or a host has no edge. If kinds or
        numbers are not clear, or some host cannot reach another.

    Examples
    --------
    >>> import networkx as nx
    >>> graph_topology(nx.petersen_graph())
    <graph:networkx: 10 nodes, 30 directed channels>
    >>> star = nx.Graph([("s", "a"), ("s", "b"), ("s", "c")])
    >>> nx.set_node_attributes(star, {"s": "switch", "a": "host", "b": "host", "c": "host"}, "kind")
    >>> nx.set_edge_attributes(star, "25Gb/s", "bandwidth")
    >>> found = graph_topology(star)
    >>> found.num_hosts, found.num_routers, found.reference_gbps
    (3, 1, 25.0)
    """
    directed = graph if graph.is_directed() else graph.to_directed()
    found = Drawing(name)
    for node, values in directed.nodes(data=True):
        marks = _marks(values)
        kind, label = _said(marks, "type", "kind", "role"), _said(marks, "label", "name")
        found.vertices[node] = Vertex(kind, label, marks.get("computer", ""))
    for source, target, values in directed.edges(data=True):
        found.links.append(_link(source, target, _marks(values), name))
    clock = _marks(graph.graph).get("clock", "")
    if clock:
        found.clock_ghz = clock_of(clock)
        if found.clock_ghz is None:
            raise InputError(name, f"a clock of '{clock:.60}'", CLOCK)
    return found.topology()


def read_graph(path: str | Path) -> Topology:
    """Read a network from a GraphML file (``.graphml``) or an edge list (anything else).

    GraphML is read as ``graph_topology`` reads graphs. An edge list has one link per line: ``a b``
    joins two nodes in both directions, ``a -> b`` is one directed channel. Behind it may stand a
    bandwidth, and behind that a latency, as in ``a b 100Gb/s 600ns``. The same line again is a
    parallel link. A line ``hosts: a h[0-15]`` says which are hosts. All others are routers then.
    Without one every node is both. ``clock: 1GHz`` says the cycles of times. Names may be any
    words. ``#`` starts a comment.

    Raises
    ------
    InputError
        Naming the file, and the line in an edge list, where it cannot be read, and as
        ``graph_topology`` does.
    """
    path = check_file(path, wanted="a GraphML or edge-list file")
    if path.suffix != ".graphml":
        return read_edge_list(path).topology()
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


def to_networkx(topology: Topology) -> nx.DiGraph[int] | nx.MultiDiGraph[int]:
    """Return the network as a NetworkX digraph, a multigraph where channels are parallel.

    Edges have their number as ``channel``, a ``bandwidth`` (in Gb/s where that is known, else
    relative) and a ``latency`` in cycles. Nodes have a ``label``, in a cube ``coordinates``, and a
    ``kind`` where hosts are not routers. Broken hosts and routers are left out there, as they have
    no channels. ``graph_topology`` makes the network again, which is called otherwise then.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> to_networkx(mesh(2, 2)).number_of_edges()
    8
    >>> to_networkx(topology("leaf-spine:2x1x1/2")).edges[0, 2, 0]
    {'channel': 8, 'bandwidth': 1.0, 'latency': 1}
    """
    import networkx as nx

    parallel = bool(topology.twin_number.any())
    graph: nx.DiGraph[int] = (nx.MultiDiGraph if parallel else nx.DiGraph)(name=topology.name)
    up = topology.vertex_up
    for vertex in range(topology.num_vertices):
        if topology.direct or up[vertex]:
            graph.add_node(vertex, **_of_vertex(topology, vertex))
    gbps = topology.reference_gbps
    if topology.cycle_ns is not None:
        graph.graph["clock"] = f"{1 / topology.cycle_ns:.12g}GHz"
    for channel in range(topology.num_channels):
        rate = float(topology.channel_bandwidth[channel])
        graph.add_edge(
            int(topology.channel_source[channel]), int(topology.channel_target[channel]),
            channel=channel, bandwidth=rate if gbps is None else f"{rate * gbps:.12g}Gb/s",
            latency=int(topology.channel_cycles[channel]),
        )  # fmt: skip
    return graph


def _of_vertex(topology: Topology, vertex: int) -> dict[str, Any]:
    """Return what a NetworkX graph says of a vertex."""
    found: dict[str, Any] = {"label": topology.name_of(vertex)}
    if isinstance(topology, Cube):
        found["coordinates"] = topology.coordinates(vertex)
    if topology.direct:
        return found
    found["kind"] = "host" if vertex < topology.num_hosts else "router"
    if vertex < topology.num_hosts and topology.computer_labels:
        found["computer"] = topology.computer_name(int(topology.node_of_host[vertex]))
    return found


def _link(source: Any, target: Any, marks: Mapping[str, str], name: str) -> Link:
    """Return the channel of an edge, and what its attributes say."""

    def said(what: str, read: Callable[[str], Said | None], wanted: str) -> Said:
        if what not in marks:
            return NOTHING
        found = read(marks[what])
        if found is None:
            where = f"{name}, link {source} - {target}"
            raise InputError(where, f"a {what} of '{marks[what]:.60}'", wanted)
        return found

    rate, delay = said("bandwidth", bandwidth_of, RATE), said("latency", latency_of, DELAY)
    return Link(source, target, rate, delay)


def _marks(values: Mapping[Any, Any]) -> dict[str, str]:
    """Return attributes by their names in small letters, as text."""
    return {str(key).lower(): str(value).strip() for key, value in values.items()}


def _said(marks: Mapping[str, str], *names: str) -> str:
    """Return the first of these attributes that a node has. Empty where it has none."""
    return next((marks[name] for name in names if marks.get(name)), "")
