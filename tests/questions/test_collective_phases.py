"""Compiled phases beside message passing: closed forms, the compiler's own figures, refusals."""

import numpy as np
import pytest

from netloom import compare_collectives, compile_phases
from netloom.phases import least_clocks
from netloom.phases.exchanges import OF_PHASES, exchange_of
from netloom.simulation.collectives import graph_of
from netloom.topology import topology
from netloom.workload.programs.collectives.algorithms import ROOTED, outline

FAST = {"bandwidth": "1GB/s", "latency": "1us"}


def phased(found):
    """What phases take, by size."""
    return [each for each in found.points if each.algorithm == "phases"]


def phases_of(collective, on, **options):
    found = compare_collectives(collective, on, **(FAST | {"switch_time": 0} | options))
    return found, phased(found)[-1]


def test_a_full_switch_is_a_phase_of_the_closed_form():
    """A phase in which each host of a switch sends to all others takes (P - 1) / P of the size."""
    found, point = phases_of("all-to-all", "leaf-spine:1x1x8", size="8MB", switch_time="3us")
    assert point.steps == 1
    assert point.num_messages == 56
    assert point.seconds == pytest.approx(3e-6 + 7e-3 + 2e-6)
    assert point.bus_bandwidth == pytest.approx(7e6 / point.seconds)
    assert point.held_by == "channel"
    assert found.to_dict()["phases"]["phases"] == [1]


def test_phases_of_a_ring_reach_its_bisection():
    """All-to-all on a ring of 8: 8 pairs a half cross 2 channels each way, by shortest ways."""
    _, point = phases_of("all-to-all", "ring:8", size="8MB", latency=0)
    assert point.seconds == pytest.approx(point.bound_seconds) == pytest.approx(8e-3)


def test_ends_of_hosts_count_where_they_have_one_channel():
    found, point = phases_of("all-to-all", "torus:4x4", size="16MB", end_channels=1, latency=0)
    assert point.seconds >= 15e-3 * (1 - 1e-9)
    assert point.busiest_channel.name.startswith("into")
    free, other = phases_of("all-to-all", "torus:4x4", size="16MB", latency=0)
    assert other.seconds == pytest.approx(8e-3)
    assert phased(free)[0].busiest_channel.name.startswith("(")
    assert phased(found)[0].bound_seconds <= phased(found)[0].seconds


def test_the_compiler_says_the_same_in_clocks():
    """The time of words and switches is what ``compile`` finds for the same plan."""
    _, point = phases_of(
        "all-to-all", "torus:3x3", size="9KB", latency=0, switch_time=528e-9, end_channels=1
    )
    compiled = compile_phases(
        "all-to-all:9", "torus:3x3", words=1000, clocks_per_word=1, channel_clocks_per_word=1,
        objective="time",
    )  # fmt: skip
    assert point.seconds == pytest.approx(compiled.clocks * 1e-9)
    least = compiled.lower_bound_clocks
    assert (
        compiled.clocks
        >= least
        >= least_clocks(compiled.plan.connections, compiled.plan.topology, compiled.costs)
    )


@pytest.mark.parametrize("collective", OF_PHASES)
def test_phases_never_beat_the_bound_and_grow_with_the_size(collective):
    for on, options in (
        ("mesh:2x3", {"overhead": "100ns", "switch_time": None}),
        ("leaf-spine:2x2x2", {"tasks_per_node": 2}),
        ("torus:3x3", {"end_channels": 1, "mapping": "random"}),
    ):
        found, _ = phases_of(collective, on, size="10KB,1MB,100MB", **options)
        times = [each.seconds for each in phased(found)]
        assert times == sorted(times)
        assert len(times) == 3
        for each in phased(found):
            assert each.seconds >= each.bound_seconds * (1 - 1e-9), on
            assert each.busiest_channel.seconds <= each.seconds * (1 + 1e-9)


@pytest.mark.parametrize("collective", OF_PHASES)
def test_connections_carry_what_linear_messages_do(collective):
    """One rank a host: the bytes of the linear algorithm, pair by pair."""
    hosts = np.array([4, 1, 3, 0, 2], np.int32)
    root = 2 if collective in ROOTED else 0
    given = exchange_of(collective, root, hosts, 5e6, topology("ring:6"))
    graph = graph_of(outline(collective, "linear", 5, root=root))
    pairs = zip(hosts[graph.source], hosts[graph.target], graph.bytes * 5e6, strict=True)
    assert sorted(zip(given.source, given.target, given.words, strict=True)) == sorted(
        (int(source), int(target), round(sent)) for source, target, sent in pairs
    )


def test_ranks_of_a_host_share_a_connection():
    four = exchange_of("all-to-all", 0, np.array([0, 0, 1, 1]), 4e6, topology("ring:4"))
    assert four.words.tolist() == [4_000_000] * 2
    gathered = exchange_of("all-gather", 0, np.array([0, 0, 1, 2]), 4e6, topology("ring:4"))
    assert gathered.words[gathered.source == 0].tolist() == [2_000_000] * 2


def test_a_switch_is_a_barrier_unless_it_is_said():
    found, point = phases_of("all-to-all", "torus:3x3", size="1MB", switch_time=None)
    barrier = compare_collectives("barrier", "torus:3x3", **FAST)
    fastest = barrier.at(0.0)[0].seconds
    _, none = phases_of("all-to-all", "torus:3x3", size="1MB")
    assert point.steps == none.steps
    assert point.seconds == pytest.approx(none.seconds + point.steps * fastest)
    assert phased(found)[0].empty_seconds > point.steps * fastest


def test_a_slow_cable_that_nothing_uses_changes_no_pipeline(tmp_path):
    """Chunks suit the channels that carry something, so a failure there changes no time."""
    found = []
    for rate in ("100Gb/s", "1Gb/s"):
        path = tmp_path / f"{rate[:-3]}.txt"
        hosts = [f"h{each} leaf 100Gb/s" for each in range(4)]
        path.write_text("\n".join(["hosts: h[0-3]", *hosts, f"leaf spine {rate}"]) + "\n")
        asked = {"algorithm": "chain", "size": "10MB", "latency": "500ns"}
        (one,) = compare_collectives("all-reduce", f"graph:{path}", **asked).points
        found.append(one.seconds)
    assert found[0] == found[1]
