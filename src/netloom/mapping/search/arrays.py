"""A program, a network and its places as the search kernel wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.contention import measure
from netloom.mapping.search.loads import on_paths
from netloom.routing import DimensionOrder, Paths, Routing, paths
from netloom.routing.dimension_order import CubeTables, cube_tables
from netloom.topology import Topology, hop_distances, mesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.workload import ProcessGraph

MOST_TABLED = 512
"""Nodes up to which the paths of all pairs are looked up where they could be walked, ..."""

MOST_PAIRS = 2**22
"""... and pairs of nodes up to which they are where they cannot."""

MOST_DISTANCES = 4096
"""Nodes up to which the distances of all pairs are looked up."""

MOST_ROUTED = 2**20
"""Pairs whose paths are listed at a time."""

FEW_NEAR = 4
"""Other hosts that count as near at least, where no channels join hosts."""


class Graph(NamedTuple):
    """For each item, the items it is joined to, and the weights to and from them."""

    offsets: Ints
    others: Ints
    out: Floats
    into: Floats


SPARED = 0.05
"""Share of what a program sends that a light one may be without."""

DRAWS = 32
"""Partners of each item that are drawn from: each as often as its share of the weight rounds to."""


def drawn_partners(graph: Graph) -> Ints:
    """Return partners of each item, int64[items, DRAWS], by weight, or -1 if there is none.

    A partner with a share s of what an item sends and receives is there about s × ``DRAWS`` times.

    Examples
    --------
    >>> graph = Graph(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0]), np.ones(4), np.zeros(4))
    >>> np.bincount(drawn_partners(graph)[0]).tolist()
    [0, 16, 16]
    """
    items = len(graph.offsets) - 1
    before = np.append(0.0, np.cumsum(np.maximum(graph.out + graph.into, 0.0)))
    first, last = before[graph.offsets[:-1]], before[graph.offsets[1:]]
    share = (np.arange(DRAWS) + 0.5) / DRAWS
    marks = first[:, None] + (last - first)[:, None] * share
    at = np.searchsorted(before, marks.ravel(), side="right").reshape(items, DRAWS) - 1
    at = np.clip(at, graph.offsets[:-1, None], np.maximum(graph.offsets[1:] - 1, 0)[:, None])
    found = np.full((items, DRAWS), -1, np.int64)
    joined = last > first
    found[joined] = graph.others[at[joined]]
    return found


class Net(NamedTuple):
    """A network's tables. See ``kernels.search``."""

    cube: CubeTables
    offsets: Ints
    channels: Ints
    distance: NDArray[Any]  # int16 or, where a pair has several paths, float64
    shares: Floats


@dataclass(frozen=True, eq=False)
class SearchArrays:
    """What stays the same in a search."""

    # graph, net: program and network.
    graph: Graph
    net: Net
    # light, base: the program without what matters little, and the load of each channel that all
    # pairs of tasks alike make; see ``light_graph``. Both are those of the program where little is
    # saved.
    light: Graph
    base: Floats
    partners: Ints  # of each item, drawn by weight; see ``drawn_partners``
    place_node: Ints  # int64[places], the node of each place
    # int64[places], the row of that node in tables: its number, or that among the nodes that may be
    # used where hosts hang on routers.
    place_row: Ints
    # The places around each node: those of itself and of its neighbours, as a ragged array.
    near: tuple[Ints, Ints]
    # num_tasks, num_channels: counts.
    num_tasks: int
    num_channels: int


def search_arrays(
    app: ProcessGraph,
    topology: Topology,
    routing: Routing,
    weights: Floats,
    nodes: Ints,
    tasks_per_node: int,
    pace: Floats | None = None,
) -> SearchArrays:
    """Return the arrays of a search.

    ``pace``: float64[num_channels], what a unit of load on each channel counts; 1 by default.

    Raises
    ------
    InputError
        If the network is too large for its routing.
    """
    place_node = np.repeat(nodes, tasks_per_node).astype(np.int64)
    counts = np.ones(topology.num_channels) if pace is None else pace
    graph, net = _graph(app, weights, len(place_node)), _net(topology, routing, nodes, counts)
    light, alike = light_graph(graph, full=app.num_tasks == len(place_node))
    base = np.zeros(topology.num_channels)
    place_row = place_node if topology.direct else np.searchsorted(nodes, place_node)
    if alike:
        used, held = np.unique(place_node, return_counts=True)
        source, target = _pairs(topology, used, used)
        sent = alike * np.outer(held, held).ravel()
        if len(net.offsets) > 1 and not topology.direct:
            carried = np.repeat(sent, np.diff(net.offsets))
            shared = carried * net.shares if len(net.shares) else carried
            base += np.bincount(net.channels, shared, topology.num_channels)
        else:
            base += measure(topology, routing, source, target, sent).weighted_channel_load * counts
    return SearchArrays(
        graph=graph,
        net=net,
        light=light,
        base=base,
        partners=drawn_partners(light),
        place_node=place_node,
        place_row=place_row,
        near=_near(topology, place_node)
        if topology.direct
        else _nearest(net.distance, place_row, tasks_per_node),
        num_tasks=app.num_tasks,
        num_channels=topology.num_channels,
    )


def light_graph(graph: Graph, *, full: bool) -> tuple[Graph, float]:
    """Return a program without what matters little, and what is sent from each task to each other.

    What all pairs send alike loads channels alike under every mapping, if every place is taken
    (``full``): so the median weight of all pairs is taken off each of them. Of what then is left,
    positive or negative, the least goes, up to ``SPARED`` of the sum. The graph stays as it is,
    and nothing is sent alike, unless that halves it.

    Examples
    --------
    Five tasks all send 1 to each other, and the first sends 9 more to the second:

    >>> offsets, others = np.arange(0, 21, 4), np.nonzero(~np.eye(5, dtype=bool))[1]
    >>> out, into = np.ones(20), np.ones(20)
    >>> out[0] = into[4] = 10
    >>> light, alike = light_graph(Graph(offsets, others, out, into), full=True)
    >>> light.offsets.tolist(), light.others.tolist(), light.out.tolist(), alike
    ([0, 1, 2, 2, 2, 2], [1, 0], [9.0, 0.0], 1.0)
    """
    items = len(graph.offsets) - 1
    alike = 0.0
    if full and len(graph.others) > items * (items - 1) // 2:
        sent = np.append(graph.out, np.zeros(items * (items - 1) - len(graph.out)))
        alike = float(np.median(sent))
    item, other, out, into = (np.repeat(np.arange(items), np.diff(graph.offsets)), *graph[1:])
    if alike:
        dense = np.zeros((2, items, items))
        dense[0, item, other], dense[1, item, other] = out, into
        item, other = np.nonzero(~np.eye(items, dtype=np.bool_))
        out, into = (dense[:, item, other] - alike).astype(np.float64)
    size = np.abs(out) + np.abs(into)
    order = np.argsort(size, kind="stable")
    least = int(np.searchsorted(np.cumsum(size[order]), SPARED * size.sum(), side="right"))
    kept = size >= np.append(size[order], np.inf)[least]  # both ends of a pair, which are as large
    if 2 * int(kept.sum()) > len(graph.others):
        return graph, 0.0
    counts = np.bincount(item[kept], minlength=items)
    offsets = np.append(0, np.cumsum(counts)).astype(np.int64)
    return Graph(offsets, other[kept].astype(np.int64), out[kept], into[kept]), alike


def _graph(app: ProcessGraph, weights: Floats, items: int) -> Graph:
    low = np.minimum(app.source, app.target).astype(np.int64)
    high = np.maximum(app.source, app.target).astype(np.int64)
    pairs, pair = np.unique(low * items + high, return_inverse=True)
    up = app.source < app.target
    upwards = np.bincount(pair[up], weights[up], len(pairs)).astype(np.float64)
    downwards = np.bincount(pair[~up], weights[~up], len(pairs)).astype(np.float64)
    ends = np.concatenate([pairs // items, pairs % items])
    order = np.argsort(ends, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(ends, minlength=items)))
    others = np.concatenate([pairs % items, pairs // items])
    out, into = np.append(upwards, downwards), np.append(downwards, upwards)
    return Graph(offsets.astype(np.int64), others[order], out[order], into[order])


def _net(topology: Topology, routing: Routing, nodes: Ints, pace: Floats) -> Net:
    number = topology.num_hosts
    if isinstance(routing, DimensionOrder) and topology.direct and number > MOST_TABLED:
        none = np.zeros(0, np.int64), np.zeros(0, np.int32)
        distance = np.zeros((0, 0), np.int16)
        if number <= MOST_DISTANCES:
            distance = hop_distances(topology).astype(np.int16)
        return Net(cube_tables(topology, routing), *none, distance, np.zeros(0))
    rows = nodes.astype(np.int64)
    if not topology.direct:
        number, rows = len(nodes), np.arange(len(nodes))
    if number * number > MOST_PAIRS:
        what = "dimension order" if topology.direct else "an allocation of so many"
        wanted = f"at most {int(MOST_PAIRS**0.5)} nodes, or {what}"
        raise InputError("topology", f"{number} nodes with {routing} routing", wanted)
    lengths = np.zeros(number * number, np.int64)
    hops = np.zeros(number * number, np.float64 if routing.several else np.int16)
    parts = []
    step = max(1, MOST_ROUTED // len(nodes))
    for first in range(0, len(nodes), step):
        some = slice(first, first + step)
        source, target = _pairs(topology, nodes[some], nodes)
        pair = (rows[some, None] * number + rows).ravel()
        routed = paths(topology, routing, source, target)
        lengths[pair], hops[pair], *part = _crossed(topology, routed, len(pair), pace)
        parts.append(part)
    channels, shares = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Net(
        cube_tables(mesh(1), DimensionOrder()),
        np.append(0, np.cumsum(lengths)),
        channels,
        hops.reshape(number, number),
        np.zeros(0) if (shares == 1).all() else shares,
    )


def _pairs(
    topology: Topology, sources: NDArray[Any], targets: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all pairs of hosts, the targets of those inside nodes as their sources."""
    source, target = (each.ravel() for each in np.meshgrid(sources, targets, indexing="ij"))
    return source, np.where(topology.crosses(source, target), target, source)


def _crossed(
    topology: Topology, routed: Paths, pairs: int, pace: Floats
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return how many channels that count each pair crosses, its hops, the channels and shares.

    A channel's share is what counts there of a unit that the pair sends. One that several paths of
    a pair cross is there once.
    """
    pair_of = np.arange(len(routed)) if routed.pair is None else routed.pair.astype(np.int64)
    pair = np.repeat(pair_of, routed.lengths)
    channels: Ints
    share: NDArray[Any] = np.repeat(on_paths(routed, np.ones(pairs)), routed.lengths)
    inside = routed.channels < topology.num_network_channels
    hops = np.bincount(pair[inside], share[inside], pairs).astype(np.float64)
    counts = pace[routed.channels] > 0
    pair, channels, share = pair[counts], routed.channels[counts].astype(np.int64), share[counts]
    if routed.pair is not None:
        keys, at = np.unique(pair * topology.num_channels + channels, return_inverse=True)
        share = np.bincount(at, share, len(keys))
        pair, channels = (
            keys // topology.num_channels,
            (keys % topology.num_channels).astype(np.int32),
        )
    return np.bincount(pair, minlength=pairs), hops, channels, share * pace[channels]


def _nearest(distance: NDArray[Any], place_row: Ints, tasks_per_node: int) -> tuple[Ints, Ints]:
    """Return the places of each host and of those nearest to it: ``FEW_NEAR`` or more.

    ``place_row``: of each host in turn, as many times as it has tasks.
    """
    apart = np.minimum(distance, distance.T)
    few = min(FEW_NEAR, len(apart) - 1)
    near = apart <= np.partition(apart, few, axis=1)[:, few, None]
    offsets = np.append(0, np.cumsum(near.sum(axis=1) * tasks_per_node))
    places = np.arange(len(place_row)).reshape(len(apart), tasks_per_node)
    return offsets.astype(np.int64), places[np.nonzero(near)[1]].ravel().astype(np.int64)


def _near(topology: Topology, place_node: Ints) -> tuple[Ints, Ints]:
    """Return the places of each node and its neighbours."""
    nodes = np.arange(topology.num_hosts)
    around = np.concatenate([topology.channel_source, nodes])
    ends = np.concatenate([topology.channel_target, nodes])
    places = np.argsort(place_node, kind="stable")
    first = np.searchsorted(place_node[places], np.arange(topology.num_hosts + 1))
    counts = np.diff(first)[ends]
    order = np.argsort(around, kind="stable")
    begins = np.repeat(first[ends[order]], counts[order])
    ends_before = np.cumsum(counts[order]) - counts[order]
    rank = np.arange(int(counts.sum())) - np.repeat(ends_before, counts[order])
    offsets = np.append(0, np.cumsum(np.bincount(around, counts, topology.num_hosts)))
    return offsets.astype(np.int64), places[begins + rank]
