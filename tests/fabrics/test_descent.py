"""Kernels of balanced tables against slow twins, and what must hold of every round."""

from dataclasses import replace
from itertools import chain

import networkx as nx
import numpy as np
from hypothesis import assume, example, given, settings, strategies as st

from netloom.contention import effective_bisection, shift_loads
from netloom.fabrics.balancing import (
    Rules,
    Ways,
    balanced,
    descended,
    judge_of,
    leads,
    problem_of,
    shortest_ways,
    tree_ways,
)
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.topology import Topology, topology
from netloom.topology.core import attach_hosts
from tests.reference.forwarding import colliding_pairs, table_waits, walked
from tests.reference.rerouting import Network, ways_to


@st.composite
def networks(draw, rates=(1.0, 2.0)):
    """A few routers on cables of these bandwidths, in one piece; some have hosts."""
    count = draw(st.integers(3, 7))
    joined = [(draw(st.integers(0, each - 1)), each) for each in range(1, count)]
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    joined += [each for each in draw(st.lists(pair, max_size=9)) if each[0] != each[1]]
    rate = draw(st.lists(st.sampled_from(rates), min_size=len(joined), max_size=len(joined)))
    hosts = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    assume(np.count_nonzero(hosts) > 1)
    return joined_by(joined, hosts, rate)


def joined_by(joined, hosts, rate):
    """Routers with so many hosts each, on cables of these ends and bandwidths."""
    source, target = np.array([end for a, b in joined for end in ((a, b), (b, a))], np.int32).T
    inside = Topology("net", len(hosts), source, target, channel_bandwidth=np.repeat(rate, 2))
    return attach_hosts(inside, np.arange(len(hosts)).repeat(hosts), name="net")


RING = joined_by([(0, 1), (1, 2), (2, 3), (3, 4), (0, 3), (1, 4)], [1, 2, 0, 1, 1], np.ones(6))
"""Router 2 has no hosts. If all hosts reach each other up and then down, it does not reach all."""

HOUSE = joined_by(
    [(0, 1), (1, 2), (2, 3), (0, 4), (3, 5), (3, 4), (2, 5)], [1, 0, 1, 0, 0, 2], np.ones(7)
)
"""A shortest path goes where fewer hops are left, but more if packets go up and then down."""


def ends_of(net):
    pairs = net.routers.channel_source.tolist(), net.routers.channel_target.tolist()
    return list(zip(*pairs, strict=True))


@settings(max_examples=60, deadline=None)
@given(networks(), st.data())
def test_ways_are_those_of_the_twin(net, data):
    from netloom.fabrics.kernels.ways import list_ways, nearness

    height = data.draw(st.permutations(range(net.num_routers)))
    if data.draw(st.booleans()):
        height = [0] * net.num_routers
    known = None if not any(height) else dict(enumerate(height))
    routers = np.arange(net.num_routers, dtype=np.int32)
    wiring, high = net.routers.wiring(), np.array(height, np.int32)
    near, falls = nearness(routers, high, wiring)
    order, offsets = np.empty(len(routers), np.int32), np.empty(len(routers) + 1, np.int64)
    channels = np.empty(net.num_network_channels, np.int32)
    for end in routers.tolist():
        hops, allowed = ways_to(end, ends_of(net), known)
        many = list_ways(near[end], falls[end], high, wiring, order, offsets, channels)
        assert {r: int(n) for r, n in enumerate(near[end]) if n >= 0} == hops
        assert [hops[r] for r in order[:many].tolist()] == sorted(hops.values())
        for router in hops:
            assert channels[offsets[router] : offsets[router + 1]].tolist() == allowed[router]
        led = np.flatnonzero(leads(net, Ways(high, routers, near, falls, 0, 0), end))
        assert led.tolist() == sorted(chain.from_iterable(allowed.values()))


TWO_CABLES = joined_by(
    [(0, 1), (0, 2), (2, 3), (3, 4), (0, 4), (2, 3)], [0, 1, 1, 2, 0], np.array([1, 1, 2, 1, 1, 1])
)
"""Of two cables from router 3 to router 2, one that is slower is kept only if it costs the same."""


@settings(max_examples=40, deadline=None)
@given(
    networks(), st.booleans(), st.permutations(range(7)), st.sampled_from([1.0, 2.0]),
    st.integers(0, 8), st.booleans(),
)  # fmt: skip
@example(TWO_CABLES, False, range(7), 1.0, 2, True)
def test_rounds_are_those_of_the_twin(net, up_down, order, own, half_aim, few):
    shortest = shortest_ways(net)
    ways = tree_ways(net, shortest) if up_down else shortest
    problem = problem_of(net, ways)
    order, aim = [router for router in order if router < net.num_routers], half_aim / 2
    rules = Rules(
        np.arange(net.num_hosts), np.array(order), own, aim, rounds=4, free=2, price=0.5, large=few
    )  # fmt: skip
    height = None if ways.plain else dict(enumerate(ways.height.tolist()))
    sent = dict(enumerate(problem.sent[:, 0].tolist()))
    slow = Network(
        ends_of(net), net.channel_bandwidth.tolist(), net.ejection_router.tolist(), sent, height
    )
    table = [{} for _ in range(net.num_hosts)]
    senders = [router for router in order if sent[router]]
    for number, (found, longest) in enumerate(descended(problem, rules)):
        if number == 3:  # a price of 0.65 would be rounded, and ties decided by that
            return
        price = 0.5 if number == 2 else 0.0
        table = slow.reroute(table, senders, own, price, aim, few=few)
        rows = [{r: c for r, c in enumerate(row) if c >= 0} for row in found.tolist()]
        assert rows == table
        load, _ = slow.loads(table, None)
        times = [load[c] / net.channel_bandwidth[c] for c in range(net.num_network_channels)]
        assert longest == max(times)


@settings(max_examples=150, deadline=None)
@given(networks(), st.booleans(), st.integers(0, 99))
@example(RING, False, 0)
@example(RING, True, 0)
def test_every_pair_arrives_going_up_and_then_down(net, large, seed):
    ways = tree_ways(net, shortest_ways(net))
    assert ways.unreached == 0  # a network in one piece has a root
    rng = np.random.default_rng(seed)
    rules = Rules(
        rng.permutation(net.num_hosts), rng.permutation(net.num_routers), 1.0, 1.0,
        rounds=3, free=1, large=large,
    )  # fmt: skip
    problem = problem_of(net, ways)
    for table, longest in descended(problem, rules):
        assert nx.is_directed_acyclic_graph(table_waits(net, table))
        load = np.zeros(net.num_network_channels)
        for row, end in zip(table, net.ejection_router.tolist(), strict=True):
            for router, many in enumerate(problem.sent[:, 0].tolist()):
                path = walked(net, row, router, end)
                assert (path is None) == (ways.near[np.argsort(ways.exits)[end], router] < 0)
                if many:  # a router without hosts may have no way
                    load[path] += many
        assert longest == (load / problem.bandwidth).max(initial=0.0)


@settings(max_examples=40, deadline=None)
@given(networks(), st.booleans())
@example(HOUSE, True)
def test_loads_are_those_of_the_table_whatever_it_began_with(net, large):
    """Paths that go up after they went down are taken off, too, though the ways admit none."""
    problem = problem_of(net, tree_ways(net, shortest_ways(net)))
    count, start = net.num_hosts, ENGINES["minhop"](net).next_channel
    rules = Rules(np.arange(count), np.arange(net.num_routers), 1.0, 1.0, rounds=2, large=large)
    for table, longest in descended(problem, rules, start, np.arange(count) % 3 == 0):
        load = np.zeros(net.num_network_channels)
        for row, end in zip(table, net.ejection_router.tolist(), strict=True):
            for router in net.injection_router.tolist():
                load[walked(net, row, router, end)] += 1
        assert longest == (load / problem.bandwidth).max(initial=0.0)


@settings(max_examples=15, deadline=None)
@given(networks(rates=(1.0,)))
def test_colliding_pairs_never_rise(net):
    problem = problem_of(net, shortest_ways(net))
    sources = [(router, host) for host, router in enumerate(net.injection_router.tolist())]
    rules = Rules(np.arange(net.num_hosts), np.arange(net.num_routers), 1.0, 0.0, rounds=4, free=4)
    counts = [
        colliding_pairs(net, table, net.ejection_router.tolist(), sources)
        for table, _ in descended(problem, rules)
    ]
    assert counts == sorted(counts, reverse=True)


def test_figures_of_the_search_are_those_of_contention():
    net = topology("leaf-spine:4x3x3")
    judge = judge_of(problem_of(net, shortest_ways(net)), 7, 20)
    table = balanced(net).table.next_channel
    whole = ForwardingTable("t", table)
    shares = judge.permuted(judge.matchings, table)[1]
    assert np.allclose(shares, effective_bisection(net, whole, samples=20, seed=7).shares)
    longest = judge.permuted(judge.shifts, table)[0]
    assert longest.tolist() == shift_loads(net, whole).longest_time.tolist()


def test_shifts_of_a_table_that_is_surpassed_end_with_the_first_that_shows_it():
    net = topology("leaf-spine:4x3x3")
    judge = judge_of(problem_of(net, shortest_ways(net)), 7, 20)
    table = ENGINES["minhop"](net)
    whole = judge.judged(table, 9.0)
    times = judge.permuted(judge.shifts, table.next_channel)[0].tolist()
    first = times.index(whole.shift_max)
    some = judge.permuted(judge.shifts, table.next_channel, whole.shift_max)[0].tolist()
    assert some == times[: first + 1] + [0.0] * (len(times) - first - 1)
    rival = replace(whole, shift_max=1.0)
    assert rival.surpasses(judge.judged(table, 9.0, rivals=[rival]))
    other = judge.judged(table, 9.0, rivals=[replace(rival, bisection=0.0)])
    assert (other.shift_max, other.shift_mean) == (whole.shift_max, whole.shift_mean)
