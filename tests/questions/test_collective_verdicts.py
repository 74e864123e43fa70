"""What collectives come to: which algorithm where, how near the best, and what could be better."""

import pytest

import netloom as nl
from netloom.questions.collective import CollectiveTimes
from netloom.questions.compile_collective import CollectiveSchedule
from tests.questions.said import numbers

FAST = {"bandwidth": "25GB/s", "latency": "1us"}


def compared(collective, on, **options):
    found = nl.compare_collectives(collective, on, **FAST | options)
    return found, found.verdict


def scheduled(collective, on, **options):
    found = nl.compile_collective(collective, on, **FAST | options)
    return found, found.verdict


def test_who_wins_where_and_how_near_the_bound():
    found, said = compared("all-reduce", "torus:4x4", size="1KB:64MB")
    one, other = found.winners
    place = f"{one.to_size / 1e3:.2g} kB"
    assert said.sentence.startswith(f"Use {one.algorithm} below {place}, {other.algorithm} above: ")
    best = found.at(64e6)[0]
    assert numbers(said.sentence)[1] == pytest.approx(best.bus_bandwidth / 1e9, rel=5e-3)
    assert numbers(said.sentence)[3] == pytest.approx(best.ratio, rel=5e-3)
    assert said.mark == ("fine" if best.ratio < 1.1 else "limited")
    assert said.of == "all-reduce of 16 ranks on torus:4x4, rank order"


def test_one_winner_at_all_sizes():
    _, said = compared("all-gather", "torus:4x4", size="1MB:64MB", algorithm="ring")
    assert said.sentence.startswith("Use ring at all sizes: ")
    assert said.lines["why"].startswith("ring: ")
    assert "others" not in said.lines


def test_one_size_and_why_others_lose():
    found, said = compared("all-reduce", "ring:8", size="64MB")
    first, second, *_ = found.at(64e6)
    assert said.sentence.startswith(f"Use {first.algorithm} for 64 MB: ")
    longer = second.seconds / first.seconds
    assert longer > 1.005
    begin = said.lines["others"].split(" · ")[0]
    assert begin.startswith(f"{second.algorithm} {longer:.3g} times as long (")


def test_equals_are_as_fast():
    found, said = compared("all-reduce", "torus:4x4x4", size="1GB", algorithm="swing,torus-rings")
    first, second = found.at(1e9)
    assert 1 <= second.seconds / first.seconds < 1.005
    assert said.lines["others"] == f"{second.algorithm} is as fast"


def test_far_from_the_bound_an_order_or_a_schedule_is_searched_for():
    _, said = compared("all-reduce", "torus:4x4", size="64MB", algorithm="ring", mapping="random")
    assert said.mark == "limited"
    assert said.next == (
        "netloom collective all-reduce --size 64MB --algorithm ring --reorder --on torus:4x4 "
        "--mapping random --bandwidth 25GB/s --latency 1us"
    )
    found, said = compared(
        "all-reduce", "torus:4x4", size="64MB", algorithm="ring", mapping="random", reorder=True
    )
    assert found.reordered.better
    saved = 1 - found.reordered.found_seconds / found.reordered.given_seconds
    assert numbers(said.lines["order"])[1] == pytest.approx(100 * saved, rel=5e-3)
    assert " --reorder " in said.next
    assert said.next.endswith(" --rankfile ranks.txt")


def test_where_no_order_is_better_a_schedule_is_compiled():
    found, _ = compared("all-reduce", "mesh:3x3", size="64MB", algorithm="ring")
    figures = found.to_dict() | {"reordered": {
        "algorithm": "ring", "size": 64e6, "given_seconds": 1.0, "found_seconds": 1.0,
        "better": False,
    }}  # fmt: skip
    said = CollectiveTimes.from_json(figures).verdict
    assert said.lines["order"] == "no better rank order was found for ring of 64 MB (1 s as given)"
    assert said.next == (
        "netloom compile collective all-reduce --size 64MB --on mesh:3x3 --bandwidth 25GB/s "
        "--latency 1us"
    )


def test_small_sizes_are_bound_by_latency():
    _, said = compared("broadcast", "mesh:4", size="8B")
    assert said.lines["bound"].endswith(", by latency")
    assert "latency of " in said.lines["why"] or "busy" in said.lines["why"]


def test_a_barrier_has_no_size():
    found, said = compared("barrier", "mesh:2x3")
    assert said.sentence.startswith(f"Use {found.at(0.0)[0].algorithm}: ")
    assert "0 B" not in said.sentence


def test_assumed_speeds_are_a_note():
    said = nl.compare_collectives("all-reduce", "ring:4", size="1MB").verdict
    assert said.note.startswith("* assumed: 25 GB/s per channel and 500 ns per channel")
    assert compared("all-reduce", "ring:4", size="1MB")[1].note == ""


def test_phases_are_said_beside_messages():
    found, said = compared("all-to-all", "torus:4x4", size="1MB", algorithm="pairwise,phases")
    assert said.lines["phases"] == found.phases.verdict
    assert "phases" not in said.sentence


def test_many_winners_are_not_all_said():
    found, _ = compared("all-reduce", "torus:4x4", size="1KB,64MB")
    names = ["a", "b", "c", "d", "e"]
    ends = [1e3, 2e3, 3e3, 4e3, None]
    some = [
        {"algorithm": name, "from_size": begin, "to_size": end}
        for name, begin, end in zip(names, [None, *ends], ends, strict=False)
    ]
    said = CollectiveTimes.from_json(found.to_dict() | {"winners": some}).verdict
    assert said.sentence.startswith("Use a below 1 kB, b below 2 kB, c below 3 kB, e from 4 kB: ")
    assert len(said.sentence.split()) <= 30


def test_the_largest_size_as_given_counts():
    found, said = compared(
        "all-reduce", "torus:4x4", size="1KB,64MB", mapping="random", reorder=True
    )
    some = found.at(64e6)
    assert {(each.size, each.order) for each in some} == {(64e6, "given")}
    assert {each.order for each in found.points} > {"given"}
    assert said.lines["why"] == f"{some[0].algorithm}: {some[0].why}"


def test_a_schedule_near_the_best_is_fine():
    found, said = scheduled("all-gather", "ring:8", size="1GB")
    assert said.mark == "fine"
    share, speed, best = numbers(said.sentence)
    assert share == pytest.approx(100 * found.speed.efficiency, abs=0.01)
    assert share <= 100 * found.speed.efficiency
    assert speed == pytest.approx(found.speed.algorithm_bandwidth / 1e9, rel=1e-3)
    assert best == pytest.approx(found.speed.bound_bandwidth / 1e9, rel=1e-3)
    assert said.next.endswith(" --out plan.json")
    assert "→" in said.lines["where"]
    assert said.lines["proven"] == found.proof


def test_a_schedule_that_latencies_slow_is_limited():
    found, said = scheduled("all-gather", "mesh:2x2", size="100KB")
    assert 0.1 < found.speed.efficiency < 0.99
    assert said.mark == "limited"
    assert said.lines["why"].startswith("latencies alone take 2 µs of ")


def test_a_schedule_of_little_data_is_as_fast_as_latencies_allow():
    found, said = scheduled("broadcast", "line:5", size=8, root=1)
    assert said.mark == "fine"
    assert numbers(said.sentence)[0] == pytest.approx(found.speed.finish_seconds * 1e6, rel=5e-3)
    part = 100 * found.speed.latency_seconds / found.speed.finish_seconds
    assert numbers(said.sentence)[1] == pytest.approx(part, abs=0.01)


def test_few_steps_that_are_slower_than_many_say_so():
    found, said = scheduled("all-gather", "ring:6", size="1MB", steps=3)
    few = found.few_steps
    assert numbers(said.sentence)[1:4] == [few.best.steps, few.best.rounds, few.best.chunks]
    assert few.best.proven
    assert said.sentence.endswith("proven to be the fewest rounds per chunk.")
    quicker = few.unlimited_seconds < found.speed.finish_seconds
    assert said.mark == ("limited" if quicker else "fine")
    assert ("--steps" in said.next) == (not quicker)


def test_few_steps_that_are_not_proven_are_limited():
    found, _ = scheduled("all-gather", "ring:6", size="1MB", steps=3)
    figures = found.to_dict()
    few = figures["few_steps"] | {"proven": False, "least_rounds_per_chunk": "7/4"}
    said = CollectiveSchedule.from_json(figures | {"few_steps": few}).verdict
    assert said.mark == "limited"
    assert said.sentence.endswith(": at least 7/4 per chunk are needed.")


def test_sizes_to_be_padded_are_a_note():
    _, said = scheduled("all-gather", "line:3", size=1000, chunks=2)
    assert said.note == "* for chunks of whole bytes, pad the size to 1,002 B."
