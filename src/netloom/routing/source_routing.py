"""Routes given by the user, node by node: source routing, and the routes of careful layouts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from netloom._version import __version__
from netloom.errors import InputError, NoRouteError
from netloom.routing.ragged import Paths
from netloom.spec import whole_number
from netloom.textfiles import read_lines, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from netloom.topology import Topology


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
        The channels of each pair's route.
    """

    several: ClassVar[bool] = False

    name: str
    pairs: NDArray[np.int64]
    routes: Paths

    def __str__(self) -> str:
        return self.name


def source_routes(
    topology: Topology,
    node_sequences: Iterable[Sequence[int]],
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
        One sequence of neighbouring nodes a route; two sequences may not join the same pair.
    where
        What to call each route in an error message, such as ``routes.txt:7``.

    Raises
    ------
    InputError
        If a route is not a path of the network, crosses a channel twice, or repeats a pair.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> source_routes(mesh(2, 2), [[0, 2, 3]]).routes[0].tolist()
    [0, 5]
    """
    sequences = [list(map(int, nodes)) for nodes in node_sequences]
    channel_of = _channel_index(topology)
    found: dict[int, list[int]] = {}
    for index, nodes in enumerate(sequences):
        place = where[index] if where else f"{name}, route {index}"
        channels = _channels(topology, nodes, channel_of, place)
        pair = nodes[0] * topology.num_vertices + nodes[-1]
        if pair in found:
            raise InputError(place, f"a second route from {nodes[0]} to {nodes[-1]}", "one a pair")
        found[pair] = channels
    pairs = sorted(found)
    offsets = np.append(0, np.cumsum([len(found[pair]) for pair in pairs], dtype=np.int64))
    flat = [channel for pair in pairs for channel in found[pair]]
    return SourceRoutes(name, np.array(pairs, np.int64), Paths(offsets, np.array(flat, np.int32)))


def read_routes(topology: Topology, path: str | Path) -> SourceRoutes:
    """Read routes from a file: one a line, the nodes it visits by number; ``#`` comments.

    Raises
    ------
    InputError
        Naming the file and line of a word that is no node, or of a route that is no path.
    """
    sequences: list[list[int]] = []
    places: list[str] = []
    for where, line in read_lines(path, wanted="a file with one route a line"):
        if len(sequences) > topology.num_vertices**2:
            break  # one of them is a second route, which is refused below
        sequences.append([whole_number(word, where=where) for word in line.split()])
        places.append(where)
    return source_routes(topology, sequences, name=f"routes:{path}", where=places)


def write_routes(topology: Topology, routes: SourceRoutes, path: str | Path) -> None:
    """Write routes as ``read_routes`` reads them; the file is replaced where it exists.

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
    routes on mesh:2x2, one a line: the nodes it visits
    0 2 3
    1 0
    """
    first = routes.pairs // topology.num_vertices
    lines = [f"# netloom {__version__}: routes on {topology.name}, one a line: the nodes it visits"]
    for number, source in enumerate(first.tolist()):
        visited = topology.channel_target[routes.routes[number]].tolist()
        lines.append(" ".join(map(str, [source, *visited])))
    write_text(path, "\n".join(lines) + "\n")


def routed_paths(
    topology: Topology,
    routing: SourceRoutes,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
) -> Paths:
    """Return the given route of every pair (see ``paths``).

    Raises
    ------
    NoRouteError
        If a pair of different nodes has no route.
    """
    numbers = route_numbers(topology, routing, sources, targets, "a route for every pair")
    offsets = routing.routes.offsets
    return Paths(np.append(offsets, offsets[-1]), routing.routes.channels).taken(numbers)


def route_numbers(
    topology: Topology,
    routing: SourceRoutes,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    wanted: str,
) -> NDArray[np.int32]:
    """Return the number of each pair's route; from a node to itself, one behind the last.

    Raises
    ------
    NoRouteError
        If a pair of different nodes has no route: what is ``wanted`` is then missing.
    """
    asked = sources.astype(np.int64) * topology.num_vertices + targets
    number = np.searchsorted(routing.pairs, asked)
    missing = (sources != targets) & (np.append(routing.pairs, -1)[number] != asked)
    if missing.any():
        pair = int(np.argmax(missing))
        raise NoRouteError(int(sources[pair]), int(targets[pair]), wanted, routing.name)
    return np.where(sources == targets, len(routing.pairs), number).astype(np.int32)


def _channel_index(topology: Topology) -> dict[tuple[int, int], int]:
    ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    return {pair: channel for channel, pair in enumerate(ends)}


def _channels(
    topology: Topology, nodes: list[int], channel_of: dict[tuple[int, int], int], place: str
) -> list[int]:
    if len(nodes) < 2:
        raise InputError(place, f"{len(nodes)} node", "a source, a target and the nodes between")
    for node in nodes:
        if not 0 <= node < topology.num_vertices:
            raise InputError(place, f"node {node}", f"nodes 0 to {topology.num_vertices - 1}")
    for a, b in pairwise(nodes):
        if (a, b) not in channel_of:
            raise InputError(
                place, f"a step from node {a} to node {b}", f"neighbours in {topology.name}"
            )
    channels = [channel_of[step] for step in pairwise(nodes)]
    if len(set(channels)) < len(channels):
        raise InputError(place, "a route that crosses a channel twice", "each channel once")
    return channels
