"""Rounds of messages: closed forms, what is recognised, what is refused."""

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.routing import parse_routing
from netloom.simulation.flow import flow_network, rounds_apart, run_flows
from netloom.topology import topology
from netloom.workload.programs.rounds import Round, RoundProgram, as_messages, exchange

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


def test_recursive_doubling_is_a_round_of_each_distance():
    network, routing = fabric("leaf-spine:4x4x4", "d-mod-k")
    host = np.arange(16)
    rounds = [exchange(host, host ^ 2**step, 1e6 * 2**step) for step in range(4)]
    inside, across = 2 * LATENCY, 4 * LATENCY
    spans = [inside, inside, across, across]
    sizes = np.array([each.bytes[0] for each in rounds])
    ends = np.cumsum(spans + sizes / BANDWIDTH)
    found = run_flows(network, routing, as_messages(RoundProgram(16, rounds)))
    assert found.complete == pytest.approx(np.repeat(ends, 16), rel=1e-12)


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


def test_what_cannot_be_run_is_refused():
    network, routing = fabric("leaf-spine:1x1x4")
    for wrong, word in (
        (lambda: exchange([0], [1], -1), "-1 bytes"),
        (lambda: exchange([0], [1], np.nan), "nan bytes"),
        (lambda: exchange([0], [1], [1, 2]), "2 sizes"),
        (lambda: exchange([0, 1], [1], 1), "2 sources, 1 targets"),
        (lambda: exchange([0], [1], 1, 0), "0 times"),
        (lambda: RoundProgram(4, [exchange([0], [4], 1)]), "host 4"),
        (lambda: RoundProgram(4, [exchange([-1], [0], 1)]), "host -1"),
        (lambda: rounds_apart(network, routing, ring(5)), "5 hosts on 4"),
    ):
        with pytest.raises(InputError, match=word):
            wrong()


def test_a_program_may_make_its_rounds_when_asked():
    class Lazy:
        def __len__(self):
            return 50

        def __getitem__(self, number):
            if not 0 <= number < 50:
                raise IndexError(number)
            host = np.arange(8, dtype=np.int32)
            return Round(host, np.roll(host, -1), np.full(8, 1e4 + number))

    network, routing = fabric("leaf-spine:2x4x4", "d-mod-k")
    program = RoundProgram(8, Lazy())
    wanted = run_flows(network, routing, as_messages(program))
    assert rounds_apart(network, routing, program)[0] == pytest.approx(wanted.finish)
