"""Compiled phases beside message passing: closed forms, the compiler's own figures, refusals."""

import json

import numpy as np
import pytest

from netloom import InputError, compare_collectives, compile_phases
from netloom.phases import least_clocks
from netloom.phases.exchanges import OF_PHASES, exchange_of
from netloom.questions.recorded import record
from netloom.report import chart_of
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
        "all-to-all", "torus:4x4", size="16KB", latency=0, switch_time=528e-9, end_channels=1
    )
    compiled = compile_phases(
        "all-to-all:16", "torus:4x4", words=1000, clocks_per_word=1, channel_clocks_per_word=1,
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
    found, point = phases_of("all-to-all", "torus:4x4", size="1MB", switch_time=None)
    barrier = compare_collectives("barrier", "torus:4x4", **FAST)
    fastest = barrier.at(0.0)[0].seconds
    _, none = phases_of("all-to-all", "torus:4x4", size="1MB")
    assert point.steps == none.steps
    assert point.seconds == pytest.approx(none.seconds + point.steps * fastest)
    assert phased(found)[0].empty_seconds > point.steps * fastest


def test_words_say_where_phases_win_and_messages_are_ranked_without_them():
    found, _ = phases_of("all-to-all", "torus:4x4", size="1KB:64MB:16", switch_time=None)
    beats = [each.size for each in phased(found) if each.seconds < found.at(each.size)[0].seconds]
    assert 0 < len(beats) < len(found.sizes)
    factor = found.at(64e6)[0].seconds / phased(found)[-1].seconds
    said = found.phases.verdict
    assert said.startswith("On reserved channels, 4 compiled phases beat messages from ")
    assert said.endswith(f" {factor:.3g} times as fast at 64 MB.")
    assert "phases" not in found.verdict.sentence
    assert "phases" not in {each.algorithm for size in found.sizes for each in found.at(size)}
    assert all("phases" not in (each.below, each.above) for each in found.crossings)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["phases"]["faster"][-1] == pytest.approx(factor)
    assert "phases" in json.dumps(chart_of(record(found)).to_dict())


def test_one_size_at_which_they_win_is_said_once():
    found, _ = phases_of("all-to-all", "torus:4x4", size="64MB")
    factor = found.at(64e6)[0].seconds / phased(found)[0].seconds
    assert found.phases.verdict.endswith(f" beat messages at 64 MB: {factor:.3g} times as fast.")


def test_one_that_never_wins_says_so():
    found, _ = phases_of("broadcast", "mesh:3x3", size="1MB", latency="1us")
    said = found.phases.verdict
    assert said.startswith("On reserved channels, 1 compiled phase never beats messages")
    full, point = phases_of("all-to-all", "leaf-spine:1x1x4", size="64MB")
    assert point.seconds <= full.at(64e6)[0].seconds  # by latencies of microseconds
    said = full.phases.verdict
    assert said.endswith("never beats messages here: it takes as long as messages at 64 MB.")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"on": "mesh:8x8"}, "found phases of 4,032 connections on 224 channels, which takes long"),
        ({"engine": "network"}, "found phases with engine network"),
    ],
)
def test_what_cannot_be_compiled_is_left_out_with_the_reason(asked, why):
    fields = {"collective": "all-to-all", "on": "mesh:2x2", "size": "1KB"} | FAST | asked
    fields |= {"latency": None} if "engine" in asked else {}
    found = compare_collectives(**fields)
    assert found.left_out["phases"].startswith(why)
    assert not found.phases


def test_channels_that_differ_are_left_out_or_refused(tmp_path):
    file = tmp_path / "odd.txt"
    file.write_text("a b 100Gb/s\nb c 200Gb/s\nc a 200Gb/s\n")
    found = compare_collectives("all-to-all", f"graph:{file}", size="1KB")
    assert "bandwidth 0.5" in found.left_out["phases"]
    assert not found.phases
    with pytest.raises(InputError, match=r"bandwidth 0\.5"):
        compare_collectives("all-to-all", f"graph:{file}", size="1KB", algorithm="linear,phases")


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        (
            {"collective": "all-reduce", "algorithm": "ring,phases"},
            "algorithm: found phases of all-r",
        ),
        ({"algorithm": "phases"}, "algorithm: found phases alone; expected phases beside messages"),
        ({"algorithm": "pairwise,phases", "engine": "worm"}, "algorithm: found phases with engine"),
        (
            {"algorithm": "pears"},
            "algorithm: found 'pears'; expected for all-to-all: all, .*phases",
        ),
        ({"switch_time": "soon"}, "switch_time: found 'soon'"),
        ({"reserved_channels": 0}, "reserved_channels: found 0"),
    ],
)
def test_a_mistake_is_one_line(asked, refused):
    fields = {"collective": "all-to-all", "on": "mesh:2x2", "size": "1KB"} | asked
    with pytest.raises(InputError, match=f"^{refused}") as found:
        compare_collectives(**fields)
    assert "\n" not in str(found.value)
