"""The command ``netloom study``."""

import polars as pl
import pytest

from netloom_papers import ledger
from netloom_papers.exhibits import COMPUTED, PRINTED, Cell, Grid, Plot
from netloom_papers.ledger import Item, Row
from netloom_papers.studies import model_accuracy

TORUS = {
    "part": "torus-broadcast", "radix": 4, "flits": 16, "vcs": 3, "broadcast": 0.0,
    "loads": [0.2, 0.5, 0.8], "saturation_messages": 100, "latency_messages": [100, 100],
    "precision": 1.0, "resolution": 1 / 8, "seed": 1,
}  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Have a small study of models."""
    monkeypatch.setattr(model_accuracy, "torus_cases", lambda **_: [TORUS, TORUS | {"vcs": 4}])
    monkeypatch.setattr(model_accuracy, "locality_cases", lambda **_: [])


@pytest.fixture
def exhibit(monkeypatch):
    """A small table and figure, in place of all those of a paper."""
    seen = []

    def draw(made):
        seen.append(made.quick)
        points = [
            {"series": name, "x": x, "y": y * x, "whose": whose}
            for name, many in (("few", 3), ("many", 20))
            for x in range(1, many + 1)
            for whose, y in ((PRINTED, 2.0), (COMPUTED, 2.5))
        ]
        table = pl.DataFrame(points)
        grid = Grid(
            "Table of sizes",
            ("mesh", "clocks", "bytes"),
            (
                ("m11k", (Cell(4786, 4786, True), Cell(12.5, None))),
                ("c10k", (Cell(5, 7, False), None)),
            ),
        )
        few = Plot("A few points", "x, hops", "y, cycles", table.filter(series="few"))
        yield from (grid, few, Plot("Many points", "x", "y", table), "Mind the gap.")

    rows = (
        Row("johnson", "table 9", "clocks, m11k", 4786, 4786, 0),
        Row("johnson", "table 9", "clocks, c10k", 5, 7, 0.1, "a slip", cause="misprint"),
    )
    only(monkeypatch, Item("figure 9", lambda _: rows, draw, takes_table=True))
    return seen


def only(monkeypatch, item):
    """Have a paper of one item."""
    ledger.rows_of.cache_clear()
    monkeypatch.setattr(ledger, "items", lambda _: {item.id: item})
    data = {"items": {item.id: {"shows": "Sizes"}}}
    monkeypatch.setattr(ledger, "published", lambda _: data)


@pytest.fixture(autouse=True)
def forgotten():
    yield
    ledger.rows_of.cache_clear()


def test_a_figure_beside_what_is_printed(netloom, exhibit, tmp_path):
    code, out, err = netloom("study run johnson/fig-9 --quick --csv new/all.csv")
    assert (code, err) == (0, "")
    assert exhibit == [True]
    lines = out.splitlines()
    assert lines[0] == ("! Reproduced: 1 of 2 printed numbers (50.0 %).  johnson/fig-9: Sizes")
    assert lines[1] == "  outside 1 row, each with its reason, 1 misprint of the paper."
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.strip()}
    assert rows["m11k"] == ["4786", "4786", "12.5"]
    assert rows["c10k"] == ["5", "7", "✗"]
    assert rows["2"] == ["4", "5"]  # twice 2, and twice 2.5
    assert rows["many"] == ["2", "…", "40", "(20", "points)", "2.5", "…", "50", "(20", "points)"]
    assert "misprint: a slip" in out
    said = "table 9, clocks, c10k: 5 (printed), 7 computed (40\u00a0% off, 10\u00a0% allowed)"
    assert said in out
    assert "• Mind the gap." in out
    assert lines[-3] == "! Reproduced: 1 of 2 printed numbers (50.0 %)."
    assert lines[-2:] == ["Table: new/all.csv", "Picture: out/johnson-fig-9.svg"]
    svg = (tmp_path / "out/johnson-fig-9.svg").read_text()
    assert "Mind the gap." in svg
    assert "johnson/fig-9: Sizes" in svg
    assert len(pl.read_csv(tmp_path / "new/all.csv")) == 3 + 2 * 3 + 2 * 23


def test_ctrl_c_ends_a_figure_with_one_line(netloom, monkeypatch, tmp_path):
    def stopped(_):
        raise KeyboardInterrupt

    only(monkeypatch, Item("figure 9", draw=stopped))
    code, out, err = netloom("study run johnson/fig-9")
    assert (code, out) == (130, "")
    assert err == "netloom: johnson/fig-9 was stopped before its end: no answer\n"
    assert not (tmp_path / "out").exists()


def test_tables_goals_and_files(netloom, tmp_path):
    code, out, err = netloom("study run model-accuracy --csv new/found.csv")
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


def test_ctrl_c_keeps_what_is_done(netloom, monkeypatch, tmp_path):
    simulate = model_accuracy._simulate_torus
    monkeypatch.setattr(
        model_accuracy,
        "_simulate_torus",
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
        ("run chairs", "study: found 'chairs'; expected "),
        ("run chittor/fig-5.122", "expected 'chittor/fig-5.12' perhaps; all: netloom study list"),
        ("run johnson/fig-3 --plot here", "here"),
        ("run johnson/fig-3 --csv all.txt", "suffix '.txt'; expected one of .csv, .parquet"),
        ("run model-accuracy --csv found.txt", "suffix '.txt'; expected one of .csv, .parquet"),
        ("run model-accuracy --plot here", "found a picture of 'model-accuracy'; expected that of"),
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
