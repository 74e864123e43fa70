"""Expected channel loads under every routing: those of one path per pair, and those of several.

Traffic is first summed over all pairs between which a routing sees no difference. Pairs with one
path are then walked, about 100,000 at a time. Pairs with several paths are pushed as a flow, all of
a target router together, from the farthest routers to the nearest. The load that comes to a router
is split as its packets are. No path is listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.errors import InputError, NoRouteError
from netloom.contention.expected_load import dimension_order_loads, valiant_loads
from netloom.routing import (
    DimensionOrder,
    Layered,
    Minimal,
    MinimalGroup,
    Paths,
    RandomUp,
    ShortestPath,
    Spread,
    Valiant,
    paths,
)
from netloom.routing.hosted import Legs, legs
from netloom.routing.rules import (
    detour,
    ends_of,
    followed,
    listed,
    target_numbers,
    walked,
    ways_of,
    whole_tree,
)
from netloom.routing.ways import JOINED, is_hyperx, shortest_ways
from netloom.topology import Cube

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.routing import Routing
    from netloom.routing.rules import Detour
    from netloom.routing.ways import Ways
    from netloom.topology import Topology

    Blocks: TypeAlias = Iterable[tuple[Legs, Floats]]

MOST_ENTRIES = 2**22
"""Entries of a demand that is made on the way, about."""


def summed(shape: tuple[int, int], blocks: Iterable[tuple[Ints, Ints, Floats]]) -> Any:
    """Return weights at (row, column), equal places summed: a SciPy csr_array."""
    from scipy.sparse import csr_array

    demand = csr_array(shape)
    for row, column, weight in blocks:
        demand = demand + csr_array((weight, (row, column)), shape=shape)
    return demand


def entries(demand: Any, first: int = 0, many: int | None = None) -> tuple[Ints, Ints]:
    """Return rows and columns of some entries of a csr_array in its order, by default of all."""
    columns = demand.indices[first:] if many is None else demand.indices[first : first + many]
    number = np.arange(first, first + len(columns))
    row = np.searchsorted(demand.indptr, number, side="right") - 1
    return row.astype(np.int32), columns.astype(np.int32)


def push(ways: Ways, demand: Any, load: Floats, goals: Ints | None = None) -> None:
    """Add what flows to routers loads, split evenly over the next channels at each router.

    Row i of ``demand`` is what flows to ``goals[i]``, to router i by default.

    Raises
    ------
    NoRouteError
        If there is no way from a source to its goal.
    """
    from netloom.contention.kernels.several_paths import push_flows

    ends = np.arange(demand.shape[0]) if goals is None else goals
    first, sources = demand.indptr.astype(np.int64), demand.indices.astype(np.int32)
    source, goal = push_flows(ways, ends.astype(np.int32), first, sources, demand.data, load)
    if source >= 0:
        raise NoRouteError(int(source), int(goal), JOINED)


def push_detours(trip: Detour, demand: Any, load: Floats) -> None:
    """Add what flows by way of goals, each drawn as likely, loads.

    On the way to a drawn router, all that a source sends is alike, and on the way from it all that
    a target receives. If a group is drawn, the router by which packets enter it makes a
    difference. ``demand`` has nothing from a router to itself.

    Raises
    ------
    NoRouteError
        If there is no way from a source to a goal, or from there to a target.
    """
    if trip.to_group:
        rows, columns = entries(demand)
        straight = trip.straight(columns, rows)
        staying, away = (
            summed(demand.shape, [(rows[kept], columns[kept], demand.data[kept])])
            for kept in (straight, ~straight)
        )
        push(trip.ways, staying, load)
        _push_by_groups(trip, away, load)
        return
    sent, received = sums(demand)
    drawn = np.zeros(demand.shape[0])
    drawn[trip.goals] = 1 / len(trip.goals)
    _push_product(trip.ways, drawn, sent, load)
    _push_product(trip.ways, received, drawn, load)


def sums(demand: Any) -> tuple[Floats, Floats]:
    """Return what each router sends and receives."""
    return np.asarray(demand.sum(axis=0)), np.asarray(demand.sum(axis=1))


def _push_product(ways: Ways, received: Floats, sent: Floats, load: Floats) -> None:
    """Add what loads where router s sends received[g] * sent[s] to each router g."""
    sources = np.flatnonzero(sent)
    for goals in _blocks(np.flatnonzero(received), len(sources)):
        weight = np.outer(received[goals], sent[sources]).ravel()
        row, column = np.arange(len(goals)).repeat(len(sources)), np.tile(sources, len(goals))
        rows = summed((len(goals), len(sent)), [(row, column, weight)])
        push(ways, rows, load, goals)


def _push_by_groups(trip: Detour, demand: Any, load: Floats) -> None:
    from netloom.contention.kernels.several_paths import add_paths

    sent, many, arrived = np.asarray(demand.sum(axis=0)), len(trip.goals), []
    for sources in _blocks(np.flatnonzero(sent), many):
        source = sources.astype(np.int32).repeat(many)
        goals = np.tile(trip.goals, len(sources))
        there = listed(trip.ways, source, goals, to_group=True, where="valiant-group")
        assert there.pair is not None
        assert there.probability is not None
        begin, chance = source[there.pair], there.probability / many
        add_paths(there.channels, there.offsets, chance * sent[begin], load)
        arrived.append((begin, ends_of(trip.ways, there, begin), chance))
    arrival = summed(demand.shape, arrived)
    for targets in _blocks(np.flatnonzero(np.diff(demand.indptr)), demand.shape[0]):
        push(trip.ways, demand[targets] @ arrival, load, targets)


def _blocks(numbers: Ints, width: int) -> Iterator[Ints]:
    """Yield numbers, as many at a time as have ``MOST_ENTRIES`` entries if each has a width."""
    many = max(1, MOST_ENTRIES // max(width, 1))
    for first in range(0, len(numbers), many):
        yield numbers[first : first + many]


FEWEST_PAIRS, MOST_PAIRS = 2**12, 2**20
"""Pairs that are walked at a time."""

MOST_HOPS = 2**24
"""Hops of the paths that are walked at a time, about."""

BETWEEN_ROUTERS = DimensionOrder, ShortestPath, Layered, Minimal, Valiant, RandomUp
"""Routings that do not look at hosts. On a HyperX, dimension order does."""


def expected_loads(
    topology: Topology,
    routing: Routing,
    sources: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None = None,
) -> Floats:
    """Return how much of some traffic each channel carries, on average over drawn paths.

    Exact under every routing: the sum over all pairs' paths of weight × probability.

    Parameters
    ----------
    topology, routing
        The network and how packets travel on it.
    sources, targets
        int[num_pairs] hosts. A pair of equal hosts uses no channel.
    weights
        float[num_pairs], such as bytes; 1 where not given.

    Returns
    -------
    float64[num_channels], channels of host ports too. They are not divided by bandwidths.

    Raises
    ------
    InputError
        If the arrays do not match, or the routing does not fit the network.
    NoRouteError
        If the routing has no path for a pair.

    Examples
    --------
    Of four hosts' packets to hosts of the other leaf, each spine carries half:

    >>> from netloom.routing import Minimal
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x4")
    >>> load = expected_loads(net, Minimal(), [0, 1, 2, 3], [4, 5, 6, 7])
    >>> {net.channel_name(c): float(load[c]) for c in np.flatnonzero(load[:8])}
    {'leaf0 -> spine0': 2.0, 'leaf0 -> spine1': 2.0, 'spine0 -> leaf1': 2.0, 'spine1 -> leaf1': 2.0}
    """
    source, target = np.asarray(sources, np.int32), np.asarray(targets, np.int32)
    weight = np.ones(len(source)) if weights is None else np.asarray(weights, np.float64)
    if not source.shape == target.shape == weight.shape:
        raise InputError("pairs", f"{len(target)} targets, {len(weight)} weights", "one a source")
    load = np.zeros(topology.num_channels)
    if isinstance(routing, RandomUp):
        whole_tree(topology, routing)  # refuses what is none
        if len(set(topology.port_host.tolist())) < topology.num_ports:  # packets choose a port
            demand = summed((topology.num_ends,) * 2, [(target, source, weight)])
            push(shortest_ways(topology), demand, load)
            return load
    if isinstance(routing, (MinimalGroup, Spread, *BETWEEN_ROUTERS)):
        _add_by_legs(topology, routing, _by_leg(topology, source, target, weight, load), load)
    else:
        demand = summed((topology.num_hosts,) * 2, [(target, source, weight)])
        _walk(
            demand, load, lambda row, column: paths(topology, routing, column, row).whole(topology)
        )
    return load


def _add_by_legs(topology: Topology, routing: Routing, blocks: Blocks, load: Any) -> None:
    """Add the loads of channels between routers, where hosts of one router are alike."""
    inside = load[: topology.num_network_channels]
    to_ports = isinstance(routing, MinimalGroup | Spread) or (
        isinstance(routing, DimensionOrder) and is_hyperx(topology)
    )
    # what goes from router to router, or to port: port r is router r's if not listed
    shape = topology.num_ports if to_ports else topology.num_routers, topology.num_routers
    goals = ((ends.target_port if to_ports else ends.exit, ends, sent) for ends, sent in blocks)
    demand = summed(shape, ((goal, ends.entry, sent) for goal, ends, sent in goals))
    try:
        if to_ports:
            _walk_to_ports(topology, routing, demand, inside)
        else:
            _add_between(topology, routing, demand, inside)
    except NoRouteError as error:
        raise _between_hosts(topology, error) from None


def _by_leg(
    topology: Topology, sources: Ints, targets: Ints, weights: Floats, load: Any
) -> Iterator[tuple[Legs, Floats]]:
    """Yield how pairs enter and leave the routers, and their weights, block by block.

    Add what goes by the ports of hosts. Pairs of one router are left out of what is yielded.
    """
    for first in range(0, len(sources), MOST_PAIRS):
        block = slice(first, first + MOST_PAIRS)
        ends, weight = legs(topology, sources[block], targets[block]), weights[block]
        if topology.ports_listed:
            apart = sources[block] != targets[block]
            at_ports = np.split(load[topology.num_network_channels :], 2)
            for used, sent in zip(ends[:2], at_ports, strict=True):
                sent += np.bincount(used[apart], weight[apart], len(sent))
        moving = ends.entry != ends.exit
        yield Legs(*(each[moving] for each in ends)), weight[moving]


def _add_between(topology: Topology, routing: Routing, demand: Any, load: Any) -> None:
    """Add the loads of paths that depend on the routers of source and target alone."""
    inside = topology.routers
    if isinstance(routing, Minimal | RandomUp):
        push(shortest_ways(inside), demand, load)
    elif isinstance(routing, ShortestPath):  # of what is shortest, the lowest channel number
        ways = shortest_ways(inside)
        push(ways._replace(rank=np.arange(inside.num_channels, dtype=np.int32)), demand, load)
    elif isinstance(routing, Valiant):
        trip = detour(topology, routing)
        if isinstance(inside, Cube) and len(trip.goals) == inside.num_routers:
            load += valiant_loads(inside, DimensionOrder(), *sums(demand))
        else:
            push_detours(trip, demand, load)
    elif isinstance(routing, DimensionOrder) and isinstance(inside, Cube):
        rows, columns = entries(demand)
        load += dimension_order_loads(inside, routing, columns, rows, demand.data, both_ways=False)
    else:
        _walk(demand, load, lambda row, column: paths(inside, routing, column, row))


def _between_hosts(topology: Topology, error: NoRouteError) -> NoRouteError:
    """Return an error of two routers as one of hosts on them, where there are such."""
    sends = np.flatnonzero(topology.injection_router == error.source)
    receives = np.flatnonzero(topology.ejection_router == error.target)
    if not len(sends) or not len(receives):
        return error
    source, target = topology.port_host[sends[0]], topology.port_host[receives[0]]
    return NoRouteError(int(source), int(target), error.wanted, error.where)


def _walk(demand: Any, load: Any, route: Callable[[Ints, Ints], Paths]) -> None:
    """Add the loads of the one path of each entry. ``route`` takes rows and columns."""
    from netloom.contention.kernels.several_paths import add_paths

    first, many = 0, FEWEST_PAIRS
    while first < len(demand.data):
        found = route(*entries(demand, first, many))
        add_paths(found.channels, found.offsets, demand.data[first : first + many], load)
        first += many
        hops = max(len(found.channels), 1) / len(found)
        many = int(np.clip(MOST_HOPS / hops, FEWEST_PAIRS, MOST_PAIRS))


def _walk_to_ports(topology: Topology, routing: Routing, demand: Any, load: Any) -> None:
    """Add the loads of paths that depend on the router of the source and the host of the target."""
    if isinstance(routing, Spread):
        _walk(demand, load, lambda row, column: followed(topology, column, row))
        return
    assert isinstance(routing, MinimalGroup | DimensionOrder)
    ways, (numbers, pick) = ways_of(topology, routing), target_numbers(topology, routing)
    leave, host = topology.ejection_router, topology.port_host
    _walk(
        demand, load,
        lambda row, column: walked(ways, column, leave[row], numbers[host[row]], pick=pick),
    )  # fmt: skip
