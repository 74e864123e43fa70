"""OpenSM's torus-2QoS: dimension order on tori in two lanes, around what is broken.

Coordinates of routers are found from their cables, also where cables or routers are missing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import combinations
from math import gcd
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Int8s, Ints, UInt8s
from netloom.routing.forwarding.tables import (
    ForwardingTable,
    Lanes,
    channels_by_port,
    end_points,
    falls_back,
    told,
)
from netloom.topology import Topology
from netloom.topology.core import port_numbers
from netloom.topology.cubes import Cube

FEWEST_DIMENSIONS, DIMENSIONS = 2, 3
SMALLEST_RING = 3
LEVELS = 16


class Grid(NamedTuple):
    """Where routers stand in a torus or mesh.

    Attributes
    ----------
    sides, wraps
        Places in each dimension, and whether it is a ring.
    place
        int64[num_routers, dimensions], the coordinates; -1 of a router that is broken.
    """

    sides: tuple[int, ...]
    wraps: tuple[bool, ...]
    place: Ints


def grid_of(topology: Topology) -> Grid | None:
    """Return the torus or mesh of up to three dimensions that routers make. None if they do not.

    A network of netloom's own families keeps its coordinates. Otherwise the cables of one router
    get directions. These are passed on around squares of four cables. If all cables of a router but
    one have a direction, the last one follows. If the result does not hold for every cable, the
    network is no grid. Two dimensions of side 2 are a ring of four. Router 0 is the origin of
    rings. The first dimension is that of its lowest port, towards which coordinates grow.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> found = grid_of(topology("torus:4x3/2"))
    >>> found.sides, found.wraps, found.place[:4].tolist()
    ((4, 3), (True, True), [[0, 0], [0, 1], [0, 2], [1, 0]])
    >>> grid_of(topology("fat-tree:3x2")) is None
    True
    """
    whole = topology.whole.routers
    if isinstance(whole, Cube) and len(whole.sides) <= DIMENSIONS:
        place = np.stack(np.unravel_index(np.arange(whole.num_routers), whole.sides), axis=1)
        first = topology.num_ends - topology.num_routers
        gone = [vertex - first for vertex in topology.failed_nodes if vertex >= first]
        place[gone] = -1
        return Grid(whole.sides, whole.wraps, place.astype(np.int64))
    # the neighbours of each router, each once, in order of port
    inside = topology.routers
    ports = port_numbers(topology)[0][: inside.num_channels]
    found: list[dict[int, None]] = [{} for _ in range(topology.num_routers)]
    for channel in np.lexsort((ports, inside.channel_source)).tolist():
        here, there = int(inside.channel_source[channel]), int(inside.channel_target[channel])
        if here != there:
            found[here][there] = None
    neighbours = [list(each) for each in found]
    seed = max(range(len(neighbours)), key=lambda router: len(neighbours[router]))
    around = [set(each) for each in neighbours]
    alike = len({len(each) for each in neighbours}) == 1  # then one neighbour alone is a side of 2
    for directions in _first_directions(neighbours[seed], seed, around):
        dimensions = range(max(directions, default=0) // 2 + 1)
        pairs = {each for each in dimensions if 2 * each + 1 in directions or not alike}
        known = _Directions(neighbours, around, 2 * len(dimensions), pairs)
        try:
            for direction, other in directions.items():
                known.tell(seed, other, direction)
            grid = _placed(known.at) if known.hand_on() else None
        except _ContradictionError:
            continue
        if grid is not None:
            return _turned(grid, neighbours[0])
    return None


def _first_directions(
    neighbours: list[int], seed: int, around: list[set[int]]
) -> Iterator[dict[int, int]]:
    """Yield directions of a router's neighbours, the likeliest first: 2 d and 2 d + 1 are opposite.

    Few dimensions are likelier than many.

    Neighbours in different dimensions have a second neighbour in common. Opposite ones do not,
    except around a ring of four.
    """

    def pairings(rest: list[int], dimensions: int) -> Iterator[list[list[int]]]:
        if not rest:
            yield []
        elif dimensions:
            for number in range(1, len(rest)):
                for others in pairings(rest[1:number] + rest[number + 1 :], dimensions - 1):
                    yield [[rest[0], rest[number]], *others]
            for others in pairings(rest[1:], dimensions - 1):
                yield [[rest[0]], *others]

    def unlikely(pairs: list[list[int]]) -> tuple[int, int]:
        together = {frozenset(pair) for pair in pairs}
        wrong = sum(
            bool(around[one] & around[other] - {seed}) == (frozenset((one, other)) in together)
            for one, other in combinations(neighbours, 2)
        )
        return len(pairs), wrong

    for pairs in sorted(pairings(neighbours, DIMENSIONS), key=unlikely):
        yield {
            2 * dimension + side: router
            for dimension, pair in enumerate(pairs)
            for side, router in enumerate(pair)
        }


class _ContradictionError(Exception):
    """A cable would have two directions, or a router two neighbours in one."""


class _Directions:
    """Directions of cables, handed on from router to router.

    Attributes
    ----------
    at
        By router, its neighbour in each direction that is known.
    way
        By router, the direction of each neighbour that is known.
    pairs
        The dimensions in which a router can have two neighbours. The others have side 2.
    """

    def __init__(
        self, neighbours: list[list[int]], around: list[set[int]], many: int, pairs: set[int]
    ) -> None:
        self.neighbours, self.around, self.many, self.pairs = neighbours, around, many, pairs
        self.at: list[dict[int, int]] = [{} for _ in neighbours]
        self.way: list[dict[int, int]] = [{} for _ in neighbours]
        self.queue: deque[int] = deque()

    def tell(self, router: int, other: int, direction: int) -> None:
        """Say in which direction of a router a neighbour lies."""
        if other not in self.way[router]:
            self.queue.extend((router, other))
        for here, there, step in ((router, other, direction), (other, router, direction ^ 1)):
            known = self.at[here].setdefault(step, there), self.way[here].setdefault(there, step)
            if known != (there, step):
                raise _ContradictionError

    def hand_on(self) -> bool:
        """Say all directions that follow. Return whether those are all."""
        while self.queue:
            router = self.queue.popleft()
            own = self.at[router]
            # around squares
            for (one, first), (two, second) in combinations(list(own.items()), 2):
                corners = self.around[first] & self.around[second] - {router}
                if one // 2 != two // 2 and len(corners) == 1:
                    corner = next(iter(corners))
                    self.tell(first, corner, two)
                    self.tell(second, corner, one)
            # the last one
            left, free = self._left(router)
            if len(left) == len(free) == 1:
                self.tell(router, left[0], free[0])
            # straight on: what makes a square with all but the one that it lies opposite to
            left, free = self._left(router)
            for direction in free:
                behind = own.get(direction ^ 1)
                beside = [other for step, other in own.items() if step // 2 != direction // 2]
                ahead = [
                    other
                    for other in left
                    if behind is not None
                    and self._apart(other, behind, router)
                    and not any(self._apart(other, each, router) for each in beside)
                ]
                if len(ahead) == 1:
                    self.tell(router, ahead[0], direction)
        every = zip(self.way, self.neighbours, strict=True)
        return all(len(way) == len(each) for way, each in every)

    def _apart(self, one: int, other: int, router: int) -> bool:
        """Whether two neighbours of a router have no other neighbour in common."""
        return not self.around[one] & self.around[other] - {router}

    def _left(self, router: int) -> tuple[list[int], list[int]]:
        """Return the neighbours and the directions of a router that are not known."""
        left = [other for other in self.neighbours[router] if other not in self.way[router]]
        own = self.at[router]
        free = [
            each
            for each in range(self.many)
            if each not in own and (each // 2 in self.pairs or each ^ 1 not in own)
        ]
        return left, free


def _placed(at: list[dict[int, int]]) -> Grid | None:
    """Return the coordinates that directions give. None where they give a router two."""
    dimensions = max((direction for each in at for direction in each), default=0) // 2 + 1
    steps = np.zeros((2 * dimensions, dimensions), np.int64)
    for direction in range(2 * dimensions):
        steps[direction, direction // 2] = -1 if direction % 2 else 1
    place = np.zeros((len(at), dimensions), np.int64)
    seen, queue = {0}, deque([0])
    periods = [0] * dimensions
    while queue:
        router = queue.popleft()
        for direction, other in at[router].items():
            there = place[router] + steps[direction]
            if other not in seen:
                seen.add(other)
                place[other] = there
                queue.append(other)
            apart = np.flatnonzero(there != place[other])
            if len(apart) > 1:
                return None
            for axis in apart.tolist():
                periods[axis] = gcd(periods[axis], int(abs(there[axis] - place[other, axis])))
    if len(seen) < len(at) or any(0 < period < SMALLEST_RING for period in periods):
        return None
    for axis, period in enumerate(periods):
        at_axis = place[:, axis]
        place[:, axis] = at_axis % period if period else at_axis - at_axis.min()
    sides = tuple(period or int(place[:, axis].max()) + 1 for axis, period in enumerate(periods))
    if len(np.unique(np.ravel_multi_index(tuple(place.T), sides))) < len(at):
        return None
    return Grid(sides, tuple(period > 0 for period in periods), place)


def _turned(grid: Grid, neighbours: list[int]) -> Grid:
    """Return a grid with router 0 at the origin of rings, dimensions and signs by its ports."""
    order = []
    place = grid.place.copy()
    for other in neighbours:
        axis = int(np.flatnonzero(place[other] != place[0])[0])
        if axis in order:
            continue
        order.append(axis)
        side, step = grid.sides[axis], int(place[other, axis] - place[0, axis])
        if grid.wraps[axis]:
            sign = -1 if step % side != 1 else 1
            place[:, axis] = (place[:, axis] - place[0, axis]) * sign % side
        elif step < 0:
            place[:, axis] = side - 1 - place[:, axis]
    order += [axis for axis in range(len(grid.sides)) if axis not in order]
    sides = tuple(grid.sides[axis] for axis in order)
    wraps = tuple(grid.wraps[axis] for axis in order)
    return Grid(sides, wraps, place[:, order])


class _Torus(NamedTuple):
    """A torus in three dimensions, some of side 1, and the directions of its channels.

    Attributes
    ----------
    sides
        int64[3].
    at_place
        int64[*sides], the router at each place, or -1 if none is.
    place
        int64[num_routers, 3], or -1 for a broken router.
    direction
        int64[channels between routers]: 2 d where coordinate d falls, 2 d + 1 where it grows.
    step
        int64[num_routers, 6], the neighbour by direction, or -1 if none is.
    """

    sides: Ints
    at_place: Ints
    place: Ints
    direction: Ints
    step: Ints


def torus_2qos(topology: Topology) -> ForwardingTable:
    """Return the table and the lanes of OpenSM's engine torus-2QoS.

    Paths go along x, then y, then z. They take the shorter way around each ring, and the long way
    around a broken ring. Of two equal ways, they take the one that does not cross the dateline,
    between the last coordinate and the first. A service level has a bit for each dimension whose
    dateline the shorter way crosses. The bit of the dimension that a channel lies in is the lane.
    One router may be missing, or several in one column along z: ways turn early there, and go on in
    two more lanes after a turn against the order. OpenSM takes the torus from a file
    (``--torus_config``). Here it is the one that ``grid_of`` finds, with its origin and its order
    of dimensions. Cables between the same two routers take turns.

    Raises
    ------
    InputError
        If the network is no torus or mesh of two or three dimensions, or too broken: OpenSM falls
        back to ``minhop`` there.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> table = torus_2qos(torus(2, 5))
    >>> table.next_channel[:5, 0].tolist(), table.lanes.level[:5, 0].tolist()
    ([-1, 10, 10, 24, 24], [0, 0, 0, 2, 2])
    """
    found = routed_torus(topology)
    if isinstance(found, str):
        raise falls_back(topology, "torus-2qos", found, "a torus; or another engine")
    torus, directions = found
    ends = end_points(topology)
    level = np.zeros((topology.num_routers,) * 2, np.uint8)  # to each router from each other
    for axis, side in enumerate(torus.sides.tolist()):
        at = torus.place[:, axis].astype(np.int32)
        inner = np.abs(at[:, None] - at)
        level |= (inner > side - inner).astype(np.uint8) << axis
    lanes = Lanes(level[ends.exit[: ends.num_destinations]], _lanes_by_port(topology, torus))
    return told("torus-2qos", _table(topology, torus, directions), ends, lanes)


def routed_torus(topology: Topology) -> tuple[_Torus, Int8s] | str:
    """Return the torus and the direction to each router from each other, or why there is none."""
    grid, inside = grid_of(topology), topology.routers
    if grid is None or len(grid.sides) < FEWEST_DIMENSIONS:
        return "switches make no torus or mesh of two or three dimensions"
    more = DIMENSIONS - len(grid.sides)
    sides = np.array((*grid.sides, *(1,) * more), np.int64)
    here = grid.place[:, 0] >= 0
    place = np.concatenate([grid.place, np.zeros((len(here), more), np.int64)], axis=1)
    place[~here] = -1
    at_place = np.full(sides, -1, np.int64)
    at_place[tuple(place[here].T)] = np.flatnonzero(here)
    change = place[inside.channel_target] - place[inside.channel_source]
    axis = np.argmax(change != 0, axis=1)
    step_by = change[np.arange(len(axis)), axis]
    direction = 2 * axis + ((step_by == 1) | (step_by < -1))
    step = np.full((topology.num_routers, 2 * DIMENSIONS), -1, np.int64)
    step[inside.channel_source, direction] = inside.channel_target
    torus = _Torus(sides, at_place, place, direction.astype(np.int64), step)
    if reason := _too_broken(topology, torus):
        return reason
    directions = _directions(torus)
    lost = (directions < 0) & here & here[:, None] & ~np.eye(len(here), dtype=np.bool_)
    if lost.any():
        end, router = (int(each) for each in np.argwhere(lost)[0])
        names = [topology.router_name(each) for each in (router, end)]
        return f"no way leads from switch {names[0]} to {names[1]}"
    return torus, directions


def _directions(torus: _Torus) -> Int8s:
    """Return int8[routers, routers], the direction to each router (row) from each other; -1: none.

    It lies in the first dimension in which the two differ and a way leads on. There packets go the
    shorter way round to where they turn, or the other one if that is broken. If no router stands
    there, they go the shorter way as far as it leads, except in the last dimension.
    """
    here = np.flatnonzero(torus.place[:, 0] >= 0)
    each, place = np.arange(len(here)), torus.place[here]
    step = np.append(torus.step, np.full((1, 2 * DIMENSIONS), -1), axis=0)
    found = np.full((len(torus.place),) * 2, -1, np.int8)
    for axis in reversed(range(DIMENSIONS)):
        side, own = int(torus.sides[axis]), place[:, axis]
        to = np.arange(side)[:, None]  # from each router to each coordinate
        inner = np.abs(to - own)
        grows = ((to > own) ^ (inner > side - inner)).astype(np.int64)
        reached = np.zeros((2, side, len(here)), np.bool_)
        for sign in range(2):
            at = here
            for _ in range(side):
                at = step[at, 2 * axis + sign]
                reached[sign, torus.place[at, axis], each] |= at >= 0
        shorter, (falling, growing) = 2 * axis + grows, reached
        way = np.where(np.where(grows, growing, falling), shorter, shorter ^ 1)
        way[~(falling | growing)] = -1
        if axis < DIMENSIONS - 1:
            corner = np.broadcast_to(place, (side, *place.shape)).copy()
            corner[..., axis] = to
            gone = torus.at_place[tuple(np.moveaxis(corner, -1, 0))] < 0
            way = np.where(gone & (step[here, shorter] >= 0), shorter, way)
        way[own, each] = -1
        ahead, rest = way[own], found[np.ix_(here, here)]
        found[np.ix_(here, here)] = np.where(ahead >= 0, ahead, rest)
    return found


def _too_broken(topology: Topology, torus: _Torus) -> str:
    """Return why OpenSM would not route what is left of a torus. Empty if it would."""
    for axis, name in enumerate("xyz"):
        across = np.moveaxis(torus.at_place, axis, -1).reshape(-1, torus.sides[axis])
        for ring in across:
            routers = ring[ring >= 0]
            cuts = int((torus.step[routers, 2 * axis + 1] < 0).sum())
            if cuts > 1 and torus.sides[axis] > 1:
                named = topology.router_name(routers[0])
                return f"the line of switch {named} along {name} is broken in {cuts} places"
    missing = np.argwhere(torus.at_place < 0)
    if len(missing) > 1:
        columns = {tuple(each[:2].tolist()) for each in missing}
        heights = missing[:, 2]
        beside = [(heights + step) % torus.sides[2] for step in (-1, 1)]
        lone = ~(np.isin(beside[0], heights) | np.isin(beside[1], heights))
        if len(columns) > 1 or lone.any():
            return f"{len(missing)} switches are missing, and not next to each other along z"
    return ""


def _lanes_by_port(topology: Topology, torus: _Torus) -> UInt8s:
    """Return the lane by router, ports in and out and service level (see ``Lanes``)."""
    inside = topology.routers
    leaves, enters = port_numbers(topology)
    axis = torus.direction // 2
    ports = int(max(leaves.max(initial=0), enters.max(initial=0))) + 1
    comes = np.zeros((topology.num_routers, ports), np.int64)
    goes = np.full((topology.num_routers, ports), DIMENSIONS)
    comes[inside.channel_target, enters[: inside.num_channels]] = axis
    goes[inside.channel_source, leaves[: inside.num_channels]] = axis
    bit = (np.arange(LEVELS) >> goes[:, :, None] & 1).astype(np.uint8)
    bit[goes == DIMENSIONS] = 0
    lane = np.repeat(bit[:, None], ports, axis=1)
    if (torus.at_place < 0).any():  # some ways turn against the order
        lane |= 2 * (comes[:, :, None] > goes[:, None]).astype(np.uint8)[..., None]
    return lane


def _table(topology: Topology, torus: _Torus, directions: Int8s) -> Ints:
    """Return the channel of each router to each end point. Parallel ones take turns."""
    ends, source = end_points(topology), topology.routers.channel_source
    cables: dict[tuple[int, int], list[int]] = {}
    for channel in channels_by_port(topology, leaving=True)[1].tolist():
        cables.setdefault((int(source[channel]), int(torus.direction[channel])), []).append(channel)
    first = np.full((topology.num_routers, 2 * DIMENSIONS + 1), -1, np.int32)
    for place, some in cables.items():
        first[place] = some[0]
    table = first[np.arange(topology.num_routers), directions[ends.exit]]  # -1 is the last column
    x, y, z = (torus.place[ends.exit, axis] for axis in range(DIMENSIONS))
    turn = np.lexsort((np.argsort(ends.order), x, y, z))
    for own in (turn[turn < ends.num_apart], turn[turn >= ends.num_apart]):
        for (router, direction), some in cables.items():
            if len(some) > 1:
                there = own[directions[ends.exit[own], router] == direction]
                table[there, router] = np.resize(some, len(there))
    return table
