"""Expected loads of channels under every routing.

Packets may draw their way or choose it. The results are how much of some traffic each channel has
to carry, and how evenly packets can load channels if they choose at once or hop by hop.

For drawn paths on k-ary n-cubes, expectations are exact. The routings decide without looking at the
network. Dimension order sends half of the packets either way round a ring if both are equally
short. O1TURN is the mean over two orders. Valiant's and ROMM's are means over all intermediate
nodes. ``order`` is always that of the dimensions, in both trips. ``sources``, ``targets`` and
``weights`` are pairs of nodes, and the traffic from one to the other.

For chosen paths, the result is the least load of the busiest channel. Let every channel have a
price, with a sum of 1. Every packet pays at least the cost of its cheapest path, so all together
pay at least that sum. If no channel carried more than z, they could not pay more than z. So for all
prices, the sum is a lower bound of z (weak duality of linear programming, Ahuja, Magnanti & Orlin,
*Network flows*, chapter 17). The best prices make it exact. Prices first rise where the cheapest
paths meet (multiplicative weights: Arora, Hazan & Kale 2012). Then they come from linear programs
over the loads that result (Dantzig & Wolfe, *Decomposition principle for linear programs*, 1960).
The bound is always computed from the prices themselves, so no solver tolerance can make it too
high.

Packets choose hop by hop, so their paths are the ``Stages`` of ``decisions``, and they pay least if
every choice falls to the cheapest arc.

Under all other routings, traffic is first summed over all pairs between which a routing sees no
difference. Pairs with one path are then walked, about 100,000 at a time. Pairs with several paths
are pushed as a flow, all of a target router together, from the farthest routers to the nearest. The
load that comes to a router is split as its packets are. No path is listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats, Ints, offsets_of, owners_of
from netloom.base.errors import InputError, NoRouteError
from netloom.contention.decisions import BETTER_OF_TWO, PREFERRED, Stages, arcs_of
from netloom.routing import (
    DimensionOrder,
    Layered,
    Minimal,
    MinimalGroup,
    Paths,
    RandomUp,
    Routing,
    ShortestPath,
    Spread,
    Valiant,
    VirtualChannelRouting,
    paths,
)
from netloom.routing.by_hop.tables import channels_by_port
from netloom.routing.ragged import Legs, legs
from netloom.routing.rules import (
    JOINED,
    ByTarget,
    Detour,
    Ways,
    cube_tables,
    detour,
    ends_of,
    followed,
    is_hyperx,
    listed,
    shortest_ways,
    walked,
    whole_tree,
)
from netloom.routing.virtual_channel_tables import O1TURN, ODD_EVEN
from netloom.topology import Cube, Topology

Blocks: TypeAlias = Iterable[tuple[Legs, Floats]]


# -- drawn ways of cubes, and choices --------------------------------------------------------------


def dimension_order_loads(
    topology: Cube,
    order: DimensionOrder,
    sources: Ints,
    targets: Ints,
    weights: Floats,
    *,
    both_ways: bool = True,
) -> Floats:
    """Return float64[num_channels], what packets between these pairs of nodes load.

    Half-way round a ring half of it goes either way, or if not ``both_ways`` all of it forward.

    Examples
    --------
    Half-way round a ring of four nodes:

    >>> from netloom.topology import torus
    >>> ends = np.array([0], np.int32), np.array([2], np.int32)
    >>> dimension_order_loads(torus(4), DimensionOrder(), *ends, np.array([1.0]))
    array([0.5, 0.5, 0. , 0. , 0.5, 0. , 0. , 0.5])
    """
    from netloom.contention.kernels.expected_load import add_in_order

    tables, load = cube_tables(topology, order), np.zeros(topology.num_channels)
    add_in_order(tables, sources, targets, weights, both_ways, load)
    for growing, falling, length, _ in _lines(topology):
        for channels in (growing, falling):
            load[channels] = load[channels].reshape(-1, length).cumsum(axis=1).ravel()
    return load


def to_every_node(topology: Cube, order: DimensionOrder, sent: Floats) -> Floats:
    """Return float64[num_channels], the load where each node sends as much to every other.

    On a channel of a dimension, coordinates corrected before are the target's and those corrected
    after are the source's. All targets are equally likely, so the sources are summed over the
    former.

    ``sent`` is float64[num_nodes], what each node sends to every other one.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> to_every_node(mesh(4), DimensionOrder(), np.ones(4))
    array([3., 4., 3., 3., 4., 3.])
    """
    load = np.empty(topology.num_channels)
    order_of = cube_tables(topology, order).order.tolist()
    sources = sent.reshape(topology.sides)
    for rank, axis in enumerate(order_of):
        side, wraps = topology.sides[axis], topology.wraps[axis]
        targets = np.prod([topology.sides[later] for later in order_of[rank + 1 :]], initial=1.0)
        length = side if wraps else side - 1
        shape = [length if each == axis else size for each, size in enumerate(topology.sides)]
        for direction in range(2):
            along = np.moveaxis(sources if direction == 0 else np.flip(sources, axis), axis, -1)
            if wraps:
                # what crosses each channel of a ring: a node x before it has targets beyond x hops
                hops = np.arange(1, side)
                chosen = np.where(2 * hops < side, 1.0, np.where(2 * hops == side, 0.5, 0.0))
                beyond = np.append(chosen[::-1].cumsum()[::-1], 0.0)
                circle = np.fft.rfft(along, axis=-1) * np.fft.rfft(beyond)
                crossing = np.maximum(np.fft.irfft(circle, n=side, axis=-1), 0.0)
            else:  # all from before a channel, for each target beyond it
                crossing = along.cumsum(axis=-1)[..., : side - 1] * np.arange(side - 1.0, 0, -1)
            full = np.broadcast_to(np.moveaxis(targets * crossing, -1, axis), shape)
            first = int(topology.line_base[axis, direction])
            load[first : first + full.size] = np.moveaxis(full, axis, -1).ravel()
        sources = sources.sum(axis=axis, keepdims=True)
    return load


def valiant_loads(topology: Cube, order: DimensionOrder, sent: Floats, received: Floats) -> Floats:
    """Return float64[num_channels], what packets load that travel by way of any node.

    The first trip depends only on where a packet comes from, the second on where it goes. The
    second is the first one of what nodes receive, backwards, in the other order of dimensions.

    Both are float64[num_nodes], what each node sends and receives, from and to itself too.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> valiant_loads(mesh(4), DimensionOrder(), np.ones(4), np.ones(4))
    array([1.5, 2. , 1.5, 1.5, 2. , 1.5])
    """
    nodes = topology.num_hosts
    reverse = DimensionOrder(tuple(cube_tables(topology, order).order[::-1].tolist()))
    there = to_every_node(topology, order, sent / nodes)
    back = to_every_node(topology, reverse, received / nodes)
    for growing, falling, length, wraps in _lines(topology):
        for here, opposite in ((growing, falling), (falling, growing)):
            turned = back[opposite].reshape(-1, length)[:, ::-1]
            there[here] += np.roll(turned, -1, axis=1).ravel() if wraps else turned.ravel()
    return there


def romm_loads(
    topology: Cube, order: DimensionOrder, sources: Ints, targets: Ints, weights: Floats
) -> Floats:
    """Return float64[num_channels], what packets load that travel by way of their minimal box.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> ends = np.array([0], np.int32), np.array([3], np.int32)
    >>> load = romm_loads(mesh(2, 2), DimensionOrder(), *ends, np.array([1.0]))
    >>> {mesh(2, 2).channel_name(c): float(load[c]) for c in np.flatnonzero(load)}
    {'(0,0) -> (1,0)': 0.25, '(0,1) -> (1,1)': 0.75, '(0,0) -> (0,1)': 0.75, '(1,0) -> (1,1)': 0.25}
    """
    from netloom.contention.kernels.expected_load import add_by_box

    load = np.zeros(topology.num_channels)
    add_by_box(cube_tables(topology, order), sources, targets, weights, load)
    return load


def romm_work(topology: Cube, sources: Ints, targets: Ints) -> float:
    """Return how many nodes the minimal boxes of these pairs hold in all: the work of the above.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> romm_work(mesh(3, 3), np.array([0, 0], np.int32), np.array([8, 1], np.int32))
    11.0
    """
    size = np.ones(len(sources))
    for side, stride, wraps in zip(topology.sides, topology.strides, topology.wraps, strict=True):
        apart = np.abs(sources // stride % side - targets // stride % side)
        size *= 1 + (np.minimum(apart, side - apart) if wraps else apart)
    return float(size.sum())


def _lines(topology: Cube) -> Iterator[tuple[slice, slice, int, bool]]:
    """Yield each dimension's channels, growing and falling, those of a line, whether it closes."""
    sizes = zip(topology.line_channels.tolist(), topology.direction_channels.tolist(), strict=True)
    for axis, (length, size) in enumerate(sizes):
        growing, falling = (slice(first, first + size) for first in topology.line_base[axis])
        if length:
            yield growing, falling, length, topology.wraps[axis]


MOST_ARCS = 2**21
"""Most hops of the ways of all packets that are listed at all."""


@dataclass(frozen=True, eq=False)
class Split:
    """How evenly packets that choose among their ways can load the channels.

    Attributes
    ----------
    least
        The fullest channel carries at least this, however packets choose.
    exact
        Whether some choice loads no channel more, but for rounding. If not, ``least`` may be some
        per cent too low.
    prices
        float64[num_channels], by which ``least`` is proved. They sum to 1.
    """

    least: float
    exact: bool
    prices: Floats


def best_split(
    routing: VirtualChannelRouting,
    sources: Ints,
    targets: Ints,
    weights: Floats,
    rate: Floats,
    *,
    enough: float = 0.0,
) -> Split | None:
    """Return how evenly traffic can be split over the ways that a routing allows.

    Parameters
    ----------
    routing
        One whose routers choose: adaptive, a turn model, a table with choices.
    sources, targets, weights
        Pairs of different nodes.
    rate, enough
        As in ``chosen_loads``.

    Returns
    -------
    None where there are more than ``MOST_ARCS`` hops to choose from.

    Examples
    --------
    From corner to corner, adaptive packets use both ways alike:

    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.topology import mesh
    >>> free = virtual_channel_routing(mesh(3, 3), "adaptive", num_vcs=2)
    >>> ends = np.array([0], np.int32), np.array([8], np.int32)
    >>> round(best_split(free, *ends, np.array([1.0]), np.ones(24)).least, 6)
    0.5
    """
    from netloom.contention.kernels.expected_load import list_ways

    topology = routing.topology
    order = np.lexsort((sources, targets))
    source, target, weight = sources[order], targets[order], weights[order]
    begins = np.append(True, target[1:] != target[:-1])
    if routing.tables.kind in (O1TURN, ODD_EVEN):  # which look at the source
        begins[:] = True
    offsets = np.append(np.flatnonzero(begins), len(target))
    most = min(MOST_ARCS, len(offsets) * topology.num_channels)
    wiring = channels_by_port(topology), topology.channel_target
    ways = list_ways(routing.tables, wiring, target[offsets[:-1]], offsets, source, most)
    if not len(ways[1]):
        return None
    first, channel, head, entry = ways
    stages = Stages(first, head, channel, np.zeros(len(head)), np.full(len(first) - 1, PREFERRED))
    return chosen_loads(stages, entry, weight, rate, enough=enough)


CLOSE = 1e-6
"""Costs and bounds that differ by less, relatively, are the same but for rounding."""

MOST_WORK = 2**24
"""Arcs that are priced in all (two seconds), but for the first rounds, and ..."""

MOST_PRICINGS, MOST_ENTRIES = 200, 2**17
"""... how often at most, and entries of the linear programs that come of it."""

FIRST_ROUNDS = 12
"""Rounds in which prices follow loads, before they come from linear programs."""

HELD = 0.4
"""Share of the best prices so far in those of two linear programs of three."""

LEAST_PRICE = 1e-9
"""Of the mean price: no channel is free, so that of ways as cheap the shortest is taken."""


def chosen_loads(
    stages: Stages, entry: Ints, weight: Floats, rate: Floats, *, enough: float = 0.0
) -> Split:
    """Return how evenly packets can load the channels, however routers choose among their arcs.

    Parameters
    ----------
    stages, entry, weight
        As in ``drawn_loads``.
    rate
        float64[num_channels], the bandwidth by which loads are divided.
    enough
        A load of which it suffices to know that no channel need have more.

    Examples
    --------
    A channel that is three times as fast takes three quarters of what may choose:

    >>> from netloom.contention.decisions import Stages
    >>> fork = Stages(*map(np.array, ([0, 2, 2], [1, 1], [0, 1], [0.5, 0.5], [1, 1])))
    >>> chosen_loads(fork, np.array([0]), np.array([2.0]), np.array([1.0, 3.0])).least
    0.5
    """
    by_level = _by_level(stages)
    begins = np.bincount(entry, weight, minlength=len(stages.kind)).astype(np.float64)
    few = min(MOST_WORK // max(len(stages.head), 1), MOST_ENTRIES // len(rate))
    rounds = int(np.clip(few, FIRST_ROUNDS, MOST_PRICINGS))
    prices, steps = np.full(len(rate), 1 / len(rate)), np.zeros(len(rate))
    least, proof, limit, times = 0.0, prices, np.inf, list[Floats]()
    for number in range(1, rounds + 1):
        paid, time = _cheapest(by_level, begins, prices, rate)
        if paid > least:
            least, proof = paid, prices
        limit = min(limit, float(time.max()))
        if limit <= max(least, enough) * (1 + CLOSE):
            break
        times.append(time)
        if number < FIRST_ROUNDS:
            steps += 4 / np.sqrt(number) * time / max(time.max(), CLOSE)
            prices = np.exp(steps - steps.max())
            prices /= prices.sum()
            continue
        attained, prices = _best_mixture(np.array(times))
        limit = min(limit, attained)
        if number % 3:  # not too far from the best so far: far ones lead back and forth
            prices = (1 - HELD) * prices + HELD * proof
    return Split(least, limit <= max(least, enough) * (1 + CLOSE), proof)


def _best_mixture(times: Floats) -> tuple[float, Floats]:
    """Return how short the longest time is in the best mixture of some loads, and its prices."""
    from scipy.optimize import linprog

    solve: Any = linprog
    many, channels = times.shape
    found = solve(
        np.append(np.zeros(many), 1.0),
        A_ub=np.hstack([times.T, -np.ones((channels, 1))]),
        b_ub=np.zeros(channels),
        A_eq=np.append(np.ones(many), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )
    prices = np.maximum(-found.ineqlin.marginals, 0)
    return float(found.fun), prices / prices.sum()


def _by_level(stages: Stages) -> tuple[Stages, Ints, list[tuple[int, int]]]:
    """Return stages level by level, the ends of ways first.

    Also the new number of each, and the first stage of each level and that after its last. Arcs
    lead to lower levels.
    """
    count = np.diff(stages.first)
    many = len(count)
    level, going = np.zeros(many, np.int64), np.flatnonzero(count)
    for number in range(many + 1):
        found = np.zeros(many, np.int64)
        if len(going):
            found[going] = 1 + np.maximum.reduceat(level[stages.head], stages.first[going])
        if np.array_equal(found, level):
            break
        assert number < many, "a way leads round in a circle"
        level = found
    order = np.argsort(level, kind="stable")
    place, (arc, _) = np.argsort(order), arcs_of(stages, order)
    first = offsets_of(count[order])
    head, channel, share = place[stages.head[arc]], stages.channel[arc], stages.share[arc]
    borders = np.searchsorted(level[order], np.arange(1, level.max(initial=0) + 2))
    moved = Stages(first, head, channel, share, stages.kind[order])
    return moved, place, list(pairwise(borders.tolist()))


def _cheapest(
    by_level: tuple[Stages, Ints, list[tuple[int, int]]],
    begins: Floats,
    prices: Floats,
    rate: Floats,
) -> tuple[float, Floats]:
    """Return what all pay at these prices by their cheapest ways, and the time of each channel."""
    asked = np.maximum(prices, LEAST_PRICE / len(prices))
    asked = np.append(asked / asked.sum() / rate, 0.0)  # the last is of arcs without a channel
    (first, head, channel, given, kinds), place, levels = by_level
    cost, share = np.zeros(len(kinds)), given.copy()
    stage = owners_of(np.diff(first))
    for low, high in levels:
        arcs, begin = slice(first[low], first[high]), first[low:high] - first[low]
        by, of = asked[channel[arcs]] + cost[head[arcs]], stage[arcs] - low
        kind = kinds[low:high]
        two = np.flatnonzero(kind[of] == BETTER_OF_TWO)
        share[arcs][two] = _of_two(of[two], by[two])
        mean = np.add.reduceat(share[arcs] * by, begin)
        least = np.minimum.reduceat(by, begin)
        cost[low:high] = np.where(kind == PREFERRED, least, mean)
        cheap = by <= (least * (1 + 1e-12))[of]  # as cheap is as good
        alike = np.add.reduceat(cheap, begin, dtype=np.int64)
        share[arcs] = np.where(kind[of] == PREFERRED, cheap / alike[of], share[arcs])
    load, flow = np.zeros(len(asked)), np.empty(len(kinds))
    flow[place] = begins
    for low, high in reversed(levels):
        arcs = slice(first[low], first[high])
        sent = flow[stage[arcs]] * share[arcs]
        load += np.bincount(channel[arcs] % len(load), sent, len(load))
        flow += np.bincount(head[arcs], sent, len(flow))
    return float(cost[place] @ begins), load[:-1] / rate


def _of_two(of: Ints, by: Floats) -> Floats:
    """Return the share of each arc if the cheaper one of two drawn arcs of its stage is taken.

    Of n arcs, the two may be the same one. The arc of rank j, the cheapest first, is the cheaper
    with the chance ((n - j)² - (n - j - 1)²) / n².
    """
    order = np.lexsort((by, of))
    many = np.bincount(of)[of[order]]
    rank = np.arange(len(of)) - np.searchsorted(of[order], of[order])
    share = np.empty(len(of))
    share[order] = (2 * (many - rank) - 1) / many**2
    return share


# -- all routings ----------------------------------------------------------------------------------


MOST_AT_ONCE = 2**22
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
    from netloom.contention.kernels.expected_load import push_flows

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
    from netloom.contention.kernels.expected_load import add_paths

    if trip.to_group:
        rows, columns = entries(demand)
        straight, _ = trip.straight(columns, rows)
        staying, away = (
            summed(demand.shape, [(rows[kept], columns[kept], demand.data[kept])])
            for kept in (straight, ~straight)
        )
        push(trip.ways, staying, load)
        sent, many, arrived = np.asarray(away.sum(axis=0)), len(trip.goals), []
        for sources in _blocks(np.flatnonzero(sent), many):
            source = sources.astype(np.int32).repeat(many)
            goals = np.tile(trip.goals, len(sources))
            there = listed(trip.out, source, goals, where="valiant-group")
            assert there.pair is not None
            assert there.probability is not None
            begin, chance = source[there.pair], there.probability / many
            add_paths(there.channels, there.offsets, chance * sent[begin], load)
            arrived.append((begin, ends_of(trip.ways, there, begin), chance))
        arrival = summed(away.shape, arrived)
        for targets in _blocks(np.flatnonzero(np.diff(away.indptr)), away.shape[0]):
            push(trip.ways, away[targets] @ arrival, load, targets)
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


def _blocks(numbers: Ints, width: int) -> Iterator[Ints]:
    """Yield numbers, as many at a time as have ``MOST_ENTRIES`` entries if each has a width."""
    many = max(1, MOST_AT_ONCE // max(width, 1))
    for first in range(0, len(numbers), many):
        yield numbers[first : first + many]


def checked_pairs(
    sources: ArrayLike, targets: ArrayLike, weights: ArrayLike | None
) -> tuple[Ints, Ints, Floats]:
    """Return sources, targets and weights of pairs as arrays of one length.

    Raises
    ------
    InputError
        If they do not match.
    """
    from_node = np.ascontiguousarray(sources, np.int32)
    to_node = np.ascontiguousarray(targets, np.int32)
    weight = np.ones(len(from_node)) if weights is None else np.asarray(weights, np.float64)
    if not from_node.shape == to_node.shape == weight.shape:
        raise InputError("paths", f"{len(to_node)} targets, {len(weight)} weights", "one a source")
    return from_node, to_node, weight


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
    source, target, weight = checked_pairs(sources, targets, weights)
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
        if isinstance(routing, Spread):
            _walk(demand, inside, lambda row, column: followed(topology, column, row))
        elif to_ports:
            assert isinstance(routing, ByTarget)
            ways, numbers, pick = routing.ways(topology), routing.numbers(topology), routing.pick
            leave, host = topology.ejection_router, topology.port_host

            def walk(row: Ints, column: Ints) -> Paths:
                return walked(ways, column, leave[row], numbers[host[row]], pick=pick)

            _walk(demand, inside, walk)
        else:
            _add_between(topology, routing, demand, inside)
    except NoRouteError as error:  # of two routers: where hosts are on them, it names these
        sends = np.flatnonzero(topology.injection_router == error.source)
        receives = np.flatnonzero(topology.ejection_router == error.target)
        if not len(sends) or not len(receives):
            raise
        source, target = topology.port_host[sends[0]], topology.port_host[receives[0]]
        raise NoRouteError(int(source), int(target), error.wanted, error.where) from None


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


def _walk(demand: Any, load: Any, route: Callable[[Ints, Ints], Paths]) -> None:
    """Add the loads of the one path of each entry. ``route`` takes rows and columns."""
    from netloom.contention.kernels.expected_load import add_paths

    first, many = 0, FEWEST_PAIRS
    while first < len(demand.data):
        found = route(*entries(demand, first, many))
        add_paths(found.channels, found.offsets, demand.data[first : first + many], load)
        first += many
        hops = max(len(found.channels), 1) / len(found)
        many = int(np.clip(MOST_HOPS / hops, FEWEST_PAIRS, MOST_PAIRS))
