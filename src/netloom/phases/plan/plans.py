"""What the communication compiler is given and decides, and the least that it needs.

A ``Plan`` is connections in phases, each with its route. Bounds say how few phases, and how little
time, any plan can do with. They see a network as connections do (``wired``): hosts that hang on
routers send and receive as two vertices. So no path leads through a host, and whatever searches for
paths need not know what a host is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError, NoRouteError
from netloom.base.spec import whole_number
from netloom.base.textfiles import read_lines
from netloom.base.words import counted
from netloom.bounds.cuts import of_hosts, router_sets
from netloom.bounds.demand import Demand, crossing, leading_out
from netloom.contention.messages import ConSetCosts
from netloom.routing import Paths
from netloom.routing.ragged import legs
from netloom.topology import Cube, Topology, hop_distances, slabs
from netloom.workload import ProcessGraph
from netloom.workload.programs.messages import grouped

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
    number = np.full(app.num_edges, -1, np.int32)
    number[apart] = np.arange(len(apart))
    pairs: list[tuple[int, int]] = []
    if len(order):
        import networkx as nx

        known = zip(app.source.tolist(), app.target.tolist(), strict=True)
        edge_of = {edge: place for place, edge in enumerate(known)}
        for start, end in (edge for pair in order for edge in pair):
            if (start, end) not in edge_of:
                raise InputError("order", f"{start} -> {end}", f"edges of {app.name}")
        graph = nx.DiGraph([(edge_of[first], edge_of[second]) for first, second in order])
        for edge in [each for each in graph if number[each] < 0]:
            # taken out of the order: all that came before it now come before all after it
            ends = graph.pred[edge].keys() - {edge}, graph.succ[edge].keys() - {edge}
            graph.add_edges_from(product(*ends))
            graph.remove_node(edge)
        pairs = sorted((number[first], number[second]) for first, second in graph.edges)
    before, after = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
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
    pairs: dict[str, tuple[Edge, Edge]] = {}
    if isinstance(given, str | Path):
        for place, words in read_lines(given, wanted=FORM):
            sides = [side.split() for side in words.split("<")]
            if [len(side) for side in sides] != [2, 2]:
                raise InputError(place, f"'{words}'", FORM)
            (a, b), (c, d) = ([whole_number(task, where=place) for task in side] for side in sides)
            pairs[place] = (a, b), (c, d)
    else:
        wanted = "pairs of edges, such as [((0, 1), (2, 3))]"
        try:
            array = np.asarray(given)
        except ValueError:
            raise InputError("order", "lists of unequal lengths", wanted) from None
        if not array.size:
            return []
        if array.shape[1:] != (2, 2) or array.dtype.kind not in "iu":
            raise InputError("order", f"{array.dtype} of shape {array.shape}", wanted)
        for number, ((a, b), (c, d)) in enumerate(array.tolist()):
            pairs[f"order[{number}]"] = (a, b), (c, d)
    known = set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    for place, edges in pairs.items():
        for start, end in edges:
            if (start, end) not in known:
                raise InputError(place, f"{start} -> {end}", f"edges of {graph.name}")
    return list(pairs.values())


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


# -- bounds ----------------------------------------------------------------------------------------


MOST_NODES = 2**13
"""Most nodes of a network. A table holds the distance of every pair."""


@dataclass(frozen=True)
class PhaseBound:
    """The fewest phases that any plan can have, and why.

    Attributes
    ----------
    phases
        The largest of the bounds; 0 without connections.
    why
        What would be too full with fewer phases.
    """

    phases: int
    why: str


def hops_to(topology: Topology) -> Floats:
    """Return float64[nodes, nodes], the hops to each node (row) from each one. Inf: no path.

    If hosts hang on routers, nodes are the vertices of ``wired``, and hosts' channels are hops.

    Raises
    ------
    InputError
        If there are too many nodes.
    """
    net = wired(topology)
    if net.num_routers > MOST_NODES:
        most = MOST_NODES
        found = f"{topology.num_hosts} nodes"
        if not topology.direct:
            found = f"{topology.num_hosts} hosts, twice, and {topology.num_routers} routers"
        raise InputError("topology", found, f"at most {most}")
    return hop_distances(net, backwards=True)


def least_phases(given: Connections, topology: Topology, capacity: Capacity) -> PhaseBound:
    """Return the fewest phases that any plan can have.

    There are three bounds. A connection takes at least the virtual channels of a shortest path. A
    node can start and end only a certain number. All connections that leave a part of the network
    must use the few nodes or channels at its edge. A part is a half or less of a torus or mesh, a
    leaf or a pod.

    Raises
    ------
    NoRouteError
        If no path joins the nodes of a connection.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.phases import Capacity, connections
    >>> from netloom.topology import torus
    >>> from netloom.workload import read
    >>> everyone = connections(read("all-to-all:64"), np.arange(64), 64)
    >>> least_phases(everyone, torus(8, 8), Capacity(12))  # doctest: +NORMALIZE_WHITESPACE
    PhaseBound(phases=27,
        why='shortest paths take 20,416 virtual channels of nodes, at most 768 per phase')
    """
    hops = _hops(given, topology)
    if not np.isfinite(hops).all():
        lost = int(np.argmax(~np.isfinite(hops)))
        ends = int(given.source[lost]), int(given.target[lost])
        raise NoRouteError(*ends, "a network that joins every connection's nodes", topology.name)
    if not len(given):
        return PhaseBound(0, "there is nothing to connect")
    return max(_bounds(given, topology, capacity, hops), key=lambda bound: bound.phases)


def least_clocks(given: Connections, topology: Topology, costs: ConSetCosts) -> float:
    """Return the clocks that all words need at least, context switches left out.

    The busiest processor has to send and receive its words. All channels together have to carry
    every word over a shortest path. The channels around a part of the network have to carry the
    words that leave it.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.contention.messages import ConSetCosts
    >>> from netloom.phases import connections
    >>> from netloom.topology import torus
    >>> from netloom.workload import read
    >>> everyone = connections(read("all-to-all:64"), np.arange(64), 64, words=1)
    >>> least_clocks(everyone, torus(8, 8), ConSetCosts())
    128.0
    """
    words = given.words.astype(np.float64)
    sent, received = (np.bincount(end, words, 1) for end in (given.source, given.target))
    if costs.both_ways:
        access = max(sent.max(), received.max())
    else:
        access = (np.bincount(np.append(given.source, given.target), np.tile(words, 2), 1)).max()
    hops = _hops(given, topology)
    shared = float(hops @ words) / max(1, topology.num_network_channels)
    for moved, leads in zip((sent, received), _own_channels(topology), strict=True):
        shared = max(shared, float(moved.max()) / max(1, int(leads.max())))
    demand = Demand((), given.source, given.target, words)
    for part in _parts(topology):
        for leaving, edge in _leaving(topology, part, demand):
            shared = max(shared, float((leaving / np.maximum(1, edge)).max()))
    return max(float(access) * costs.clocks_per_word, shared * costs.channel_clocks_per_word)


def _bounds(
    given: Connections, topology: Topology, capacity: Capacity, hops: Floats
) -> Iterator[PhaseBound]:
    """Yield the bounds of all, of each node, and of what leaves, enters or touches each part."""
    limit, per = capacity.virtual_channels, capacity.per
    taken = int(hops.sum()) + (len(given) if per == "node" else 0)
    most = limit * (topology.num_routers if per == "node" else topology.num_network_channels)
    most = max(1, most)
    why = f"shortest paths take {taken:,} virtual channels of {per}s, at most {most:,} per phase"
    yield PhaseBound(-(-taken // most), why)
    sent, ended = (
        np.bincount(end, minlength=topology.num_hosts) for end in (given.source, given.target)
    )
    if per == "node":
        yield _at_node(sent + ended, np.ones_like(sent), limit, topology, "start or end")
    else:
        out, into = _own_channels(topology)
        yield _at_node(sent, out, limit, topology, "start")
        yield _at_node(ended, into, limit, topology, "end")
    demand = Demand((), given.source, given.target, np.ones(len(given)))
    each = _leaving if per == "channel" else _touching
    for part in _parts(topology):
        both = zip(*each(topology, part, demand), strict=True)
        crossed, edge = (np.stack(some) for some in both)
        room = capacity.virtual_channels * np.maximum(1, edge)
        needed = -(-crossed // room)
        way, at = np.unravel_index(int(needed.argmax()), needed.shape)
        nodes = np.bincount(part[part >= 0])[at]
        if not topology.direct:
            nodes += np.count_nonzero((np.stack(of_hosts(topology, part)) == at).all(axis=0))
        why = (
            f"{crossed[way, at]:.0f} connections cross the edge of {counted(int(nodes), 'node')}, "
            f"at most {room[way, at]:.0f} per phase"
        )
        yield PhaseBound(int(needed[way, at]), why)


def _at_node(ends: Ints, places: Ints, limit: int, topology: Topology, what: str) -> PhaseBound:
    """Return the bound of the node with the most connections for its places."""
    needed = -(-ends // np.maximum(1, limit * places))
    node = int(np.argmax(needed))
    return PhaseBound(
        int(needed[node]),
        f"{ends[node]} connections {what} at node {topology.name_of(node)}, at most"
        f" {limit * places[node]} per phase",
    )


def _leaving(topology: Topology, part: Ints, demand: Demand) -> Iterator[tuple[Floats, Floats]]:
    """Yield what leaves each part and the channels that lead out, and the same of what enters."""
    inside, count = topology.routers, int(part.max()) + 1
    channels = inside.channel_source, inside.channel_target, np.ones(inside.num_channels)
    ways = crossing(demand, *of_hosts(topology, part), count)
    yield from zip(ways, leading_out(part, *channels), strict=True)


def _touching(topology: Topology, part: Ints, demand: Demand) -> Iterator[tuple[Floats, Floats]]:
    """Yield what takes one of the routers at the edge of each part, and how many these are."""
    inside, count = topology.routers, int(part.max()) + 1
    start, end = inside.channel_source, inside.channel_target
    edge = np.zeros(inside.num_routers, np.bool_)
    across = part[start] != part[end]
    edge[start[across]] = edge[end[across]] = True
    edge &= part >= 0
    begins, ends = of_hosts(topology, part)
    first, last = of_hosts(topology, np.arange(inside.num_routers))
    source, target = begins[demand.source], ends[demand.target]
    known = (source >= 0) & (target >= 0)
    takes = (source != target) | edge[first[demand.source]] | edge[last[demand.target]]
    touching = np.bincount(source[known & takes], minlength=count)
    touching += np.bincount(target[known & (source != target)], minlength=count)
    yield touching.astype(np.float64), np.bincount(part[edge], minlength=count).astype(np.float64)


def _hops(given: Connections, topology: Topology) -> Floats:
    """Return the hops between routers that each connection takes at least. Inf: no path."""
    ends = legs(topology, given.source, given.target)
    return np.asarray(hops_to(topology.routers)[ends.exit, ends.entry])


def _own_channels(topology: Topology) -> tuple[Ints, Ints]:
    """Return how many channels leave and enter each host, of its router where it is one."""
    ends, hosts = (topology.source_end, topology.target_end), topology.num_hosts
    out, into = (np.bincount(end, minlength=topology.num_ends)[:hosts] for end in ends)
    return out, into


def _parts(topology: Topology) -> Iterator[Ints]:
    """Yield parts of a network, int64[num_routers]: slabs of a grid, routers, and pods."""
    if isinstance(topology.routers, Cube):
        for inside in slabs(topology.routers):
            yield (~inside).astype(np.int64)
    for _, part, _ in router_sets(topology):
        yield part


def wired(topology: Topology) -> Topology:
    """Return a direct network of the same channels, in which paths may lead through any vertex.

    A direct network is that itself. Of others, host h receives as vertex
    ``arrivals(topology) + h``. All other vertices keep their numbers.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> tree = topology("leaf-spine:2x1x1")
    >>> net = wired(tree)
    >>> net.num_routers, net.channel_target[-2:].tolist()
    (7, [5, 6])
    """
    if topology.direct:
        return topology
    inside, hosts, first = topology.routers, topology.num_hosts, arrivals(topology)
    into = topology.injection_router
    begin = hosts + inside.channel_source, topology.port_host, hosts + topology.ejection_router
    end = hosts + inside.channel_target, hosts + into, first + topology.port_host
    source, target = (np.concatenate(each).astype(np.int32) for each in (begin, end))
    return Topology(topology.name, first + hosts, source, target)


def arrivals(topology: Topology) -> int:
    """Return the vertex as which host 0 receives in ``wired``."""
    return 0 if topology.direct else topology.num_hosts + topology.num_routers
