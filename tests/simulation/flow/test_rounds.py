"""Rounds of messages: closed forms, what is recognised, what is refused."""

import numpy as np
import pytest

from netloom.routing import parse_routing
from netloom.simulation.flow import flow_network, rounds_apart, rounds_repeated, run_flows
from netloom.topology import topology
from netloom.workload.programs.rounds import RoundProgram, as_messages, exchange

BANDWIDTH, LATENCY, SIZE = 25e9, 600e-9, 1e9


def ring(hosts, count=None, size=None):
    host = np.arange(hosts)
    each = exchange(host, (host + 1) % hosts, size or SIZE / hosts, count or 2 * (hosts - 1))
    return RoundProgram(hosts, [each])


def fabric(spec, routing="default", *, end_channels=True):
    net = topology(spec)
    network = flow_network(net, bandwidth=BANDWIDTH, latency=LATENCY, end_channels=end_channels)
    return network, parse_routing(routing, net)


@pytest.mark.parametrize(("spec", "hops"), [("xgft:4x4x4/1x4x4", 6), ("leaf-spine:4x4x4", 4)])
def test_a_ring_on_a_full_fat_tree_is_rounds_of_its_longest_message(spec, hops):
    """Each round takes 2 (n - 1) times latency and S / (n B); rounds of neighbours are held back by
    those who cross the top, once these hold back all others."""
    network, routing = fabric(spec, "d-mod-k")
    hosts = network.topology.num_hosts
    finish, link_sizes = rounds_apart(network, routing, ring(hosts))
    one = hops * LATENCY + SIZE / hosts / BANDWIDTH
    assert finish == pytest.approx(2 * (hosts - 1) * one, rel=1e-12)
    into = network.topology.num_network_channels + np.arange(hosts)
    assert link_sizes[into] == pytest.approx(2 * (hosts - 1) * SIZE / hosts)


def test_rounds_whose_messages_may_meet_are_left_to_an_engine():
    """Of two messages of a host, and of two into one that fit in no round together."""
    network, routing = fabric("leaf-spine:4x4x4", "d-mod-k")
    host = np.arange(16)
    for meeting in (exchange(host, host * 0, 1e3), exchange([0, 0], [1, 2], 1e3)):
        program = RoundProgram(16, [exchange(host, (host + 1) % 16, 1e5), meeting])
        assert rounds_apart(network, routing, program) is None


def test_a_host_that_skips_rounds_does_not_wait():
    """Host 3 takes part in the last round only, and host 2 in the first and the last."""
    network, routing = fabric("leaf-spine:1x1x6")
    program = RoundProgram(
        6,
        [exchange([0, 2], [1, 4], 1e6), exchange([0, 1], [1, 0], 1e6, 40),
         exchange([3, 2, 0], [5, 4, 1], 1e6)],
    )  # fmt: skip
    one = 2 * LATENCY + 1e6 / BANDWIDTH
    assert rounds_apart(network, routing, program)[0] == pytest.approx(42 * one)
    last = run_flows(network, routing, as_messages(program)).complete[-3:]
    assert last == pytest.approx([one, 2 * one, 42 * one])


def test_no_rounds_take_no_time():
    network, routing = fabric("leaf-spine:1x1x4")
    none = exchange([], [], 1.0, 3)
    for rounds in ([], [none], [none, exchange([0], [1], 0.0), exchange([2], [2], 9)]):
        finish, link_sizes = rounds_apart(network, routing, RoundProgram(4, rounds))
        assert finish == 0
        assert not link_sizes.any()


@pytest.mark.parametrize("spec", ["torus:4x4", "leaf-spine:1x1x8"])
def test_alike_repeats_are_not_run(spec):
    """Messages meet, and have overheads: what the engine says of all of them."""
    network, routing = fabric(spec)
    host = np.arange(network.topology.num_hosts)
    rounds = [
        exchange(host, (host + shift) % len(host), size, count)
        for shift, size, count in ((1, 1e6, 40), (len(host) // 2, 3e5, 25), (2, 1e3, 3))
    ]
    program, costs = RoundProgram(len(host), rounds), {"overhead": 1e-6, "adding": (0.0, 1e-11)}
    finish, sizes = rounds_repeated(network, routing, program, **costs)
    whole = run_flows(network, routing, as_messages(program, **costs))
    assert finish == pytest.approx(whole.finish, rel=1e-9)
    assert sizes == pytest.approx(whole.link_sizes)


def test_repeats_that_differ_are_left_to_an_engine():
    """Host 0 takes no part in them, or hosts fall further and further apart."""
    network, routing = fabric("leaf-spine:1x1x6")
    some = exchange([2, 3], [3, 2], 1e6, 40)
    assert rounds_repeated(network, routing, RoundProgram(6, [exchange(0, 1, 8), some])) is None
    apart = exchange([0, 1, 2, 3], [1, 0, 3, 2], [1e6, 1e6, 1e3, 1e3], 40)
    assert rounds_repeated(network, routing, RoundProgram(6, [apart])) is None
