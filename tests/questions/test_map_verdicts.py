"""What a search for a mapping comes to, in words: numbers as in JSON, and only gains advised."""

import json
import re
from copy import deepcopy

import pytest

from netloom import find_mapping
from netloom.questions.analyze import Analysis
from netloom.questions.register import kind_of
from netloom.report import chart_of

LAMMPS = "examples/lammps-64.mtx"
PERCENT = re.compile(r"([\d.]+)\u00a0%")

ASKED = {
    "search": {"app": LAMMPS, "on": "mesh:8x8", "rounds": 1},
    "by messages": {"app": LAMMPS, "on": "torus:8x8", "rounds": 2, "weight": "messages"},
    "paths": {"app": "binary-tree:31", "on": "mesh:6x6", "rounds": 1},
    "hops": {"app": "binary-tree:15", "on": "mesh:4x4", "rounds": 1, "objective": "hop-bytes"},
    "mixture": {
        "app": "binary-tree:15", "on": "mesh:4x4", "rounds": 1,
        "objective": "hop-bytes:1,max-channel-load:1",
    },
    "switches": {"app": "random-regular:16,3", "on": "leaf-spine:4x2x4", "rounds": 2},
    "times": {
        "app": LAMMPS, "on": "dragonfly:2x4x2", "rounds": 2, "tasks_per_node": 2,
        "nodes": [31 * number % 72 for number in range(32)],
    },
    "layout": {"app": "binary-tree:63", "on": "mesh:8x8", "layout": "tiles"},
    "own routes": {"app": LAMMPS, "on": "mesh:8x8", "rounds": 0, "routes": True},
    "random": {"app": "random-regular:16,3", "on": "torus:4x4", "rounds": 1},
}  # fmt: skip


@pytest.fixture(scope="module")
def answers():
    return {name: find_mapping(**asked).to_dict() for name, asked in ASKED.items()}


def close(share):
    return pytest.approx(share, rel=0.06)


@pytest.mark.parametrize("way", list(ASKED))
def test_a_gain_is_that_of_the_objective(answers, way):
    data = answers[way]
    said, objective = data["verdict"], data["objective"]
    saved = 1 - objective["after"] / objective["before"]
    assert saved > 0.01
    assert said["gains"]
    first = float(PERCENT.search(said["sentence"])[1]) / 100
    assert first == close(saved)
    start = "Small gain: " if saved < 0.2 else "Found: "
    start = "Found, and proved optimal: " if said["kind"] == "bound" else start
    assert said["sentence"].startswith(start)
    assert said["mark"] == ("limited" if start == "Small gain: " else "fine")
    assert said["next"].endswith("--rankfile ranks.txt")
    assert ("--routes own.routes" in said["next"]) == data["own_routes"]
    if said["kind"] != "bound" and objective["bound"]:
        most = float(PERCENT.search(said["lines"]["bound"])[1]) / 100
        assert most == close(1 - objective["bound"] / objective["before"])
        assert most >= first


def test_units_are_those_of_the_weight(answers):
    assert re.search(r"\(10\.2 → 4\.\d+ MB\)\.$", answers["search"]["verdict"]["sentence"])
    assert " messages)." in answers["by messages"]["verdict"]["sentence"]
    assert re.search(r" paths?\)\.", answers["paths"]["verdict"]["sentence"])
    assert "works" in answers["times"]["verdict"]["sentence"]
    assert answers["times"]["objective"]["timed"]
    assert not answers["search"]["objective"]["timed"]


@pytest.mark.parametrize("way", list(ASKED))
def test_what_got_worse_is_told_with_both_values(answers, way):
    data = answers[way]
    first, last = (
        next(row for row in data["starts"] if row["mapping"] == name)
        for name in ("identity", "result")
    )
    more = ("hop_bytes", "channel_load_max", "path_contention_mean", "path_contention_max")
    aim = {"hop-bytes": "hop_bytes"}.get(data["objective"]["name"])
    worse = [
        name
        for name in more
        if name != aim
        and first[name]
        and last[name] is not None
        and last[name] >= 1.01 * first[name]
    ]
    costs = data["verdict"]["lines"].get("costs", "")
    assert bool(costs) >= bool(worse)
    shown = re.findall(r"([\d.,]+)(?:\u00a0(\w|%))? → ([\d.,]+)(?:\u00a0(\w|%))?", costs)
    assert len(shown) == costs.count("→") <= 3
    if "path_contention_max" in worse and "most paths met" in costs:
        met = f"most paths met {first['path_contention_max']} → {last['path_contention_max']}"
        assert met in costs


def test_limits_are_those_of_both_analyses(answers):
    data = answers["search"]
    shares = [float(each) / 100 for each in PERCENT.findall(data["verdict"]["lines"]["limits"])]
    both = [data[when]["saturation"] for when in ("after", "before")]
    assert shares == [close(each[of]) for of in ("worst_node", "upper_bound") for each in both]
    assert data["verdict"]["note"] == "* estimate."


def changed(data, first, last, bound, kind, *, gains, **more):
    """Figures as if a search had found this."""
    made = deepcopy(data)
    made["objective"] |= {"before": first, "after": last, "bound": bound}
    made["verdict"] = {"kind": kind, "gains": gains}
    for name, value in more.items():
        made["provenance"]["configuration"][name] = value
    return made


@pytest.mark.parametrize(
    ("first", "last", "bound", "kind", "gains", "said"),
    [
        (10e6, 5e6, 2e6, "better", True, "Found: the busiest channel carries 50 % less than in "
         "rank order (10 → 5 MB)."),
        (10e6, 5e6, 5e6, "bound", True, "Found, and proved optimal: the busiest channel carries 50 "
         "% less than in rank order (10 → 5 MB)."),
        (10e6, 9e6, 5e6, "better", True, "Small gain: the busiest channel carries 10 % less than "
         "in rank order (10 → 9 MB)."),
        (10e6, 9.96e6, 5e6, "better", False, "Keep rank order: what was found gains only 0.4 % of "
         "the busiest channel's load."),
        (10e6, 10e6, 10e6, "bound", False, "Keep rank order: proved optimal for the busiest "
         "channel's load (10 MB)."),
        (10e6, 10e6, 8e6, "none", False, "Keep rank order: no better mapping found in 10 s (a gain "
         "of at most 20 % is possible)."),
        (10e6, 10e6, 0.0, "none", False, "Keep rank order: no better mapping found in 10 s (how "
         "much is possible is unknown)."),
        (10e6, 15e6, 10e6, "none", False, "Keep rank order: with what was found, the busiest "
         "channel's load is 50 % worse."),
        (1.2e6, 4e5, 1e5, "better", True, "Found: the busiest channel carries 67 % less than in "
         "rank order (1.2 MB → 400 kB)."),
    ],
)  # fmt: skip
def test_sentences(answers, first, last, bound, kind, gains, said):
    data = changed(answers["search"], first, last, bound, kind, gains=gains, rounds=None)
    told = kind_of("map").read(data).verdict
    assert told.sentence.replace("\u00a0", " ") == said
    assert ("--rankfile" in told.next) == gains
    assert told.mark == ("limited" if said.startswith("Small") else "fine")


def test_a_longer_search_is_advised_only_if_much_is_possible(answers):
    for bound, more in ((2e6, True), (9e6, False), (0.0, False)):
        data = changed(answers["search"], 10e6, 10e6, bound, "none", gains=False, rounds=None)
        assert ("--seconds 60" in kind_of("map").read(data).verdict.next) == more
    rounds = changed(answers["search"], 10e6, 10e6, 2e6, "none", gains=False)
    assert kind_of("map").read(rounds).verdict.next == ""
    assert "found in 1 round (" in kind_of("map").read(rounds).verdict.sentence


@pytest.mark.parametrize(
    ("quantity", "before", "after", "kind", "said"),
    [
        ("packet latency", 36.0, 30.6, "better", "Found: simulated, packets take 15 % less time "
         "than in rank order (36 → 30.6 cycles)."),
        ("packet latency", 36.0, 36.1, "none", "Keep rank order: simulated, the mapping makes no "
         "measurable difference (36 → 36.1 cycles)."),
        ("packet latency", 36.0, 45.0, "worse", "Keep rank order: simulated, packets take 25 % "
         "longer with the mapping (36 → 45 cycles)."),
        ("worst-node share", 0.71, 0.92, "better", "Found: simulated, the worst node gets 92 % of "
         "its traffic accepted, 71 % in rank order."),
        ("worst-node share", 0.989, 0.9885, "none", "Keep rank order: simulated, the mapping makes "
         "no measurable difference to the worst node (98.85 %)."),
        ("worst-node share", 0.989, 0.72, "worse", "Keep rank order: simulated, the worst node "
         "gets only 72 % of its traffic accepted with the mapping, not 99 %."),
    ],
)  # fmt: skip
def test_a_simulation_has_the_first_word(answers, quantity, before, after, kind, said):
    data = changed(answers["search"], 10e6, 5e6, 2e6, kind, gains=kind == "better")
    half = 2 * abs(after - before) if kind == "none" else 0.001
    compared = {"quantity": quantity, "before": before, "after": after, "kind": kind, "pairs": 5,
                "difference": after - before, "half_width": half}  # fmt: skip
    data["simulated"] = {"load": 0.2, "compared": compared, "before": None, "after": None,
                         "note": None}  # fmt: skip
    told = kind_of("map").read(data).verdict
    assert told.sentence.replace("\u00a0", " ") == said
    assert told.lines["counted"].startswith("the busiest channel carries 50\u00a0% less")
    assert "Simulated at 20\u00a0% load in 5 pairs of runs" in told.note
    assert ("--rankfile" in told.next) == (kind == "better")


def test_nothing_that_crosses_the_network():
    local = find_mapping("ring:4", "mesh:2x2", tasks_per_node=4, rounds=1).to_dict()["verdict"]
    assert (
        local["sentence"] == "Keep rank order: 0 B cross the network, all traffic is inside nodes."
    )
    assert local["lines"] == {}
    assert local["next"] == ""


def test_a_layout_that_is_worse_is_not_applied():
    worse = find_mapping("mesh:4x4", "mesh:4x4", layout="morton").to_dict()
    objective = worse["objective"]
    said = worse["verdict"]["sentence"]
    assert objective["after"] > objective["before"]
    more = objective["after"] / objective["before"] - 1
    assert float(PERCENT.search(said)[1]) / 100 == close(more)
    assert "--rankfile" not in worse["verdict"]["next"]


def test_what_is_not_known_is_no_cost():
    """Where hosts' own channels limit, no load is known at which the first is delayed."""
    found = find_mapping(
        LAMMPS, "graph:examples/my-cluster.txt", tasks_per_node=2,
        nodes="h[2-9,20-27,41-56]", rounds=2,
    )  # fmt: skip
    lines = found.to_dict()["verdict"]["lines"]
    assert lines["where"]
    assert "–" not in lines.get("costs", "")


@pytest.mark.parametrize(("on", "ties"), [("torus:8x8", True), ("mesh:8x8", False)])
def test_the_most_load_of_the_table_says_which_way_ties_go(on, ties):
    """The verdict's limit lets half-way traffic split, so the two differ."""
    found = find_mapping(LAMMPS, on, rounds=0)
    assert (Analysis.from_json(found.to_dict()["before"]).split_bound is not None) is ties
    said = "Most load: with all half-way traffic in the + direction."
    assert (said in " ".join(found.lines())) is ties


def test_one_limit_has_one_number_in_sentence_and_picture():
    found = find_mapping(LAMMPS, "hypercube:6", rounds=1)
    limits = found.verdict.lines["limits"]
    after, before = re.search(
        r"nothing beyond (\S+\u00a0%) \((\S+\u00a0%) before\)", limits
    ).groups()
    drawn = json.dumps(chart_of(found).to_dict(), ensure_ascii=False)
    assert f"{before} → {after}" in drawn
