"""``--perfetto`` of every question: by the rules of the format, and by the answer's own numbers."""

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from netloom.drawing import programs as built, timelines
from netloom.questions.register import kind_of
from tests.approved.asked import run
from tests.questions import timeline_rules as rules

# Task 0 computes, sends to 1, which passes it on; 2 sends to all; 1 and 3 have work with it.
SOME = """id,after,time,delay,compute,source,target,flits,receive,hold
a,,0,0,7,0,1,40,5,3
b,a,,0,2,1,3,30,4,0
c,a,,6,0,1,2,20,0,0
d,,10,0,0,2,*,10,0,0
e,b d,,0,9,3,,,0,0
f,e,,0,0,3,0,25,1,0
g,,0,0,0,0,2,33,0,0
"""
ENGINES = {
    "network": "--engine network",
    "worm": "--engine worm",
    "flow": "--engine flow",
    "shared": "--engine flow --injection shared",
    "seconds": "--engine flow --bandwidth 16GB/s --flit-bytes 16",
}


@pytest.fixture
def asked(tmp_path):
    def ask(command, file="timeline.json", expect=0):
        path = tmp_path / file
        code, out, err = run(f"{command} --perfetto {path} --json")
        assert code == expect, err
        return (json.loads(out), *rules.check(path)) if not expect else err

    return ask


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(SOME)
    return path


def check_ends(names, slices, arrows):
    """Check that each message is a slice at both ends, joined by its own arrow."""
    sends, receives = (rules.of_kind(slices, kind) for kind in ("send", "receive"))
    assert len(sends) == len(receives) == len(arrows) > 0
    for send, receive in arrows:
        assert (send["cat"], receive["cat"]) == ("send", "receive")
        assert (send["ts"], send["dur"]) == (receive["ts"], receive["dur"])
        assert send["args"] == receive["args"]
        for event, end in ((send, "from"), (receive, "to")):
            rank = names[event["pid"], event["tid"]].partition(" · ")[0]
            assert rank == event["args"][end]
    assert (
        len({id(send) for send, _ in arrows}) == len({id(got) for _, got in arrows}) == len(sends)
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("on", ["mesh:2x2", "leaf-spine:2x1x2"])
def test_a_trace_shows_the_times_that_it_saves(engine, on, trace, asked, tmp_path):
    saved = tmp_path / "times.csv"
    more = " --routing d-mod-k" if engine in ("network", "worm") and on != "mesh:2x2" else ""
    data, file, names, slices, arrows, counters = asked(
        f"simulate trace {trace} --on {on} {ENGINES[engine]} --save-messages {saved}{more}"
    )
    check_ends(names, slices, arrows)
    table = pl.read_csv(saved)
    us = 1e6 if engine == "seconds" else 1
    assert (file["otherData"]["unit"] == "us") == (engine == "seconds")
    begin = (table["sent"] + table["source_wait"]) * us
    want = sorted(zip(table["id"], begin, table["arrived"] * us, strict=True))
    found = sorted(
        (event["args"]["id"], begin, end) for begin, end, event in rules.of_kind(slices, "send")
    )
    assert [name for name, *_ in found] == [name for name, *_ in want]
    for mine, theirs in zip(found, want, strict=True):
        assert mine[1:] == pytest.approx(theirs[1:], abs=1.1e-3)
    path = rules.of_kind(slices, "critical path")
    finish = data["finish"] * us
    assert max(end for _, end, _ in path) == pytest.approx(finish, abs=1.1e-3)
    size = "bytes" if us > 1 else "flits"
    busy = {each.get("name"): each["utilisation"] for each in data["busiest"]}
    if None not in busy:
        assert {name for name, used in busy.items() if used} <= set(counters) | {None}
        for name, points in counters.items():
            if name in busy:
                assert rules.passed(points) == pytest.approx(busy[name] * finish, rel=1e-3)
    assert counters
    sent = sum(event["args"][size] for *_, event in rules.of_kind(slices, "send"))
    assert sent == pytest.approx(table["size"].sum())


def test_ranks_compute_take_in_and_wait(trace, asked):
    """On an idle worm network: what each rank did is known by hand from the saved times."""
    data, _, names, slices, *_ = asked(f"simulate trace {trace} --on mesh:2x2 --engine worm")
    computed = {
        event["args"]["id"]: end - begin for begin, end, event in rules.of_kind(slices, "compute")
    }
    assert computed == {"a": 7, "b": 2, "e": 9}
    took = {
        event["args"]["id"]: end - begin for begin, end, event in rules.of_kind(slices, "take in")
    }
    assert took == {"a": 5, "b": 4, "f": 1}
    assert [end - begin for begin, end, _ in rules.of_kind(slices, "gap")] == [3]
    assert [end - begin for begin, end, _ in rules.of_kind(slices, "delay")] == [6]
    waits = rules.of_kind(slices, "wait")
    arrived = {end for _, end, _ in rules.of_kind(slices, "receive")}
    assert waits
    assert {end for _, end, _ in waits} <= arrived
    for begin, end, event in waits:
        assert names[event["pid"], event["tid"]].startswith("rank ")
        rank = names[event["pid"], event["tid"]].partition(" · ")[0]
        sends = [each for each in rules.of_kind(slices, "send") if each[2]["args"]["from"] == rank]
        assert all(until <= begin or since >= end for since, until, _ in sends)
    parts = dict.fromkeys(data["critical_path"], 0.0)
    for begin, end, event in rules.of_kind(slices, "critical path"):
        parts[event["name"].replace(" ", "_")] += end - begin
    for name, took in parts.items():
        if name in ("compute", "message", "contention", "receive"):
            assert took == data["critical_path"][name]


@pytest.mark.parametrize(
    "words",
    [
        "examples/allreduce.goal --on torus:2x2x2 --flit-bytes 16",
        "chakra:examples/chakra/%d.et --on ring:4 --engine flow --bandwidth 50GB/s",
        "llm:dp=2,tp=2,layers=2,hidden=64,tflops=1 --on ring:2 --tasks-per-node 2 --engine flow "
        "--bandwidth 50GB/s --latency 500ns",
    ],
)
def test_programs_of_other_files_have_timelines(words, asked):
    data, _, names, slices, arrows, _ = asked(f"simulate trace {words}")
    check_ends(names, slices, arrows)
    finish = data["finish"] * (1e6 if data["time_unit"] == "seconds" else 1)
    last = max(end for row in slices.values() for _, end, _ in row) / 1000
    assert last == pytest.approx(finish, abs=2e-3)
    assert rules.of_kind(slices, "compute") or "chakra" in words


@pytest.mark.parametrize("more", ["", "--tasks-per-node 2", "--end-channels 0"])
def test_the_fastest_algorithm_of_a_collective(more, asked):
    data, file, names, slices, arrows, counters = asked(
        f"collective all-reduce --size 1KB,4MB --on torus:2x4 {more}"
    )
    largest = [each for each in data["points"] if each["size"] == 4e6]
    best = min(largest, key=lambda each: each["seconds"])
    assert best["algorithm"] in file["otherData"]["program"]
    check_ends(names, slices, arrows)
    last = max(end for _, end, _ in rules.of_kind(slices, "receive"))
    assert last == pytest.approx(best["seconds"] * 1e6, abs=1e-3)
    busiest = best["busiest_channel"]
    assert rules.passed(counters[busiest["name"]]) == pytest.approx(
        busiest["seconds"] * 1e6, rel=1e-3
    )


@pytest.mark.parametrize("more", ["", "--execute", "--schedule shared"])
def test_phases_switch_and_move(more, asked, tmp_path):
    plan = tmp_path / "plan.json"
    data, file, names, slices, arrows, counters = asked(
        f"compile transpose:4 --on torus:4x4 --words 64 --channels 3 {more} --out {plan}"
    )
    check_ends(names, slices, arrows)
    phases, switches, moves = (rules.of_kind(slices, kind) for kind in ("phase", "switch", "move"))
    assert len(phases) == len(switches) == len(moves) == data["phases"]
    clocks = data["simulated"]["conset"] if more == "--execute" else data["schedule"]["clocks"]
    assert max(end for _, end, _ in phases) == pytest.approx(clocks, abs=1e-3)
    assert file["otherData"]["clocks"] == pytest.approx(clocks)
    assert {end - begin for begin, end, _ in switches} == {data["costs"]["switch_clocks"]}
    assert len(arrows) == data["connections"]
    for begin, end, _ in rules.of_kind(slices, "send"):
        assert any(since <= begin and end <= until for since, until, _ in moves)
    assert counters
    _, _, _, of_file, *_ = asked(f"compile verify {plan}")
    if more != "--execute":
        assert rules.of_kind(of_file, "send") == rules.of_kind(slices, "send")
    assert len(rules.of_kind(of_file, "phase")) == len(phases)


@pytest.mark.parametrize("engine", ["network", "worm", "flow"])
def test_loops_of_the_last_traffic(engine, asked):
    data, file, names, slices, arrows, counters = asked(
        "simulate loop --on mesh:4x4 --app transpose:4 --applied 0.2,0.4 --loops 20 "
        f"--engine {engine}"
    )
    assert file["otherData"]["applied"] == 0.4
    check_ends(names, slices, arrows)
    last = data["points"][-1]
    times = [end - event["args"]["sent_cycles"] for _, end, event in rules.of_kind(slices, "send")]
    assert np.mean(times) == pytest.approx(last["message_latency"])
    assert file["otherData"]["messages"] == len(arrows) >= 30 * 12
    assert rules.of_kind(slices, "compute")
    busiest = max(map(rules.passed, counters.values())) / last["cycles"]
    assert busiest == pytest.approx(last["utilisation_max"], rel=0.02)  # some are on their way


def test_more_rows_than_fit_are_left_out_and_counted(monkeypatch, trace, asked):
    monkeypatch.setattr(built, "MOST_ROWS", 4)
    _, file, names, slices, arrows, counters = asked(
        f"simulate trace {trace} --on mesh:2x2 --engine worm"
    )
    check_ends(names, slices, arrows)
    said = file["otherData"]
    assert said["messages"] - said["messages_left_out"] == len(arrows) < 8
    assert said["rows_left_out"] > 0
    assert said["provenance"]["verb"] == "replay"
    assert counters  # of all messages


def test_counters_with_many_changes_are_means_of_equal_parts(monkeypatch):
    rng = np.random.default_rng(1)
    begin = rng.integers(0, 10_000, 500)
    end = begin + rng.integers(1, 900, 500)
    rate = rng.random(500)
    exact = timelines.counter("x", begin, end, rate)
    monkeypatch.setattr(timelines, "MOST_POINTS", 50)
    brief = timelines.counter("x", begin, end, rate)
    assert len(brief.time) <= 50 < len(exact.time)
    for each in (exact, brief):
        assert (np.diff(each.time) * each.value[:-1]).sum() == pytest.approx(
            (rate * (end - begin)).sum()
        )


def test_lanes_are_as_few_as_slices_at_one_time():
    rng = np.random.default_rng(2)
    owner, start = rng.integers(0, 4, 300), rng.integers(0, 200, 300)
    end = start + rng.integers(1, 30, 300)
    lane = timelines.lanes(owner, start, end)
    for who in range(4):
        mine = owner == who
        most = max(((start[mine] <= at) & (at < end[mine])).sum() for at in range(240))
        assert lane[mine].max() + 1 == most
        for each in range(most):
            row = sorted(zip(start[mine & (lane == each)], end[mine & (lane == each)], strict=True))
            assert all(one[1] <= two[0] for one, two in pairwise(row))


def test_a_compiled_collective_and_its_replay(asked, tmp_path):
    plan = tmp_path / "plan.json"
    data, _, names, slices, arrows, counters = asked(
        f"compile collective all-gather --on ring:4 --size 8MB --out {plan}", file="t.json.gz"
    )
    check_ends(names, slices, arrows)
    assert len(arrows) == data["messages"]
    sends = rules.of_kind(slices, "send")
    assert max(end for _, end, _ in sends) == pytest.approx(data["finish_seconds"] * 1e6, abs=1e-3)
    written = json.loads(plan.read_text())
    times = np.array(written["times_seconds"]) * 1e6
    for kind, place in (("start", 0), ("end", 1)):
        want = np.sort(times[written["messages"][kind]])
        assert sorted(each[place] for each in sends) == pytest.approx(want, abs=1e-3)
    verified, _, names, slices, arrows, again = asked(f"compile verify {plan}")
    assert verified["verified"]
    assert again == counters
    assert [each[:2] for each in rules.of_kind(slices, "send")] == [each[:2] for each in sends]
    made = kind_of("compile.collective").ask(collective="all-gather", on="ring:4", size="8MB")
    for row in made.channels().to_dicts():
        if row["channel"] in counters:
            full = row["utilisation"] * data["finish_seconds"] * 1e6
            assert rules.passed(counters[row["channel"]]) == pytest.approx(full, rel=1e-3)
    replayed, _, names, slices, arrows, _ = asked(
        f"simulate trace {plan} --on ring:4 --engine flow --bandwidth 200Gb/s --latency 500ns"
    )
    check_ends(names, slices, arrows)
    assert len(arrows) == data["messages"] == replayed["messages"]
