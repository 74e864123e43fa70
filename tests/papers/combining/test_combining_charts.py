import json
from functools import cache

import numpy as np
import pytest

import netloom as nl
from netloom.questions.recorded import record
from netloom.report import chart_of

SMALL = {"pes": 64, "hot_spots": 4, "steps": 300}


def values(chart):
    """Every number in the data of a chart."""
    tables = chart.to_dict()["datasets"].values()
    return [value for table in tables for row in table for value in row.values()]


ASKED = {
    "replications": lambda: nl.simulate_hot_spots(**SMALL, queue=3, replications=3),
    "rates": lambda: nl.simulate_hot_spots(**SMALL, rate="0.1:0.8:0.1"),
    "no combining": lambda: nl.simulate_hot_spots(**SMALL, rate=[0.1, 0.6], combining="none"),
    "no requests": lambda: nl.simulate_hot_spots(**SMALL, rate=0),
    "critical": lambda: nl.find_critical_queue(**SMALL, rate=[0.1, 0.2], replications=3),
}

ANSWERS = {name: cache(ask) for name, ask in ASKED.items()}


@pytest.mark.parametrize("answer", list(ANSWERS))
def test_every_answer_has_a_picture(answer, tmp_path):
    chart = chart_of(ANSWERS[answer]())
    shown = values(chart)
    assert len(shown) > 10
    assert all(not isinstance(value, float) or np.isfinite(value) for value in shown)
    assert "on omega:64; " in json.dumps(chart.to_dict())  # in the footer
    path = tmp_path / "picture.svg"
    chart.save(str(path))
    assert path.read_text().startswith("<svg")


def test_stages_are_drawn_with_the_range_over_replications():
    found = nl.simulate_hot_spots(**SMALL, replications=3)
    shown = values(chart_of(found))
    means = np.array([each.queue_mean[5] for each in found.point.runs])
    for value in (means.mean(), means.min(), means.max()):
        assert np.isclose([each for each in shown if isinstance(each, float)], value).any()
    assert {"the PEs", "the MMs", "stage 0", "stage 5"} <= set(shown)
    assert {"requests", "replies", "wait buffers"} <= set(shown)


def test_only_requests_start_at_the_elements_and_only_replies_at_the_modules():
    drawn = chart_of(nl.simulate_hot_spots(**SMALL)).to_dict()
    rows = [row for table in drawn["datasets"].values() for row in table if "where" in row]
    places = {(row["kind"], row["where"]) for row in rows}
    assert ("requests", "the PEs") in places
    assert ("requests", "the MMs") not in places
    assert ("replies", "the MMs") in places
    assert ("waiting", "the PEs") not in places
    assert {row["where"] for row in rows if row["stage"] == 5} == {"stage 5"}


def test_rates_are_lines_by_stage_on_one_scale():
    found = nl.simulate_hot_spots(**SMALL, rate=[0.1, 0.2])
    drawn, table, scales = record(found).answer.parts(), found.stages(), set()
    for kind in ("requests", "waiting"):
        spec = drawn[kind].to_dict()
        rows = [row for rows in spec["datasets"].values() for row in rows if "length" in row]
        shown = {(row["of"], row["stage"]): row["length"] for row in rows}
        expected = table.filter(kind=kind).select("rate", "stage", "mean").rows()
        assert shown == {(f"rate {rate:g}", stage): mean for rate, stage, mean in expected}
        heights = [each["encoding"].get("y", {}).get("scale") for each in spec["layer"]]
        scales |= {str(each["domain"]) for each in heights if each}
    assert len(scales) == 1


def test_where_it_falls_behind_is_marked():
    slow = {"hot_spots": 1, "assign": 1.0, "rate": [0.01, 0.2, 0.4], "combining": "none"}
    drawn = chart_of(nl.simulate_hot_spots(64, **slow)).to_dict()
    assert '"said": "saturates 0.01 to 0.2' in json.dumps(drawn)
    assert [{"rate": 0.01, "until": 0.2}] in drawn["datasets"].values()  # an interval
