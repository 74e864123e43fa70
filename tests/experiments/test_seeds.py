"""Answers of several seeds as one row, and tables that keep their keys beside their values."""

from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from netloom.cli import show
from netloom.experiments.findings import load_results, over_seeds
from netloom.experiments.runner import run
from tests.experiments.small import write


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


def test_results_keep_keys_beside_values_in_80_columns(tmp_path, monkeypatch):
    file = write(
        tmp_path,
        "[simulate]\non = ['torus:2x2', 'mesh:2x2']\nload = [0.1, 0.2]\nrepeat = 2\ncycles = 200\n",
    )
    run(file, workers=1)
    said = StringIO()
    screen = Console(file=said, width=80, highlight=False)
    monkeypatch.setattr(show, "console", lambda: screen)
    show.show_results(load_results(file))
    lines = said.getvalue().splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("load  on ")]
    assert len(heads) > 1, "all fits in one table"
    for head in heads:
        rows = [line.split()[:2] for line in lines[head + 1 : head + 5]]
        assert rows == [[load, on] for load in ("0.1", "0.2") for on in ("torus:2x2", "mesh:2x2")]
    assert "seed" not in lines[heads[0]]
    assert " ± " in lines[heads[0] + 1].replace("\u00a0", " ")
