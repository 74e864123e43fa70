"""Coordinates of the routers of a torus or mesh, also where cables or routers are missing."""

from __future__ import annotations

from collections import deque
from itertools import combinations
from math import gcd
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.topology.cabling import port_numbers
from netloom.topology.cubes import Cube

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Ints
    from netloom.topology import Topology

MOST_DIMENSIONS = 3
SMALLEST_RING = 3


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
    if isinstance(whole, Cube) and len(whole.sides) <= MOST_DIMENSIONS:
        place = np.stack(np.unravel_index(np.arange(whole.num_vertices), whole.sides), axis=1)
        first = topology.num_vertices - topology.num_routers
        gone = [vertex - first for vertex in topology.failed_nodes if vertex >= first]
        place[gone] = -1
        return Grid(whole.sides, whole.wraps, place.astype(np.int64))
    neighbours = _neighbours(topology)
    seed = max(range(len(neighbours)), key=lambda router: len(neighbours[router]))
    around = [set(each) for each in neighbours]
    for directions in _first_directions(neighbours[seed], seed, around):
        labels = _handed_on(seed, directions, neighbours, around)
        grid = None if labels is None else _placed(labels)
        if grid is not None:
            return _turned(grid, neighbours[0])
    return None


def _neighbours(topology: Topology) -> list[list[int]]:
    """Return the neighbours of each router, each once, in order of port."""
    inside = topology.routers
    ports = port_numbers(topology)[0][: inside.num_channels]
    found: list[dict[int, None]] = [{} for _ in range(topology.num_routers)]
    for channel in np.lexsort((ports, inside.channel_source)).tolist():
        here, there = int(inside.channel_source[channel]), int(inside.channel_target[channel])
        if here != there:
            found[here][there] = None
    return [list(each) for each in found]


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

    for pairs in sorted(pairings(neighbours, MOST_DIMENSIONS), key=unlikely):
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
            self._around_squares(router)
            self._the_last(router)
            self._straight_on(router)
        return all(len(way) == len(own) for way, own in zip(self.way, self.neighbours, strict=True))

    def _apart(self, one: int, other: int, router: int) -> bool:
        """Whether two neighbours of a router have no other neighbour in common."""
        return not self.around[one] & self.around[other] - {router}

    def _around_squares(self, router: int) -> None:
        for (one, first), (two, second) in combinations(list(self.at[router].items()), 2):
            corners = self.around[first] & self.around[second] - {router}
            if one // 2 != two // 2 and len(corners) == 1:
                corner = next(iter(corners))
                self.tell(first, corner, two)
                self.tell(second, corner, one)

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

    def _the_last(self, router: int) -> None:
        left, free = self._left(router)
        if len(left) == len(free) == 1:
            self.tell(router, left[0], free[0])

    def _straight_on(self, router: int) -> None:
        """The neighbour that makes a square with all but the one it lies opposite to."""
        left, free = self._left(router)
        for direction in free:
            behind = self.at[router].get(direction ^ 1)
            beside = [
                other for step, other in self.at[router].items() if step // 2 != direction // 2
            ]
            ahead = [
                other
                for other in left
                if behind is not None
                and self._apart(other, behind, router)
                and not any(self._apart(other, each, router) for each in beside)
            ]
            if len(ahead) == 1:
                self.tell(router, ahead[0], direction)


def _handed_on(
    seed: int, directions: dict[int, int], neighbours: list[list[int]], around: list[set[int]]
) -> list[dict[int, int]] | None:
    """Return each router's neighbour by direction, or None if they contradict or are unknown."""
    dimensions = range(max(directions, default=0) // 2 + 1)
    alike = len({len(each) for each in neighbours}) == 1  # then one neighbour alone is a side of 2
    pairs = {each for each in dimensions if 2 * each + 1 in directions or not alike}
    found = _Directions(neighbours, around, 2 * len(dimensions), pairs)
    try:
        for direction, other in directions.items():
            found.tell(seed, other, direction)
        return found.at if found.hand_on() else None
    except _ContradictionError:
        return None


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
        place[:, axis] = (
            place[:, axis] % period if period else place[:, axis] - place[:, axis].min()
        )
    sides = tuple(period or int(place[:, axis].max()) + 1 for axis, period in enumerate(periods))
    if len(np.unique(np.ravel_multi_index(tuple(place.T), sides))) < len(at):
        return None
    return Grid(sides, tuple(period > 0 for period in periods), place)


def _turned(grid: Grid, neighbours: list[int]) -> Grid:
    """Return a grid with router 0 at the origin of rings, dimensions and signs by its ports."""
    order: list[int] = []
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
