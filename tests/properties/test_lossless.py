"""Links that share by turns: the engine against the readable twin, and what must hold of it."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from netloom.simulation.flow.network import circles
from tests.properties.flow_runs import cases, crowds, engine_of
from tests.reference.lossless import Flow, lossless_rates

CLOSE = 1e-6
"""Of rates: levels that are nearly the same may count as one, or not."""


def plain(case):
    """The case without latencies."""
    return replace(case, latency=0.0)


def ends_of(network):
    """Return from where to where each link leads; None for a host behind its router."""
    net = network.topology
    ends = list(zip(net.source_end.tolist(), net.target_end.tolist(), strict=True))
    if network.end_channels:
        ends += [(None, host) for host in range(net.num_hosts)]
        ends += [(host, None) for host in range(net.num_hosts)]
    return ends


@settings(max_examples=120)
@given(cases(most=25, plain=True))
def test_rates_are_those_of_the_readable_twin_at_every_event(case):
    engine, ways = engine_of(plain(case), by_turns=True)
    capacity, ends = engine.network.capacity.tolist(), ends_of(engine.network)
    blocked = set(np.flatnonzero(circles(engine.network, case.routing, ways)).tolist())
    while not engine.advance(batches=1):
        flows = {}
        for way in np.flatnonzero(engine.state.classes["weight"] > 0).tolist():
            hops = slice(ways.offsets[way], ways.offsets[way + 1])
            use = dict(zip(ways.links[hops].tolist(), ways.shares[hops] / ways.whole, strict=True))
            flows[way] = Flow(use, int(engine.state.classes["weight"][way]))
        wanted = lossless_rates(capacity, ends, list(flows.values()), blocked)
        rates = engine.state.classes["speed"]
        for way, flow in flows.items():
            assert np.isclose(rates[way] * flow.weight, wanted[flow], rtol=CLOSE)
    assert engine.completed == len(case.messages)


@settings(max_examples=60)
@given(crowds())
def test_no_link_is_above_its_capacity_and_every_flow_moves(case):
    engine, ways = engine_of(plain(case), by_turns=True)
    way = np.repeat(np.arange(len(ways)), np.diff(ways.offsets))
    while not engine.advance(batches=1):
        classes, capacity = engine.state.classes, engine.state.links["capacity"]
        used = np.zeros_like(capacity)
        np.add.at(used, ways.links, (classes["weight"] * classes["rate"])[way] * ways.shares)
        assert (used <= capacity).all()
        assert (classes["rate"][classes["weight"] > 0] > 0).all()
    assert engine.completed == len(case.messages)
