"""What is known of networks of hosts on routers before they run: advice, idle latency, failures."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.simulation.network.routers import Router
from netloom.simulation.network.run import LoadedNetwork, advice_of, possible_settings, run_network
from netloom.simulation.steady import Limits
from netloom.topology import mesh, topology
from netloom.workload import parse_arrivals, parse_lengths, parse_traffic


def loaded(spec, pattern="uniform", routing="default", router=None, flits=5):
    net = topology(spec)
    network = LoadedNetwork(
        topology=net, traffic=parse_traffic(pattern, net), lengths=parse_lengths(flits),
        arrivals=parse_arrivals("bernoulli"), seed=1,
    )  # fmt: skip
    router = router or Router()
    settings, _ = possible_settings(network, router, routing, [router.switching], None)
    return network, settings


def test_advice_names_the_channel_and_what_fills_it():
    _, settings = loaded("dragonfly:2x4x2", router=Router(vcs=3, buffer_flits=1), flits=1)
    said = advice_of(settings, (0.1,))
    assert said.startswith("buffers of 3 flits per channel, for credits that take 5 cycles")
    assert "on channel g0r0 -> " in said
    assert "carries at most 60%" in said
    assert "5 flits fill it, with buffer_flits 2, fill_channels or more vcs" in said
    _, settings = loaded("dragonfly:2x4x2", router=Router(vcs=3, buffer_flits=2), flits=1)
    assert advice_of(settings, (0.1,)) is None
    filled = Router(vcs=3, buffer_flits=1, fill_channels=True)
    _, settings = loaded("dragonfly:2x4x2", router=filled, flits=1)
    assert advice_of(settings, (0.1,)) is None


def test_a_run_at_little_load_takes_what_the_idle_network_does():
    network, (setting,) = loaded("fat-tree:4x3", "uniform-self")
    run = network.make_run(setting, 0.02)
    assert run.zero_load_latency(99) == pytest.approx(23.5)
    assert run.idle is setting.idle
    found = run_network(run, Limits(precision=0.01))
    assert found.measured.packet_latency == pytest.approx(23.5, rel=0.02)
    assert found.measured.hops == pytest.approx(setting.idle.hops, rel=0.02)
    assert found.stable


def test_a_direct_network_of_long_channels_warms_up_for_as_long_as_they_take():
    plain = mesh(3, 3)
    net = replace(plain, channel_cycles=np.full(plain.num_channels, 500, np.int32))
    network = LoadedNetwork(
        topology=net, traffic=parse_traffic("uniform", net), lengths=parse_lengths(1),
        arrivals=parse_arrivals("bernoulli"), seed=1,
    )  # fmt: skip
    router = Router(buffer_flits=20)
    (setting,), _ = possible_settings(network, router, "default", ["wormhole"], None)
    idle = network.make_run(setting, 0.1).idle
    assert idle.hops == pytest.approx(2)
    assert idle.latency == pytest.approx(6 + idle.hops * 503)
    assert network.make_run(setting, 0.1).zero_load_latency(2) == idle.latency
    assert "1003 flits fill it, with buffer_flits 251" in advice_of((setting,), (0.1,))
