"""Collectives flit by flit and as lockstep worms: against flows, traces and closed forms."""

import pytest

from netloom import compare_collectives, replay
from netloom.workload.programs.collectives.algorithms import collective_program
from netloom.workload.programs.collectives.program import trace_of

RATE = 25e9
CYCLE = 64 / RATE
ROUNDED = 1 - 1e-12
ALONE = [
    ("all-reduce", "ring:8", "ring"),
    ("all-gather", "leaf-spine:1x1x8", "ring"),
    ("all-to-all", "leaf-spine:1x1x8", "pairwise"),
    ("broadcast", "leaf-spine:2x1x4", "binomial"),
    ("all-reduce", "hypercube:3", "recursive-doubling"),
]
"""Collectives in which no two messages meet, each host sending one at a time."""


def timed(collective, on, algorithm, size, engine, **options):
    return compare_collectives(
        collective, on, algorithm=algorithm, size=size, engine=engine, bandwidth=RATE, **options
    ).points[0]


@pytest.mark.parametrize(("collective", "on", "algorithm"), ALONE)
def test_engines_agree_where_nobody_meets_anybody(collective, on, algorithm):
    """Within 1 % for messages of thousands of flits, within a factor of 2.1 for some."""
    ends = {"end_channels": int(not on.startswith("leaf"))}
    for size, most in (("1KB", 2.1), ("1MB", 1.01)):
        flow = timed(collective, on, algorithm, size, "flow", latency=8 * CYCLE, **ends)
        network = timed(collective, on, algorithm, size, "network", latency=8 * CYCLE, **ends)
        assert flow.seconds * ROUNDED <= network.seconds <= most * flow.seconds
        flow = timed(collective, on, algorithm, size, "flow", latency=CYCLE, **ends)
        worm = timed(collective, on, algorithm, size, "worm", **ends)
        assert flow.seconds * ROUNDED <= worm.seconds <= most * flow.seconds


def test_a_message_of_worms_is_its_closed_form():
    """D + L and 1 cycle per step: 7 steps of a ring, of one hop or up to 2."""
    found = timed("all-gather", "ring:8", "ring", 8 * 6400, "worm")
    assert found.seconds == pytest.approx(7 * (1 + 100 + 1) * CYCLE)
    assert found.empty_seconds == pytest.approx(7 * (1 + 1 + 1) * CYCLE)
    assert found.busiest_channel.bytes == 7 * 6400
    assert found.busiest_channel.seconds == pytest.approx(700 * CYCLE)


def test_a_message_of_routers_is_its_closed_form():
    """``Router.zero_load_cycles`` per step, which adds both channels of hosts."""
    found = timed("all-gather", "ring:8", "ring", 8 * 6400, "network", router="single-cycle")
    each = 3 + 2 * 1 + 1 * 1 + 100 - 1
    assert found.seconds == pytest.approx(7 * each * CYCLE)


@pytest.mark.parametrize("engine", ["network", "worm"])
def test_it_takes_what_the_trace_of_the_same_collective_takes(engine):
    on, size = "fat-tree:k=4", 256e3
    found = timed("all-reduce", on, "rabenseifner", size, engine, overhead="100ns", flit_bytes=32)
    trace = trace_of(
        collective_program("all-reduce", "rabenseifner", 16), size, overhead_seconds=1e-7
    )
    again = replay(on, trace=trace, engine=engine, flit_bytes=32, bandwidth=RATE)
    assert found.seconds == pytest.approx(again.to_dict()["finish_us"] * 1e-6, rel=1e-12)


def test_no_algorithm_beats_the_bound():
    for on, options in (
        ("mesh:2x3", {"engine": "worm"}),
        ("mesh:2x3", {"engine": "network", "latency": "30ns", "overhead": "100ns"}),
        ("leaf-spine:2x2x3", {"engine": "network", "end_channels": 1}),
    ):
        found = compare_collectives("all-reduce", on, size="100,10KB", bandwidth=RATE, **options)
        for each in found.points:
            assert each.seconds >= each.bound_seconds * (1 - 1e-9), (on, options, each.algorithm)
            assert each.busiest_channel.seconds <= each.seconds
        data = found.to_dict()
        assert (data["flit_bytes"], data["sharing"]) == (64, None)
        assert data["cycle_us"] == pytest.approx(CYCLE * 1e6)


def test_a_latency_is_that_of_header_and_router():
    near = timed("all-gather", "ring:4", "ring", 64, "network", latency=20 * CYCLE)
    far = timed("all-gather", "ring:4", "ring", 64, "network", latency=120 * CYCLE)
    assert far.seconds - near.seconds == pytest.approx(3 * 100 * CYCLE)
    # buffers are deep enough to fill the channels
    near = timed("all-gather", "ring:4", "ring", "1MB", "network", latency=20 * CYCLE)
    far = timed("all-gather", "ring:4", "ring", "1MB", "network", latency=120 * CYCLE)
    assert far.seconds - near.seconds == pytest.approx(3 * 100 * CYCLE)
