"""Dimension-order routing, written for the reader: one hop at a time, by coordinates."""


def node_at(coordinates, sides):
    node = 0
    for coordinate, side in zip(coordinates, sides, strict=True):
        node = node * side + coordinate
    return node


def coordinates_of(node, sides):
    found = []
    for side in reversed(sides):
        found.append(node % side)
        node //= side
    return found[::-1]


def visited(source, target, sides, wraps, order):
    """Return the nodes that a packet visits, source and target included."""
    at, goal = coordinates_of(source, sides), coordinates_of(target, sides)
    nodes = [source]
    for axis in order:
        side = sides[axis]
        forward, backward = (goal[axis] - at[axis]) % side, (at[axis] - goal[axis]) % side
        if wraps[axis]:
            step = 1 if forward <= backward else -1
        else:
            step = 1 if goal[axis] > at[axis] else -1
        while at[axis] != goal[axis]:
            at[axis] = (at[axis] + step) % side
            nodes.append(node_at(at, sides))
    return nodes
