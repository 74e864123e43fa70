"""Cases of the virtual-channel network, run by its engine: what the readable one is held against.

A case has a topology, a routing, a router, packets, connections (or None), the cycles that it runs
for, and whether credits are to be exact.
"""

from math import inf

import numpy as np

from netloom.simulation.network.engine import Engine
from tests.engine_state import credits_of, owned_of
from tests.reference.compiled_rules import arrived

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


def led_by(way, routing, tables):
    """Return how a rule leads packets: by ``way``, for a coin that credits may turn at first."""

    def route(at, slot, packet, used):
        packet.aux = arrived(tables, at, packet.aux)
        if routing.uses_credits and packet.hops == 0:
            ways = (packet.coin, packet.coin ^ 1)  # of as many credits, as the coin fell
            packet.coin = min(ways, key=lambda coin: used(at, min(way(at, slot, packet, coin))[0]))
        return way(at, slot, packet, packet.coin)

    return route


def queued(engine):
    """Return how many packets are born, but not yet sent."""
    state, count = engine.state, 0
    for packet in state.queue_front.tolist():
        while packet >= 0:
            count += 1
            packet = int(state.packets["next"][packet])
    begun = state.entries["packet"][state.entries["packet"] >= 0]
    return count + int((state.packets["entry"][begun] < 0).sum())


def check(case, expected):
    """Check that the engine does what the readable network did, and so in two calls."""
    engine, delivered = run(case)
    assert delivered == expected.delivered
    inside, direct = case.topology.num_network_channels, case.topology.direct
    assert engine.channel_flits().tolist() == expected.channel_flits[:inside]
    assert engine.count("link_hops") == expected.link_hops
    assert engine.count("injected") == expected.injected_flits
    assert engine.flits()["buffered"] == expected.buffered_flits
    assert queued(engine) == expected.queued_packets
    buffered, owned, places = engine.buffered(), owned_of(engine), credits_of(engine)
    assert {place: buffered[place] for place in expected.buffers} == expected.buffers
    assert {place: owned[place] for place in expected.owned} == expected.owned
    early = 0 if case.exact else engine.setup.credit_delay if direct else inf
    most = case.router.buffer_flits if direct else inf
    for place, left in expected.credits.items():
        assert left <= places[place] <= min(left + early, most)
    again, same = run(case, case.until)
    assert same == delivered
    assert again.state.masks.tobytes() == engine.state.masks.tobytes()
    assert again.state.inputs.tobytes() == engine.state.inputs.tobytes()
    assert again.state.outputs.tobytes() == engine.state.outputs.tobytes()
