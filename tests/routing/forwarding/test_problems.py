"""Tables that were broken by hand: what is wrong is found and named."""

import numpy as np
import pytest

from netloom.routing.forwarding.engines import minhop
from netloom.routing.forwarding.lfts import table_of_ports
from netloom.routing.forwarding.tables import (
    NO_PORT,
    ForwardingTable,
    addresses,
    port_table,
    table_problems,
)
from netloom.topology import topology

LEAVES = "leaf-spine:3x2x2"
"""Hosts h0, h1 on leaf0, … h4, h5 on leaf2; leaves have ports 1, 2 up, and 3, 4 to hosts."""


@pytest.fixture
def broken():
    """Return a function that breaks a table: entries (destination, router, port)."""

    def made(*entries, spec=LEAVES):
        net = topology(spec)
        ports = port_table(net, minhop(net))
        names = addresses(net).name
        routers = names[net.num_hosts :]
        for destination, router, port in entries:
            ports[names.index(destination), routers.index(router)] = port
        table = table_of_ports(net, ports, "by hand")
        assert np.array_equal(port_table(net, table), ports)
        return table_problems(net, table)

    return made


def told(found):
    return [(fault.kind, fault.pairs, fault.words) for fault in found.faults]


def test_a_table_that_delivers_has_no_problems(broken):
    found = broken()
    assert not found
    assert (found.unrouted, found.unrouted_others, found.faults) == (0, 0, ())


def test_a_loop_is_a_circle_of_switches(broken):
    found = broken(("h0", "leaf1", 1), ("h0", "spine0", 2), ("h1", "leaf1", 1), ("h1", "spine0", 2))
    # whoever is sent to spine0: the two hosts of leaf1, and perhaps those of leaf2
    assert found.unrouted == sum(fault.pairs for fault in found.faults)
    (fault,) = found.faults
    assert fault.kind == "loop"
    assert fault.words == "packets to h0 and 1 more destination go round: leaf1 -> spine0 -> leaf1"
    assert fault.routers == (1, 3)
    assert fault.destinations == 2
    assert fault.pairs >= 4


def test_each_circle_is_a_fault_of_its_own(broken):
    entries = [("h0", "leaf1", 1), ("h0", "spine0", 2), ("h5", "leaf0", 2), ("h5", "spine1", 1)]
    circles = [fault.routers for fault in broken(*entries).faults]
    assert sorted(circles) == [(0, 4), (1, 3)]


@pytest.mark.parametrize(
    ("port", "kind", "words"),
    [
        (4, "wrong delivery", "leaf0 sends packets to h0 to the wrong end, by port 4"),
        (1, "wrong delivery", "leaf0 sends packets to h0 to the wrong end, by port 1"),
        (0, "wrong delivery", "leaf0 keeps packets to h0"),
        (9, "black hole", "leaf0 sends packets to h0 into port 9, which has no cable"),
        (NO_PORT, "no entry", "leaf0 has no entry for h0"),
    ],
)
def test_the_last_switch_must_deliver(broken, port, kind, words):
    found = broken(("h0", "leaf0", port))
    assert told(found) == [(kind, 5, words)]
    assert found.unrouted == 5


def test_a_host_at_the_wrong_switch_is_the_wrong_end(broken):
    found = broken(("h0", "leaf2", 3))
    assert told(found) == [
        ("wrong delivery", 2, "leaf2 sends packets to h0 to the wrong end, by port 3")
    ]


def test_what_no_packet_meets_is_no_problem(broken):
    found = broken(("h0", "spine0", NO_PORT), ("h0", "leaf1", 2), ("h0", "leaf2", 2))
    assert not found


def test_what_hurts_most_comes_first(broken):
    found = broken(("h2", "leaf0", 40), ("h0", "leaf0", 4), ("h1", "leaf2", NO_PORT))
    assert [fault.pairs for fault in found.faults] == [5, 2, 2]
    assert found.unrouted == 9


def test_a_direct_network_has_problems_too():
    net = topology("ring:4")
    table = minhop(net).next_channel.copy()
    table[0, 2] = -1
    found = table_problems(net, ForwardingTable("by hand", table))
    assert told(found) == [("no entry", 1, "2 has no entry for 0")]
