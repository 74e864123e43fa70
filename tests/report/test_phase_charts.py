import json

import numpy as np
import pytest

import netloom as nl
from netloom.drawing import timetables
from netloom.questions.recorded import record
from netloom.report import chart_of


def rows_of(chart, field):
    """Every row in the data of a chart that has this field."""
    tables = chart.to_dict()["datasets"].values()
    return [row for table in tables for row in table if field in row]


ASKED = {
    "few": {"app": "ring:8", "on": "torus:8", "words": 10, "channels": 3},
    "streaming": {"app": "all-to-all:16", "on": "torus:4x4", "words": 16},
    "one way": {"app": "all-to-all:16", "on": "torus:4x4", "words": 16, "both_ways": False},
    "hypercube": {"app": "all-to-all:16", "on": "hypercube:4", "words": 16},
    "3D": {"app": "torus:2x2x4", "on": "mesh:2x2x4", "words": 3},
    "broken": {"app": "torus:4x4", "on": "torus:4x4", "words": 3, "failed_channels": "0-1"},
    "no words": {"app": "ring:4", "on": "torus:4", "words": 0},
    "nothing": {"app": "ring:4", "on": "torus:2", "tasks_per_node": 4},
}


@pytest.mark.parametrize("asked", list(ASKED))
def test_every_answer_has_pictures(asked, tmp_path):
    found = nl.compile_phases(**ASKED[asked])
    for name, chart in (("gantt", chart_of(found)), ("map", found.phase_map())):
        assert f" on {found.plan.topology.name}: " in json.dumps(chart.to_dict())
        path = tmp_path / f"{name}.svg"
        chart.save(str(path))
        assert path.read_text().startswith("<svg")


def test_bars_stand_where_the_timetable_has_them():
    found = nl.compile_phases(**ASKED["streaming"], schedule="timetable")
    bars = rows_of(chart_of(found), "way")
    assert len(bars) == 240
    before = np.cumsum(found.timetable.makespan) - found.timetable.makespan
    begins = 528 * np.arange(1, 5) + before
    for bar in bars:
        assert bar["from"] == begins[bar["phase"]] + bar["start"]
        assert bar["to"] - bar["from"] == 32
        assert bar["lane"] == 0  # one at a time
        node = bar["source"]
        assert bar["row"] == f"({node // 4},{node % 4})"
    bands = rows_of(chart_of(found), "middle")
    assert [band["to"] for band in bands] == begins.tolist()
    assert {band["to"] - band["from"] for band in bands} == {528}


def test_what_a_processor_has_open_at_once_lies_side_by_side():
    found = nl.compile_phases(**ASKED["streaming"])
    bars = rows_of(chart_of(found), "way")
    assert max(bar["lane"] for bar in bars) > 0
    for one in bars:
        for other in bars:
            if one is not other and (one["row"], one["lane"]) == (other["row"], other["lane"]):
                assert one["to"] <= other["from"] + 1e-6 or other["to"] <= one["from"] + 1e-6


def test_processors_that_do_one_thing_at_a_time_show_both_ends():
    found = nl.compile_phases(**ASKED["one way"], schedule="timetable")
    bars = rows_of(chart_of(found), "way")
    assert len(bars) == 480
    assert [bar["way"] for bar in bars].count("receives") == 240
    assert {bar["lane"] for bar in bars} == {0}
    assert all(bar["node"] == bar["target"] for bar in bars if bar["way"] == "receives")


def test_few_connections_have_a_row_each():
    found = nl.compile_phases(**ASKED["few"])
    bars = rows_of(chart_of(found), "way")
    assert sorted(bar["row"] for bar in bars) == sorted(
        found.plan.connections.describe(each) for each in range(16)
    )
    assert [bar["from"] for bar in bars] == sorted(bar["from"] for bar in bars)


def test_large_charts_show_a_part_and_say_which(monkeypatch):
    monkeypatch.setattr(timetables, "MOST_BARS", 150)
    monkeypatch.setattr(timetables, "MOST_ROWS", 5)
    monkeypatch.setattr(timetables, "MOST_CHANNELS", 150)
    found = nl.compile_phases(**ASKED["streaming"])
    chart = chart_of(found)
    held = np.bincount(found.plan.phase)
    shown = int((np.cumsum(held) <= 150).sum())
    assert 0 < shown < 4
    assert {bar["phase"] for bar in rows_of(chart, "way")} == set(range(shown))
    assert len({bar["row"] for bar in rows_of(chart, "way")}) == 5
    said = json.dumps(chart.to_dict())
    assert f"the first {shown} of 4 phases and the 5 processors with the most words" in said
    said = json.dumps(found.phase_map().to_dict())
    assert "the first 2 of 4 phases" in said
    assert "phase 1: " in said
    assert "phase 2: " not in said


def test_a_map_has_the_use_of_every_channel_in_every_phase():
    found = nl.compile_phases(**ASKED["few"], clocks_per_word=4)  # channels work half of it
    chart = found.phase_map().to_dict()
    tables = [table for table in chart["datasets"].values() if "load" in table[0]]
    loads = [sorted(row["load"] for row in table) for table in tables]
    used = found.plan.routes.channels
    by_phase = np.repeat(found.plan.phase, found.plan.routes.lengths)
    clocks = found.timetable.makespan  # a channel takes 2 for a word
    expected = [
        sorted(np.bincount(used[by_phase == phase], minlength=16) * 2 * 10.0 / clocks[phase])
        for phase in (0, 1)
    ]
    assert np.array(sorted(loads)) == pytest.approx(100 * np.array(sorted(expected)))
    assert all(row["heat"] == row["load"] / 100 for table in tables for row in table)
    mean = np.average([np.mean(each) for each in expected], weights=clocks)
    said = (
        f"Channels carry words {100 * mean:.3g}\u00a0% of the time of 2 phases, without switches."
    )
    assert " ".join(chart["title"]["text"]) == said
    assert "share of the channel" in json.dumps(chart)  # broken into lines
    assert f"channels used {100 * np.mean(expected[0]):.3g}" in json.dumps(chart)


def test_the_gantt_chart_says_what_its_bars_are():
    said = {}
    for asked in ("few", "streaming", "one way"):
        said[asked] = json.dumps(chart_of(nl.compile_phases(**ASKED[asked])).to_dict())
    assert "bar: a connection; context switches of 528 clocks" in said["few"]
    assert "bar: a connection, at the node that sends; context" in said["streaming"]
    assert "bar: a connection, at both its nodes; context" in said["one way"]
    assert "grey: context switches, with the number of the phase above" in said["streaming"]


def test_one_bar_says_how_much_of_the_time_is_switching():
    found = nl.compile_phases(**ASKED["streaming"])
    rows = rows_of(chart_of(found), "part")
    assert {row["part"]: row["value"] for row in rows} == {
        "switching": 528.0 * found.plan.num_phases,
        "moving words": found.timetable.makespan.sum(),
    }
    last = max(row["end"] for row in rows)
    assert last == pytest.approx(found.to_dict()["schedule"]["clocks"])


def test_names_of_low_rows_are_some_and_numbers_of_phases_do_not_touch():
    found = nl.compile_phases("all-to-all:64", "torus:8x8", words=1)
    drawn = record(found).answer.parts()["timetable"].to_dict()
    axes = [each["encoding"]["y"]["axis"] for each in drawn["layer"] if "y" in each["encoding"]
            and "axis" in each["encoding"]["y"]]  # fmt: skip
    named = axes[0]["values"]
    assert drawn["height"] / len(named) >= 14
