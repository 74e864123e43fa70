import json

import numpy as np

import netloom as nl
from netloom.pages import chart_of
from tests.questions.small_answers import ANSWERS


def values(chart):
    """Every number in the data of a chart."""
    tables = chart.to_dict()["datasets"].values()
    return [value for table in tables for row in table for value in row.values()]


def test_stages_are_drawn_with_the_range_over_replications():
    found = ANSWERS["simulate_hot_spots"]()
    shown = values(chart_of(found))
    means = np.array([each.queue_mean[5] for each in found.point.runs])
    for value in (means.mean(), means.min(), means.max()):
        assert np.isclose([each for each in shown if isinstance(each, float)], value).any()
    assert {"the PEs", "the MMs", "stage 0", "stage 5"} <= set(shown)
    assert {"requests", "replies", "wait buffers"} <= set(shown)


def test_only_requests_start_at_the_elements_and_only_replies_at_the_modules():
    drawn = chart_of(ANSWERS["simulate_hot_spots"]()).to_dict()
    rows = [row for table in drawn["datasets"].values() for row in table if "where" in row]
    places = {(row["kind"], row["where"]) for row in rows}
    assert ("requests", "the PEs") in places
    assert ("requests", "the MMs") not in places
    assert ("replies", "the MMs") in places
    assert ("waiting", "the PEs") not in places
    assert {row["where"] for row in rows if row["stage"] == 5} == {"stage 5"}


def test_where_it_falls_behind_is_marked():
    slow = {"hot_spots": 1, "assign": 1.0, "rate": [0.01, 0.2, 0.4], "combining": "none"}
    drawn = chart_of(nl.simulate_hot_spots(64, **slow)).to_dict()
    assert '"said": "saturates 0.01 to 0.2' in json.dumps(drawn)
    assert [{"rate": 0.01, "until": 0.2}] in drawn["datasets"].values()  # an interval
