"""A tally equals what is computed from all packets at once, however they were handed over."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.simulation.steady import Delivered, Tally, run_interval, worst_node

NODES = 4


def delivered(rng, packets, cycles, slowest=300):
    arrival = np.sort(rng.integers(slowest, slowest + cycles, packets))
    network = rng.integers(1, slowest // 2, packets)
    queue = rng.integers(0, slowest // 2, packets)
    columns = [np.arange(packets), arrival - network - queue, arrival - network, arrival]
    ranges = ((0, NODES), (0, NODES), (1, 9), (1, 20))
    columns += [rng.integers(*each, packets) for each in ranges]
    return Delivered(*np.array(columns, np.int32))


def part(packets, first, after):
    return Delivered(*(values[first:after] for values in packets))


def tallied(packets, begin, ends, batch_cycles):
    """Hand packets over as the network does: some arrive a few cycles after the end."""
    tally = Tally(NODES, begin=begin, batch_cycles=batch_cycles)
    given_so_far = 0
    for end in ends:
        after = int(np.searchsorted(packets.arrival, end + 3))
        tally.add(part(packets, given_so_far, after), until=end)
        given_so_far = after
    return tally


@given(st.integers(0, 2**32), st.integers(1, 400), st.integers(1, 40), st.integers(1, 1000))
def test_a_tally_is_what_the_packets_in_the_window_say(seed, packets, batch_cycles, length):
    log = delivered(np.random.default_rng(seed), packets, 900)
    begin = 350
    tally = tallied(log, begin, [begin + length // 3, begin + length], batch_cycles)
    inside = (log.arrival >= begin) & (log.arrival < begin + length)
    log = Delivered(*(values[inside].astype(np.int64) for values in log))
    found = tally.measured(senders=3)
    assert (found.cycles, found.packets) == (length, inside.sum())
    assert found.accepted == pytest.approx(log.flits.sum() / length / 3)
    flits = [int(log.flits[log.source == node].sum()) for node in range(NODES)]
    assert tally.delivered_flits.tolist() == flits
    if not found.packets:
        assert np.isnan([found.packet_latency, found.packet_latency_p99, found.hops]).all()
        return
    latency = log.arrival - log.birth
    assert found.packet_latency == pytest.approx(latency.mean())
    assert found.network_latency == pytest.approx((log.arrival - log.entry).mean())
    assert found.queue_latency == pytest.approx((log.entry - log.birth).mean())
    assert found.hops == pytest.approx(log.hops.mean())
    assert found.packet_latency_max == latency.max()
    middle, high = np.percentile(latency, [50, 99], method="inverted_cdf")
    assert (found.packet_latency_p50, found.packet_latency_p99) == (middle, high)


def test_batches_are_doubled_until_128_hold_the_window():
    log = delivered(np.random.default_rng(1), 20_000, 6500)
    tally = tallied(log, 300, range(310, 300 + 6401, 10), batch_cycles=10)
    assert tally.batch_cycles == 80
    found = tally.measured(senders=NODES)
    assert found.batches == 80
    # The interval by hand: 80 batches of 80 cycles.
    inside = log.arrival < 6700
    batch = (log.arrival[inside] - 300) // 80
    latency = (log.arrival - log.birth)[inside]
    sums, counts = np.bincount(batch, latency), np.bincount(batch)
    assert len(sums) == 80
    expected = run_interval(sums, counts)
    assert (found.packet_latency, found.packet_latency_ci95) == pytest.approx(expected)
    assert found.precision == pytest.approx(expected[1] / expected[0])
    flits = run_interval(np.bincount(batch, log.flits[inside]), [80 * NODES] * 80)
    assert (found.accepted, found.accepted_ci95) == pytest.approx(flits)


def test_the_rest_of_the_window_is_counted_with_the_last_whole_batch():
    log = delivered(np.random.default_rng(2), 3000, 900)
    found = tallied(log, 300, [300 + 250], batch_cycles=100).measured(senders=1)
    inside = log.arrival < 550
    batch = np.minimum((log.arrival[inside] - 300) // 100, 1)
    expected = run_interval(np.bincount(batch, log.flits[inside]), [100, 150])
    assert found.batches == 2
    assert (found.accepted, found.accepted_ci95) == pytest.approx(expected)


def test_precision_waits_for_batches_packets_and_independence():
    rng = np.random.default_rng(3)
    log = delivered(rng, 8000, 1600)
    assert np.isnan(tallied(log, 300, [1800], 100).measured(1).precision)  # 15 batches
    assert tallied(log, 300, [1900], 100).measured(1).precision > 0  # 16
    rising = log._replace(birth=log.birth - log.arrival)  # later packets wait longer
    assert np.isnan(tallied(rising, 300, [1900], 100).measured(1).precision)


def constant_latency(packets):
    arrival = np.linspace(300, 1899, packets).astype(np.int32)
    ones = np.ones_like(arrival)
    return Delivered(arrival, arrival - 23, arrival - 23, arrival, 0 * ones, ones, ones, ones)


def test_precision_waits_for_500_packets():
    found = [
        tallied(constant_latency(packets), 300, [1900], 100).measured(1).precision
        for packets in (499, 500)
    ]
    assert np.isnan(found[0])
    assert found[1] == 0


def test_an_empty_window_says_nothing():
    tally = Tally(NODES, begin=100, batch_cycles=10)
    found = tally.measured(senders=4)
    assert (found.cycles, found.packets, found.batches) == (0, 0, 0)
    assert np.isnan([found.packet_latency, found.accepted, found.precision]).all()


def test_worst_node_is_relative_to_what_it_offers():
    worst = worst_node([90, 10, 0, 40], [0.1, 0.01, 0.0, 0.05], cycles=1000)
    assert (worst.node, worst.share, worst.accepted) == (3, pytest.approx(0.8), 0.04)
