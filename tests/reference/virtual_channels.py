"""Routing on virtual channels, written for the reader: sets of (port, vc), one hop at a time.

A network is its sides and wraps. ``ports_of`` numbers ports; a port of travel is (axis, step), step
+1 or -1. A packet is (source, target, middle, coin): ``middle`` is the intermediate node of Valiant
and ROMM, and ``done`` says whether the packet has been there.
"""

from itertools import pairwise

from tests.reference.dimension_order import coordinates_of


def ports_of(sides):
    """Return {(axis, step): port}."""
    found, free = {}, 0
    for axis, side in enumerate(sides):
        if side == 2:
            found[axis, 1] = found[axis, -1] = free
        elif side > 2:
            found[axis, 1], found[axis, -1] = free, free + 1
        free += min(side - 1, 2)
    return found


def lower(vcs):
    return vcs[: (len(vcs) + 1) // 2]


def upper(vcs):
    return vcs[(len(vcs) + 1) // 2 :]


def steps(side, wrap, start, end, coin_bit, growing=False):
    """Return the steps (+1, -1) from one coordinate towards another, the coin's choice first.

    Where ties are ``growing``, half-way round a ring there is one.
    """
    if start == end:
        return []
    if not wrap:
        return [1 if end > start else -1]
    up, down = (end - start) % side, (start - end) % side
    if up == down and growing:
        return [1]
    if up == down:
        return [-1, 1] if coin_bit else [1, -1]
    return [1] if up < down else [-1]


def way(start, end, side, step):
    """Return the coordinates from ``start`` to ``end``, both included."""
    found = [start]
    while found[-1] != end:
        found.append((found[-1] + step) % side)
    return found


def wraps_on(coordinates):
    """Whether a way round a ring crosses its wrap channel."""
    return any(abs(a - b) > 1 for a, b in pairwise(coordinates))


class Twin:
    """The routing ``name`` of a cube with these sides and wraps, on ``num_vcs`` VCs."""

    def __init__(self, name, sides, wraps, num_vcs, order=None):
        self.name, _, option = name.partition(":")
        self.growing = option == "ties=+"
        self.sides, self.wraps = sides, wraps
        self.vcs = list(range(num_vcs))
        self.order = order or list(reversed(range(len(sides))))
        self.port = ports_of(sides)
        self.dateline = [w and s >= 4 for s, w in zip(sides, wraps, strict=True)]

    def allowed(self, node, came_by, source, target, middle, done, coin):
        """Return {(port, vc)}; ``came_by`` is the (input port, vc), the port None at the source.

        Empty at the target.
        """
        at = coordinates_of(node, self.sides)
        goal = coordinates_of(target, self.sides)
        entry = coordinates_of(source, self.sides)
        vcs = self.vcs
        if self.name in ("valiant", "romm"):
            via = coordinates_of(middle, self.sides)
            goal, entry, vcs = (goal, via, upper(vcs)) if done else (via, entry, lower(vcs))
        if at == goal:
            return set()
        turns = [
            (
                axis,
                steps(
                    self.sides[axis],
                    self.wraps[axis],
                    at[axis],
                    goal[axis],
                    coin >> axis & 1,
                    self.growing,
                ),
            )
            for axis in self.order
            if at[axis] != goal[axis]
        ]
        axis, (step, *_) = turns[0]
        rule = getattr(self, self.name.replace("-", "_"))
        return rule(axis, step, turns, at, goal, entry, vcs, came_by, coin)

    def slots(self, axis, step, vcs):
        return {(self.port[axis, step], vc) for vc in vcs}

    def along(self, axis, came_by):
        """Whether a packet came by a channel of this axis."""
        return came_by[0] is not None and came_by[0] in {
            self.port.get((axis, 1)), self.port.get((axis, -1)),
        }  # fmt: skip

    def dimension_order(self, axis, step, turns, at, goal, entry, vcs, came_by, coin):
        if not self.dateline[axis]:
            return self.slots(axis, step, vcs)
        side = self.sides[axis]
        if wraps_on(way(entry[axis], goal[axis], side, step)):
            next_hop = at[axis], (at[axis] + step) % side
            ahead = wraps_on(way(at[axis], goal[axis], side, step)) and not wraps_on(next_hop)
            return self.slots(axis, step, lower(vcs) if ahead else upper(vcs))
        if self.along(axis, came_by) and came_by[1] in upper(vcs):
            return self.slots(axis, step, upper(vcs))
        return self.slots(axis, step, vcs)

    valiant = romm = dimension_order

    def dimension_order_static_dateline(
        self, axis, step, turns, at, goal, entry, vcs, came_by, coin
    ):
        if self.dateline[axis]:
            half = len(vcs) // 2
            crossing = wraps_on(way(entry[axis], goal[axis], self.sides[axis], step))
            vcs = vcs[half:] if crossing else vcs[: len(vcs) - half]
        return self.slots(axis, step, vcs)

    def adaptive(self, axis, step, turns, at, goal, entry, vcs, came_by, coin):
        escapes = 2 if any(self.dateline) else 1
        escape = vcs[:escapes]
        if self.dateline[axis]:
            crossing = wraps_on(way(at[axis], goal[axis], self.sides[axis], step))
            escape = [0] if crossing else [1]
        found = self.slots(axis, step, escape)
        for other, ways in turns:
            for each in ways:
                found |= self.slots(other, each, vcs[escapes:])
        return found

    def adaptive_sticky_escape(self, axis, step, turns, at, goal, entry, vcs, came_by, coin):
        escapes = 2 if any(self.dateline) else 1
        sticky = came_by[0] is not None and came_by[1] < escapes
        escape = vcs[:escapes]
        if self.dateline[axis]:
            crossing = wraps_on(way(at[axis], goal[axis], self.sides[axis], step))
            escape = [1] if crossing else [0]
            if sticky and self.along(axis, came_by):
                escape = [came_by[1]]
        found = self.slots(axis, step, escape)
        if not sticky:
            for other, ways in turns:
                each = -1 if len(ways) == 2 else ways[0]
                found |= self.slots(other, each, vcs[3:4] if escapes == 2 else vcs[1:])
        return found

    def west_first(self, axis, step, turns, at, goal, entry, vcs, came_by, coin):
        if goal[1] < at[1]:
            return self.slots(1, -1, vcs)
        return {slot for each, ways in turns for slot in self.slots(each, ways[0], vcs)}

    def negative_first(self, axis, step, turns, at, goal, entry, vcs, came_by, coin):
        falling = [(each, ways[0]) for each, ways in turns if ways[0] < 0]
        chosen = falling or [(each, ways[0]) for each, ways in turns]
        return {slot for each, way_on in chosen for slot in self.slots(each, way_on, vcs)}

    def odd_even(self, axis, step, turns, at, goal, entry, vcs, came_by, coin):
        """Chiu (2000), figure ROUTE; columns are x, the last dimension."""
        e0, e1 = goal[1] - at[1], goal[0] - at[0]
        vertical = self.slots(0, 1 if e1 > 0 else -1, vcs) if e1 else set()
        found = set()
        if e0 == 0:
            found |= vertical
        elif e0 > 0:
            if e1 == 0:
                found |= self.slots(1, 1, vcs)
            else:
                if at[1] % 2 == 1 or at[1] == entry[1]:
                    found |= vertical
                if goal[1] % 2 == 1 or e0 != 1:
                    found |= self.slots(1, 1, vcs)
        else:
            found |= self.slots(1, -1, vcs)
            if at[1] % 2 == 0:
                found |= vertical
        return found

    def o1turn(self, axis, step, turns, at, goal, entry, vcs, came_by, coin):
        turns = sorted(turns, reverse=coin % 2 == 0)  # x, the last dimension, first
        first, ways = turns[0]
        return self.slots(first, ways[0], upper(vcs) if coin % 2 else lower(vcs))

    o1turn_adaptive = o1turn
