"""Plans made by hand: patterns of the 8x8 torus in the order in which iWarp sent them."""

import numpy as np

from netloom.phases import Capacity, Connections, Plan, Timetable
from netloom.routing import DimensionOrder, Paths, paths
from netloom.topology import torus
from netloom.workload import read

TORUS, WIDE = torus(8, 8), Capacity(62)


def connections_of(pairs, words, *, num_nodes=64, order=()):
    """Connections between pairs of nodes, in this order; ``order`` are pairs of their numbers."""
    source, target = np.array(pairs, np.int32).reshape(-1, 2).T
    before, after = np.array(order, np.int32).reshape(-1, 2).T
    carried = np.broadcast_to(np.asarray(words, np.int64), source.shape).copy()
    return Connections(num_nodes, source, target, carried, source, target, before, after, "by hand")


def plan_of(pairs, words, phase=0, *, on=TORUS, routes=None, order=(), capacity=WIDE):
    given = connections_of(pairs, words, num_nodes=on.num_nodes, order=order)
    phases = np.broadcast_to(np.asarray(phase, np.int32), len(given)).copy()
    if routes is None:
        routed = paths(on, DimensionOrder(), given.source, given.target)
    else:
        offsets = np.cumsum([0, *map(len, routes)])
        routed = Paths(offsets, np.array([c for route in routes for c in route], np.int32))
    return Plan(on, given, capacity, phases, routed, "by hand")


def plan_of_rows(on, rows, **options):
    """Return a plan of connections (source, target, words)."""
    return plan_of([row[:2] for row in rows], [row[2] for row in rows], on=on, **options)


def plan_of_program(spec, on, words, phase=0):
    """Return a plan of a program whose tasks run on nodes of their own, in rank order."""
    graph = read(spec)
    return plan_of(list(zip(graph.source, graph.target, strict=True)), words, phase, on=on)


def listed(plan, kind="timetable"):
    """A timetable in which each node starts its connections of a phase as they are listed."""
    seen, start = {}, np.zeros(len(plan.connections))
    for number, source in enumerate(plan.connections.source.tolist()):
        place = (source, int(plan.phase[number]))
        start[number] = seen.get(place, 0)
        seen[place] = start[number] + 1
    most = np.ones(plan.num_phases)
    return Timetable(start, start + 1, most, most, kind)


def neighbours():
    """East, west, north, south, from every node."""
    return [
        (8 * y + x, 8 * ((y + down) % 8) + (x + right) % 8)
        for y in range(8)
        for x in range(8)
        for down, right in ((0, 1), (0, -1), (-1, 0), (1, 0))
    ]


def butterfly():
    """A hypercube of 64, mapped by Gray codes: bits of the column first, for every node."""
    place = {code ^ code >> 1: code for code in range(8)}

    def node(task):
        return 8 * place[task >> 3] + place[task & 7]

    return [(node(task), node(task ^ 1 << bit)) for task in range(64) for bit in range(6)]
