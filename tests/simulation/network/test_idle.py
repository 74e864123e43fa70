"""Idle networks whose channels differ: what is reckoned is what the routers take, to the cycle."""

from dataclasses import replace
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.routing import Minimal, paths, virtual_channel_routing
from netloom.simulation.network.idle import (
    ChannelKind,
    channel_kinds,
    idle_network,
    lone_cycles,
    rough_idle,
    tightest_loop,
)
from netloom.simulation.network.routers import PRESETS, Router, router
from netloom.simulation.network.run import Run
from netloom.topology import mesh, topology
from netloom.topology.core import attach_hosts
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic


def uneven(cycles, rates, routers=3):
    """A line of routers, a host at either end, with channels of these delays and bandwidths."""
    plain = mesh(routers)
    many = plain.num_channels
    inside = replace(
        plain,
        channel_cycles=np.array(cycles[:many], np.int32),
        channel_bandwidth=np.array(rates[:many], float),
    )
    return attach_hosts(
        inside, np.array([0, routers - 1]), name="uneven",
        cycles=np.array(cycles[many : many + 2], np.int32),
        bandwidth=np.array(rates[many : many + 2], float),
    )  # fmt: skip


def first_latency(net, router, flits, routing="minimal"):
    routed = virtual_channel_routing(net, routing, num_vcs=router.vcs)
    run = Run(
        net, routed, router, parse_traffic("pairs:0-1", net), 0.001, lengths=parse_lengths(flits),
        arrivals=parse_arrivals("bernoulli"), seed=1,
    )  # fmt: skip
    while True:
        packets = run.advance(2000)
        if len(packets.birth):
            return int(packets.arrival[0] - packets.birth[0])


@st.composite
def lines(draw):
    cycles = draw(st.lists(st.integers(1, 40), min_size=6, max_size=6))
    rate = st.sampled_from([1.0, 0.5, 1 / 3, 0.75, 0.4, 0.9, 2.0, 1.5])
    return uneven(cycles, draw(st.lists(rate, min_size=6, max_size=6)))


@settings(max_examples=60, deadline=None)
@given(
    lines(),
    st.sampled_from(sorted(PRESETS)),
    st.sampled_from(["wormhole", "virtual-cut-through", "store-and-forward", "circuit"]),
    st.integers(1, 30),
    st.fixed_dictionaries(
        {
            "channel_cycles": st.integers(1, 3),
            "buffer_flits": st.integers(1, 12),
            "fill_channels": st.booleans(),
            "credit_cycles": st.integers(0, 2),
            "switch_allocation_cycles": st.integers(1, 3),
        }
    ),
)
def test_a_lone_packet_takes_what_is_reckoned(net, preset, switching, flits, fields):
    parts = router(preset, vcs=2, switching=switching, **fields)
    if parts.whole_packets:
        parts = replace(parts, buffer_flits=max(parts.buffer_flits, flits))
    kinds, kind_of = channel_kinds(net, parts)
    # from host 0 along the line to host 1
    way = [net.num_network_channels, 0, 1, net.num_channels - 1]
    expected = lone_cycles(parts, [kinds[kind_of[channel]] for channel in way], flits)
    assert first_latency(net, parts, flits) == expected


@pytest.mark.parametrize(
    "switching", ["wormhole", "virtual-cut-through", "store-and-forward", "circuit", "reserved"]
)
@pytest.mark.parametrize("flits", [1, 5, 8])
def test_channels_that_are_alike_take_what_the_formula_says(switching, flits):
    parts, plain = Router(switching=switching), ChannelKind(1, Fraction(1))
    for hops in range(4):
        found = lone_cycles(parts, [plain] * (hops + 2), flits)
        assert found == parts.zero_load_cycles(hops, flits)


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 4), st.integers(1, 3), st.booleans())
def test_packets_longer_than_buffers_wait_for_credits_as_the_formula_says(
    flits, buffer_flits, hops, channel_cycles, fill
):
    parts = Router(buffer_flits=buffer_flits, channel_cycles=channel_cycles, fill_channels=fill)
    ends, inside = ChannelKind(1, Fraction(1)), ChannelKind(channel_cycles, Fraction(1))
    found = lone_cycles(parts, [ends, *[inside] * hops, ends], flits)
    assert found == parts.zero_load_cycles(hops, flits)


@pytest.mark.parametrize("spec", ["dragonfly:2x4x2", "hyperx:3x2/2", "slim-fly:5/1", "mesh:3x3/2"])
def test_the_mean_is_that_of_all_paths(spec):
    net, rng = topology(spec), np.random.default_rng(5)
    cycles = rng.integers(1, 4, net.num_channels).astype(np.int32) * 10
    net = replace(net, channel_cycles=cycles)
    routing = virtual_channel_routing(net, "minimal", num_vcs=4)
    found = idle_network(net, routing, parse_traffic("uniform", net), Router(), flits=1.5)
    every = paths(net, Minimal(), *np.nonzero(1 - np.eye(net.num_hosts))).whole(net)
    along = np.add.reduceat(cycles[every.channels], every.offsets[:-1])
    # a cycle into the network, three in each router, and half a flit
    latency = 1 + 3 * (every.lengths - 1) + along + 0.5
    assert found.latency == pytest.approx(np.average(latency, weights=every.probability))
    assert found.hops == pytest.approx(np.average(every.lengths - 2, weights=every.probability))
    assert found.exact


def test_the_loop_that_needs_the_largest_buffers():
    net = uneven([1, 200, 1, 200, 1, 1], [1, 0.5, 1, 1, 1, 1])
    routing = virtual_channel_routing(net, "minimal", num_vcs=4)
    # there and back 400 cycles, and 3 in the routers; half a flit a cycle
    assert tightest_loop(net, routing, Router(buffer_flits=10))[:3] == (3, 403, 403)
    net = uneven([1, 200, 1, 200, 1, 1], [1, 0.5, 1, 0.25, 1, 1])
    routing = virtual_channel_routing(net, "minimal", num_vcs=4)
    assert tightest_loop(net, routing, Router(buffer_flits=10))[:3] == (1, 403, 202)
    filled = tightest_loop(net, routing, Router(buffer_flits=10, fill_channels=True))
    assert filled.room >= filled.needed


def test_vcs_that_no_packet_takes_do_not_fill_a_channel():
    net = topology("dragonfly:2x4x2")
    routing = virtual_channel_routing(net, "minimal-group", num_vcs=3)
    found = tightest_loop(net, routing, Router(vcs=3, buffer_flits=1))
    assert (found.cycles, found.needed, found.room) == (5, 5, 3)
    first = routing.tables._replace(vcs=np.ones_like(routing.tables.vcs))
    routing = replace(routing, tables=first)
    assert tightest_loop(net, routing, Router(vcs=3, buffer_flits=1)).room == 1


@pytest.mark.parametrize("spec", ["fat-tree:2x3", "dragonfly:2x4x2", "leaf-spine:4x2x3"])
def test_what_is_reckoned_roughly_is_near_what_is_exact(spec):
    net = topology(spec)
    routing = virtual_channel_routing(net, "minimal", num_vcs=4)
    exact = idle_network(net, routing, parse_traffic("uniform-self", net), Router())
    rough = rough_idle(net, Router())
    assert rough.latency == pytest.approx(exact.latency, rel=0.02)
    assert rough.hops == pytest.approx(exact.hops, rel=0.02)
    assert not rough.exact
