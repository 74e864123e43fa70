"""Networks from graphs and lists of edges, with rates and kinds as they say.

A network as a graph or a file draws it, vertex by vertex and link by link, made a topology.

Edge lists: a network as text, one link per line.

Any directed graph as a network: from NetworkX, a GraphML file or an edge-list file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.base.textfiles import check_file, check_graphml, read_lines
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.cubes import Cube
from netloom.topology.faults import two_apart
from netloom.topology.names import unfolded, words_of
from netloom.topology.rates import (
    CLOCK,
    DELAY,
    NOTHING,
    RATE,
    Channels,
    Said,
    bandwidth_of,
    clock_of,
    latency_of,
)
from netloom.topology.recognise import tree_shape, which_are_hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from pathlib import Path

    import networkx as nx

    from netloom.base.arrays import Ints


@dataclass
class Vertex:
    """What is said of a vertex.

    Attributes
    ----------
    kind
        A word of ``recognise``. Empty where nothing is said.
    label
        What it is called, if not by its key in the drawing.
    computer
        The computer that owns it. Empty where that is the host itself.
    """

    kind: str = ""
    label: str = ""
    computer: str = ""


class Link(NamedTuple):
    """A directed channel between two vertices, by their keys."""

    source: Hashable
    target: Hashable
    bandwidth: Said = NOTHING
    latency: Said = NOTHING


@dataclass
class Drawing:
    """A network as it is drawn: vertices by any keys, in order, and directed channels.

    Attributes
    ----------
    clock_ghz
        Cycles per ns, where it is said.
    """

    name: str
    vertices: dict[Hashable, Vertex] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    clock_ghz: float | None = None

    def topology(self) -> Topology:
        """Return the network: direct where all vertices are alike, else hosts on routers.

        If hosts are joined to each other beside switches, they forward, and the network is direct.
        Its ``switches`` are marked.

        Keys that are the numbers 0 … N − 1 are taken in that order, others as they come. Hosts
        are numbered before routers. Channels are sorted by source, then target, those of a host's
        ports too. Channels that join the same two vertices are in the order of the drawing.

        Raises
        ------
        InputError
            If there are no vertices, or a channel leads from a vertex to itself. If kinds,
            bandwidths or latencies are not clear. If a host has no link or not as many out as in,
            or two hosts cannot reach each other.
        """
        check_size(len(self.links), where=self.name, what="channels")
        if not self.vertices:
            raise InputError(self.name, "no nodes", "at least one")
        keys, as_numbers = list(self.vertices), {str(key): key for key in self.vertices}
        wanted = [str(place) for place in range(len(keys))]
        if set(as_numbers) == set(wanted):
            keys = [as_numbers[each] for each in wanted]
        labels = [self.vertices[key].label for key in keys]
        alike = not all(labels) or len(set(labels)) < len(labels)
        names = list(map(str, keys)) if alike else labels
        hosts = which_are_hosts([self.vertices[key].kind for key in keys], names, self.name)
        if not hosts.all():
            first = np.argsort(~hosts, kind="stable").tolist()  # hosts before routers
            keys, names = [keys[place] for place in first], [names[place] for place in first]
        ends, many = self._ends(keys, names), int(hosts.sum())
        if hosts.all() or (ends < many).all(axis=1).any():
            found = self._direct(ends, names, many)
        else:
            found = self._hosted(ends, keys, names, many)
        apart = two_apart(found)
        if apart is not None:
            what = "nodes" if found.direct else "hosts"
            first, second = (found.name_of(host) for host in sorted(apart))
            said = f"{what} {first} and {second} that cannot both reach each other"
            raise InputError(self.name, said, "a strongly connected network")
        return found

    def _ends(self, keys: list[Hashable], names: list[str]) -> Ints:
        """Return the two vertices of each channel as places in ``keys``, int32[num_channels, 2]."""
        number = {key: place for place, key in enumerate(keys)}
        numbers = [(number[link.source], number[link.target]) for link in self.links]
        ends = np.array(numbers, dtype=np.int32).reshape(-1, 2)
        itself = ends[:, 0] == ends[:, 1]
        if itself.any():
            own = names[int(ends[np.argmax(itself), 0])]
            found = f"a channel from a node to itself: {own} -> {own}"
            raise InputError(self.name, found, "channels between two nodes")
        return ends

    def _said(self, order: Ints, names: Callable[[int], str], reference: slice) -> dict[str, Any]:
        """Return what is said of the channels in an order, as fields of a topology.

        ``reference``: the channels most of which have the reference rate.
        """
        said = [self.links[place] for place in order.tolist()]
        rates, delays = [link.bandwidth for link in said], [link.latency for link in said]
        channels = Channels(self.name, rates, delays, names, self.clock_ghz)
        bandwidth, gbps = channels.rates(reference)
        found = {"channel_bandwidth": bandwidth, "channel_cycles": channels.cycles()}
        given = {name: values for name, values in found.items() if values is not None}
        clock = self.clock_ghz if "channel_cycles" in given else None
        return given | {"reference_gbps": gbps, "cycle_ns": None if clock is None else 1 / clock}

    def _direct(self, ends: Ints, names: list[str], num_hosts: int) -> Topology:
        """Return a network whose vertices are host and router in one, but switches behind them."""
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        ends = ends[order]
        plain = names == [str(place) for place in range(len(names))]
        said = self._said(order, _link_names(ends, names), slice(None))
        source, target = (ends[:, side].copy() for side in (0, 1))
        labels = () if plain else tuple(names)
        switches = tuple(range(num_hosts, len(names)))
        return Topology(self.name, len(names), source, target, labels, switches=switches, **said)

    def _hosted(
        self, ends: Ints, keys: list[Hashable], names: list[str], num_hosts: int
    ) -> Topology:
        """Return a network of hosts that hang on routers."""
        inside, into, out_of = _parts(self.name, ends, num_hosts, names)
        order = np.concatenate([inside, into, out_of])
        said = self._said(order, _link_names(ends[order], names), slice(len(inside), None))
        source, target = ((ends[inside, side] - num_hosts).astype(np.int32) for side in (0, 1))
        routers = Topology(
            self.name, len(keys) - num_hosts, source, target, tuple(names[num_hosts:])
        )
        owners = [self.vertices[key].computer for key in keys[:num_hosts]]
        computers = [owner or name for owner, name in zip(owners, names[:num_hosts], strict=True)]
        node_of = {computer: node for node, computer in enumerate(dict.fromkeys(computers))}
        found = attach_hosts(
            routers, ends[into, 1] - num_hosts, name=self.name, labels=tuple(names),
            ejection=ends[out_of, 0] - num_hosts, port_host=ends[into, 0],
            node_of_host=np.array([node_of[computer] for computer in computers], np.int32),
            computer_labels=tuple(node_of) if any(owners) else (),
        )  # fmt: skip
        found = replace(found, **said)
        return replace(found, family=tree_shape(found))


def _link_names(ends: Ints, names: Sequence[str]) -> Callable[[int], str]:
    """Return what names a channel after its two ends."""
    return lambda channel: " -> ".join(names[end] for end in ends[channel].tolist())


def _parts(name: str, ends: Ints, num_hosts: int, names: Sequence[str]) -> tuple[Ints, Ints, Ints]:
    """Return the channels between routers, those out of hosts and those into hosts, in order.

    The n-th channel out of a host and the n-th into it are its n-th port.
    """
    from_host, to_host = (ends < num_hosts).T
    sent = np.bincount(ends[from_host, 0], minlength=num_hosts)
    received = np.bincount(ends[to_host, 1], minlength=num_hosts)
    bare = (sent == 0) & (received == 0)
    if bare.any():
        host = names[int(np.argmax(bare))]
        raise InputError(name, f"host {host} without a link", "every host joined to a router")
    if (sent != received).any():
        at = int(np.argmax(sent != received))
        found = f"host {names[at]} with {sent[at]} channels out and {received[at]} in"
        raise InputError(name, found, "as many channels out of a host as into it")
    by_source = np.lexsort((ends[:, 1], ends[:, 0]))
    by_target = np.lexsort((ends[:, 0], ends[:, 1]))
    inside = by_source[~(from_host | to_host)[by_source]]
    return inside, by_source[from_host[by_source]], by_target[to_host[by_target]]


LINKS = "lines such as 'a b' or 'a -> b'"
LINK = "'a b' or 'a -> b', perhaps with a bandwidth (100Gb/s) and a latency (cycles, or 600ns)"
ONCE = "each link once, or the same line again for a parallel one"

MOST_HOSTS = 2**22
"""Most hosts that one word names."""


def read_edge_list(path: Path) -> Drawing:
    """Read an edge list. See ``read_graph``.

    Raises
    ------
    InputError
        Naming the file and the line of what cannot be read, or of a link that was written before
        from its other end, and so may be the same one.
    """
    found = Drawing(f"graph:{path}")
    hosts: dict[Hashable, None] | None = None
    written: dict[tuple[Hashable, Hashable], bool] = {}  # and whether one way
    for where, line in read_lines(path, wanted=LINKS):
        head, rest = [*line.split(maxsplit=1), ""][:2]
        if head == "hosts:":
            hosts = {} if hosts is None else hosts
            for word in words_of(rest):
                for name in unfolded(word, where=where, most=MOST_HOSTS):
                    hosts[name] = None
                    found.vertices.setdefault(name, Vertex())
        elif head == "clock:":
            found.clock_ghz = clock_of(rest)
            if found.clock_ghz is None:
                raise InputError(where, f"'{line:.200}'", f"clock: and {CLOCK}")
        else:
            link, one_way = _listed_link(where, line)
            there, back = (link.source, link.target), (link.target, link.source)
            other = back in written and not (one_way and written[back])
            if there != back and (other or written.get(there, one_way) != one_way):
                same = f"the same channel twice: {link.source} -> {link.target}"
                raise InputError(where, same, ONCE)
            written[there] = one_way
            for end in there:
                found.vertices.setdefault(end, Vertex())
            reverse = link._replace(source=link.target, target=link.source)
            found.links += [link] if one_way else [link, reverse]
    if not found.links:
        raise InputError(str(path), "no links", LINKS)
    for key, vertex in found.vertices.items():
        vertex.kind = "" if hosts is None else "host" if key in hosts else "switch"
    return found


def is_edge_list(text: str) -> bool:
    r"""Return whether a text begins as an edge list does: with a link, or with what may precede it.

    Examples
    --------
    >>> is_edge_list("# mine\nclock: 1GHz\nh0 leaf0 100Gb/s\n"), is_edge_list("SwitchName=s0")
    (True, False)
    """
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and words[0] not in ("hosts:", "clock:"):
            try:
                _listed_link("", " ".join(words))
            except InputError:
                return False
            return True
    return False


def _listed_link(where: str, line: str) -> tuple[Link, bool]:
    """Return the link of a line, and whether it leads one way only."""
    words = line.split()
    one_way = len(words) > 2 and words[1] in ("->", "→")
    if one_way:
        del words[1]
    rate: Said | None = NOTHING
    delay: Said | None = NOTHING
    if len(words) > 2:
        rate = bandwidth_of(words[2])
    if len(words) > 3:
        delay = latency_of(words[3])
    if not 2 <= len(words) <= 4 or rate is None or delay is None:
        raise InputError(where, f"'{line:.200}'", LINK)
    return Link(words[0], words[1], rate, delay), one_way


def graph_topology(graph: nx.Graph[Any], *, name: str = "graph:networkx") -> Topology:
    """Return a NetworkX graph as a network. An undirected edge becomes two channels.

    Nodes that are exactly 0 … N − 1 in the graph keep that order. Others are numbered in the
    graph's own. A node is called by its attribute ``label`` or ``name``, if all have one and no
    two the same, otherwise as in the graph. Channels are sorted by source, then target. Edges of a
    multigraph that join the same two nodes are parallel channels.

    Attributes of nodes, in any case of letters: ``kind``, ``type`` or ``role`` says what is a host
    and what a router (see ``recognise``). Hosts are numbered before routers. ``computer`` names the
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
    for vertex in range(topology.num_ends):
        if topology.direct or up[vertex]:
            graph.add_node(vertex, **_of_vertex(topology, vertex))
    gbps = topology.reference_gbps
    if topology.cycle_ns is not None:
        graph.graph["clock"] = f"{1 / topology.cycle_ns:.12g}GHz"
    for channel in range(topology.num_channels):
        rate = float(topology.channel_bandwidth[channel])
        graph.add_edge(
            int(topology.source_end[channel]), int(topology.target_end[channel]),
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
