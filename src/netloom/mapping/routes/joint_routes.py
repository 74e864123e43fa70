"""Paths chosen for a mapped program, where the machine lets each pair of nodes have its own."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from time import thread_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping.placements import check_mapping
from netloom.mapping.routes.joint_routes_bound import CLOSE, least_load
from netloom.mapping.routes.reroute import all_rounds, load_of, task_of
from netloom.routing import (
    DimensionOrder,
    Paths,
    Routing,
    SourceRoutes,
    find_deadlock,
    parse_routing,
    paths,
)
from netloom.routing.hosted import Legs, between_routers, spliced
from netloom.routing.rules import MOST_LAYERS, layers
from netloom.simulation.side_by_side import ctrl_c_sets
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.workload import ProcessGraph

ROUNDS = 200
"""Rounds from each start, unless told otherwise."""


@dataclass(frozen=True, eq=False)
class JointRoutes:
    """Routes chosen together, and what they bought.

    Attributes
    ----------
    routes
        One for each pair of nodes between which the program sends.
    before, after
        The maximum weighted channel load under the routing itself, and on these routes.
    bound
        Below which no choice of minimal paths comes.
    virtual_channels
        How many a channel needs for these routes to be free of deadlock.
    layer
        int32[len(routes.routes.channels)], the virtual channel, or layer of them, of each hop with
        which they are. With one, any may be used.
    moved
        How many of the routes are not the routing's own.
    rounds
        How many there were.
    interrupted
        Whether Ctrl-C ended them.
    """

    routes: SourceRoutes
    before: float
    after: float
    bound: float
    virtual_channels: int
    layer: Ints
    moved: int
    rounds: int
    interrupted: bool


def joint_routes(
    app: ProcessGraph,
    topology: Topology,
    node_of: ArrayLike,
    *,
    weights: Floats | None = None,
    routing: str | Routing = "default",
    virtual_channels: int | None = None,
    rounds: int = ROUNDS,
    seconds: float = np.inf,
    seed: int = DEFAULT_SEED,
) -> JointRoutes:
    """Choose the path of every pair of nodes such that the busiest channel has less to carry.

    It begins with the routing's own paths. It removes them and inserts them again, the heaviest
    first, then in random order. Each takes the minimal path that raises Σ load^12 over all channels
    least. Once that gains little, all paths over a busiest channel are removed together and
    inserted again in random order. Then paths over busy channels are inserted again one by one.
    Changes that raise Σ load^12 are undone. The turns of the first paths exclude others. So under
    dimension order, all this is repeated from up to 8 other starts. In these, all hops along some
    directions, one or the other of each dimension, come before all others, as in negative-first
    routing (Glass & Ni 1992). The best of all rounds is the answer, even if Ctrl-C ends them.

    Three things are guaranteed. Each path is minimal, or the routing's own. The highest load is
    never above that of the routing itself. Packets cannot wait in a circle. For this, each inserted
    path is assigned to a layer of virtual channels without a cycle of dependencies. A path that
    would close a cycle in every layer is not taken. There are at most ``virtual_channels`` layers.
    The answer gives the layer of each hop, because more layers may be needed if only the routes are
    known.

    If hosts hang on routers, all of this is of the channels between routers: a path keeps the ports
    of the routing's own.

    Parameters
    ----------
    app, topology, node_of
        The program, the network, and int[num_tasks], the node of each task. Edges between the same
        two nodes take the same path.
    weights
        float64[num_edges], what edges carry. Their bytes by default.
    routing
        Whose paths they are at first.
    virtual_channels
        Number per channel. By default, as many as the routing needs. These are the layers of its
        paths for this program. On k-ary n-cubes, they are at least those of dimension order (1, or
        2 if there are rings of 4 nodes or more).
    rounds
        Most rounds from each start; 60 without progress end these as well, and the bound ends all.
    seconds
        Processor time after which to end, once a round is done. Without this, a seed decides all.
    seed
        Of what is left to chance.

    Raises
    ------
    InputError
        If the mapping does not fit, nothing crosses the network, it has more than 8192 nodes or a
        node more than 62 channels, or the routing's own paths need more virtual channels.
    NoRouteError
        If the routing has no path for a pair.

    Examples
    --------
    Each node of a mesh sends to the one mirrored at the diagonal: under dimension order, all of a
    row turn at the same node.

    >>> from netloom.topology import mesh
    >>> from netloom.workload import process_graph
    >>> row, column = np.divmod(np.arange(16), 4)
    >>> sends = row != column
    >>> transpose = process_graph(16, np.arange(16)[sends], (4 * column + row)[sends])
    >>> found = joint_routes(transpose, mesh(4, 4), np.arange(16), seed=1)
    >>> found.before, found.after, found.bound, found.virtual_channels
    (3.0, 1.0, 1.0, 1)
    """
    routed = parse_routing(routing, topology) if isinstance(routing, str) else routing
    if rounds < 0:
        raise InputError("rounds", f"{rounds}", "at least 0")
    _check(topology, routed)
    source, target, weight = _merged(app, topology, node_of, weights)
    whole = paths(topology, routed, source, target)
    between = between_routers(topology, whole)
    apart = np.flatnonzero(between.lengths)
    own = between.taken(apart)
    with patience("choosing routes"):
        found = _chosen(
            topology.routers, routed, own, weight[apart], virtual_channels, rounds, seconds, seed
        )
    routes = _from_hosts(topology, whole, apart, found.routes)
    layer = np.zeros(len(routes.channels), np.int32)  # of hosts' channels too, where none wait
    layer[routes.channels < topology.num_network_channels] = found.layer
    pairs = source.astype(np.int64) * topology.num_vertices + target
    return JointRoutes(
        routes=SourceRoutes("joint", pairs, routes),
        before=found.before,
        after=found.after,
        bound=found.bound,
        virtual_channels=int(layer.max(initial=0)) + 1,
        layer=layer,
        moved=sum(not np.array_equal(found.routes[one], own[one]) for one in range(len(own))),
        rounds=found.rounds,
        interrupted=found.interrupted,
    )


class _Chosen(NamedTuple):
    """Routes between routers, as ``JointRoutes`` has them."""

    routes: Paths
    layer: Ints
    before: float
    after: float
    bound: float
    rounds: int
    interrupted: bool


def _chosen(
    routers: Topology,
    routing: Routing,
    own: Paths,
    weight: Floats,
    virtual_channels: int | None,
    rounds: int,
    seconds: float,
    seed: int,
) -> _Chosen:
    """Choose the routes of paths of routers, none of them empty."""
    source = routers.channel_source[own.channels[own.offsets[:-1]]]
    target = routers.channel_target[own.channels[own.offsets[1:] - 1]]
    own_layer = layers(routers, own)
    most = _most_layers(routers, routing, int(own_layer.max(initial=0)) + 1, virtual_channels)
    sends = weight > 0
    if not sends.any():
        return _Chosen(own, own_layer, 0.0, 0.0, 0.0, 0, interrupted=False)
    task = task_of(routers, source, target, weight, most)
    bound = least_load(routers, task.net, source[sends], target[sends], weight[sends])
    before = float(load_of(task, own).max())
    best, layer, value, ended = own, own_layer, before, 0
    end = thread_time() + seconds
    rng = np.random.default_rng(seed)
    stop = Event()
    with ctrl_c_sets(stop):
        for chosen, its_layer in all_rounds(task, routing, own, rounds, rng):
            ended += 1
            highest = float(load_of(task, chosen).max())
            if highest < value * (1 - CLOSE):
                best, layer, value = chosen, its_layer, highest
            if value <= bound * (1 + CLOSE) or stop.is_set() or thread_time() > end:
                break
    layer = _fewest(routers, best, layer)
    return _Chosen(best, layer, before, value, bound, ended, stop.is_set())


def _from_hosts(topology: Topology, whole: Paths, apart: Ints, chosen: Paths) -> Paths:
    """Return whole paths with others between routers, those of the pairs that are ``apart``."""
    if topology.direct:
        return chosen
    lengths = np.zeros(len(whole), np.int64)
    lengths[apart] = chosen.lengths
    first, last = whole.channels[whole.offsets[:-1]], whole.channels[whole.offsets[1:] - 1]
    inner = Paths(np.append(0, np.cumsum(lengths)), chosen.channels)
    return spliced(Legs(first, last, first, last), inner)


def _check(topology: Topology, routing: Routing) -> None:
    """Refuse what routes cannot be chosen for."""
    if routing.several:
        wanted = "a routing with one path per pair, to choose routes"
        raise InputError("routing", f"{routing}, which has several paths per pair", wanted)
    rate = topology.routers.channel_bandwidth
    if (rate != rate[:1]).any():
        wanted = "channels of one bandwidth between routers, to choose routes"
        raise InputError(topology.name, "channels that differ in bandwidth", wanted)


def _merged(
    app: ProcessGraph,
    topology: Topology,
    node_of: ArrayLike,
    weights: Floats | None,
) -> tuple[Ints, Ints, Floats]:
    """Return the pairs of different nodes between which the program sends, sorted. Their weight."""
    nodes = check_mapping(node_of, app.num_tasks, topology.num_hosts, app.num_tasks)
    carried = app.bytes if weights is None else np.asarray(weights, np.float64)
    source, target = nodes[app.source].astype(np.int64), nodes[app.target].astype(np.int64)
    moving = topology.crosses(source, target)
    if not carried[moving].sum() > 0:
        raise InputError(app.name, "no traffic between different nodes", "something to route")
    together = source[moving] * topology.num_hosts + target[moving]
    pairs, edge = np.unique(together, return_inverse=True)
    weight = np.bincount(edge, carried[moving]).astype(np.float64)
    ends = np.divmod(pairs, topology.num_hosts)
    return ends[0].astype(np.int32), ends[1].astype(np.int32), weight


def _most_layers(topology: Topology, routing: Routing, own: int, given: int | None) -> int:
    """Return how many layers there may be, if they do for the routing's own paths."""
    if given is None:
        dated = isinstance(topology, Cube) and isinstance(routing, DimensionOrder)
        return max(own, 2 if dated and find_deadlock(topology, routing) else 1)
    if not own <= given <= MOST_LAYERS:
        wanted = f"from the {own} that the paths of {routing} need to {MOST_LAYERS}"
        raise InputError("virtual_channels", f"{given}", wanted)
    return given


def _fewest(topology: Topology, routed: Paths, layer: Ints) -> Ints:
    """Return the layers of paths from 0 on, or others if there are fewer of them."""
    known = np.unique(layer, return_inverse=True)[1].astype(np.int32)
    other = layers(topology, routed)
    return other if other.max() < known.max() else known
