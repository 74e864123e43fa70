"""The command ``netloom study``."""

import json
import sys

import polars as pl
import pytest

from netloom.cli import main
from netloom.studies import model_accuracy, model_accuracy_torus

TORUS = {
    "part": "torus-broadcast", "radix": 4, "flits": 16, "vcs": 3, "broadcast": 0.0,
    "loads": [0.2, 0.5, 0.8], "saturation_messages": 100, "latency_messages": [100, 100],
    "precision": 1.0, "resolution": 1 / 8, "seed": 1,
}  # fmt: skip


@pytest.fixture
def netloom(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(model_accuracy, "torus_cases", lambda **_: [TORUS, TORUS | {"vcs": 4}])
    monkeypatch.setattr(model_accuracy, "locality_cases", lambda **_: [])

    def run(words):
        monkeypatch.setattr(sys, "argv", ["netloom", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


def test_the_studies_that_there_are(netloom):
    code, out, err = netloom("study list")
    assert (code, err) == (0, "")
    assert out.startswith("model-accuracy  How far")
    code, out, _ = netloom("study list --json")
    assert [each["name"] for each in json.loads(out)] == ["model-accuracy"]


def test_tables_goals_and_files(netloom, tmp_path):
    code, out, err = netloom("study run model-accuracy --csv new/found.csv --plot figures")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    row = next(line.split() for line in lines if line.startswith("4  16  3"))
    assert len(row) == 12
    assert any(line.startswith("improved") for line in lines)
    assert "goals met." in out
    table = pl.read_csv(tmp_path / "new/found.csv")
    assert len(table) == 2 * 3 * 4
    assert set(table["variant"]) == {"improved", "consistent", "printed"}
    seen = table.filter(variant="improved", vcs=3, figure="latency", load=0.2)["simulated"].item()
    assert float(row[4]) == pytest.approx(seen, abs=0.06)
    assert len((tmp_path / "new/found.jsonl").read_text().splitlines()) == 2
    assert (tmp_path / "figures/figure-1-k4.svg").read_text().startswith("<svg")
    assert "Figures: 1 in figures" in out


def test_json_and_going_on_from_what_was_kept(netloom, monkeypatch, tmp_path):
    code, first, err = netloom("study run model-accuracy --json")
    assert (code, err) == (0, "")
    data = json.loads(first)
    assert data["kept"] == "out/model-accuracy.jsonl"
    assert (tmp_path / data["kept"]).is_file()
    assert data["cases"] == {"asked": 2, "simulated": 2}
    assert len(data["goals"]) == 6
    monkeypatch.setattr(model_accuracy_torus, "_simulate", lambda *_: pytest.fail("simulated"))
    assert netloom("study run model-accuracy --json") == (0, first, "")


def test_ctrl_c_keeps_what_is_done(netloom, monkeypatch, tmp_path):
    simulate = model_accuracy_torus._simulate
    monkeypatch.setattr(
        model_accuracy_torus,
        "_simulate",
        lambda case, stopped: simulate(case, stopped) if case["vcs"] == 3 else None,
    )
    code, out, err = netloom("study run model-accuracy")
    assert (code, err) == (130, "")
    assert "by the 1 of 2 cases" in out
    assert "interrupted" in out
    assert len((tmp_path / "out/model-accuracy.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run chairs", "study: found 'chairs'; expected one of model-accuracy"),
        ("run model-accuracy --csv found.txt", "suffix '.txt'; expected one of .csv, .parquet"),
        ("run model-accuracy --plot here", "here"),
        ("run model-accuracy --slow", "No such option"),
    ],
)
def test_mistakes_are_one_line(netloom, tmp_path, words, said):
    (tmp_path / "here").write_text("a file")
    code, out, err = netloom(f"study {words}")
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()
