"""Equations 1.1 to 1.3 by hand, and packets followed one by one down a path."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netloom.base.errors import InputError
from netloom.workload.programs.node_costs import NodeCosts
from netloom_papers.models import circuit_switched, speedup, store_and_forward, wormhole
from netloom_papers.models.switching import (
    effective_bandwidth,
    saturated_bandwidth,
    saturated_speedup,
    virtual_cut_through,
)

COSTS = {"startup_us": 100.0, "per_byte_us": 0.5}


def last_arrival(hops, sizes):
    """Send the packets down ``hops`` links, each of which carries one at a time."""
    free = [0.0] * hops
    arrival = 0.0
    for size in sizes:
        arrival = 0.0
        for hop in range(hops):
            free[hop] = max(free[hop], arrival) + 100.0 + 0.5 * size
            arrival = free[hop]
    return arrival


@given(st.integers(1, 6), st.integers(0, 2000), st.integers(1, 700))
def test_packets_overlap_as_when_each_is_followed(hops, length, packet):
    whole, rest = divmod(length, packet)
    sizes = [packet] * whole + [rest] * (rest > 0 or length == 0)
    computed = store_and_forward(hops, length, **COSTS, packet_bytes=packet)
    assert computed == pytest.approx(last_arrival(hops, sizes))


def test_store_and_forward_pays_for_every_hop():
    times = store_and_forward([0, 1, 5], 1000, **COSTS)
    assert times.tolist() == [0, 600, 3000]


def test_circuit_switching_and_wormhole_pay_once_and_a_little_for_each_hop():
    hops = np.array([1, 11])
    assert circuit_switched(hops, 1000, **COSTS, hop_us=20).tolist() == [620, 820]
    assert wormhole(hops, 1001, **COSTS, hop_us=0.1) == pytest.approx([600.1, 601.1])


def test_wormhole_of_nothing_is_the_startup():
    assert wormhole(0, [0, 1, 257], **COSTS, hop_us=1).tolist() == [100, 100, 228]


def test_cut_through_is_equation_2_19_and_wormhole_of_a_header_as_long():
    alone = virtual_cut_through([1, 10], 100, startup_us=0, per_byte_us=1 / 20, header_bytes=4)
    assert alone == pytest.approx([(1 * 4 + 100) / 20, (10 * 4 + 100) / 20])
    with_costs = virtual_cut_through([2, 7], 100, **COSTS, hop_us=3, header_bytes=1)
    in_flits = wormhole([2, 7], 101, **COSTS, hop_us=3 + 0.5)
    assert with_costs == pytest.approx(in_flits)


def test_cut_through_never_beats_a_bare_channel_nor_loses_to_store_and_forward():
    hops = np.arange(1, 20)
    cut = virtual_cut_through(hops, 500, startup_us=0, per_byte_us=0.5)
    stored = store_and_forward(hops, 501, startup_us=0, per_byte_us=0.5)
    assert (cut >= 250).all()
    assert cut[0] == stored[0]
    assert (cut[1:] < stored[1:]).all()


def test_packets_of_the_symult_cost_what_the_thesis_measured():
    symult = NodeCosts(210.2, 256, 39.3, 0.0577, 0.05)
    per_byte = np.diff(symult.message_us([4096, 8192])) / 4096
    assert per_byte == pytest.approx(0.1536, rel=2e-3)  # section 4.2.1: 6.5 Mbytes/s
    small = symult.message_us([256])
    header_alone = wormhole(1, 256, startup_us=210.2, per_byte_us=0.0577, hop_us=0, flit_bytes=0)
    assert small == pytest.approx(header_alone)


def test_the_ratio_of_effective_bandwidths_is_the_speedup():
    nodes, headers = 256, 10.0
    ratio = 2 * 16 / 3
    mesh = effective_bandwidth(2 * 16 / 3, headers, bandwidth=ratio)
    cube = effective_bandwidth(8 / 2, headers, bandwidth=1.0)
    assert mesh / cube == pytest.approx(speedup(nodes, headers, form="chittor-1991"))
    assert mesh / cube == pytest.approx(ratio * 3 * (8 + 20) / (2 * (2 * 16 + 30)))  # eq. 2.22


def test_long_messages_get_the_whole_channel():
    assert effective_bandwidth(22, 1e9, bandwidth=20.0) == pytest.approx(20)
    assert effective_bandwidth(0, 5, bandwidth=20.0) == 20


def test_contention_takes_what_wider_channels_gave():
    sizes = np.array([64, 256, 1024])
    left = saturated_speedup(sizes, 2 / np.sqrt(sizes), form="chittor-1991")
    assert left == pytest.approx(4 / 3)  # section 3.6 prints 1.33
    assert saturated_bandwidth([0.0, 0.125, 1.0], bandwidth=20).tolist() == [0, 2.5, 20]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: virtual_cut_through(1, 1, **COSTS, header_bytes=-1), "header_bytes: found -1.0"),
        (lambda: effective_bandwidth(-1, 1, bandwidth=1), "hops: found -1.0"),
        (lambda: effective_bandwidth(1, [1, 0], bandwidth=1), "message_bytes: found 0.0"),
        (lambda: effective_bandwidth(1, 1, bandwidth=0), "bandwidth: found 0"),
        (lambda: effective_bandwidth(1, 1, bandwidth=1, header_bytes=-2), "header_bytes: found -2"),
        (lambda: saturated_bandwidth(1.5, bandwidth=1), "saturation: found 1.5"),
        (lambda: saturated_speedup(100, 0.5), "num_nodes: found 100"),
        (lambda: store_and_forward(-1, 10, **COSTS), "hops: found -1.0; expected at least 0"),
        (lambda: store_and_forward(1, [1, -10], **COSTS), "message_bytes: found -10.0"),
        (lambda: store_and_forward(1, 10, **COSTS, packet_bytes=0), "packet_bytes: found 0"),
        (lambda: circuit_switched(1, 10, **COSTS, hop_us=-1), "hop_us: found -1.0"),
        (lambda: wormhole(1, 10, **COSTS, hop_us=1, flit_bytes=-1), "flit_bytes: found -1.0"),
        (lambda: wormhole(1, float("nan"), **COSTS, hop_us=1), "message_bytes: found nan"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
