"""Networks of hosts on routers, flit by flit: what can be said of them in closed form."""

from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.simulation.network.routers import Router
from netloom.topology.core import Topology, attach_hosts
from tests.reference.network import simulate


def line(bandwidths, cycles, *, hosts=((0,), (-1,))):
    """Return routers in a row, ``bandwidths`` those of the channels to the right, and hosts.

    ``hosts`` are, for each host, the routers that its ports are at; ports are of bandwidth 1.
    """
    many = len(bandwidths)
    routers = Topology(
        "line", many + 1, np.arange(many, dtype=np.int32), np.arange(1, many + 1, dtype=np.int32),
        channel_bandwidth=np.array(bandwidths, float), channel_cycles=np.array(cycles, np.int32),
    )  # fmt: skip
    at = [port % (many + 1) for ports in hosts for port in ports]
    owner = [host for host, ports in enumerate(hosts) for _ in ports]
    return attach_hosts(routers, np.array(at), port_host=np.array(owner), name="line")


def with_rate(network, channel, rate):
    """Return the network with another bandwidth of one channel."""
    rates = network.channel_bandwidth.copy()
    rates[channel] = float(rate)
    inside = rates[: network.num_network_channels]
    routers = replace(network.routers, channel_bandwidth=inside)
    return replace(network, channel_bandwidth=rates, router_network=routers)


def to_the_right(network, router):
    """Return the route on such a line: on through all lanes of the only channel, or out."""
    lanes = [ceil(each) for each in network.channel_bandwidth[: network.num_network_channels]]
    exits = network.ejection_router.tolist()

    def route(at, in_slot, packet, used):
        first = lanes[at] if at < len(lanes) else 0
        ports = range(first)
        if exits[packet.sink] == at:
            ports = [first + exits[: packet.sink].count(at)]
        return {(port, vc) for port in ports for vc in range(router.vcs)}

    return route


def run(network, router, packets, cycles, **more):
    """Simulate packets (birth, source port, sink port, flits)."""
    owner = network.port_host.tolist()
    born = [
        (birth, owner[port], owner[sink], flits, 7919 * number, -1, port, sink)
        for number, (birth, port, sink, flits) in enumerate(packets)
    ]
    route = to_the_right(network, router)
    return simulate(network, router, route, packets=born, cycles=cycles, **more)


RATES = [Fraction(rate) for rate in ("1", "1/2", "2/3", "1/4", "3/7", "5/2")]


@pytest.mark.parametrize("rate", [rate for rate in RATES if rate <= 1])
@pytest.mark.parametrize("place", ["channel", "injection", "ejection"])
@pytest.mark.parametrize("speculative", [False, True])
def test_a_slow_channel_carries_its_rate(rate, place, speculative):
    """However many packets want it, and wherever it is: p flits in every q cycles, to the flit."""
    many = 4 if place == "channel" else 1
    network = line([4.0], [3], hosts=[(0,)] * many + [(1,)] * many)
    slow = {"channel": 0, "injection": 1, "ejection": 1 + network.num_ports + many}[place]
    network = with_rate(network, slow, rate)
    parts = Router(vcs=4, buffer_flits=64, speculative=speculative)
    packets = [(0, port, many + port, 50) for port in range(many) for _ in range(40)]
    early, late = (run(network, parts, packets, cycles) for cycles in (300, 300 + 4 * 42))
    assert late.ejected_flits - early.ejected_flits == rate * 4 * 42


@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 12), st.integers(0, 2))
def test_buffers_shorter_than_the_round_trip_carry_as_much_as_they_hold(flits, vcs, cycles, more):
    """B flits a round trip in each VC: a flit's place is free again when its credit is back.

    The round trip is flit delay and credit delay, 2 allocations + 1 crossbar + 2 channels + more.
    """
    network = line([1.0], [cycles], hosts=[(0,)] * vcs + [(1,)] * vcs)
    parts = Router(vcs=vcs, buffer_flits=flits, credit_cycles=more)
    trip = 1 + 1 + cycles + 1 + cycles + more
    packets = [(0, port, vcs + port, 5000) for port in range(vcs)]
    deep = dict.fromkeys(range(1, network.num_channels), 6000)  # all but that one
    early, late = (
        run(network, parts, packets, 200 + trips * trip, deeper=deep).channel_flits[0]
        for trips in (0, 20)
    )
    assert late - early == 20 * min(vcs * flits, trip)


def test_the_lanes_of_a_bundle_are_shared_by_packets_not_by_flits():
    """Two lanes carry two packets at once, each at a flit a cycle; a single packet has one."""
    network = line([2.0], [1], hosts=[(0,), (0,), (1,), (1,)])
    parts = Router(vcs=1, buffer_flits=16)
    both = run(network, parts, [(0, 0, 2, 100), (0, 1, 3, 100)], 300).delivered
    [alone] = run(network, parts, [(0, 0, 2, 100)], 300).delivered
    assert all(0 <= row[3] - alone[3] < 10 for row in both)  # they drew the same lane at first


def test_a_host_of_several_ports_has_a_queue_at_each():
    """Two ports of one host send at once to two of another; by one port they go in turn."""
    network = line([2.0], [1], hosts=[(0, 0), (1, 1)])
    parts = Router(vcs=1, buffer_flits=16)
    apart = run(network, parts, [(0, 0, 2, 100), (0, 1, 3, 100)], 400).delivered
    in_turn = run(network, parts, [(0, 0, 2, 100), (0, 0, 3, 100)], 400).delivered
    assert all(108 <= row[3] < 118 for row in apart)
    assert in_turn[1][3] - in_turn[0][3] >= 100
