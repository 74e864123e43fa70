"""Schedules of few steps: published frontiers, formulas, and proofs that are checked anew."""

import json
from fractions import Fraction

import networkx as nx
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.phases.violations import InvalidPlanError
from netloom.topology import topology


def changed(plan, change):
    record = json.loads(plan.read_text())
    change(record)
    plan.write_text(json.dumps(record))
    with pytest.raises(InvalidPlanError) as broken:
        nl.verify_plan(plan)
    return broken.value.violation.rule


def test_few_steps_are_the_published_ones_of_the_dgx_1_and_their_times_are_a_formula():
    found = nl.compile_collective("all-gather", "examples/dgx1.toml", size="64KB", steps=3)
    points = found.frontier()
    shapes = list(points.select("steps", "rounds", "chunks").iter_rows())
    assert shapes == [(2, 2, 1), (2, 3, 2), (3, 7, 6)]
    assert points["least_rounds_per_chunk"].to_list() == ["3/2", "3/2", "7/6"]
    assert points["proven"].to_list() == [False, True, True]
    for row in points.iter_rows(named=True):
        formula = row["steps"] * 1e-6 + row["rounds"] / row["chunks"] * 8000 / 25e9
        assert row["finish_seconds"] == pytest.approx(formula)
    said = found.to_dict()
    assert said["few_steps"]["rounds"] == said["rounds"] == 3
    assert said["verdict"]["sentence"] == (
        "Takes 2.48 µs in 2 steps, 3 rounds of 2 chunks per rank: proven to be the fewest rounds "
        "per chunk."
    )
    assert said["finish_seconds"] == min(points["finish_seconds"])


@pytest.mark.parametrize(("size", "best"), [("49KB", (2, 2, 1)), ("51KB", (3, 3, 2))])
def test_the_fastest_of_few_steps_depends_on_the_size(size, best):
    """A microsecond more, or the time of half of the data: equal at 50 KB."""
    found = nl.compile_collective(
        "broadcast", "line:3", size=size, steps=3, bandwidth="25GB/s", latency="1us"
    )
    said = found.to_dict()["few_steps"]
    assert (said["steps"], said["rounds"], said["chunks"]) == best
    assert said["proven"]


@pytest.mark.parametrize(
    ("collective", "options"),
    [
        ("all-gather", {}), ("reduce-scatter", {}), ("broadcast", {"root": 1}),
        ("reduce", {"root": 4}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("on", ["mesh:2x3", "ring:5"])
def test_few_steps_of_each_collective_are_verified_with_exact_fractions(
    collective, options, on, tmp_path
):
    path = tmp_path / "plan.json"
    if options.get("root") == 4 and on == "mesh:2x3":
        options = {"root": 5}
    asked = {"size": 6e6, "bandwidth": "25GB/s", "latency": "1us", "steps": 4, "chunks": 3}
    found = nl.compile_collective(collective, on, **asked, **options)
    found.write(path)
    said, judged = found.to_dict()["few_steps"], nl.verify_plan(path).to_dict()["few_steps"]
    assert judged["steps"] <= judged["most_steps"] == said["steps"]
    (bound,) = (each for each in said["bounds"] if each["steps"] == said["steps"])
    assert judged["times_slowest"] == bound["proven_by_prices"]
    assert found.rounds == said["rounds"]
    seconds = Fraction(judged["bound_seconds_exact"])
    assert found.speed.finish_seconds >= float(seconds) + said["steps"] * 1e-6 - 1e-12


def test_channels_side_by_side_share_the_chunks_of_a_step(tmp_path):
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (1, 2), (2, 0)])
    asked = {"size": 3e6, "bandwidth": "10GB/s", "latency": "1us", "steps": 2, "chunks": 4}
    found = nl.compile_collective("all-gather", topology(graph), **asked)
    assert found.network.capacity.max() == 2
    best = found.few_steps.best
    formula = best.steps * 1e-6 + best.rounds / best.chunks * 1e6 / 10e9
    assert found.speed.finish_seconds <= formula * (1 + 1e-9)


def cheaper(record):
    """Lower a price."""
    record["few_steps"]["price"][0][3] -= 1


def dearer(record):
    """Raise a worth, and the bound with it."""
    record["few_steps"]["worth"][0][2] += 1


def promising(record):
    """Raise the bound."""
    record["few_steps"]["seconds"] *= 1.01


def hurried(record):
    """Claim one step less."""
    few = record["few_steps"]
    few["steps"] -= 1
    for name in ("price", "forwarding"):
        few[name] = [row for row in few[name] if row[-2] < few["steps"]]


def strange(record):
    """Price a channel that is not there."""
    record["few_steps"]["price"][0][:2] = [0, 7]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (cheaper, "bound"), (dearer, "bound"), (promising, "bound"), (strange, "bound"),
        (hurried, "timetable"),
    ],
)  # fmt: skip
def test_false_prices_are_caught(change, rule, tmp_path):
    path = tmp_path / "plan.json"
    nl.compile_collective("all-gather", "examples/dgx1.toml", size="64KB", steps=2).write(path)
    assert nl.verify_plan(path).to_dict()["few_steps"]["times_slowest"] == "3/2"
    assert changed(path, change) == rule


def test_a_price_that_is_no_number_is_one_line(tmp_path):
    path = tmp_path / "plan.json"
    nl.compile_collective("all-gather", "ring:4", size="64KB", steps=2).write(path)
    record = json.loads(path.read_text())
    record["few_steps"]["price"][0] = [0, 1, 0]
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"few_steps\.price\[0\]"):
        nl.verify_plan(path)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"collective": "all-reduce"}, "steps: found 4 for all-reduce"),
        ({"steps": 3}, r"steps: found 3, with \(0,0\) and \(2,2\), 4 apart"),
        ({"on": "leaf-spine:2x2x2"}, "which only forwards"),
        ({"on": "examples/dgx1.toml", "ranks": 4}, "gpu4, which only forwards"),
        ({"on": "torus:16x16", "steps": 16}, "ranks x chunks x links x steps"),
        (
            {"on": "hypercube:6", "steps": 6},
            "ranks can send 71,808 times",
        ),
        ({"routing": "dor"}, "routing: found one for few steps"),
    ],
)
def test_what_few_steps_refuse(fields, said):
    with pytest.raises(InputError, match=said) as refused:
        nl.compile_collective(**{"collective": "all-gather", "on": "mesh:3x3", "steps": 4} | fields)
    assert "\n" not in str(refused.value)
