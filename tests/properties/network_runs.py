"""Cases of the virtual-channel network, run by its engine: what the readable one is held against.

A case has a topology, a routing, a router, packets, connections (or None), the cycles that it runs
for, and whether credits are to be exact.
"""

import numpy as np

from netloom.simulation.network.engine import Engine

SLOW = 2**30
"""So many credits no buffer of a case has: each comes back in its own time."""


def engine_of(case):
    shortest = int(case.packets[:, 3].min(initial=case.router.buffer_flits))
    engine = Engine(
        case.topology,
        case.routing,
        case.router,
        shortest_packet=shortest,
        connections=case.connections,
    )
    if case.exact:
        engine.setup = engine.setup._replace(lazy=SLOW)
    return engine


def run(case, *stops):
    """Return an engine that has run a case, in several calls, and what it delivered."""
    engine, first, rows = engine_of(case), 0, []
    for until in (*stops, case.cycles):
        after = int(np.searchsorted(case.packets[:, 0], until))
        found = engine.advance(case.packets[first:after], until)
        rows += zip(*(column.tolist() for column in found), strict=True)
        first = after
    engine.flits()  # they balance
    delivered = [row for row in rows if row[3] < case.cycles]
    return engine, sorted(delivered, key=lambda row: (row[3], row[0]))
