"""What the communication compiler is given and decides, and the least that it needs.

A ``Plan`` is connections in phases, each with its route. Bounds say how few phases, and how little
time, any plan can do with. They see a network as connections do (``wired``): hosts that hang on
routers send and receive as two vertices. So no path leads through a host, and whatever searches for
paths need not know what a host is.

Connections into phases: which, by which routes, in how few and how short ones.

Patterns that look alike from every node of a torus are packed as whole permutations. All
connections over one displacement, one from each node, take the same number of virtual channels of
every node and load all channels of one direction alike. So a phase is a set of such permutations,
and what was a routing problem is bin packing. All-to-all on a torus of 8x8 is 63 of them, where the
general router sees 4,032 connections. Any other connections get routes by negotiation, and move
between phases afterwards so that these last less long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError, NoRouteError
from netloom.base.provenance import DEFAULT_SEED
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
from netloom.workload.programs.messages import Lists, grouped

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
    order: Any = None,
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
        As ``connection_order`` takes it. Pairs of edges (source task, target task): the first has
        delivered its words before the second sends any. Edges between tasks of one node take no
        time: what comes before one comes before all that come after it.
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
    pairs, ordered = list[tuple[int, int]](), connection_order(order, app)
    if ordered:
        import networkx as nx

        known = zip(app.source.tolist(), app.target.tolist(), strict=True)
        edge_of = {edge: place for place, edge in enumerate(known)}
        graph = nx.DiGraph([(edge_of[first], edge_of[second]) for first, second in ordered])
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
    length, stuck = longest_ways(given.before, given.after, np.ones(len(given), np.int32))
    if stuck.any():
        first = given.describe(int(np.argmax(stuck)))
        found = f"connection {first} in, or after, a circle of constraints"
        raise InputError("order", found, "constraints without a circle")
    return length - 1


def longest_ways(
    before: Ints, after: Ints, lasting: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the longest way through an order to each of some things, and which it holds up.

    Parameters
    ----------
    before, after
        int[…], pairs: the first comes before the second.
    lasting
        How long each takes. Its way includes itself.

    Examples
    --------
    The third comes after both others. The last two wait for each other.

    >>> ways, stuck = longest_ways(np.array([0, 1, 3, 4]), np.array([2, 2, 4, 3]), np.arange(1, 6))
    >>> ways[:3], stuck
    (array([1, 2, 5]), array([False, False, False,  True,  True]))
    """
    found, waiting = lasting.copy(), np.bincount(after, minlength=len(lasting))
    later, ready = grouped(before, after, len(lasting)), np.flatnonzero(waiting == 0)
    while len(ready):
        pairs = later.taken(ready)
        ends = np.repeat(found[ready], pairs.lengths) + lasting[pairs.values]
        np.maximum.at(found, pairs.values, ends)
        np.subtract.at(waiting, pairs.values, 1)
        ready = np.unique(pairs.values[waiting[pairs.values] == 0])
    return found, waiting > 0


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
    pairs = {}
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
    why = f"{ends[node]} connections {what} at node {topology.name_of(node)}"
    return PhaseBound(int(needed[node]), f"{why}, at most {limit * places[node]} per phase")


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


# -- partition -------------------------------------------------------------------------------------


Attempt: TypeAlias = Callable[[int], Plan | None]

Method: TypeAlias = Literal["auto", "symmetric", "negotiated", "sequential"]
Objective: TypeAlias = Literal["phases", "time"]

STEP = 1.04
"""From one number of phases to the next, where more phases may take less time, ..."""

PATIENCE = 5
"""... until so many did not."""

IMPATIENCE = 4
"""Numbers of phases that are tried for a symmetric pattern before it is taken as any other."""

HURRY = 100
"""After f failures the next number of phases is higher by 1, and by f / HURRY of itself."""


def partition(
    given: Connections,
    topology: Topology,
    capacity: Capacity,
    *,
    costs: ConSetCosts | None = None,
    method: Method = "auto",
    objective: Objective = "phases",
    seed: int = DEFAULT_SEED,
) -> Plan:
    """Return connections in phases that the hardware can hold, each with its route.

    Parameters
    ----------
    given, topology, capacity
        What to connect, where, and how many connections a node or channel holds.
    costs
        Of context switches and words. IWarp's by default.
    method
        ``symmetric``: patterns that look alike from every node of a torus, as whole permutations.
        ``negotiated``: any pattern, by prices of places that are too full, and then by moving
        connections between phases until these last less long. ``sequential``: the paper's APR,
        as it is. ``auto``: the first that the pattern is fit for, or the second.
    objective
        ``phases``: as few as can be found, then as short as can be found. ``time``: as many as
        make the time of all phases and the switches between them least.
    seed
        Of what is left to chance.

    Raises
    ------
    InputError
        If the order of connections is a circle, or the method does not fit the pattern.
    NoRouteError
        If no path joins the nodes of a connection.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.phases import Capacity, connections
    >>> from netloom.topology import torus
    >>> from netloom.workload import read
    >>> everyone = connections(read("all-to-all:16"), np.arange(16), 16)
    >>> partition(everyone, torus(4, 4), Capacity(12))
    <240 connections in 4 phases on torus:4x4, at most 12 of 12 virtual channels a node, symmetric>
    """
    ranks(given)
    least = least_phases(given, topology, capacity).phases
    if not len(given):
        nothing = Paths(np.zeros(1, np.int64), np.zeros(0, np.int32))
        return Plan(topology, given, capacity, np.zeros(0, np.int32), nothing, "none")
    costs = costs if costs is not None else ConSetCosts()
    ways = {
        "symmetric": _symmetric(given, topology, capacity, costs, seed),
        "negotiated": _negotiated(given, topology, capacity, costs, seed),
        "sequential": lambda phases: sequential(given, topology, capacity, phases, seed=seed),
    }
    for name in ("symmetric", "negotiated") if method == "auto" else (method,):
        found = _fewest(ways[name], least, len(given), patient=name != "symmetric")
        if found is not None and objective == "time":
            found = _shortest(ways[name], found, costs, least_clocks(given, topology, costs))
        if found is not None:
            return balanced(found, costs, seed=seed) if name == "negotiated" else found
    wanted = "a pattern that looks alike from every node of a torus or hypercube, without an order"
    raise InputError("method 'symmetric'", given.name, wanted)


def _symmetric(
    given: Connections, topology: Topology, capacity: Capacity, costs: ConSetCosts, seed: int
) -> Attempt:
    """Return what packs whole and halved permutations, and takes the shorter phases."""
    if not isinstance(topology, Cube):
        return lambda _: None
    whole, halves = (
        permutations(given, topology, capacity, costs, halved=h) for h in (False, True)
    )
    both = [sets for sets in (whole, halves) if sets is not None]

    def attempt(phases: int) -> Plan | None:
        plans = [pack_permutations(given, topology, capacity, s, phases, seed=seed) for s in both]
        packed = [plan for plan in plans if plan is not None]
        return min(packed, key=lambda plan: phase_clocks(plan, costs).sum(), default=None)

    return attempt


def _negotiated(
    given: Connections, topology: Topology, capacity: Capacity, costs: ConSetCosts, seed: int
) -> Attempt:
    """Return what negotiates routes, and makes phases somewhat shorter.

    Equal connections are tried twice: as they come, and sorted into phases by their colors.
    """
    from netloom.phases.kernels.partition import edge_colouring

    colour = None
    if not len(given.before) and len(np.unique(given.words)) == 1:
        # As many colors as the busiest processor sends or receives connections: no fewer will do
        # (König's theorem). Phases of whole colors waste no processor's time.
        colours = max(int(np.bincount(end).max()) for end in (given.source, given.target))
        nodes = topology.num_hosts
        ends = given.source.astype(np.int64), nodes + given.target.astype(np.int64)
        colour = edge_colouring(*ends, 2 * nodes, colours)

    def attempt(phases: int) -> Plan | None:
        homes = [None]
        if colour is not None:
            homes.append(colour * phases // (int(colour.max()) + 1))
        plans = [negotiated(given, topology, capacity, phases, seed=seed, home=h) for h in homes]
        found = [plan for plan in plans if plan is not None]
        even = [balanced(plan, costs, seed=seed, most_moves=FEW_MOVES) for plan in found]
        return min(even, key=lambda plan: phase_clocks(plan, costs).sum(), default=None)

    return attempt


def _fewest(attempt: Attempt, least: int, most: int, *, patient: bool) -> Plan | None:
    """Return the plan of the fewest phases that an attempt finds. None where it finds none soon."""
    phases, failed = least, 0
    while failed < IMPATIENCE or patient:
        found = attempt(min(phases, most))
        if found is not None:
            return found
        assert phases < most or not patient, "each connection fits into a phase of its own"
        failed += 1
        phases += 1 + phases * failed // HURRY
    return None


def _shortest(attempt: Attempt, first: Plan, costs: ConSetCosts, floor: float) -> Plan:
    """Return the plan that takes least time, of those with as many phases as the first or more."""
    best, least = first, _total(first, costs)
    phases, worse = first.num_phases, 0
    while worse < PATIENCE:
        phases = max(phases + 1, int(phases * STEP))
        if phases * costs.switch_clocks + floor >= least or phases > len(first.connections):
            break
        plan = attempt(phases)
        if plan is not None and _total(plan, costs) < least:
            best, least, worse = plan, _total(plan, costs), 0
        else:
            worse += 1
    return best


def _total(plan: Plan, costs: ConSetCosts) -> float:
    """Return the clocks of all phases and the switches between them."""
    return plan.num_phases * costs.switch_clocks + float(phase_clocks(plan, costs).sum())


TRIES = 1_000_000
"""Moves that annealing tries for the first hundred permutations. In proportion for more."""

PACKING_HEAT, PENALTY = 0.3, 1.0
"""Of annealing, in largest loads of one permutation: its temperature at first, and the price of a
virtual channel too many."""


class Permutations(NamedTuple):
    """The connections of a pattern in sets that go into one phase together."""

    # The connections of each set: one from each node, or from each second one.
    members: list[Ints]
    # int64[sets, kinds], the virtual channels that each set takes of each kind of node or channel:
    # those that all sets treat alike are one kind.
    sizes: Ints
    # float64[sets, kinds], the clocks for which each set keeps a kind of channel or processor busy.
    weights: Floats
    routes: Paths  # the path of every connection


def permutations(
    given: Connections, topology: Cube, capacity: Capacity, costs: ConSetCosts, *, halved: bool
) -> Permutations | None:
    """Return a pattern's sets and their routes. None if it does not look alike from every node.

    Paths go by dimension order. Half-way round a ring they go either way, from nodes in turn.

    Parameters
    ----------
    halved
        Whether a set holds the connections of each second node, as on a chessboard. Such halves
        fill phases better. None is returned where a side is odd.
    """
    even = all(side % 2 == 0 for side in topology.sides if side > 1)
    shape = zip(topology.sides, topology.wraps, strict=True)
    closed = all(wraps or side <= 2 for side, wraps in shape)  # all nodes have like neighbours
    if not closed or len(given.before) or (halved and not even):
        return None
    ends = [np.array(np.unravel_index(end, topology.sides)) for end in (given.source, given.target)]
    apart = (ends[1] - ends[0]) % np.array(topology.sides)[:, None]
    by_node = np.lexsort((given.source, given.words, *apart))
    kinds = np.vstack([apart, given.words[None]])[:, by_node]
    changes = np.flatnonzero((kinds[:, 1:] != kinds[:, :-1]).any(axis=0)) + 1
    alike = np.split(by_node, changes)  # by displacement and words
    everywhere = np.arange(topology.num_hosts)
    if not all(np.array_equal(given.source[one], everywhere) for one in alike):
        return None
    routed = [np.zeros(0, np.int64)] * len(given)
    sets, held, busy, nodes = [], [], [], topology.num_hosts
    colour = np.sum(np.unravel_index(given.source, topology.sides), axis=0) % 2
    for one in alike:
        hops = _paths(topology, given.source[one], int(given.target[one[0]]))
        for connection, path in zip(one.tolist(), hops, strict=True):
            routed[connection] = path
        parts = [colour[one] == 0, colour[one] == 1] if halved else [np.ones(len(one), bool)]
        for part in parts:
            sets.append(one[part])
            passed = topology.channel_target[hops[part][:, :-1]].ravel()
            visited = given.source[one[part]], given.target[one[part]], passed
            on_nodes = np.array([np.bincount(at, minlength=nodes) for at in visited])
            on_channels = np.bincount(hops[part].ravel(), minlength=topology.num_channels)
            held.append(on_nodes.sum(0) if capacity.per == "node" else on_channels)
            access = on_nodes[:2].ravel() if costs.both_ways else on_nodes[0] + on_nodes[1]
            each = access * costs.clocks_per_word, on_channels * costs.channel_clocks_per_word
            busy.append(np.concatenate(each) * given.words[one[0]])
    offsets = np.cumsum([0, *map(len, routed)])
    channels = np.concatenate(routed).astype(np.int32)
    sizes, weights = (  # in one layout, so that the kernel is compiled once
        np.ascontiguousarray(np.unique(rows, axis=1)) for rows in (np.array(held), np.array(busy))
    )
    return Permutations(sets, sizes, weights, Paths(offsets, channels))


def pack_permutations(
    given: Connections,
    topology: Cube,
    capacity: Capacity,
    sets: Permutations,
    num_phases: int,
    *,
    seed: int = 1,
) -> Plan | None:
    """Return a plan of so many phases that last as short as could be found. None without one.

    Sets of connections are packed into phases by simulated annealing.
    """
    from netloom.phases.kernels.partition import pack

    if num_phases > len(sets.members) or sets.sizes.max() > capacity.virtual_channels:
        return None
    unit = max(float(sets.weights.max(axis=1).mean()), 1e-9)
    rng = np.random.default_rng(seed)
    phase_of = rng.integers(0, num_phases, len(sets.members))
    tries, limit = TRIES * max(1, len(sets.members) // 100), capacity.virtual_channels
    of = sets.sizes, sets.weights / unit, limit, num_phases, tries
    if pack(*of, PACKING_HEAT, PENALTY, rng, phase_of):
        return None
    phase = np.empty(len(given), np.int32)
    numbers = np.unique(phase_of, return_inverse=True)[1]
    for members, number in zip(sets.members, numbers.tolist(), strict=True):
        phase[members] = number
    return Plan(topology, given, capacity, phase, sets.routes, "symmetric")


def _paths(topology: Cube, source: Ints, target_of_first: int) -> Ints:
    """Return int64[nodes, hops], the channels from every node over the displacement of node 0."""
    at, hops = source.astype(np.int64), []
    coordinates = np.unravel_index(at, topology.sides)
    for axis, apart in enumerate(topology.coordinates(target_of_first)):
        side = topology.sides[axis]
        falling = np.full(len(at), 2 * apart > side)
        if 2 * apart == side:
            falling = coordinates[axis] % 2 == 1
        leaving = np.full((2, topology.num_hosts), -1, np.int64)  # rising and falling, by node
        lines = topology.num_hosts // side
        for direction in range(2):
            first = topology.line_base[axis, direction]
            channels = np.arange(first, first + lines * topology.line_channels[axis])
            leaving[direction, topology.channel_source[channels]] = channels
        for _ in range(min(apart, side - apart)):
            hops.append(leaving[falling.astype(np.int64), at])
            at = topology.channel_target[hops[-1]].astype(np.int64)
    return np.array(hops, np.int64).reshape(-1, len(at)).T


ROUNDS = 60
"""Most rounds of negotiation for one number of phases."""

STALE_ROUNDS = 12
"""Rounds without progress after which negotiation gives up."""

FIRST_PRESSURE, PRESSURE_GROWTH, MOST_PRESSURE = 0.5, 1.3, 50.0
"""The price of a place too full, as a multiple, and its growth from round to round."""

HISTORY_GROWTH = 0.3
"""What a place's price gains for good with each round and each path too many."""

RIP_UPS, RIPPED = 10, 0.25
"""Rounds of ripping up and rerouting in sequential routing, and the share ripped up in each."""

FEW = 16
"""Most connections without a route for which another round is tried although the last one left no
fewer. If there are more, random retries do not find room for all of them."""


class State(NamedTuple):
    """Routes so far, and what they make places cost.

    ``use``, ``price`` and ``history`` have a row per phase and a column per place. The price of a
    place is (1 + history) × ``table[use]``. ``phase`` is -1 without a route. The first
    ``lengths[i]`` of ``routes[i]`` are the channels of connection i.
    """

    use: Ints
    price: Floats
    history: Floats
    table: Floats
    phase: Ints
    routes: Ints
    lengths: Ints


class Task(NamedTuple):
    """What kernels know: the network, who is to be joined, and in which order."""

    # Ends and outgoing channels, places, distances, and room to search; see
    # ``routing.kernels.priced_paths``. Last, room for a path of the most hops.
    net: tuple[NDArray[np.generic], ...]
    scratch: tuple[NDArray[np.generic], ...]
    surcharge: Floats  # float64[num_channels], 0
    ends: tuple[Ints, Ints]  # sources and targets
    before: Lists  # for each connection those that come before it
    after: Lists  # and after it
    # int64[n], the order in which connections are routed: in their own order, the longest first.
    turn: Ints
    places: int  # how many places have a capacity


class Load(NamedTuple):
    """What keeps phases busy: clocks of processors, then of channels."""

    busy: Floats  # float64[phases, processors and channels]
    heights: Floats  # float64[phases], the most of each row
    squares: Floats  # float64[phases], the sum of the squares of each row
    stale: Bools  # bool[phases], whether something as busy as the height has become less so
    unit: float  # of squares
    places: tuple[int, int]  # at which receivers, then channels begin in a row
    # for each connection, the clocks that it keeps a processor, then a channel busy
    clocks: tuple[Floats, Floats]


def task_of(given: Connections, topology: Topology, capacity: Capacity, seed: int) -> Task:
    """Return what kernels need."""
    distance, net = hops_to(topology), wired(topology)
    target = (given.target + arrivals(topology)).astype(np.int32)
    hops = distance[target, given.source].astype(np.int64)
    count, channels, nodes = net.num_routers, net.num_channels, np.arange(net.num_routers)
    per_node = capacity.per == "node"
    enters = topology.target_end if per_node else np.arange(channels)
    starts = nodes % topology.num_ends if per_node else np.full_like(nodes, -1)
    longest = int(distance[np.isfinite(distance)].max(initial=1))
    ends = net.channel_source, net.channel_target
    places = enters.astype(np.int64), starts.astype(np.int64)
    tie = np.random.default_rng(seed).random(len(given))
    at_nodes = np.zeros(count), np.zeros(count, np.int64), np.zeros(count, np.int64)
    heap = np.zeros(channels + count + 1), np.zeros(channels + count + 1, np.int64)
    path = np.zeros(min(count, 3 * longest + 4), np.int32)
    return Task(
        net=(*ends, *net.outgoing(), *places, distance),
        scratch=(*at_nodes, *heap, np.zeros(count, np.bool_), path),
        surcharge=np.zeros(channels),
        ends=(given.source, target),
        before=grouped(given.after, given.before, len(given)),
        after=grouped(given.before, given.after, len(given)),
        turn=np.lexsort((tie, -hops, ranks(given))),
        places=capacity.places(topology),
    )


def negotiated(
    given: Connections,
    topology: Topology,
    capacity: Capacity,
    num_phases: int,
    *,
    seed: int = 1,
    home: Ints | None = None,
) -> Plan | None:
    """Return a plan of so many phases, found by negotiated congestion. None where it gives up.

    All connections are routed, each by its cheapest path, though places become too full. Then
    those through such places are routed again, round by round, while the prices of these places
    rise with every round in which they stay too full (PathFinder: McMurchie & Ebeling 1995),
    over the copies of the network that the phases are (Feldmann et al. 1993, section 4.4.1).

    ``seed`` is of the order in which connections are routed. ``home``: int64[n], the phase that
    each connection should be in, if that costs little.
    """
    from netloom.phases.kernels.partition import route

    task = task_of(given, topology, capacity, seed)
    state = _state(task, len(given), num_phases)
    rng, limit = np.random.default_rng(seed), capacity.virtual_channels
    turn, pressure, least, since = task.turn, FIRST_PRESSURE, np.inf, 0
    home = np.full(len(given), -1) if home is None else home
    for _ in range(ROUNDS):
        state.table[:] = 1.0 + pressure * np.maximum(0, np.arange(len(state.table)) + 1 - limit)
        state.price[:] = (1.0 + state.history) * state.table[state.use]
        lost = route(task, state, turn, limit, home, False)  # noqa: FBT003 (a kernel)
        assert lost == 0, "every place can be had at a price"
        over = np.maximum(0, state.use - limit)
        if not over.any():
            return plan_of(given, topology, capacity, state, "negotiated")
        state.history[:] += HISTORY_GROWTH * over
        since = 0 if over.sum() < least else since + 1
        least = min(least, int(over.sum()))
        if since > STALE_ROUNDS:
            break
        pressure = min(pressure * PRESSURE_GROWTH, MOST_PRESSURE)
        turn = turn if len(given.before) else rng.permutation(turn)
    return None


def sequential(
    given: Connections, topology: Topology, capacity: Capacity, num_phases: int, *, seed: int = 1
) -> Plan | None:
    """Return a plan of so many phases by the paper's APR. None where it finds none.

    One connection after the other takes the cheapest path of all phases. A place costs 1 and one
    more for each path through it. A full place cannot be used. Then, several times, some
    connections are ripped up and rerouted after those without a route, as long as that leaves
    fewer, or few, without one. This is algorithm APR of Feldmann et al. 1993, section 4.4.1, which
    leaves costs and order open. These costs, with the longest first, are the best of those tried.
    Connections that come in an order take the first phase that has room for them, not the cheapest.

    ``seed`` is of the order in which connections of one length are routed.
    """
    from netloom.phases.kernels.partition import rip_up, route

    task = task_of(given, topology, capacity, seed)
    state = _state(task, len(given), num_phases)
    rng, limit, ordered = np.random.default_rng(seed), capacity.virtual_channels, len(given.before)
    state.table[:] = 1.0 + np.arange(len(state.table))
    state.table[limit:] = np.inf
    state.price[:] = 1.0
    turn, nowhere, most = task.turn, np.full(len(given), -1), np.inf
    for again in range(RIP_UPS + 1):
        left = route(task, state, turn, limit, nowhere, bool(ordered))
        if left == 0:
            return plan_of(given, topology, capacity, state, "sequential")
        if ordered or again == RIP_UPS or left >= most:
            break
        most = max(FEW, left)
        lost = state.phase < 0
        rip_up(task, state, np.flatnonzero(rng.random(len(lost)) < RIPPED))
        turn = np.concatenate([task.turn[lost[task.turn]], task.turn[~lost[task.turn]]])
    return None


def _state(task: Task, connections: int, num_phases: int) -> State:
    """Return a state without routes."""
    places = num_phases, task.places
    return State(
        use=np.zeros(places, np.int32),
        price=np.ones(places),
        history=np.zeros(places),
        table=np.ones(connections + 2),
        phase=np.full(connections, -1, np.int32),
        routes=np.zeros((connections, len(task.scratch[-1])), np.int32),
        lengths=np.zeros(connections, np.int32),
    )


def plan_of(
    given: Connections, topology: Topology, capacity: Capacity, state: State, method: str
) -> Plan:
    """Return the plan of a state in which all is well. Phases without connections are left out."""
    offsets = np.append(0, np.cumsum(state.lengths, dtype=np.int64))
    channels = state.routes[np.arange(state.routes.shape[1]) < state.lengths[:, None]]
    phase = np.unique(state.phase, return_inverse=True)[1].astype(np.int32)
    return Plan(topology, given, capacity, phase, Paths(offsets, channels), method)


MOVES = 1000
"""Moves that are tried for each connection, ..."""

LEAST_MOVES, MOST_MOVES, FEW_MOVES = 40_000, 1_000_000, 100_000
"""... but at least and at most so many in all. Few where plans are only compared."""

BALANCING_HEAT = 0.05
"""Of annealing at first, in clocks of a mean connection."""


def phase_clocks(plan: Plan, costs: ConSetCosts) -> Floats:
    """Return float64[num_phases], the clocks of each phase's busiest processor or channel.

    No timetable of the phase can be shorter. Words of many connections interleaved come close.
    """
    return np.asarray(_busy(plan, costs)[0].max(axis=1, initial=0.0))


def balanced(
    plan: Plan, costs: ConSetCosts, *, seed: int = 1, most_moves: int = MOST_MOVES
) -> Plan:
    """Return a plan of as many phases or fewer that last less long, or the same plan.

    Connections are moved to other phases and routes, or change places, by simulated annealing of
    the sum over all phases of what their busiest processor or channel has to do.

    The plan keeps all capacities. At most ``most_moves`` are tried.
    """
    from netloom.phases.kernels.partition import balance

    given, topology = plan.connections, plan.topology
    busy, receivers = _busy(plan, costs)
    before = float(busy.max(axis=1, initial=0.0).sum())
    if plan.num_phases < 1 or before <= least_clocks(given, topology, costs):
        return plan
    task = task_of(given, topology, plan.capacity, seed)
    state = _state(task, len(given), plan.num_phases)
    state.use[:] = plan.use()
    state.phase[:], state.lengths[:] = plan.phase, plan.routes.lengths
    width = np.arange(state.routes.shape[1])
    state.routes[width < state.lengths[:, None]] = plan.routes.channels
    state.table[plan.capacity.virtual_channels :] = np.inf
    state.price[:] = state.table[state.use]
    words = given.words.astype(np.float64)
    load = Load(
        busy,
        np.zeros(plan.num_phases),
        (busy**2).sum(axis=1),
        np.ones(plan.num_phases, np.bool_),
        max(1e-9, float(busy.sum()) / plan.num_phases),
        (receivers - arrivals(topology), receivers + topology.num_hosts),
        (words * costs.clocks_per_word, words * costs.channel_clocks_per_word),
    )
    moves = min(most_moves, max(LEAST_MOVES, MOVES * len(given)))
    heat = BALANCING_HEAT * float(words.mean()) * costs.clocks_per_word
    room = np.zeros((3, len(width)), np.int32)
    balance(task, state, load, room, moves, heat, np.random.default_rng(seed))
    after = plan_of(given, topology, plan.capacity, state, plan.method)
    return after if load.heights.sum() < before else plan


def _busy(plan: Plan, costs: ConSetCosts) -> tuple[Floats, int]:
    """Return float64[phases, processors + channels] in clocks, and where receivers begin."""
    given, topology = plan.connections, plan.topology
    receivers = topology.num_hosts if costs.both_ways else 0
    processors = receivers + topology.num_hosts  # or halves of them
    clocks = given.words * costs.clocks_per_word
    hops, width = plan.routes.lengths, processors + topology.num_channels
    start = plan.phase.astype(np.int64) * width
    channels = np.repeat(start, hops) + processors + plan.routes.channels
    at = np.concatenate([start + given.source, start + receivers + given.target, channels])
    on_channels = np.repeat(given.words * costs.channel_clocks_per_word, hops)
    each = np.concatenate([clocks, clocks, on_channels])
    busy = np.bincount(at, each, plan.num_phases * width)
    return busy.astype(np.float64).reshape(-1, width), receivers
