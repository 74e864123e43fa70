import pytest

from netloom.topology.graph import bandwidth_of, clock_of, latency_of


@pytest.mark.parametrize(
    ("word", "value", "unit"),
    [
        ("100Gb/s", 100, "Gb/s"),
        ("100 Gbit/s", 100, "Gb/s"),
        ("100Gbps", 100, "Gb/s"),
        ("12.5GB/s", 100, "Gb/s"),
        ("100000Mb/s", 100, "Gb/s"),
        ("0.1Tb/s", 100, "Gb/s"),
        ("0.1TB/s", 800, "Gb/s"),
        ("1e2Gb", 100, "Gb/s"),
        ("1e2", 100, "no unit"),
        ("0.5", 0.5, "no unit"),
    ],
)
def test_bandwidths(word, value, unit):
    assert bandwidth_of(word) == (value, unit)


@pytest.mark.parametrize(
    "word", ["", "0", "-1", "nan", "inf", "Gb/s", "fast", "1 2", "9gb/s", "1e400"]
)
def test_what_is_no_bandwidth(word):
    assert bandwidth_of(word) is None


@pytest.mark.parametrize(
    ("word", "value", "unit"),
    [
        ("4", 4, "cycles"),
        ("4.0", 4, "cycles"),
        ("600ns", 600, "ns"),
        ("0.6 us", 600, "ns"),
        ("2ms", 2e6, "ns"),
    ],
)
def test_latencies(word, value, unit):
    assert latency_of(word) == (value, unit)


@pytest.mark.parametrize("word", ["", "0", "-1", "2.5", "600min", "0ns", "x"])
def test_what_is_no_latency(word):
    assert latency_of(word) is None


def test_clocks():
    assert clock_of("1GHz") == 1
    assert clock_of("850 MHz") == pytest.approx(0.85)
    assert clock_of("fast") is clock_of("0GHz") is None
