"""Queues whose stability is known: M/D/1 by Lindley's recursion, below and above capacity."""

import numpy as np
import pytest

from netloom.simulation.steady import stability

SAMPLES = 32


def queues(rng, rho, cycles, nodes, packet_flits):
    """Flits in M/D/1 queues that serve one flit a cycle, at the end of each cycle."""
    net = rng.poisson(rho / packet_flits, (cycles, nodes)) * packet_flits - 1
    walk = np.cumsum(net, axis=0)
    return walk - np.minimum(np.minimum.accumulate(walk, axis=0), 0)


def sampled(rng, rho, services, nodes, packet_flits=1):
    """Samples of a window that begins in the steady state, if there is one."""
    warm_up = int(5 / (1 - min(rho, 0.95)) ** 2) * packet_flits
    window = np.linspace(0, services * packet_flits, SAMPLES)
    cycle = (warm_up + window).astype(int)
    return cycle, queues(rng, rho, cycle[-1] + 1, nodes, packet_flits)[cycle]


def verdict(cycle, flits, rate, packet_flits=1):
    waiting = flits[[0, SAMPLES // 2, -1]] / packet_flits
    return stability(cycle, flits.sum(axis=1), waiting, rate, packet_flits)


def called_unstable(rng, rho, services, packet_flits, queues_alone):
    cycle, flits = sampled(rng, rho, services, queues_alone, packet_flits)
    calls = [
        not verdict(cycle, flits[:, [queue]], [rho], packet_flits).stable
        for queue in range(queues_alone)
    ]
    return np.mean(calls)


@pytest.mark.parametrize("packet_flits", [1, 8])
@pytest.mark.parametrize("rho", [0.5, 0.8, 0.9, 0.95])
def test_a_busy_queue_is_not_called_unstable(rho, packet_flits):
    rng = np.random.default_rng(11)
    services = int(20 / (1 - rho) ** 2)
    assert called_unstable(rng, rho, services, packet_flits, 40) <= 0.03


@pytest.mark.parametrize("packet_flits", [1, 8])
@pytest.mark.parametrize(("rho", "least"), [(1.02, 0.5), (1.05, 0.97), (1.2, 1.0)])
def test_an_overloaded_queue_is_found_out(rho, least, packet_flits):
    rng = np.random.default_rng(12)
    assert called_unstable(rng, rho, 8000, packet_flits, 40) >= least


@pytest.mark.parametrize(("rho", "stable"), [(0.8, True), (0.95, True), (1.02, False)])
def test_many_queues_together(rho, stable):
    rng = np.random.default_rng(14)
    cycle, flits = sampled(rng, rho, 8000, 64)
    assert verdict(cycle, flits, np.full(64, rho)).stable is stable


def test_one_starved_node_of_many_is_found_though_the_whole_hardly_grows():
    rng = np.random.default_rng(15)
    cycle, flits = sampled(rng, 0.8, 8000, 256)
    rate = np.full(256, 0.8)
    assert verdict(cycle, flits, rate).stable
    flits[:, 77] += ((cycle - cycle[0]) * 0.3 * 0.8).astype(int)  # 0.12 % of the whole
    found = verdict(cycle, flits, rate)
    assert not found.stable
    assert found.reason.startswith("the queue of node 77 grows by ")
    assert found.reason.endswith(" in both halves of the window")


def test_a_queue_must_grow_in_both_halves_and_by_more_than_comes_and_goes():
    cycle = np.arange(SAMPLES) * 100
    still = np.full(SAMPLES, 500)
    rate = [0.1, 0.1]

    def at(*packets):
        return stability(cycle, still, [[0, 0], *([0, count] for count in packets)], rate, 4)

    assert at(40, 30).stable  # grew, then fell
    assert at(7, 30).stable  # 7 packets come and go
    assert not at(8, 30).stable
    # 1600 and 1500 cycles at 0.1 / 4 packets a cycle: 40 and 37.5 offered; 8 is 20 %.
    assert "node 1 grows by 20 % of" in at(8, 30).reason


def test_small_or_crooked_growth_is_stable():
    cycle = np.arange(SAMPLES) * 100
    none = np.zeros((3, 1))
    assert stability(cycle, np.round(0.009 * cycle), none, [1.0], 1).stable
    assert not stability(cycle, np.round(0.011 * cycle), none, [1.0], 1).stable
    noise = np.random.default_rng(16).normal(0, 200, SAMPLES)
    assert stability(cycle, 0.011 * cycle + noise, none, [1.0], 1).stable
    assert stability(cycle, np.full(SAMPLES, 7), none, [1.0], 1).stable
    assert stability(cycle, 5000 - cycle, none, [1.0], 1).stable
