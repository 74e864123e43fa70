"""The commands ``netloom run``, ``results`` and ``schema``."""

import json
import sys
from io import StringIO

import polars as pl
import pytest

from netloom.cli import main
from netloom.experiments import load_results, run as run_experiment
from netloom.experiments.workers import LostError
from netloom.questions.recorded import key_columns
from tests.experiments.small import write

TWO = "title = 'two'\n[analyze]\non = ['mesh:2x2', 'ring:4']\napp = 'ring.mtx'\n"


@pytest.fixture
def netloom(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["netloom", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """An experiment that has been run."""
    file = write(tmp_path_factory.mktemp("done"), TWO)
    run_experiment(file, workers=1)
    return file


def test_a_run_shows_what_it_found_and_how_to_go_on(netloom, done):
    code, out, err = netloom("run", done)
    assert (code, err) == (0, "")
    assert "2 points answered." in out
    assert f"netloom report {done.with_suffix('.sqlite')}" in out


def test_results_are_shown_and_written(netloom, done, tmp_path):
    _, shown, _ = netloom("results", done)
    assert "mesh:2x2" in shown
    assert "ring:4" in shown
    code, csv, _ = netloom("results", done, "--csv", "-")
    assert code == 0
    table = load_results(done).table()
    assert pl.read_csv(csv.encode())["on"].to_list() == table["on"].to_list()
    netloom("results", done, "--csv", "a.csv", "--parquet", "a.parquet")
    assert pl.read_parquet("a.parquet").equals(table)
    assert len(pl.read_csv("a.csv")) == 2
    _, text, _ = netloom("results", done.with_suffix(".sqlite"), "--json", "--provenance")
    found = json.loads(text)
    assert (found["answered"], found["missing"], found["refused"]) == (2, 0, [])
    assert found["rows"][0]["point_cpu_seconds"] > 0


def test_results_of_a_mapping_show_the_busiest_channel(netloom, tmp_path):
    file = write(tmp_path, "[map]\non = ['mesh:2x2', 'ring:4']\napp = 'ring:4'\nrounds = 1\n")
    code, shown, _ = netloom("run", file, "--workers", 1)
    assert code == 0
    _, again, _ = netloom("results", file.with_suffix(".sqlite"))
    columns = {each.name: each for each in key_columns(load_results(file).answered[0].record)}
    for out in (shown, again):
        words = " ".join(out.split())
        for name in ("channel_load_max", "objective", "hop_bytes"):
            assert all(word in words for word in columns[name].title.split())


def test_the_json_of_a_run_is_that_of_its_results(netloom, done):
    _, of_run, _ = netloom("run", done, "--json")
    _, of_results, _ = netloom("results", done, "--json")
    assert json.loads(of_run) == json.loads(of_results)


def test_a_dry_run_counts_and_leaves_nothing(netloom, tmp_path):
    file = write(tmp_path, TWO)
    code, out, err = netloom("run", file, "--dry-run", "--workers", 2)
    assert (code, err) == (0, "")
    assert "2 points, 2 of them to be answered: about" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ring.mtx", "small.toml"]
    _, text, _ = netloom("run", file, "--dry-run", "--json")
    found = json.loads(text)
    (section,) = found["sections"]
    assert found["seconds"] > found["start_seconds"] > 0
    assert section["points"] == 2
    assert 0 < section["point_seconds"] < 60


def test_a_dry_run_after_a_run_has_nothing_to_do(netloom, done):
    _, out, _ = netloom("run", done, "--dry-run")
    assert "2 points, 0 of them to be answered." in out


def test_a_dry_run_says_what_cannot_be_asked_and_why(netloom, tmp_path):
    file = write(
        tmp_path,
        "[simulate]\non = ['mesh:4x4', 'mesh:3x5']\ntraffic = ['uniform', 'transpose']\n"
        "load = [0.1, 0.2]\ncycles = 100\n",
    )
    code, out, err = netloom("run", file, "--dry-run", "--workers", 1)
    assert code == 2
    assert "! 8 points, 6 of them to be answered, 2 that cannot be asked: about" in out
    reason = "traffic 'transpose': found 15 hosts; expected a square number of them"
    assert err.startswith(f"netloom: 2 points cannot be asked: {reason}")
    assert len(err.splitlines()) == 1
    _, text, _ = netloom("run", file, "--dry-run", "--json")
    found = json.loads(text)
    assert list(found["refused"].values()) == [2]
    assert [each["refused"] for each in found["sections"]] == [2]
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".sqlite"] == []


def test_points_that_cannot_be_asked_end_with_2(netloom, tmp_path):
    file = write(tmp_path, TWO.replace("'ring.mtx'", "['ring.mtx', 'ring:9']"))
    code, out, err = netloom("run", file, "--workers", 1)
    assert code == 2
    assert "2 points answered, 2 that cannot be asked" in out
    lines = err.splitlines()
    assert len(lines) == 2  # one a reason
    assert all(line.startswith("netloom: a point cannot be asked: ") for line in lines)


def test_the_schema_is_json(netloom):
    code, out, _ = netloom("schema")
    assert code == 0
    assert json.loads(out)["properties"]["map"]
    code, out, _ = netloom("schema", "--results")
    assert code == 0
    assert json.loads(out)["$defs"]["analyze"]["$defs"]["channels"]["items"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "none.toml"], "none.toml: found no such file"),
        (["run", "small.toml", "--workers", "0"], "workers: found 0"),
        (["run", "small.toml", "--cluster", "tcp://127.0.0.1:9", "--dry-run"], "a dry run"),
        (["run", "small.toml", "--store", "small.toml"], "small.toml: found no store"),
        (["results", "none.sqlite"], "none.sqlite: found no such file"),
        (["results", "small.toml"], "small.sqlite: found no such file"),
        (["results", "small.toml", "--csv", "a.txt"], "a.txt: found suffix '.txt'"),
        (["results", "small.toml", "--csv", "a.parquet"], "a.parquet: found suffix '.parquet'"),
    ],
)
def test_mistakes_are_one_line(netloom, tmp_path, words, said):
    write(tmp_path, TWO)
    code, out, err = netloom(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_worker_that_is_lost_is_one_line_and_exit_code_1(netloom, tmp_path, monkeypatch):
    def lost(*_, **__):
        raise LostError("workers", "one that died", "fewer")

    monkeypatch.setattr(sys.modules["netloom.experiments.runner"], "run", lost)
    code, _, said = netloom("run", write(tmp_path))
    assert (code, said) == (1, "netloom: workers: found one that died; expected fewer\n")


def test_results_on_standard_output_are_a_table_that_others_read(netloom, tmp_path):
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
    code, said, _ = netloom("results", file, "--csv", "-")
    assert not code
    read = pl.read_csv(StringIO(said), infer_schema_length=None)
    assert read.columns == table.columns
    for name in table.columns:
        known = table[name].drop_nulls()
        assert read[name].drop_nulls().cast(known.dtype).to_list() == known.to_list()
