"""Flows: the engine against the readable twin, and what must hold of any fair sharing."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, given, settings

from netloom.base.errors import InputError
from netloom.routing import parse_routing
from netloom.topology import topology
from tests.properties.flow_runs import (
    TIMES,
    Case,
    cases,
    close,
    columns,
    crowds,
    engine_of,
    in_units,
    links,
    played,
    programs,
    readable,
    settled,
    ways,
)
from tests.properties.hosted_networks import with_channels

CLOSE = 1e-9
"""Of a time, relative to the last: levels are whole numbers, so rates a little too small."""


def same(one, other):
    """Whether two runs are equal to the last bit."""
    return all(np.array_equal(one.rows[name], other.rows[name]) for name in TIMES)


def equal(case):
    """Check a case against the readable twin."""
    network, rows = readable(case)
    found, wanted = played(case), columns(rows)
    assert found.done
    carried = [float(size) for size in network.carried]
    scale = max(carried, default=0.0)
    assert np.abs(found.link_sizes - carried).max(initial=0) <= CLOSE * scale
    if close(found.rows, wanted, CLOSE):
        return found, rows
    assert not settled(case, rows), {name: (found.rows[name], wanted[name]) for name in TIMES}
    return None


@settings(max_examples=250)
@given(cases())
def test_programs_run_as_the_readable_twin_says(case):
    found = equal(case)
    if found is None:
        return
    run, rows = found
    for row, last in zip(rows, run.rows["last"].tolist(), strict=True):
        ends = [run.complete[other] for other in row.after]
        assert last == -1 if not ends else (last in row.after and run.complete[last] == max(ends))


@settings(max_examples=150)
@given(programs(5, 20, whole=True), st.integers(0, 3))
def test_of_equal_times_the_lower_row_is_first(program, switch):
    """Nobody shares a channel with anybody, and all times are whole: the same to the last bit."""
    net = topology("hyperx:5/1")
    speed = np.where(np.arange(net.num_channels) < net.num_network_channels, 1.0, 2.0**10)
    net = with_channels(net, speed, [1, 2] * (net.num_channels // 2))
    case = Case(net, parse_routing("default", net), program, switch=float(switch))
    found, (_, rows) = played(case), readable(case)
    for name in (*TIMES, "last"):
        assert found.rows[name].tolist() == [getattr(row, name) for row in rows]


@settings(max_examples=40)
@given(crowds())
def test_many_flows_end_when_the_readable_twin_says(case):
    equal(case)


@settings(max_examples=30)
@given(crowds(most=40), st.sampled_from(["in-order", "shared"]))
def test_shared_by_latency_is_shared_by_weights(case, injection):
    """Of one path each, whose latencies are small multiples of a channel's."""
    case = replace(case, latency=0.5, injection=injection, weights=1)
    case = replace(case, routing=parse_routing("default", case.topology))
    hops = np.array([sum(len(path) for _, path in each) for each in ways(case)])
    inside = hops - 2 * case.end_channels if case.topology.direct else hops
    rows = readable(replace(case, weights=1 / np.maximum(inside, 1)))[1]
    found = played(case, sharing="by-latency")
    assert close(found.rows, columns(rows), CLOSE)


@settings(max_examples=40)
@given(crowds(least=100, most=300), st.booleans())
def test_levels_found_where_they_change_are_those_found_from_scratch(case, alike):
    """But for some units of levels: a link may be just full for one and not for the other."""
    speed = case.topology.channel_bandwidth if alike else 1 + np.arange(case.topology.num_channels)
    if not case.topology.direct:
        net = with_channels(case.topology, speed, case.topology.channel_cycles)
        case = replace(case, topology=net, routing=parse_routing(str(case.routing), net))
    one, scratch = engine_of(case)[0], engine_of(case)[0]
    assert one.advance()
    clock = scratch.state.clock
    while not scratch.advance(batches=1):
        clock["stale"], clock["left"] = 1, 2
    assert clock["fillings"] >= clock["batches"] - 1
    assert np.allclose(one.rows["arrived"], scratch.rows["arrived"], rtol=1e-11, atol=0)


@settings(max_examples=80)
@given(crowds(most=300))
def test_rates_are_max_min_fair_at_every_event(case):
    """No link is above its capacity, and each flow has a full link on which nobody is faster.

    Exactly so: rates are whole numbers of a unit.
    """
    engine, taken = engine_of(case)
    hops, link = np.diff(taken.offsets), taken.links
    way = np.repeat(np.arange(len(taken)), hops)
    time = 0.0
    while not engine.advance(batches=1):
        assert engine.time >= time
        time = engine.time
        classes, capacity = engine.state.classes, engine.state.links["capacity"]
        weight, level = classes["weight"][way] * taken.shares, classes["rate"][way]
        used, on = np.zeros_like(capacity), np.zeros_like(capacity)
        np.add.at(used, link, weight * level)
        np.add.at(on, link, weight)
        assert (used <= capacity).all()
        fastest = np.zeros_like(capacity)
        np.maximum.at(fastest, link, np.where(weight > 0, level, 0))
        full = capacity - used < on  # not one unit more for each
        held = full[link] & (level == fastest[link])
        assert (np.bincount(way, held, len(taken))[classes["weight"] > 0] > 0).all()
    assert engine.completed == len(case.messages)


@settings(max_examples=60)
@given(crowds(most=300), st.integers(0, 2**32 - 1), st.sampled_from(["max-min", "lossless"]))
def test_the_order_of_rows_changes_no_bit(case, seed, sharing):
    """But that of the messages of one host, of which the first of equal times is sent first."""
    order = np.random.default_rng(seed).permutation(len(case.messages))
    for host in range(case.topology.num_hosts):
        own = np.flatnonzero(case.messages.source[order] == host)
        order[own] = np.sort(order[own])
    given_so = vars(case.messages)
    names = ("start", "delay", "run", "source", "target", "flits", "hold", "receive", "context")
    table = replace(case.messages, **{name: given_so[name][order] for name in names})
    try:
        one = played(case, sharing=sharing)
    except InputError:
        assume(sharing == "max-min")  # paths of a flow in circles
        raise
    other = played(replace(case, weights=case.weights[order]), table, sharing=sharing)
    assert all(np.array_equal(one.rows[name][order], other.rows[name]) for name in TIMES)
    assert np.allclose(one.link_sizes, other.link_sizes, rtol=1e-12)


@settings(max_examples=100)
@given(cases())
def test_other_units_give_the_same_run(case):
    """Twice the sizes at twice the rates: the same bits. Half of all times: half of all bits."""
    found = played(case)
    twice = replace(case, bandwidth=2 * case.bandwidth)
    assert same(found, played(twice, in_units(case.messages, 1, 2)))
    half = replace(twice, latency=case.latency / 2, switch=case.switch / 2)
    faster = played(half, in_units(case.messages, 0.5, 1))
    for name in TIMES:
        times = found.rows[name]
        assert np.array_equal(faster.rows[name], np.where(times < 0, times, times / 2))


@settings(max_examples=60)
@given(crowds())
def test_no_answer_is_below_what_bytes_take(case):
    """The time of a message alone, and of each link's bytes from the first start on."""
    found, capacity = played(case), np.array(links(case)[0])
    uses = found.alone > 0
    assert (found.complete - found.sent >= found.alone * (1 - CLOSE))[uses].all()
    bound = (found.link_sizes / capacity).max(initial=0.0)
    assert found.finish - case.messages.start.min() >= bound * (1 - CLOSE)


@settings(max_examples=60)
@given(crowds(), st.data())
def test_a_message_alone_takes_its_latency_and_its_bytes_over_the_narrowest_link(case, data):
    row = data.draw(st.integers(0, len(case.messages) - 1))
    only = np.where(np.arange(len(case.messages)) == row, case.messages.flits, 0)
    found = played(replace(case, weights=1), replace(case.messages, flits=only))
    took = found.arrived - found.sent
    assert np.allclose(took, found.alone, rtol=CLOSE)
    rows = readable(case, replace(case.messages, flits=only))[1]
    assert np.allclose(took, [float(one.arrived - one.sent) for one in rows], rtol=CLOSE)


@settings(max_examples=40)
@given(crowds(), st.sampled_from([1e-5, 1e-3, 1e-2]))
def test_a_tolerance_costs_a_few_times_itself(case, tolerance):
    case = replace(case, injection="shared")
    exact, found = played(case), played(case, tolerance=tolerance)
    assert np.allclose(found.complete, exact.complete, rtol=5 * tolerance)
    assert found.batches <= exact.batches
