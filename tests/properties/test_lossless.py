"""Links that share by turns: the engine against the readable twin, and what must hold of it."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings

from netloom.base.errors import InputError
from netloom.simulation.flow import flow_network, ways_of
from netloom.simulation.flow.engine import FlowEngine, FlowLaw
from netloom.simulation.flow.network import circles, in_path_order
from tests.properties.flow_runs import TIMES, cases, crowds, played
from tests.reference.lossless import Flow, lossless_rates

CLOSE = 1e-6
"""Of rates: levels that are nearly the same may count as one, or not."""


def plain(case):
    """The case without latencies."""
    return replace(case, latency=0.0)


def begun(case):
    """Return the engine of a case, its ways, and which links are part of circles."""
    network = flow_network(case.topology, latency=0.0, end_channels=bool(case.end_channels))
    table = case.messages
    moving = np.flatnonzero((table.flits > 0) & (table.source != table.target))
    ways = ways_of(network, case.routing, table.source[moving], table.target[moving])
    try:
        ways = in_path_order(network, ways)
    except InputError:
        assume(False)  # paths of a flow in circles
    round_ = circles(network, case.routing, ways)
    engine = FlowEngine(network, FlowLaw(injection=case.injection), circles=round_)
    path = np.full(len(table), -1)
    path[moving] = np.arange(len(moving))
    engine.add_ways(ways)
    engine.append(table, path, weight=case.weights)
    return engine, ways, round_


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
    engine, ways, round_ = begun(plain(case))
    capacity, ends = engine.network.capacity.tolist(), ends_of(engine.network)
    blocked = set(np.flatnonzero(round_).tolist())
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
    engine, ways, _ = begun(plain(case))
    way = np.repeat(np.arange(len(ways)), np.diff(ways.offsets))
    while not engine.advance(batches=1):
        classes, capacity = engine.state.classes, engine.state.links["capacity"]
        used = np.zeros_like(capacity)
        np.add.at(used, ways.links, (classes["weight"] * classes["rate"])[way] * ways.shares)
        assert (used <= capacity).all()
        assert (classes["rate"][classes["weight"] > 0] > 0).all()
    assert engine.completed == len(case.messages)


@settings(max_examples=40)
@given(crowds())
def test_the_order_of_rows_changes_no_bit(case):
    """But that of the messages of one host, of which the first of equal times is sent first."""
    case = plain(case)
    order = np.argsort(case.messages.source, kind="stable")[::-1]
    for host in range(case.topology.num_hosts):
        own = np.flatnonzero(case.messages.source[order] == host)
        order[own] = np.sort(order[own])
    given_so = vars(case.messages)
    names = ("start", "delay", "run", "source", "target", "flits", "hold", "receive", "context")
    table = replace(case.messages, **{name: given_so[name][order] for name in names})
    try:
        one = played(case, sharing="lossless")
    except InputError:
        assume(False)
    other = played(replace(case, weights=case.weights[order]), table, sharing="lossless")
    assert all(np.array_equal(getattr(one, name)[order], getattr(other, name)) for name in TIMES)
