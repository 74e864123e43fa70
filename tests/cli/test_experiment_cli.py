"""The commands ``netloom run``, ``results`` and ``schema``."""

import json
from io import StringIO

import polars as pl
import pytest

from netloom.experiments import run as run_experiment
from tests.approved.asked import run
from tests.experiments.small import write

TWO = "title = 'two'\n[analyze]\non = ['mesh:2x2', 'ring:4']\napp = 'ring.mtx'\n"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """An experiment that has been run."""
    file = write(tmp_path_factory.mktemp("done"), TWO)
    run_experiment(file, workers=1)
    return file


def test_a_run_shows_what_it_found_and_how_to_go_on(done):
    code, out, err = run(f"run {done}")
    assert (code, err) == (0, "")
    assert "2 points answered." in out
    assert f"netloom report {done.with_suffix('.sqlite')}" in out
    _, out, _ = run(f"run {done} --dry-run")
    assert "2 points, 0 of them to be answered." in out
    of_run, of_results = (
        json.loads(run(f"{each} {done} --json")[1]) for each in ("run", "results")
    )
    assert of_run == of_results
    _, text, _ = run(f"results {done.with_suffix('.sqlite')} --json --provenance")
    found = json.loads(text)
    assert (found["answered"], found["missing"], found["refused"]) == (2, 0, [])
    assert found["rows"][0]["point_cpu_seconds"] > 0


def test_a_dry_run_counts_and_leaves_nothing(tmp_path):
    file = write(tmp_path, TWO)
    code, out, err = run(f"run {file} --dry-run --workers 2")
    assert (code, err) == (0, "")
    assert "2 points, 2 of them to be answered: about" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ring.mtx", "small.toml"]
    found = json.loads(run(f"run {file} --dry-run --json")[1])
    (section,) = found["sections"]
    assert found["seconds"] > found["start_seconds"] > 0
    assert section["points"] == 2
    assert 0 < section["point_seconds"] < 60


def test_a_dry_run_says_what_cannot_be_asked_and_why(tmp_path):
    file = write(
        tmp_path,
        "[simulate]\non = ['mesh:4x4', 'mesh:3x5']\ntraffic = ['uniform', 'transpose']\n"
        "load = [0.1, 0.2]\ncycles = 100\n",
    )
    code, out, err = run(f"run {file} --dry-run --workers 1")
    assert code == 2
    assert "! 8 points, 6 of them to be answered, 2 that cannot be asked: about" in out
    reason = "traffic 'transpose': found 15 hosts; expected a square number of them"
    assert err.startswith(f"netloom: 2 points cannot be asked: {reason}")
    assert len(err.splitlines()) == 1
    found = json.loads(run(f"run {file} --dry-run --json")[1])
    assert list(found["refused"].values()) == [2]
    assert [each["refused"] for each in found["sections"]] == [2]
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".sqlite"] == []


def test_points_that_cannot_be_asked_end_with_2(tmp_path):
    file = write(tmp_path, TWO.replace("'ring.mtx'", "['ring.mtx', 'ring:9']"))
    code, out, err = run(f"run {file} --workers 1")
    assert code == 2
    assert "2 points answered, 2 that cannot be asked" in out
    lines = err.splitlines()
    assert len(lines) == 2  # one a reason
    assert all(line.startswith("netloom: a point cannot be asked: ") for line in lines)


def test_results_are_tables_that_others_read(tmp_path):
    """Whole numbers, fractions, words with commas and nothing at all come back as they were."""
    text = """
    [analyze]
    app = "ring.mtx"
    on = ["mesh:2x2", "ring:4", "mesh:4x4"]
    mapping = ["identity", [3, 2, 1, 0]]
    random_mappings = 0
    """
    file = write(tmp_path, text)
    table = run_experiment(file, workers=1).table()
    code, said, _ = run(f"results {file} --csv - --parquet {tmp_path}/a.parquet")
    assert not code
    assert pl.read_parquet(tmp_path / "a.parquet").equals(table)
    read = pl.read_csv(StringIO(said), infer_schema_length=None)
    assert read.columns == table.columns
    for name in table.columns:
        known = table[name].drop_nulls()
        assert read[name].drop_nulls().cast(known.dtype).to_list() == known.to_list()
