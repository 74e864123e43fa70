"""Loads of channels where packets draw their way: every draw, every node on the way, every hop."""

from collections import Counter
from itertools import product

from tests.reference.dimension_order import coordinates_of, node_at


def hops(cube, source, target, order, coin):
    """Return the hops as pairs of nodes; ``coin[axis]`` decides between two ways as short."""
    at, goal = coordinates_of(source, cube.sides), coordinates_of(target, cube.sides)
    found = []
    for axis in order:
        side = cube.sides[axis]
        way = direction(cube, axis, at[axis], goal[axis], coin)
        while at[axis] != goal[axis]:
            here = node_at(at, cube.sides)
            at[axis] = (at[axis] + way) % side
            found.append((here, node_at(at, cube.sides)))
    return found


def direction(cube, axis, start, end, coin):
    side = cube.sides[axis]
    if not cube.wraps[axis]:
        return 1 if end > start else -1
    forward, backward = (end - start) % side, (start - end) % side
    if forward == backward:
        return -1 if coin[axis] else 1
    return 1 if forward < backward else -1


def minimal_box(cube, source, target, coin):
    """Return the nodes between two, each once, whichever way round a ring the coin decides."""
    start, end = coordinates_of(source, cube.sides), coordinates_of(target, cube.sides)
    ranges = []
    for axis, side in enumerate(cube.sides):
        way, at = direction(cube, axis, start[axis], end[axis], coin), start[axis]
        ranges.append([at])
        while at != end[axis]:
            at = (at + way) % side
            ranges[-1].append(at)
    return [node_at(place, cube.sides) for place in product(*ranges)]


def loads(cube, flow, order, by_way_of=None):
    """Return the expected load of every channel.

    ``flow`` lists (source, target, amount); ``by_way_of(source, target, coin)`` the nodes of which
    a packet draws one to travel to first, or is None.
    """
    coins = list(product((False, True), repeat=len(cube.sides)))
    crossed = Counter()
    for source, target, amount in flow:
        for coin in coins:
            over = [source] if by_way_of is None else by_way_of(source, target, coin)
            for node in over:
                way = hops(cube, source, node, order, coin) + hops(cube, node, target, order, coin)
                for hop in way:
                    crossed[hop] += amount / len(coins) / len(over)
    ends = zip(cube.channel_source.tolist(), cube.channel_target.tolist(), strict=True)
    return [crossed[end] for end in ends]
