"""Routes that a user or a function writes out: as a table, or node by node (source routing)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np

from netloom._version import __version__
from netloom.base.arrays import Ints, offsets_of
from netloom.base.errors import InputError, NoRouteError
from netloom.base.textfiles import text_lines, write_text
from netloom.routing.forwarding.tables import MOST_ENTRIES, Choices, ForwardingTable
from netloom.routing.ragged import Paths, check_found, legs, parted
from netloom.topology import Topology
from netloom.topology.names import MOST_DIGITS, NamedParts

NextChannels: TypeAlias = Callable[[int, int], int | Iterable[int] | None]


# -- tables ----------------------------------------------------------------------------------------


def table(topology: Topology, function: NextChannels, *, name: str = "table") -> ForwardingTable:
    """Return the routing that a function of yours makes: the next channel, or the choice of them.

    Whether packets can deadlock is asked when it is used on virtual channels, and by
    ``find_deadlock``.

    Parameters
    ----------
    topology
        The network.
    function
        ``function(node, target)`` returns the channel that a packet at ``node`` takes next on its
        way to ``target``, or several to choose from. It is called once for every two different
        nodes. If hosts hang on routers, ``node`` is the vertex of a router and ``target`` a host.
        It is then called for every router except those that the host receives from, where packets
        have arrived. No channel (None) means that there is no path.
    name
        What to call it in messages.

    Raises
    ------
    InputError
        If a channel does not leave the node or leads to a host. If choices can lead in a circle and
        never reach the target. If there are too many nodes.
    NoRouteError
        If the function offers no channel between two nodes of a direct network.

    Examples
    --------
    >>> from netloom.topology import topology, torus
    >>> one_way = table(torus(4), lambda node, target: node)
    >>> one_way.next_channel.tolist()[0]
    [-1, 1, 2, 3]
    >>> tree = topology("leaf-spine:2x2x1")  # of 2 hosts: leaves are vertices 2 and 3
    >>> channels = {2: [1, 1], 3: [3, 3], 4: [4, 5], 5: [6, 7]}
    >>> by_spine_1 = table(tree, lambda node, target: channels[node][target])
    >>> from netloom.routing import paths
    >>> path = paths(tree, by_spine_1, [0], [1]).whole(tree)[0]
    >>> [tree.channel_name(channel) for channel in path]
    ['h0 -> leaf0', 'leaf0 -> spine1', 'spine1 -> leaf1', 'leaf1 -> h1']
    """
    inside = topology.routers
    _check_nodes(topology, name)
    leaves = np.split(topology.ejection_router, topology.port_offsets[1:-1])
    exits = [set(routers.tolist()) for routers in leaves]
    rows = np.full((topology.num_ports, inside.num_routers), -1, np.int32)
    sets: dict[tuple[int, ...], int] = {}
    for router in np.flatnonzero(inside.vertex_up).tolist():
        leaving = set(np.flatnonzero(inside.channel_source == router).tolist())
        for target in range(topology.num_hosts):
            if not exits[target] or router in exits[target]:
                continue
            answer = function(topology.router_vertex(router), target)
            said = list(answer) if isinstance(answer, Iterable) else [answer]
            channels = tuple(sorted({int(each) for each in said if each is not None}))
            if not channels and topology.direct:
                raise NoRouteError(router, target, "a channel", name)
            strange = next((each for each in channels if each not in leaving), None)
            if strange is not None:
                node = _called(topology, topology.router_vertex(router))
                found = f"channel {strange} at node {node} towards node {_called(topology, target)}"
                wanted = f"a channel that leaves node {node} for another router"
                raise InputError(name, found, wanted)
            number = channels[0] if channels else -1
            if len(channels) > 1:
                number = inside.num_channels + sets.setdefault(channels, len(sets))
            rows[topology.port_offsets[target] : topology.port_offsets[target + 1], router] = number
    offered = np.array([each for one in sets for each in one], np.int32)
    choices = Choices(offsets_of([*map(len, sets)]), offered)
    # a router is sure to deliver once all of its choices lead to routers that are
    sure = np.zeros(rows.shape, np.bool_)
    for target, routers in enumerate(leaves):
        sure[topology.port_offsets[target] : topology.port_offsets[target + 1], routers] = True
    new, none = sure, np.zeros((len(rows), 1), np.bool_)
    while new.any():
        by_channel = sure[:, inside.channel_target]
        members = by_channel[:, choices.channels]
        by_set = np.logical_and.reduceat(members, choices.offsets[:-1], axis=1)
        leads = np.concatenate([by_channel, by_set, none], axis=1)  # the last is no channel's
        new = np.take_along_axis(leads, rows, axis=1) & ~sure
        sure = sure | new
    lost = np.argwhere(~sure & (rows >= 0))
    if len(lost):
        host, router = int(topology.port_host[lost[0, 0]]), int(lost[0, 1])
        node = _called(topology, topology.router_vertex(router))
        circle = f"a way from node {node} that need never come to node {_called(topology, host)}"
        raise InputError(name, circle, "choices that all lead to the target")
    return ForwardingTable(name, rows, choices=choices)


def _called(topology: Topology, vertex: int, kind: str = "") -> str:
    """Return the name of a vertex, or its kind and number."""
    return topology.name_of(vertex) if topology.labels else f"{kind}{vertex}"


def shortest_path_table(topology: Topology) -> ForwardingTable:
    """Return ``ShortestPath`` as a table: see there.

    Raises
    ------
    InputError
        If there are too many nodes.
    """
    from netloom.routing.kernels.shortest_path import shortest_rows

    _check_nodes(topology, "shortest-path")
    ends, wires = (topology.channel_source, topology.channel_target), topology.incoming()
    rows = shortest_rows(np.arange(topology.num_hosts), ends, *wires, *topology.outgoing())
    return ForwardingTable("shortest-path", rows)


def _check_nodes(topology: Topology, name: str) -> None:
    nodes, hosts = topology.num_routers, topology.num_hosts
    if nodes * hosts > MOST_ENTRIES:
        found = f"a table of {nodes} routers times {hosts} hosts"
        raise InputError(name, found, f"at most {MOST_ENTRIES:,}")


# -- source routing --------------------------------------------------------------------------------


WORD = re.compile(r'"(?:[^"\\]|\\.)*"(?:#\d+)?(?=[\s#]|$)|[^\s#]+(?:#\d+)?(?=[\s#]|$)', re.ASCII)
"""A node in quotation marks or without, and which of the channels that lead there."""


@dataclass(frozen=True, eq=False)
class SourceRoutes:
    """One route for each (source, target) pair of nodes that has one.

    Attributes
    ----------
    name
        ``routes:FILE`` or what the caller called them.
    pairs
        int64[num_routes], ``source * num_nodes + target``, sorted.
    routes
        Each pair's route.
    """

    several: ClassVar[bool] = False

    name: str
    pairs: Ints
    routes: Paths

    def __str__(self) -> str:
        return self.name

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the given route of every pair. NoRouteError: one of different nodes has none."""
        numbers = route_numbers(topology, self, sources, targets, "a route for every pair")
        found, own = self.routes.taken(numbers), topology.port_offsets[:-1][sources]
        if not found.ports:
            return legs(topology, sources, targets).around(found)
        ports = tuple(np.where(sources == targets, own, each) for each in found.ports)
        return replace(found, ports=ports)


def source_routes(
    topology: Topology,
    node_sequences: Iterable[Sequence[int | str]],
    *,
    name: str = "routes",
    where: Sequence[str] = (),
) -> SourceRoutes:
    """Return the routes that visit the given nodes, first the source, last the target.

    Parameters
    ----------
    topology
        The network whose channels the routes use.
    node_sequences
        One sequence of neighbouring nodes per route. Two sequences may not join the same pair. If
        hosts hang on routers, a sequence is a host, the routers, and a host. A node is its vertex
        or its name. A route takes the first of parallel channels, or the one that ``#2`` behind a
        name selects.
    where
        What to call each route in an error message, such as ``routes.txt:7``.

    Raises
    ------
    InputError
        If a route is not a path of the network, crosses a channel twice, or repeats a pair.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> source_routes(mesh(2, 2), [[0, 2, 3]]).routes[0].tolist()
    [0, 5]
    >>> net = topology("leaf-spine:2x1x1/2")
    >>> two = source_routes(net, [["h0", "leaf0", "spine0#2", "leaf1", "h1"]]).routes[0]
    >>> [net.channel_name(channel) for channel in two]
    ['leaf0 -> spine0#2', 'spine0 -> leaf1#1']
    """
    steps = Steps(topology)
    found = {}
    for index, words in enumerate(node_sequences):
        place = where[index] if where else f"{name}, route {index}"
        nodes, channels = steps.route(words, place)
        pair = nodes[0] * topology.num_ends + nodes[-1]
        if pair in found:
            ends = (_called(topology, end) for end in (nodes[0], nodes[-1]))
            raise InputError(place, f"a second route from {' to '.join(ends)}", "one per pair")
        found[pair] = channels
    pairs = sorted(found)
    offsets = offsets_of([len(found[pair]) for pair in pairs])
    flat = [channel for pair in pairs for channel in found[pair]]
    routes = parted(topology, Paths(offsets, np.array(flat, np.int32)))
    return SourceRoutes(name, np.array(pairs, np.int64), routes)


def read_routes(topology: Topology, path: str | Path) -> SourceRoutes:
    """Read routes from a file: one per line, the nodes it visits by number or name.

    If hosts hang on routers, routers have the numbers behind those of the hosts. A name with
    blanks or ``#`` in it stands in quotation marks. ``b#2`` is node b by the second of several
    channels; arrows ``->`` between the nodes may be there; any other ``#`` starts a comment.

    Raises
    ------
    InputError
        Naming the file and line of a word that is no node, or of a route that is no path.
    """
    sequences: list[list[str]] = []
    places = []
    for number, line in text_lines(path, wanted="a file with one route a line"):
        words = words_of(line)
        if len(sequences) > topology.num_ends**2:
            break  # one of them is a second route, which is refused below
        if words:
            sequences.append(words)
            places.append(f"{path}:{number}")
    return source_routes(topology, sequences, name=f"routes:{path}", where=places)


def words_of(line: str) -> list[str]:
    """Return the nodes of a line, names that need them in quotation marks.

    Examples
    --------
    >>> words_of('h0 -> "leaf 1" -> spine0#2 h3  # to the second')
    ['h0', '"leaf 1"', 'spine0#2', 'h3']
    """
    words, place = list[str](), 0
    while True:
        place += len(line) - place - len(line[place:].lstrip())
        found = WORD.match(line, place)
        if found is None:  # the end, or a comment
            return words
        if found[0] != "->":
            words.append(found[0])
        place = found.end()


def write_routes(topology: Topology, routes: SourceRoutes, path: str | Path) -> None:
    """Write routes as ``read_routes`` reads them. The file is replaced where it exists.

    Nodes are written by their names where the network has such.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from netloom.topology import mesh
    >>> file = Path(mkdtemp()) / "routes.txt"
    >>> write_routes(mesh(2, 2), source_routes(mesh(2, 2), [[0, 2, 3], [1, 0]]), file)
    >>> print(file.read_text().partition(": ")[2], end="")
    routes on mesh:2x2, one per line: the nodes it visits
    0 2 3
    1 0
    """
    first = (routes.pairs // topology.num_ends).tolist()
    words = [_word(label) for label in topology.labels]
    words = words or [str(vertex) for vertex in range(topology.num_ends)]
    target, twin = topology.target_end.tolist(), topology.twin_number.tolist()
    said = f"routes on {topology.name}, one per line: the nodes it visits"
    lines, whole = [f"# netloom {__version__}: {said}"], routes.routes.whole(topology)
    for number, source in enumerate(first):
        visited = [
            words[target[channel]] + (f"#{twin[channel]}" if twin[channel] > 1 else "")
            for channel in whole[number].tolist()
        ]
        lines.append(" ".join([words[source], *visited]))
    write_text(path, "\n".join(lines) + "\n")


def _word(label: str) -> str:
    """Return a name as it stands in a file of routes."""
    if label and label != "->" and not re.search(r'[\s#"\\]', label):
        return label
    return '"' + re.sub(r'(["\\])', r"\\\1", label) + '"'


def route_numbers(
    topology: Topology, routing: SourceRoutes, sources: Ints, targets: Ints, wanted: str
) -> Ints:
    """Return the number of each pair's route. From a node to itself, one behind the last.

    Raises
    ------
    NoRouteError
        If a pair of different nodes has no route: what is ``wanted`` is then missing.
    """
    asked = sources.astype(np.int64) * topology.num_ends + targets
    number, still = np.searchsorted(routing.pairs, asked), sources == targets
    found = still | (np.append(routing.pairs, -1)[number] == asked)
    check_found(found, sources, targets, wanted, routing.name)
    return np.where(still, len(routing.pairs), number).astype(np.int32)


class Steps:
    """The words and the steps from node to node of routes on a network."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.named = NamedParts(topology)
        ends = zip(topology.source_end.tolist(), topology.target_end.tolist(), strict=True)
        self.channels: dict[tuple[int, int], list[int]] = {}
        for channel, pair in enumerate(ends):
            self.channels.setdefault(pair, []).append(channel)
        self.vertices: dict[str, int] = {}

    def route(self, words: Sequence[int | str], place: str) -> tuple[list[int], list[int]]:
        """Return the nodes and the channels of a route."""
        steps = [self.step(word, place) for word in words]
        nodes = [node for node, _ in steps]
        if len(nodes) < 2:
            wanted = "a source, a target and the nodes between"
            raise InputError(place, f"{len(nodes)} node", wanted)
        routers = self.topology.num_ends - self.topology.num_routers  # the first of their vertices
        hosts = max(nodes[0], nodes[-1]) < self.topology.num_hosts
        if not hosts or min(nodes[1:-1], default=routers) < routers:
            shown = ", ".join(_called(self.topology, node, "node ") for node in nodes[:8])
            raise InputError(place, f"a route by {shown}", "a host, the routers between, a host")
        channels = []
        for (a, b), (_, twin) in zip(pairwise(nodes), steps[1:], strict=True):
            joined = self.channels.get((a, b), [])
            if len(joined) < twin:
                one, other = (_called(self.topology, node, "node ") for node in (a, b))
                found = f"a step from {one} to {other}" + (f"#{twin}" if joined else "")
                raise InputError(place, found, f"neighbours in {self.topology.name}")
            channels.append(joined[twin - 1])
        if len(set(channels)) < len(channels):
            raise InputError(place, "a route that crosses a channel twice", "each channel once")
        return nodes, channels

    def step(self, word: int | str, place: str) -> tuple[int, int]:
        """Return the node that a word names, and by which of several channels it is entered."""
        if isinstance(word, str):
            name, mark, twin = word.rpartition("#")
            if not mark or not (twin.isascii() and twin.isdigit()):
                name, twin = word, "1"
            if name.startswith('"') and name.endswith('"') and len(name) > 1:
                name = re.sub(r"\\(.)", r"\1", name[1:-1])
            if name not in self.vertices:
                found = self.named.vertex(name)
                if found is None:
                    if not (name.isascii() and name.isdigit() and len(name) <= MOST_DIGITS):
                        numbers = f"numbers 0 to {self.topology.num_ends - 1}"
                        wanted = f"nodes by their names, or by {numbers}"
                        raise InputError(place, f"'{name}'", wanted)
                    found = self.known(int(name), place)
                self.vertices[name] = found
            return self.vertices[name], max(int(twin[:MOST_DIGITS]), 1)
        return self.known(int(word), place), 1

    def known(self, node: int, place: str) -> int:
        """Return a vertex, having made sure that there is such."""
        if not 0 <= node < self.topology.num_ends:
            raise InputError(place, f"node {node}", f"nodes 0 to {self.topology.num_ends - 1}")
        return node
