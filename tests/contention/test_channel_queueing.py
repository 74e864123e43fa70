"""Queueing over the channels: by hand, against a plain twin, and against the simulator."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.contention.channel_queueing import (
    ChannelRouter,
    channel_saturation,
    follow_flows,
    predict_channels,
    prepare_channels,
)
from netloom.routing import DimensionOrder, paths, virtual_channel_routing
from netloom.simulation.network.routers import PRESETS, Router
from netloom.simulation.network.run import Run, run_network
from netloom.simulation.steady import Limits
from netloom.topology import mesh, topology, torus
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic
from tests.reference.channel_queueing import path_latencies


def line_flows(sources, targets, rates, *, vcs, nodes=6):
    routing = virtual_channel_routing(mesh(nodes), "dimension-order", num_vcs=vcs)
    return follow_flows(routing, sources, targets, rates)


def traffic_flows(net, name, vcs):
    routing = virtual_channel_routing(net, "dimension-order", num_vcs=vcs)
    traffic = parse_traffic(name, net)
    source, target, weight = traffic.matrix()
    return follow_flows(routing, source, target, weight * traffic.rate.sum())


def follow_pairs(sources, targets, rates):
    routing = virtual_channel_routing(mesh(3, 3), "dimension-order", num_vcs=2)
    return follow_flows(routing, sources, targets, rates)


def geo_d_1(load, flits):
    return load * (flits - 1) / (2 * (1 - load))


# What is known exactly.


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(PRESETS)),
    st.tuples(st.integers(1, 12), st.integers(0, 5), st.integers(0, 3)),
    st.integers(1, 40),
    st.booleans(),
)
def test_an_idle_network_takes_what_the_simulator_says(preset, sizes, flits, whole):
    """As ``Router`` has it, which is held against the simulator in ``test_engine``."""
    sizes = dict(zip(("buffer_flits", "channel_cycles", "credit_cycles"), sizes, strict=True))
    router = replace(PRESETS[preset], **sizes)
    if whole:
        buffer = max(router.buffer_flits, flits)
        router = replace(router, buffer_flits=buffer, switching="virtual-cut-through")
    flows = line_flows([0, 1, 2, 3], [5, 3, 3, 3], np.ones(4), vcs=router.vcs)
    prepared = prepare_channels(flows, ChannelRouter.of(router), flits=flits)
    expected = [router.zero_load_cycles(hops, flits) for hops in (5, 2, 1, 0)]
    assert prepared.zero_load_cycles.tolist() == expected
    assert predict_channels(prepared, 0).path_latency.tolist() == expected


@pytest.mark.parametrize(("switching", "buffer"), [("wormhole", 8), ("virtual-cut-through", 20)])
@pytest.mark.parametrize("flits", [1, 5, 20])
@pytest.mark.parametrize("vcs", [2, 4])
def test_without_conflict_packets_wait_for_their_own_source_only(switching, buffer, flits, vcs):
    """Paths that follow one another, one over three hops; no two share a channel."""
    flows = line_flows([0, 3, 4], [3, 4, 5], [1, 0.5, 1], vcs=vcs)
    router = ChannelRouter(vcs=vcs, buffer_flits=buffer, switching=switching)
    prepared = prepare_channels(flows, router, flits=flits)
    for load in (0.1, 0.5, 0.8):
        found = predict_channels(prepared, load)
        waits = np.array([geo_d_1(load, flits), geo_d_1(load / 2, flits), geo_d_1(load, flits)])
        assert found.path_latency == pytest.approx(prepared.zero_load_cycles + waits)
        assert found.source_wait == pytest.approx(np.average(waits, weights=[1, 0.5, 1]))


def test_two_inputs_that_merge_wait_for_each_other():
    """At little load: L ρ of the other input in turns, half of it first come first served."""
    flits, small = 12, 0.005
    router = {"buffer_flits": 40, "head_cycles": 0}
    for vcs, part in ((1, 0.5), (8, 1.0)):
        flows = line_flows([0, 1], [2, 3], [1.0, 3.0], vcs=vcs)
        prepared = prepare_channels(flows, ChannelRouter(vcs=vcs, **router), flits=flits)
        found = predict_channels(prepared, small)
        waits = np.array([geo_d_1(small, flits), geo_d_1(3 * small, flits)])
        queued = found.path_latency - waits - prepared.zero_load_cycles
        assert queued / small == pytest.approx([part * flits * 3, part * flits], rel=0.05)


def test_packets_of_one_input_do_not_meet_again():
    """Two sources merge once; over the channels behind, they go on in single file."""
    near = line_flows([0, 1], [2, 2], [1.0, 1.0], vcs=4, nodes=8)
    far = line_flows([0, 1], [7, 7], [1.0, 1.0], vcs=4, nodes=8)
    short, long = (predict_channels(prepare_channels(each, flits=5), 0.2) for each in (near, far))
    queued = [each.latency - each.zero_load_latency for each in (short, long)]
    assert queued[1] == pytest.approx(queued[0], rel=0.02)


def test_a_channel_that_is_full_is_the_limit():
    """The transpose's corner channels carry seven paths each."""
    flows = traffic_flows(mesh(8, 8), "transpose", 4)
    prepared = prepare_channels(flows, flits=5)
    assert prepared.full_load == pytest.approx(1 / 7)
    assert channel_saturation(prepared) == pytest.approx(1 / 7, rel=0.02)
    beyond = predict_channels(prepared, 0.15)
    assert beyond.saturated
    assert np.isnan(beyond.latency)
    assert np.isnan(beyond.path_latency).all()
    assert beyond.utilisation[beyond.busiest_channel] == pytest.approx(0.15 * 7)


# Paths and virtual channels.


def test_flows_follow_the_routing():
    net = mesh(4, 3)
    flows = traffic_flows(net, "uniform", 3)
    expected = paths(net, DimensionOrder(), flows.source, flows.target)
    assert flows.paths.channels.tolist() == expected.channels.tolist()
    assert flows.paths.offsets.tolist() == expected.offsets.tolist()
    assert flows.vc_share == pytest.approx(np.full((len(expected.channels), 3), 1 / 3))


def test_a_ring_splits_ties_and_virtual_channels():
    routing = virtual_channel_routing(torus(8), "dimension-order", num_vcs=2)
    flows = follow_flows(routing, [6, 0, 1], [1, 4, 3], [1.0, 1.0, 1.0])
    assert flows.pair.tolist() == [0, 1, 1, 2]
    assert flows.rate.tolist() == [1, 0.5, 0.5, 1]
    crossing, inside = flows.vc_share[:3], flows.vc_share[-2:]
    assert crossing.tolist() == [[1, 0], [0, 1], [0, 1]]  # 6 -> 7 -> 0 -> 1
    assert inside.tolist() == [[0.5, 0.5], [0.25, 0.75]]


# Properties.


@st.composite
def random_flows(draw):
    nodes = draw(st.integers(3, 7))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node, st.integers(1, 5)), min_size=1, max_size=8))
    source, target, rate = np.array(pairs).T
    return source, target, rate / rate.sum(), nodes


SIZES = [(1, 8), (5, 8), (12, 8), (1, 2), (4, 4), (9, 3), (12, 5)]
"""Flits of a packet, and of a buffer."""


@st.composite
def random_routers(draw):
    preset, few = PRESETS[draw(st.sampled_from(sorted(PRESETS)))], st.integers(1, 3)
    return replace(preset, vcs=draw(few), channel_cycles=draw(few))


@settings(max_examples=30, deadline=None)
@given(random_flows(), st.sampled_from(SIZES), st.booleans(), random_routers())
def test_the_kernel_agrees_with_its_plain_twin(given_flows, sizes, whole, router):
    source, target, rate, nodes = given_flows
    flits, buffer = sizes
    flows = line_flows(source, target, rate, vcs=router.vcs, nodes=nodes)
    switching = "wormhole"
    if whole:
        switching, buffer = "virtual-cut-through", max(buffer, flits)
    router = ChannelRouter.of(replace(router, buffer_flits=buffer, switching=switching))
    prepared = prepare_channels(flows, router, flits=flits)
    load = 0.5 * channel_saturation(prepared)
    found = predict_channels(prepared, load)
    assert found.path_latency == pytest.approx(path_latencies(flows, router, flits, load), abs=0.02)


def test_the_twin_agrees_on_a_ring_with_classes():
    routing = virtual_channel_routing(torus(5), "dimension-order", num_vcs=3)
    nodes = np.arange(5)
    flows = follow_flows(routing, nodes, (nodes + 2) % 5, np.ones(5))
    for router in (ChannelRouter(vcs=3), ChannelRouter(vcs=3, switching="virtual-cut-through")):
        found = predict_channels(prepare_channels(flows, router, flits=5), 0.25)
        assert found.path_latency == pytest.approx(path_latencies(flows, router, 5, 0.25), abs=0.02)


@pytest.mark.parametrize("switching", ["wormhole", "virtual-cut-through"])
def test_latency_rises_with_load_up_to_saturation(switching):
    router = ChannelRouter(vcs=4, switching=switching)
    prepared = prepare_channels(traffic_flows(mesh(4, 4), "uniform", 4), router, flits=5)
    most = channel_saturation(prepared)
    loads = np.linspace(0, 0.99, 12) * most
    curve = [predict_channels(prepared, load).latency for load in loads]
    assert curve[0] == pytest.approx(np.average(prepared.zero_load_cycles))
    assert (np.diff(curve) > 0).all()
    assert np.isnan(predict_channels(prepared, 1.01 * most).latency)
    tripled = channel_saturation(prepared, latency_factor=3)
    assert tripled <= most
    assert predict_channels(prepared, 0.999 * tripled).latency <= 3 * curve[0]
    doubled = channel_saturation(prepared, latency_factor=2)
    assert predict_channels(prepared, doubled).latency == pytest.approx(2 * curve[0], rel=0.01)


# The simulator.


def simulated(net, traffic, router, flits, load):
    routing = virtual_channel_routing(net, "dimension-order", num_vcs=router.vcs)
    law = {"lengths": parse_lengths(str(flits)), "arrivals": parse_arrivals("bernoulli")}
    run = Run(net, routing, router, traffic, load, **law, seed=1)
    return run_network(run, Limits(cycles=10_000))


@pytest.mark.parametrize(
    ("on", "pattern", "flits", "router", "load", "within"),
    [
        ("mesh:8x8", "uniform", 5, Router(), 0.19, 0.05),
        ("mesh:8x8", "uniform", 20, Router(), 0.24, 0.15),
        ("torus:8x8", "tornado", 5, Router(vcs=2), 0.08, 0.05),
        ("torus:8x8", "tornado", 5, Router(vcs=2), 0.12, 0.15),
        ("mesh:8x8", "transpose", 20, Router(vcs=2), 0.07, 0.05),
        ("torus:8x8", "uniform", 5, Router(switching="virtual-cut-through"), 0.26, 0.05),
        ("torus:8x8", "uniform", 5, Router(switching="virtual-cut-through"), 0.42, 0.15),
        ("mesh:4x4", "uniform", 20, Router(buffer_flits=4, channel_cycles=3), 0.1, 0.05),
        ("torus:5x5", "uniform", 40, Router(vcs=8, buffer_flits=3, channel_cycles=5), 0.1, 0.05),
        ("mesh:4x4", "uniform", 10, Router(vcs=1, buffer_flits=4), 0.09, 0.05),
    ],
)
def test_patterns_take_as_long_as_simulated(on, pattern, flits, router, load, within):
    net = topology(on)
    found = simulated(net, parse_traffic(pattern, net), router, flits, load)
    flows = traffic_flows(net, pattern, router.vcs)
    predicted = predict_channels(
        prepare_channels(flows, ChannelRouter.of(router), flits=flits), load
    )
    assert found.stable
    assert predicted.latency == pytest.approx(found.measured.packet_latency, rel=within)


@pytest.mark.parametrize(
    ("on", "flits", "router", "limit"),
    [
        ("torus:3x3", 40, Router(vcs=8, buffer_flits=3, channel_cycles=5), "source"),
        ("mesh:4", 2, Router(vcs=2, buffer_flits=2, channel_cycles=5), "VC credits"),
        ("mesh:4", 5, Router(vcs=8), "channel"),
        ("hypercube:4", 20, Router(vcs=1, buffer_flits=32), "head of line"),
    ],
)
def test_short_buffers_limit_sources_and_channels(on, flits, router, limit):
    """What the simulator carries at most, and which resource that is by arithmetic."""
    net = topology(on)
    flows = traffic_flows(net, "uniform", router.vcs)
    prepared = prepare_channels(flows, ChannelRouter.of(router), flits=flits)
    most = channel_saturation(prepared, latency_factor=3)
    assert simulated(net, parse_traffic("uniform", net), router, flits, 0.8 * most).stable
    assert not simulated(net, parse_traffic("uniform", net), router, flits, 1.3 * most).stable
    assert predict_channels(prepared, 0.99 * most).tightest.what == limit


# Mistakes.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: prepare_channels(f, ChannelRouter(vcs=2)), "vcs: found 2; expected 4"),
        (lambda f: prepare_channels(f, flits=0), "flits: found 0"),
        (
            lambda f: prepare_channels(f, ChannelRouter(switching="virtual-cut-through"), flits=9),
            "buffer_flits: found 8 for packets of 9 flits",
        ),
        (lambda f: predict_channels(prepare_channels(f), -1), "load: found -1"),
        (lambda f: predict_channels(prepare_channels(f), float("nan")), "load: found nan"),
        (lambda f: channel_saturation(prepare_channels(f), latency_factor=1), "latency_factor"),
        (lambda _: ChannelRouter(vcs=0), "vcs: found 0"),
        (lambda _: ChannelRouter(end_cycles=-1), "end_cycles: found -1"),
        (lambda _: line_flows([0], [1], [-1], vcs=1), "rates: found -1.0"),
        (lambda _: line_flows([0], [1], [0], vcs=1), "rates: found nothing sent"),
        (lambda _: line_flows([0], [1], [1, 2], vcs=1), "paths: found 1 targets, 2 weights"),
        (lambda _: follow_pairs([0], [9], [1]), "targets: found node 9; expected 0 to 8"),
        (lambda _: follow_pairs([-1], [1], [1]), "sources: found node -1"),
    ],
)
def test_mistakes_are_named(call, message):
    flows = line_flows([0], [1], [1.0], vcs=4)
    with pytest.raises(InputError, match=message):
        call(flows)
