"""Equations 1.1 to 1.3 by hand, and packets followed one by one down a path."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netloom.errors import InputError
from netloom.models import circuit_switched, store_and_forward, wormhole

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


@pytest.mark.parametrize(
    ("call", "message"),
    [
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
