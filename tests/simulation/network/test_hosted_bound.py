"""What limits networks whose hosts hang on routers: by hand, by brute force, and against runs."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.routing import virtual_channel_routing
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.routers import Router
from netloom.simulation.network.run import Run
from netloom.topology import Topology, mesh, topology
from netloom.topology.core import attach_hosts
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic
from netloom.workload.traffic import pairs, permutation, uniform, with_rates


def bound_of(net, routing, pattern, vcs=12):
    net = topology(net) if isinstance(net, str) else net
    traffic = parse_traffic(pattern, net) if isinstance(pattern, str) else pattern
    routed = virtual_channel_routing(net, routing, num_vcs=vcs)
    return throughput_bound(net, routed, traffic, Router(vcs=vcs))


# Theory.


@pytest.mark.parametrize(("p", "a", "h"), [(1, 2, 1), (2, 4, 2), (3, 6, 3), (2, 6, 1)])
def test_minimal_routing_of_a_dragonfly_has_one_channel_between_two_groups(p, a, h):
    found = bound_of(f"dragonfly:{p}x{a}x{h}", "minimal-group", "next-group")
    assert found.load == pytest.approx(1 / (a * p))
    assert found.kind == "routing"


@pytest.mark.parametrize("k", [2, 3])
def test_detours_of_a_dragonfly_halve_its_capacity(k):
    # each packet takes two global channels, where a group has one for each host
    for name in ("valiant", "valiant-group"):
        found = bound_of(f"dragonfly:{k}x{2 * k}x{k}", name, "next-group")
        assert found.load == pytest.approx(0.5, rel=0.06)


def test_a_choice_between_both_uses_the_direct_channel_as_well():
    # 8 hosts send λ each: one flit a cycle goes directly, the rest takes two of 8 channels a group
    for name in ("ugal-l", "par"):
        found = bound_of("dragonfly:2x4x2", name, "next-group")
        assert found.load == pytest.approx((8 + 1) / 16, rel=1e-3)
        assert bound_of("dragonfly:2x4x2", name, "uniform").load == pytest.approx(1)


@pytest.mark.parametrize("name", ["dimension-order", "minimal", "valiant", "ugal-l"])
def test_one_router_is_bound_by_its_hosts_alone(name):
    assert bound_of("hyperx:1x1/4", name, "uniform").load == 1


@pytest.mark.parametrize("name", ["nca-adaptive", "nca-adaptive:all", "nca-adaptive:every"])
def test_full_fat_trees_carry_any_permutation(name):
    net, rng = topology("fat-tree:2x4"), np.random.default_rng(1)
    for _ in range(4):
        traffic = permutation(rng.permutation(16))
        assert bound_of(net, name, traffic).load == pytest.approx(1, rel=1e-3)


def test_half_of_the_channels_upwards_carry_half():
    found = bound_of("xgft:4x4/1x2", "nca-adaptive", "bit-complement")
    assert found.load == pytest.approx(0.5)
    assert found.what == "the channels out of leaf0, 2 flits/cycle in all"


def test_neighbours_along_a_dimension_of_a_hyperx_share_one_channel():
    # all four hosts of a router send to the next one: directly, or by way of any other
    assert bound_of("hyperx:4x4/4", "dimension-order", "tornado").load == pytest.approx(1 / 4)
    assert bound_of("hyperx:4x4/4", "valiant", "tornado").load == pytest.approx(1 / 2)
    assert bound_of("hyperx:4x4/4", "ugal-l", "tornado").load == pytest.approx(1 / 2, rel=1e-3)


# Channels that differ.


def test_a_channel_of_half_the_bandwidth_carries_half():
    inside = mesh(2)
    inside = replace(inside, channel_bandwidth=np.array([0.5, 1.0]))
    net = attach_hosts(inside, np.array([0, 1]), name="slow", bandwidth=np.array([1.0, 2.0]))
    found = bound_of(net, "minimal", pairs(2, [0], [1]))
    said = "the channel from node 0 to node 1, 0.5 flits/cycle in all"
    assert (found.load, found.what) == (0.5, said)
    assert bound_of(net, "minimal", pairs(2, [1], [0])).load == 1
    inside = replace(inside, channel_bandwidth=np.array([3.0, 2.5]))
    net = attach_hosts(inside, np.array([0, 1]), name="fast", bandwidth=4.0)
    assert bound_of(net, "minimal", pairs(2, [0, 1], [1, 0])).load == pytest.approx(2.5)


def test_chance_takes_one_of_several_ports():
    net = attach_hosts(
        mesh(2), np.array([0, 1, 1]), port_host=np.array([0, 0, 1]), name="two ports",
        bandwidth=np.array([0.25, 1.0, 1.0]),
    )  # fmt: skip
    found = bound_of(net, "minimal", pairs(2, [0], [1]))
    # half of the packets go by the slow port, though the host as a whole could send 1.25
    assert (found.load, found.what) == (pytest.approx(0.5), "channel h0 -> 0")


def test_pairs_whose_ports_are_in_planes_of_their_own():
    ends = np.array([0, 1, 2, 3], np.int32)
    planes = Topology("planes", 4, ends, ends ^ 1)  # routers 0 and 1, 2 and 3
    net = attach_hosts(
        planes, np.array([0, 2, 1, 3]), port_host=np.array([0, 0, 1, 1]), name="planes",
        bandwidth=np.array([1.0, 0.5, 1.0, 0.25]),
    )  # fmt: skip
    found = bound_of(net, "minimal", pairs(2, [0], [1]))
    # source and target, 0 + 1, say that the pair takes the second plane
    assert (found.load, found.what) == (pytest.approx(0.25), "channel r3 -> h1")


# Runs.


def worst_accepted(net, routing, router, traffic, flits, cycles):
    """Return what is delivered of the host that gets least, of flits offered in every cycle."""
    run = Run(
        net, routing, router, traffic, 1.0, lengths=parse_lengths(flits),
        arrivals=parse_arrivals("bernoulli"), seed=1,
    )  # fmt: skip
    run.advance(1000)
    packets = run.advance(cycles)
    sent = np.bincount(packets.source, packets.flits, net.num_hosts)
    return sent[traffic.rate > 0].min() / cycles


CASES = [
    ("fat-tree:2x3", "nca", "uniform"), ("xgft:3x3/1x2", "nca-adaptive", "next-group"),
    ("dragonfly:1x2x1", "minimal-group", "next-group"), ("dragonfly:2x4x2", "ugal-l", "next-group"),
    ("dragonfly:2x4x2", "par", "next-group"), ("dragonfly:2x4x2", "valiant", "uniform"),
    ("hyperx:3x3/3", "dimension-order", "tornado"), ("hyperx:3x3/3", "ugal-g", "tornado"),
    ("butterfly:2x3", "minimal", "bit-reverse"), ("jellyfish:10x3x2/1", "min-adaptive", "uniform"),
    ("leaf-spine:4x2x4", "ecmp", "uniform"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "name", "pattern"), CASES)
def test_no_run_gets_past_the_bound(spec, name, pattern):
    net = topology(spec)
    traffic, router = parse_traffic(pattern, net), Router(vcs=8, buffer_flits=8)
    routing = virtual_channel_routing(net, name, num_vcs=8)
    bound = throughput_bound(net, routing, traffic, router)
    assert bound.kind == "routing"
    accepted = worst_accepted(net, routing, router, traffic, 4, 3000)
    assert 0 < accepted < 1.01 * bound.load


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_nor_where_channels_differ(data):
    plain = topology(data.draw(st.sampled_from(["fat-tree:2x2", "leaf-spine:3x2x2", "hyperx:3/2"])))
    rates = st.sampled_from([0.25, 1 / 3, 0.5, 0.8, 1.0, 1.5, 2.0])
    many = plain.num_network_channels
    inside = replace(
        plain.routers,
        channel_bandwidth=np.array(data.draw(st.lists(rates, min_size=many, max_size=many))),
    )
    net = attach_hosts(inside, plain.injection_router, name="uneven", family=plain.family)
    router, cycles = Router(vcs=4), 3000
    routing = virtual_channel_routing(net, "min-adaptive", num_vcs=4)
    run = Run(
        net, routing, router, uniform(net.num_hosts), 1.0, lengths=parse_lengths(2),
        arrivals=parse_arrivals("bernoulli"), seed=1,
    )  # fmt: skip
    packets = run.advance(cycles)
    # what was delivered in so many cycles is some traffic at some load
    ends, place = np.unique([packets.source, packets.target], axis=1, return_inverse=True)
    flits = np.bincount(place.ravel(), packets.flits)
    sends = np.bincount(packets.source, packets.flits, net.num_hosts)
    traffic = with_rates(pairs(net.num_hosts, *ends, weights=flits), sends)
    bound = throughput_bound(net, routing, traffic, router)
    assert flits.sum() / cycles / np.count_nonzero(sends) < bound.load * (1 + 5 / cycles)
