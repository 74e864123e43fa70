"""Whole runs: what holds of every network, and what is known of some."""

import numpy as np
import pytest

from netloom.bounds import demand_of
from netloom.routing import virtual_channel_routing
from netloom.simulation.network import (
    Router,
    Run,
    bracket_saturation,
    run_loads,
    run_network,
    throughput_bound,
)
from netloom.simulation.network.bound import _channel_loads
from netloom.simulation.steady import Limits
from netloom.topology import topology
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic

NO_PACKETS = np.zeros((0, 6), np.int32)


def prepared(spec, load, *, traffic="uniform", routing="default", flits="5", seed=1, **parts):
    network, router = topology(spec), Router(**parts)
    return Run(
        network, virtual_channel_routing(network, routing, num_vcs=router.vcs), router,
        parse_traffic(traffic, network), load, lengths=parse_lengths(flits),
        arrivals=parse_arrivals("bernoulli"), seed=seed,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "routing", "vcs"),
    [
        ("torus:4x4", "adaptive", 3), ("torus:16x16", "adaptive", 4), ("mesh:8x8", "adaptive", 2),
        ("cube:5wx4", "adaptive", 4), ("torus:8x8", "adaptive-sticky-escape", 4),
        ("mesh:6x6", "adaptive-sticky-escape", 2), ("torus:8x8", "dimension-order", 2),
        ("torus:5x5x5", "dimension-order", 3), ("torus:8x8", "valiant", 4),
        ("torus:6x6", "romm", 5), ("mesh:6x6", "odd-even", 1), ("mesh:4x4x4", "negative-first", 1),
        ("mesh:6x6", "west-first", 1), ("mesh:6x6", "o1turn-adaptive", 2), ("mesh:6x6", "romm", 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("pattern", ["uniform", "tornado"])
@pytest.mark.parametrize("flits", ["1", "bimodal:1,20,0.5"])
def test_an_overloaded_network_drains(spec, routing, vcs, pattern, flits):
    run = prepared(spec, 0.5, traffic=pattern, routing=routing, flits=flits, vcs=vcs)
    run.advance(1500)
    while run.engine.count("delivered") < run.engine.count("created"):
        before = run.engine.count("delivered")
        run.engine.advance(NO_PACKETS, run.engine.cycle + 5000)
        assert run.engine.count("delivered") > before
    flits = run.engine.flits()
    assert flits["injected"] == flits["ejected"] == run.born_flits.sum()


@pytest.mark.parametrize("routing", ["dimension-order", "adaptive"])
def test_a_symmetric_network_is_loaded_symmetrically(routing):
    run = prepared("torus:8x8", 0.2, routing=routing)
    found = run_network(run, Limits(cycles=40_000))
    hops = 8 / 4 * 2 * 64 / 63  # of uniform traffic that leaves the source out
    each = 0.2 * hops / 4
    assert found.measured.hops == pytest.approx(hops, rel=0.01)
    assert found.channel_utilisation.mean() == pytest.approx(each, rel=0.01)
    assert np.abs(found.channel_utilisation / each - 1).max() < 0.15


@pytest.mark.parametrize(
    ("spec", "traffic"),
    [("mesh:8x8", "uniform"), ("torus:8x8", "uniform"), ("mesh:8x8", "hot-spot:0.2:27")],
)
def test_saturation_comes_up_to_its_bound_from_below(spec, traffic):
    run = prepared(spec, 0.1, traffic=traffic, vcs=8)
    network = run.engine.topology
    bound = throughput_bound(network, run.routing, run.traffic, run.router).load
    found = bracket_saturation(
        lambda load: prepared(spec, load, traffic=traffic, vcs=8),
        Limits(most_cycles=20_000, precision=0.05), below=bound, width=0.03,
    )  # fmt: skip
    assert 0.5 * bound < found.saturation_offered <= bound
    assert found.peak_accepted <= 1.02 * bound


def test_a_run_repeats_itself_and_another_seed_does_not():
    runs = [
        run_network(prepared("mesh:4x4", 0.2, seed=seed), Limits(cycles=3000)) for seed in (1, 1, 2)
    ]
    latencies = [run.measured.packet_latency for run in runs]
    assert latencies[0] == latencies[1] != latencies[2]
    assert np.array_equal(runs[0].latency_counts, runs[1].latency_counts)


@pytest.mark.parametrize("limits", [Limits(), Limits(cycles=150_000)])
def test_a_network_just_past_saturation_is_so_however_long_it_is_measured(limits):
    """At 0.40 the backlog grows by some 0.5 % for ever, but hardly from 30 000 to 150 000."""
    found = run_network(prepared("mesh:8x8", 0.4), limits)
    assert not found.stable
    assert found.reason.startswith("the backlog grows by 0.374 flits/cycle, 1.46 % of the traffic")
    assert found.measured.cycles == 31_744 or found.reason.endswith("in the first 31744 cycles")


def test_a_stopped_run_tells_what_it_knows():
    asked = []

    def stopped():
        asked.append(1)
        return len(asked) > 30

    found = run_network(prepared("mesh:4x4", 0.1), Limits(precision=1e-9), stopped=stopped)
    assert found.interrupted
    assert found.measured.packets > 0


def test_loads_run_side_by_side_as_they_do_alone():
    loads = [0.3, 0.1, 0.9, 0.2, 0.95]
    together = run_loads(lambda load: prepared("mesh:4x4", load), loads, Limits(cycles=3000))
    assert [run.offered for run in together] == [0.1, 0.2, 0.3, 0.9]  # the first past saturation
    assert [run.stable for run in together] == [True, True, True, False]
    alone = run_network(prepared("mesh:4x4", 0.2), Limits(cycles=3000))
    assert together[1].measured == alone.measured


def test_a_limit_on_the_cycles_is_kept_and_told():
    found = run_network(prepared("mesh:4x4", 0.1), Limits(most_cycles=100))
    assert found.measured.cycles == 100
    assert not found.precise
    assert not run_network(prepared("mesh:4x4", 0.01), Limits(most_cycles=100)).warmed_up


def test_a_large_network_is_not_measured_before_far_packets_arrive():
    found = run_network(prepared("mesh:64x64", 0.02), Limits())
    assert found.warmup_cycles > 4 * 130  # more than the mean latency of near packets would give
    assert found.measured.hops == pytest.approx(2 * 64 / 3, rel=0.01)


@pytest.mark.parametrize(
    ("spec", "routing", "traffic"),
    [
        ("mesh:4x4", "valiant", "uniform-self"), ("torus:4x5", "valiant", "tornado"),
        ("mesh:4x4", "romm", "transpose"), ("torus:4x4", "romm", "uniform"),
        ("mesh:4x4", "o1turn", "hot-spot:0.3:5,6"), ("torus:4x3", "dimension-order:0,1", "uniform"),
        ("torus:4x4", "dimension-order-static-dateline", "bit-complement"),
    ],
)  # fmt: skip
def test_channels_carry_what_was_expected(spec, routing, traffic):
    load, cycles = 0.05, 40_000
    run = prepared(spec, load, traffic=traffic, routing=routing, flits="1", vcs=4)
    asked = run.engine.topology, run.routing, run.traffic, demand_of(run.traffic)
    expected = _channel_loads(*asked) * load * cycles
    run.advance(cycles)
    run.engine.advance(NO_PACKETS, cycles + 1000)
    assert run.engine.count("delivered") == run.engine.count("created")
    crossed = run.engine.channel_flits()
    assert crossed[expected < 1e-6].sum() == 0
    assert (np.abs(crossed - expected) <= 5 * np.sqrt(expected) + 1e-6).all()
    assert crossed.sum() == pytest.approx(expected.sum(), rel=0.02)
