"""Bytes and seconds of a network: options, then the machine, then the network's file."""

import pytest

from netloom.machines import machine
from netloom.machines.named_machines import clock_of
from netloom.questions.fields import Timing
from netloom.topology import mesh, topology
from netloom.topology.faults import without
from netloom.topology.graph import graph_topology, to_networkx

CABLES = "hosts: a b c\na s 200Gb/s\nb s 200Gb/s\nc t 100Gb/s\ns t 400Gb/s\n"
TIMED = """clock: 1GHz
hosts: a b c
a s 200Gb/s 600ns
b s 200Gb/s 600ns
c s 100Gb/s 50ns
"""


def read(tmp_path, text):
    path = tmp_path / "net.txt"
    path.write_text(text)
    return topology(f"graph:{path}")


def test_numbers_are_bytes_a_second_and_seconds():
    one = clock_of(Timing(bandwidth=25e9, latency=6e-7, overhead=1.2e-6), mesh(4, 4), None)
    other = clock_of(Timing(bandwidth="25GB/s", latency="600ns", overhead="1.2us"), mesh(2), None)
    assert one.to_json() == other.to_json()
    assert (one.bytes_per_second, one.latency_seconds, one.overhead_seconds) == (25e9, 6e-7, 1.2e-6)
    assert one.words == (
        "25 GB/s per channel (--bandwidth), latency 600 ns (--latency), "
        "overhead 1.2 µs (--overhead)"
    )


def test_cables_of_a_fabric_have_rates(tmp_path):
    network = read(tmp_path, CABLES)
    found = clock_of(Timing(), network, None)
    assert network.reference_gbps == 200
    assert found.bytes_per_second == 25e9
    rates = found.bytes_per_second * network.channel_bandwidth
    assert sorted(set(rates)) == [12.5e9, 25e9, 50e9]
    assert found.words.startswith("12.5 GB/s to 50 GB/s per channel (the network's file)")


def test_a_bandwidth_overrides_the_reference_and_says_so(tmp_path):
    network = read(tmp_path, CABLES)
    found = clock_of(Timing(bandwidth="400Gb/s"), network, None)
    assert sorted(set(found.bytes_per_second * network.channel_bandwidth)) == [25e9, 50e9, 100e9]
    assert found.bandwidth_source == "--bandwidth, instead of 25 GB/s of the network's file"
    same = clock_of(Timing(bandwidth="25GB/s"), network, None)
    assert same.bandwidth_source == "--bandwidth"


def test_latencies_of_a_file_with_a_clock_are_known(tmp_path):
    network = read(tmp_path, TIMED)
    found = clock_of(Timing(), network, None)
    delays = found.latency_seconds * network.channel_cycles
    assert sorted(set(delays.round(12))) == [5e-8, 6e-7]
    assert "latency 50 ns to 600 ns (the network's file)" in found.words
    assert graph_topology(to_networkx(network)).cycle_ns == network.cycle_ns == 1
    assert without(network, channels="a-s", nodes="a").cycle_ns == 1


def test_a_latency_replaces_times_and_multiplies_cycles(tmp_path):
    network = read(tmp_path, TIMED)
    found = clock_of(Timing(latency="1us"), network, None)
    assert found.latency_seconds * network.channel_cycles == pytest.approx(1e-6)
    relative = read(tmp_path, TIMED.replace("clock: 1GHz\n", "").replace("ns", ""))
    assert relative.cycle_ns is None
    found = clock_of(Timing(latency="1ns"), relative, None)
    assert sorted(set(found.latency_seconds * relative.channel_cycles)) == [
        pytest.approx(5e-8), pytest.approx(6e-7),
    ]  # fmt: skip


def test_a_machine_says_its_own():
    symult = machine("symult2010:4x4")
    found = clock_of(Timing(), symult.network(), symult)
    assert found.bytes_per_second == 20e6
    assert found.latency_seconds == pytest.approx(1e-7)
    assert found.overhead_seconds == pytest.approx(105.1e-6), "half of 210.2 µs"
    assert found.bandwidth_source == found.latency_source == "symult2010"
    assert found.overhead_source == "half of the start-up time of symult2010"
    asked = Timing(bandwidth="1GB/s", overhead=0)
    found = clock_of(asked, symult.network(), symult)
    assert found.bandwidth_source == "--bandwidth, instead of 20 MB/s of symult2010"
    assert found.overhead_seconds == 0
    assert found.latency_source == "symult2010"
