"""The packets that are made, and what is tallied of those delivered, equal those of the twin."""

from unittest import mock

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from netloom.routing import virtual_channel_routing
from netloom.simulation.network.run import Sender, SentPackets
from netloom.simulation.steady import Delivered, Groups, Tally
from netloom.topology import mesh
from netloom.workload import PacketStream, parse_arrivals, parse_lengths
from netloom.workload.traffic import stream as arrivals_module
from tests.properties.strategies import traffics
from tests.reference import packets as twin

MOST = 1_500


@settings(max_examples=150, deadline=None)
@given(
    traffic=st.integers(2, 40).flatmap(lambda nodes: traffics(nodes, weighted=False)),
    load=st.floats(0.001, 1),
    lengths=st.sampled_from(["1", "5", "uniform:1-6", "bimodal:2,9,0.3", "geometric:4"]),
    arrivals=st.sampled_from(["bernoulli", "poisson", "on-off:20,0.5", "on-off:9,0.8"]),
    seed=st.integers(0, 2**40),
    block=st.integers(1, 400),
)
def test_packets_are_those_of_the_twin(traffic, load, lengths, arrivals, seed, block):
    law, when = parse_lengths(lengths), parse_arrivals(arrivals)
    load = min(load, when.most * law.mean / traffic.rate.max())
    cycles = int(min(3_000, MOST * law.mean / (load * traffic.rate.sum())))
    with mock.patch.object(arrivals_module, "BLOCK_PACKETS", block):
        wanted = twin.packets(traffic, load, law, when, seed, cycles)
        stream = PacketStream(traffic, load, lengths=law, arrivals=when, seed=seed)
        found = stream.until(cycles)
    assert np.array(found).T.tolist() == [list(row) for row in wanted]


@settings(max_examples=40, deadline=None)
@given(
    traffic=traffics(16, weighted=False),
    seed=st.integers(0, 2**40),
    order=st.permutations(range(16)),
    cuts=st.lists(st.integers(0, 2_000), max_size=6),
)
def test_a_run_is_given_the_packets_of_its_sender_wherever_it_pauses(traffic, seed, order, cuts):
    network = mesh(4, 4)
    routing = virtual_channel_routing(network, "dimension-order", num_vcs=2)
    law, when = parse_lengths("2"), parse_arrivals("poisson")
    sender = Sender(traffic, 0.3, seed, np.array(order, np.int32))
    with mock.patch.object(arrivals_module, "BLOCK_PACKETS", 500):
        rows = twin.packets(traffic, 0.3, law, when, seed, 2_000)
        sent = SentPackets([sender], routing, None, law, when)
        found = [sent.until(cycle) for cycle in (*sorted(cuts), 2_000)]
    coins = twin.coins(seed, len(rows))
    wanted = [
        [birth, order[source], order[target], flits, coin, -1]
        for (birth, source, target, flits), coin in zip(rows, coins, strict=True)
    ]
    assert np.concatenate(found).tolist() == wanted


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(0, 300),
    batch_cycles=st.integers(1, 30),
    ends=st.lists(st.integers(0, 700), min_size=1, max_size=8),
    groups=st.integers(1, 3),
    slow=st.sampled_from([10, 500, 5_000]),
)
def test_a_tally_has_the_sums_of_the_twin(seed, count, batch_cycles, ends, groups, slow):
    rng = np.random.default_rng(seed)
    begin, nodes = 100, 5
    arrival = np.sort(rng.integers(50, 900, count))
    network, queue = rng.integers(0, slow, (2, count))
    entry = arrival - network
    columns = [np.arange(count), entry - queue, entry, arrival]
    columns += [rng.integers(0, most, count) for most in (nodes, nodes, 9, 20)]
    late = rng.integers(0, 40, count)  # a tail may be on its way when its packet is noted
    noted = np.argsort(arrival - late, kind="stable")
    packets = Delivered(*(column[noted].astype(np.int32) for column in columns))
    when = (arrival - late)[noted]
    group_of = packets.source % groups
    apart = Groups((1,) * groups, lambda some: some.source % np.int32(groups))
    tally = Tally(nodes, begin=begin, batch_cycles=batch_cycles, groups=apart)
    first = 0
    for end in sorted(ends):
        after = int(np.searchsorted(when, begin + end))
        tally.add(Delivered(*(column[first:after] for column in packets)), until=begin + end)
        first = after
    window = (begin, begin + max(ends), tally.batch_cycles)
    sums, flits_of, latencies = twin.tallied(packets, group_of.tolist(), *window, groups)
    wanted = np.zeros_like(tally._sums)
    for place, values in sums.items():
        wanted[(slice(None), *place)] = values
    assert np.array_equal(tally._sums, wanted)
    assert tally.delivered_flits.tolist() == [flits_of.get(node, 0) for node in range(nodes)]
    counted = {
        int(at): int(tally.latency_counts[at]) for at in np.flatnonzero(tally.latency_counts)
    }
    assert counted == latencies
