"""What the communication compiler is given and decides: connections, in phases, with routes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.base.textfiles import read_lines
from netloom.workload.programs.messages import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints
    from netloom.routing import Paths
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

    Edge: TypeAlias = tuple[int, int]

MOST_WORDS = 2**40
"""Most words of a connection."""

FORM = "a line such as '0 1 < 2 3': the words from task 0 to 1 before those from 2 to 3"


@dataclass(frozen=True, eq=False)
class Connections:
    """Connections between nodes, numbered as given (Feldmann et al. 1993, principle 2.1).

    Make them with ``connections``, which checks. Several may join the same two nodes, and none
    joins a node to itself.

    Attributes
    ----------
    num_nodes
        Nodes of the network.
    source, target
        int32[n], the nodes that send and receive.
    words
        int64[n], what each carries: words of the machine.
    source_task, target_task
        int32[n], the tasks on those nodes.
    before, after
        int32[m], the order: connection before[j] has delivered its words before connection
        after[j] sends any.
    name
        Of the process graph they came from.
    """

    num_nodes: int
    source: Ints
    target: Ints
    words: Ints
    source_task: Ints
    target_task: Ints
    before: Ints
    after: Ints
    name: str

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        order = f", {len(self.before)} in order" if len(self.before) else ""
        return f"<{len(self)} connections of {self.name}, {int(self.words.sum())} words{order}>"

    def describe(self, connection: int) -> str:
        """Return ``3 -> 5``: the tasks that a connection joins."""
        return f"{self.source_task[connection]} -> {self.target_task[connection]}"


def connections(
    app: ProcessGraph,
    node_of: ArrayLike,
    num_nodes: int,
    *,
    words: int | None = None,
    word_bytes: int = 4,
    order: Sequence[tuple[Edge, Edge]] = (),
    group: Ints | None = None,
) -> Connections:
    """Return a connection for every edge of a mapped process graph whose tasks are apart.

    Parameters
    ----------
    app
        Who talks to whom. Its bytes are the words, where those are not given.
    node_of
        int[num_tasks], the node of each task.
    num_nodes
        Nodes of the network.
    words
        Words of every connection. By default its bytes, in words.
    word_bytes
        Bytes of a word. The last word of a connection may be padded.
    order
        Pairs of edges (source task, target task): the first has delivered its words before the
        second sends any. Edges between tasks of one node take no time: what comes before one
        comes before all that come after it.
    group
        int32[num_nodes], alike for nodes whose tasks need no connections, as
        ``Topology.local_group`` has them. By default all differ.

    Raises
    ------
    InputError
        If there is no such node, words are negative or too many, an edge of the order is not one of
        the graph's, or the order is a circle.

    Examples
    --------
    >>> from netloom.workload import read
    >>> ring = read("ring:4")
    >>> connections(ring, [0, 1, 2, 3], 4, words=8, order=[((0, 1), (1, 2))])
    <8 connections of ring:4, 64 words, 1 in order>
    """
    if words is not None and not 0 <= words <= MOST_WORDS:
        raise InputError("words", f"{words}", f"0 to {MOST_WORDS}")
    if not 1 <= word_bytes <= 2**20:
        raise InputError("word_bytes", f"{word_bytes}", f"1 to {2**20} bytes")
    nodes = np.asarray(node_of, np.int32)
    assert len(nodes) == app.num_tasks, "each task has a node"
    outside = nodes[(nodes < 0) | (nodes >= num_nodes)]
    if outside.size:
        raise InputError("node_of", f"node {outside[0]}", f"0 to {num_nodes - 1}")
    source, target = nodes[app.source], nodes[app.target]
    places = nodes if group is None else group[nodes]
    apart = np.flatnonzero(places[app.source] != places[app.target])
    carried = np.ceil(app.bytes / word_bytes) if words is None else np.full(app.num_edges, words)
    most = float(carried.max(initial=0.0))
    if most > MOST_WORDS:
        raise InputError(app.name, f"{most:.3g} words on an edge", f"at most {MOST_WORDS}")
    before, after = _order_of(app, apart, order)
    made = Connections(
        num_nodes=num_nodes,
        source=source[apart],
        target=target[apart],
        words=carried[apart].astype(np.int64),
        source_task=app.source[apart],
        target_task=app.target[apart],
        before=before,
        after=after,
        name=app.name,
    )
    ranks(made)  # refuses a circle
    return made


def ranks(given: Connections) -> Ints:
    """Return int32[n], the longest chain of connections that come before each one.

    Raises
    ------
    InputError
        If the order is a circle.

    Examples
    --------
    >>> from netloom.workload import read
    >>> ring = read("ring:3")
    >>> ranks(connections(ring, [0, 1, 2], 3, order=[((0, 1), (1, 2))])).tolist()
    [0, 0, 0, 1, 0, 0]
    """
    rank, waiting = np.zeros(len(given), np.int32), np.bincount(given.after, minlength=len(given))
    later = grouped(given.before, given.after, len(given))
    ready = np.flatnonzero(waiting == 0).tolist()
    for done in ready:  # grows as it goes
        for other in later.of(done).tolist():
            rank[other] = max(rank[other], rank[done] + 1)
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    if len(ready) < len(given):
        stuck = int(np.flatnonzero(waiting)[0])
        found = f"connection {given.describe(stuck)} in, or after, a circle of constraints"
        raise InputError("order", found, "constraints without a circle")
    return rank


def _order_of(
    app: ProcessGraph, apart: Ints, order: Sequence[tuple[Edge, Edge]]
) -> tuple[Ints, Ints]:
    """Return the numbers of the connections that come before, and after, each other."""
    edge_of = {
        (int(start), int(end)): edge
        for edge, (start, end) in enumerate(zip(app.source, app.target, strict=True))
    }
    number = np.full(app.num_edges, -1, np.int32)
    number[apart] = np.arange(len(apart))
    earlier: dict[int, set[int]] = {}
    later: dict[int, set[int]] = {}
    for first, second in order:
        for start, end in (first, second):
            if (start, end) not in edge_of:
                raise InputError("order", f"{start} -> {end}", f"edges of {app.name}")
        later.setdefault(edge_of[first], set()).add(edge_of[second])
        earlier.setdefault(edge_of[second], set()).add(edge_of[first])
    for edge in sorted(edge for edge in earlier.keys() | later.keys() if number[edge] < 0):
        _skip(edge, earlier, later)
    pairs = sorted((number[a], number[b]) for a, following in later.items() for b in following)
    both = np.array(pairs, np.int32).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _skip(edge: int, earlier: dict[int, set[int]], later: dict[int, set[int]]) -> None:
    """Take an edge out of the order: all that came before it now come before all after it."""
    firsts, lasts = (of.pop(edge, set()) - {edge} for of in (earlier, later))
    for each in firsts:
        later[each] = later[each] - {edge} | lasts
    for each in lasts:
        earlier[each] = earlier[each] - {edge} | firsts


def connection_order(given: Any, graph: ProcessGraph) -> list[tuple[Edge, Edge]]:
    r"""Return pairs of edges, the first of which has delivered before the second sends.

    ``given`` is None, the pairs themselves, or the path of a file with a pair a line:
    ``0 1 < 2 3`` for the edges 0 -> 1 and 2 -> 3 of the graph. ``#`` starts a comment.

    Raises
    ------
    InputError
        Naming the file and line, or the pair, that cannot be read or is of no edge of the graph.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload import read
    >>> file = Path(mkdtemp()) / "order"
    >>> _ = file.write_text("# once round\n0 1 < 1 2\n1 2 < 2 3\n")
    >>> connection_order(file, read("ring:4"))
    [((0, 1), (1, 2)), ((1, 2), (2, 3))]
    """
    if given is None:
        return []
    if isinstance(given, str | Path):
        pairs = {place: _pair(words, place) for place, words in read_lines(given, wanted=FORM)}
    else:
        pairs = {f"order[{place}]": edges for place, edges in enumerate(_array(given))}
    known = set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    for place, edges in pairs.items():
        for start, end in edges:
            if (start, end) not in known:
                raise InputError(place, f"{start} -> {end}", f"edges of {graph.name}")
    return list(pairs.values())


def _pair(words: str, place: str) -> tuple[Edge, Edge]:
    sides = [side.split() for side in words.split("<")]
    if [len(side) for side in sides] != [2, 2]:
        raise InputError(place, f"'{words}'", FORM)
    first, second = ((whole_number(a, where=place), whole_number(b, where=place)) for a, b in sides)
    return first, second


def _array(given: Any) -> list[tuple[Edge, Edge]]:
    wanted = "pairs of edges, such as [((0, 1), (2, 3))]"
    try:
        pairs = np.asarray(given)
    except ValueError:
        raise InputError("order", "lists of unequal lengths", wanted) from None
    if not pairs.size:
        return []
    if pairs.shape[1:] != (2, 2) or pairs.dtype.kind not in "iu":
        raise InputError("order", f"{pairs.dtype} of shape {pairs.shape}", wanted)
    return [((a, b), (c, d)) for (a, b), (c, d) in pairs.tolist()]


MOST_CHANNELS = 2**15
"""Most virtual channels of a node or channel."""


@dataclass(frozen=True)
class Capacity:
    """How many connections the hardware holds at once, at every node or on every channel.

    Parameters
    ----------
    virtual_channels
        Virtual channels of each node or channel. On iWarp (logical channels) 12 of the 20 of a
        node were free for connections.
    per
        ``node``: a connection takes one at every node of its path, both ends included. So the
        paper counts (section 4.4.1). ``channel``: one on every channel of its path. Wavelengths
        of an optical network, or VCs that each channel has of its own. If hosts hang on routers,
        both are nodes, and their own channels count as all others do.

    Raises
    ------
    InputError
        If there are none, or too many.
    """

    virtual_channels: int
    per: Literal["node", "channel"] = "node"

    def __post_init__(self) -> None:
        if not 1 <= self.virtual_channels <= MOST_CHANNELS:
            wanted = f"1 to {MOST_CHANNELS} virtual channels a {self.per}"
            raise InputError("channels", f"{self.virtual_channels}", wanted)

    def places(self, topology: Topology) -> int:
        """Return the number of nodes or channels that have this capacity each."""
        return topology.num_ends if self.per == "node" else topology.num_channels


@dataclass(frozen=True, eq=False)
class Plan:
    """Connections in phases, each with its route. See ``partition`` and ``verify``.

    Attributes
    ----------
    topology, connections, capacity
        What it was asked for.
    phase
        int32[n], the phase of each connection. Phases follow one another from 0 on. All
        connections of a phase are active at once.
    routes
        The channels of each connection's path, in order.
    method
        How it was found: ``symmetric``, ``negotiated`` or ``sequential``.
    """

    topology: Topology
    connections: Connections
    capacity: Capacity
    phase: Ints
    routes: Paths
    method: str

    @property
    def num_phases(self) -> int:
        """Number of phases."""
        return int(self.phase.max(initial=-1)) + 1

    def use(self) -> Ints:
        """Return int64[num_phases, nodes or channels], the virtual channels taken."""
        places = self.capacity.places(self.topology)
        hop_phase = np.repeat(self.phase, self.routes.lengths).astype(np.int64)
        if self.capacity.per == "channel":
            taken = hop_phase * places + self.routes.channels
        else:
            entered = hop_phase * places + self.topology.target_end[self.routes.channels]
            first = self.phase.astype(np.int64) * places + self.connections.source
            taken = np.concatenate([entered, first])
        shape = self.num_phases, places
        return np.bincount(taken, minlength=self.num_phases * places).reshape(shape)

    def __repr__(self) -> str:
        most, limit = int(self.use().max(initial=0)), self.capacity
        return (
            f"<{len(self.connections)} connections in {self.num_phases} phases on"
            f" {self.topology.name}, at most {most} of {limit.virtual_channels} virtual channels"
            f" a {limit.per}, {self.method}>"
        )
