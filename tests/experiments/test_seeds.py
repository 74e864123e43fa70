"""Answers of several seeds as one row, and tables that keep their keys beside their values."""

import numpy as np
import pytest
from scipy import stats

from netloom.experiments.findings import over_seeds


def test_a_mean_has_the_interval_of_its_seeds():
    values = [20.0, 23.0, 25.5, 21.0]
    rows = [{"on": "a", "seed": seed, "latency": each} for seed, each in enumerate(values)]
    (row,) = over_seeds(rows, ["on"], ["latency"])
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    mean, half = (float(each) for each in row["latency"].split("±"))
    assert mean == pytest.approx(np.mean(values), abs=0.05)
    assert half == pytest.approx((high - low) / 2, abs=0.05)


def test_what_one_seed_lacks_has_no_mean_and_what_some_say_is_counted():
    rows = [
        {"on": "a", "seed": 1, "latency": None, "up": False, "state": "past"},
        {"on": "a", "seed": 2, "latency": 30.0, "up": True, "state": "steady"},
    ]
    (row,) = over_seeds(rows, ["on"], ["latency", "up", "state"])
    assert row == {"on": "a", "latency": None, "up": "1 of 2", "state": "2 kinds"}


def test_rows_of_one_answer_stay_apart_and_loads_stand_together():
    rows = [
        {"load": load, "on": on, "seed": seed, "n": seed, "size": size}
        for on in ("torus", "mesh") for load in (0.1, 0.2) for seed in (1, 3) for size in (1, 2)
    ]  # fmt: skip
    found = over_seeds(rows, ["load", "on"], ["size"])
    assert [(row["load"], row["on"]) for row in found] == [
        (load, on) for load in (0.1, 0.2) for on in ("torus", "torus", "mesh", "mesh")
    ]
    assert {row["size"] for row in found} == {"1", "2"}
