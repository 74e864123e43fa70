"""Which algorithm of a collective is fastest: closed forms, crossings, bounds, refusals."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom import compare_collectives, replay
from netloom.drawing.names import NAME_LINE as LINE, apart
from netloom.machines.libraries import ROWS as OF_LIBRARIES
from netloom.phases import exchanges as prepared
from netloom.questions.outputs import SAVE_MAPPING
from netloom.questions.register import by_verb
from netloom.workload.programs.collectives.algorithms import algorithms_of
from netloom.workload.programs.collectives.program import COLLECTIVES, parse_sizes

FAST = {"bandwidth": "1GB/s", "latency": "1us"}


def seconds(collective, on, algorithm, size, **options):
    """What one algorithm takes at one size."""
    found = compare_collectives(
        collective, on, algorithm=algorithm, size=size, **(FAST | options)
    ).to_dict()
    return found["seconds"]


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9])
def test_a_ring_on_a_full_switch_is_the_closed_form(size):
    spec, ranks, hops = "leaf-spine:1x1x8", 8, 2
    each = hops * 1e-6 + size / ranks / 1e9
    assert seconds("all-reduce", spec, "ring", size) == pytest.approx(2 * (ranks - 1) * each)
    assert seconds("all-gather", spec, "ring", size) == pytest.approx((ranks - 1) * each)
    halving = 3 * hops * 1e-6 + 7 / 8 * size / 1e9
    assert seconds("reduce-scatter", spec, "recursive-halving", size) == pytest.approx(halving)
    doubling = 3 * (hops * 1e-6 + size / 1e9)
    assert seconds("all-reduce", spec, "recursive-doubling", size) == pytest.approx(doubling)


def test_two_hosts_with_an_overhead():
    took = seconds("all-reduce", "leaf-spine:1x1x2", "ring", 1e6, overhead="3us")
    assert took == pytest.approx(2 * (2 * 3e-6 + 2e-6 + 0.5e-3))
    assert seconds("broadcast", "leaf-spine:1x1x2", "binomial", 1e6) == pytest.approx(1e-3 + 2e-6)
    assert seconds("all-to-all", "leaf-spine:1x1x2", "pairwise", 1e6) == pytest.approx(
        0.5e-3 + 2e-6
    )


def test_all_links_of_a_torus_or_one_channel_of_a_node():
    free = compare_collectives("all-reduce", "torus:4x4", size="1GB", **FAST)
    port = compare_collectives("all-reduce", "torus:4x4", size="1GB", end_channels=1, **FAST)
    [best, *_] = free.at(1e9)
    assert best.algorithm in ("torus-rings", "swing")
    assert best.ratio == pytest.approx(1, rel=1e-3)
    assert best.seconds == pytest.approx(2 * 15 / 16 / 4, rel=1e-3)
    assert port.at(1e9)[0].seconds == pytest.approx(2 * 15 / 16, rel=1e-3)
    assert port.at(1e9)[0].bound_seconds == pytest.approx(2 * 15 / 16)


def test_winners_change_where_curves_cross():
    found = compare_collectives("all-reduce", "leaf-spine:1x1x16", size="1KB:256MB:2", **FAST)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    winners = data["winners"]
    assert winners[0]["from_size"] is None
    assert winners[-1]["to_size"] is None
    leads = {(each["below"], each["above"]) for each in data["crossings"] if each["leads"]}
    for one, other in pairwise(winners):
        assert one["to_size"] == other["from_size"]
        assert (one["algorithm"], other["algorithm"]) in leads
        # on both sides of where they cross, the one that is said to win does
        for size, better in ((one["to_size"] * 0.9, one), (one["to_size"] * 1.1, other)):
            names = (one["algorithm"], other["algorithm"])
            took = {name: seconds("all-reduce", "leaf-spine:1x1x16", name, size) for name in names}
            assert took[better["algorithm"]] == min(took.values())


BOUNDED = [
    ("torus:4x4", {}),
    ("mesh:2x3", {}),
    ("leaf-spine:4x2x3", {}),
    ("rail:1x3x4x2", {"ranks": 12, "overhead": "1us"}),
    ("rail:2x2x2x1", {"ranks": 7, "overhead": "1us"}),
]


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_no_algorithm_beats_the_bound(collective, monkeypatch):
    for most in ("MOST_WORK", "MOST_ON_TORI"):  # phases have tests of their own
        monkeypatch.setattr(prepared, most, 0)
    sizes = {} if collective == "barrier" else {"size": "10KB,100MB"}
    for spec, more in BOUNDED:
        found = compare_collectives(
            collective, spec, **{"overhead": "100ns", **sizes, **FAST} | more
        )
        ran = {each.algorithm for each in found.points} | set(found.left_out)
        assert ran - {"phases", *OF_LIBRARIES} == set(algorithms_of(collective))
        for each in found.points:
            assert each.seconds >= each.bound_seconds * (1 - 1e-9), each.algorithm
        steps = found.to_dict()["bound"]["steps_seconds"]
        assert steps <= min(each.seconds for each in found.points)


def test_a_better_rank_order_is_found_run_and_written(tmp_path):
    found = compare_collectives(
        "all-reduce", "torus:4x4", size="1MB,64MB", algorithm="ring", mapping="random",
        reorder=True, seed=3, **FAST,
    )  # fmt: skip
    better = found.to_dict()["reordered"]
    assert better["better"]
    assert better["found_seconds"] < better["given_seconds"]
    assert sorted(better["node_of"]) == list(range(16))
    again = seconds("all-reduce", "torus:4x4", "ring", 64e6, mapping=better["node_of"])
    assert again == pytest.approx(better["found_seconds"])
    assert {each.order for each in found.points} == {"given", "found"}
    assert np.array_equal(found.node_of, better["node_of"])
    file = tmp_path / "better.json"
    assert SAVE_MAPPING.write(found, file) == f"Mapping: {file}"  # not in rank order


def test_an_order_leaves_as_many_ranks_on_each_host():
    options = {"size": "1MB", "algorithm": "ring", "reorder": True, "mapping": "random", **FAST}
    for ranks, places in ((2, 2), (7, 4), (9, 2), (13, 4)):
        found = compare_collectives(
            "all-reduce", "torus:3x3", ranks=ranks, tasks_per_node=places, **options
        )
        better = found.to_dict()["reordered"]
        assert np.array_equal(np.sort(better["node_of"]), np.sort(found.ready.host_of))
        assert 0 < better["found_seconds"] <= better["given_seconds"]
        assert all(each.seconds >= each.bound_seconds for each in found.points)


def test_pipelines_grow_as_longer_ones_do():
    """A chain in more chunks than are run takes what one takes that is run whole."""
    from netloom.simulation import collectives as runs

    size, options = "1GB", {"algorithm": "chain", **FAST}
    whole = compare_collectives("broadcast", "leaf-spine:1x1x6", size=size, **options).points[0]
    listed, runs.MOST_LISTED = runs.MOST_LISTED, 400
    try:
        grown = compare_collectives("broadcast", "leaf-spine:1x1x6", size=size, **options)
    finally:
        runs.MOST_LISTED = listed
    [point] = grown.points
    assert point.chunks == whole.chunks > 400
    assert point.seconds == pytest.approx(whole.seconds, rel=1e-9)
    assert point.busiest_channel.bytes == pytest.approx(whole.busiest_channel.bytes)


@settings(max_examples=50, deadline=None)
@given(st.floats(1, 1e6), st.floats(1, 1e6), st.floats(2, 10))
def test_ranges_of_sizes_rise_by_their_factor_to_their_end(one, more, factor):
    begin, end = round(one), round(one) + round(more)
    found = parse_sizes(f"{begin}:{end}:{factor:.3f}")
    assert found[0] == begin
    assert found[-1] == end
    for here, there in pairwise(found[:-1]):
        assert there / here == pytest.approx(round(factor, 3))


@given(st.lists(st.floats(0, 380), min_size=1, max_size=12))
def test_labels_never_touch(places):
    found = apart(sorted(places), 380.0)
    assert all(there - here >= LINE - 1e-6 for here, there in pairwise(found))
    assert max(found) <= 380


def test_the_schedule_of_the_fastest_runs_in_the_same_time(tmp_path):
    found = compare_collectives(
        "all-gather", "leaf-spine:1x1x8", size="64KB", algorithm="ring", **FAST
    )
    outputs = {each.name: each for each in by_verb("compare_collectives").outputs}
    file = tmp_path / "gather.goal"
    assert "ring of 64 kB" in outputs["goal"].write(found, file)
    again = replay("leaf-spine:1x1x8", trace=str(file), engine="flow", **FAST)
    assert again.finish == pytest.approx(found.points[0].seconds)


NCCL_RING = {
    # MareNostrum 5: 4 H100 and 4 cards of 200 Gb/s a node; bytes, and microseconds on 4 and 16
    # nodes. github.com/HLC-Lab/pico, results of April 2025, MIT.
    67108864: (1524.7, 2489.1), 134217728: (2796.2, 4020.4), 536870912: (11328.0, 14111.8),
}  # fmt: skip


def test_no_measured_all_reduce_of_nodes_beats_the_bound():
    for place, nodes in enumerate((4, 16)):
        found = compare_collectives(
            "all-reduce", f"rail:1x{nodes}x4x4", size=list(NCCL_RING),
            algorithm="ring,hierarchical",
            bandwidth="200Gb/s", latency="500ns",
        )  # fmt: skip
        for size, measured in NCCL_RING.items():
            best = found.at(size)[0]
            assert best.bound_seconds <= measured[place] * 1e-6
            assert best.bound_seconds == pytest.approx(2 * (nodes - 1) / (nodes * 100e9) * size)
            assert best.algorithm == "hierarchical"
            assert best.seconds >= best.bound_seconds


def test_messages_inside_nodes_use_no_network_unless_they_are_counted():
    asked = {"size": "64MB", "algorithm": "ring", "bandwidth": "25GB/s", "latency": 0}
    two = compare_collectives("all-gather", "rail:1x2x4x4", **asked)
    counted = compare_collectives("all-gather", "rail:1x2x4x4", **asked, count_inside_nodes=True)
    assert two.points[0].inside_share == pytest.approx(6 / 8)
    assert counted.points[0].inside_share == 0
    assert two.points[0].bound_seconds == pytest.approx(64e6 / 2 / 100e9)
    assert counted.points[0].bound_seconds == pytest.approx(64e6 * 7 / 8 / 25e9)
    # a ring in which only two ranks ever send over the network: each of its steps lasts as long
    assert two.points[0].seconds == pytest.approx(7 * 8e6 / 25e9)
    assert "u0rail3" in two.points[0].busiest_channel.name


def test_a_linear_all_to_all_posts_all_at_once():
    asked = {"size": "128KB:4MB:2", "algorithm": "linear"}
    posted = compare_collectives("all-to-all", "leaf-spine:8x4x8", **asked)
    times = [each.seconds for each in posted.points if each.algorithm == "linear"]
    assert times == sorted(times)
    assert posted.points[-1].ratio == pytest.approx(1, rel=0.02)
    assert posted.points[0].at_once
    assert posted.flows.injection == "shared"
    both = compare_collectives("all-to-all", "leaf-spine:8x4x8", size="4MB")
    assert {each.algorithm: each.at_once for each in both.at(4e6)} == {
        "linear": True, "pairwise": False, "bruck": False,
    }  # fmt: skip


COSTS = {"efficiency": 0.5, "adding_rate": "2GB/s", "copy_rate": "4GB/s", "start": "7us"}


@pytest.mark.parametrize("collective", [each for each in COLLECTIVES if each != "barrier"])
def test_no_cost_moves_a_bound(collective):
    plain = compare_collectives(collective, "torus:4x2", size="1KB,1MB", **FAST)
    costly = compare_collectives(collective, "torus:4x2", size="1KB,1MB", **FAST, **COSTS)
    bounds = {each.size: each.bound_seconds for each in plain.points}
    assert {each.size: each.bound_seconds for each in costly.points} == bounds
    assert costly.bound.to_json() == plain.bound.to_json()
    took = {(each.algorithm, each.size): each.seconds for each in costly.points}
    for each in plain.points:
        if (each.algorithm, each.size) in took and each.algorithm != prepared.PHASES:
            assert took[each.algorithm, each.size] >= each.seconds + 7e-6 * (1 - 1e-9)


@pytest.mark.parametrize(
    ("collective", "algorithm", "more"),
    [  # seconds more than the plain ones, of 1 MB on 8 ranks
        ("all-gather", "ring", 7e-6),
        ("all-gather", "bruck", 7e-6 + 1e6 / 4e9),
        ("reduce-scatter", "ring", 7e-6 + 7 / 8 * 1e6 / 2e9),
        ("all-reduce", "ring", 7e-6 + 7 / 8 * 1e6 / 2e9),
        ("all-reduce", "recursive-doubling", 7e-6 + 3 * 1e6 / 2e9),
        ("all-to-all", "bruck", 7e-6 + 4 * 1e6 / 4e9),
        ("broadcast", "binomial", 7e-6),
    ],
)
def test_adding_copying_and_the_start_come_on_top(collective, algorithm, more):
    spec, costs = "leaf-spine:1x1x8", {name: COSTS[name] for name in COSTS if name != "efficiency"}
    plain = seconds(collective, spec, algorithm, 1e6)
    assert seconds(collective, spec, algorithm, 1e6, **costs) == pytest.approx(plain + more)


def test_each_sum_may_have_a_start(tmp_path):
    file = tmp_path / "adds.toml"
    lines = ['topology = "leaf-spine:1x1x8"', 'bandwidth = "1GB/s"', 'latency = "1us"']
    lines += ['adding_rate = "2GB/s"', 'adding_start = "3us"']
    file.write_text("\n".join(lines))
    plain = seconds("all-reduce", "leaf-spine:1x1x8", "ring", 1e6)
    found = compare_collectives("all-reduce", f"machine:{file}", algorithm="ring", size=1e6)
    wanted = plain + 7 * 3e-6 + 7 / 8 * 1e6 / 2e9
    assert found.points[0].seconds == pytest.approx(wanted)
    assert "adding 2 GB/s after 3 µs" in found.flows.how


def test_half_of_the_payload_takes_twice_as_long():
    plain = seconds("all-reduce", "leaf-spine:1x1x8", "ring", 1e6, latency="0")
    half = seconds("all-reduce", "leaf-spine:1x1x8", "ring", 1e6, latency="0", efficiency=0.5)
    assert half == pytest.approx(2 * plain)


def test_blocks_that_lie_apart_cost_an_overhead_each():
    both = [
        seconds("all-gather", "leaf-spine:1x1x8", name, 1e3, overhead="5us")
        for name in ("bine", "bine-blocks")
    ]
    assert both[1] - both[0] == pytest.approx((7 - 3) * 5e-6)


def test_long_programs_add_too():
    short, long = (
        seconds("all-reduce", f"ring:{ranks}", "ring", 1e6, latency="0", adding_rate="1GB/s")
        for ranks in (8, 600)
    )
    assert short == pytest.approx(3 * 7 / 8 * 1e-3)
    assert long == pytest.approx(3 * 599 / 600 * 1e-3)


@pytest.mark.parametrize(("name", "value"), COSTS.items())
def test_cycles_have_no_costs(name, value):
    with pytest.raises(ValueError, match=f"{name}: .*engine flow"):
        compare_collectives(
            "all-reduce", "torus:2x2", size="1KB", engine="network", **{name: value}
        )
