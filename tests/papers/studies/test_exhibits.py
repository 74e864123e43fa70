"""All tables and figures of papers, by name."""

import json
import re

import polars as pl
import pytest

from netloom.base.errors import InputError
from netloom.base.figures import COMPUTED, MODELLED, PRINTED, Cell, Grid, Plot
from netloom_papers.studies import exhibits
from netloom_papers.studies.exhibits import Exhibit, Exhibited, Shown
from netloom_papers.studies.running import STUDIES
from netloom_papers.studies.validation import Row, Validation, published

ALL = exhibits.exhibits()


def test_every_one_has_a_line_and_a_name_of_its_own():
    assert {name.partition("/")[0] for name in ALL} == exhibits.PAPERS.keys()
    lines = {}
    for name, each in ALL.items():
        assert re.fullmatch(r"[a-z-]+/(fig|table)-[0-9.]+[a-z]?", name), name
        assert each.line[0].isupper() or each.line[0].isdigit(), name
        assert not each.line.endswith("."), name
        assert len(each.line) < 100, name
        paper = name.partition("/")[0]
        assert (paper, each.line) not in lines, (name, lines[paper, each.line])
        lines[paper, each.line] = name
        assert callable(each.recompute)
    assert not STUDIES.keys() & ALL.keys()


@pytest.mark.parametrize("paper", exhibits.PAPERS)
def test_what_is_none_says_why(paper):
    of_paper = {name.partition("/")[2] for name in ALL if name.startswith(f"{paper}/")}
    said = published("exhibits")[paper]
    left_out = said.get("without numbers", {})
    assert said["exhibits"].keys() == of_paper
    assert not left_out.keys() & of_paper
    assert all(reason.endswith(".") for reason in left_out.values())


@pytest.mark.parametrize(
    "name", ["rosenblum-mayr/table-1", "johnson/table-1", "feldmann/table-1", "chittor/table-2.2"]
)
def test_some_of_them_quickly(name):
    result = exhibits.recompute(name, quick=True)
    assert result.name == name
    assert result.quick
    for panel in result.shown.panels:
        check(panel)
    data = result.to_dict()
    assert data["study"] == name
    assert len(data["rows"]) == len(result.shown.rows)
    assert len(result.table()) == sum(len(each["table"]) for each in data["panels"])
    if result.shown.rows:
        assert result.sentence == Validation(result.shown.rows).sentence


def check(panel):
    if isinstance(panel, Plot):
        assert {"series", "x", "y", "whose"} <= set(panel.table.columns)
        assert set(panel.table["whose"]) <= {PRINTED, COMPUTED, MODELLED}
        assert len(panel.table)
    else:
        assert all(len(cells) == len(panel.columns) - 1 for _, cells in panel.rows)


def shown(*within, reason=""):
    rows = [Row("p", "table 1", f"{at}", 1, 1 if good else 2, 0.1, reason) for at, good in
            enumerate(within)]  # fmt: skip
    points = pl.DataFrame({"series": ["a"], "x": [1], "y": [2.0], "whose": [COMPUTED]})
    plot = Plot("curves", "x", "y", points)
    grid = Grid("numbers", ("", "one", "two"), (("row", (Cell(1.0, 2.0, within=False), None)),))
    return Shown((plot, grid), tuple(rows), ("a remark",))


def test_what_is_shown_as_one_table_and_as_plain_data():
    result = Exhibited("p/table-1", "Numbers", False, shown(True, False, reason="known"))
    assert result.sentence == (
        "Reproduced: 1 of 2 printed numbers (50.0 %). Outside: 1 row, each with its reason."
    )
    table = result.table()
    assert table["panel"].to_list() == ["curves", "numbers"]
    assert table["y"].to_list() == [2.0, None]
    assert table["within"].to_list() == [None, False]
    data = json.loads(json.dumps(result.to_dict()))
    assert data["remarks"] == ["a remark"]
    assert data["panels"][1]["table"] == [
        {"row": "row", "column": "one", "printed": 1.0, "computed": 2.0, "within": False}
    ]
    assert "no known reason" not in repr(result)
    assert repr(result).startswith("<p/table-1: Numbers>")


def test_without_rows_nothing_is_said_to_be_reproduced():
    result = Exhibited("p/table-1", "Numbers", False, shown())
    assert "No number here" in result.sentence
    curves = Exhibited("p/fig-1", "Curves", False, Shown(shown().panels[:1]))
    assert "prints no numbers" in curves.sentence
    assert result.verdict.mark == curves.verdict.mark == "unknown"
    printed = curves.shown.panels[0].table.with_columns(whose=pl.lit(PRINTED))
    both = Shown((curves.shown.panels[0]._replace(table=printed),))
    assert "printed stands beside" in Exhibited("p/fig-1", "Curves", False, both).sentence
    assert not curves.interrupted


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("chittor/fig-5.21", "chittor/fig-5.2"),
        ("rosenblum-mayr/table-VI", "rosenblum-mayr/table-6"),
        ("model-acuracy", "model-accuracy"),
        ("shahrabi", "shahrabi/fig-1"),
    ],
)
def test_unknown_names_have_a_near_miss(name, near):
    with pytest.raises(InputError) as said:
        exhibits.recompute(name)
    wanted = str(said.value).partition("expected ")[2]
    assert wanted in {f"'{each}' perhaps; all: netloom study list" for each in (*ALL, *STUDIES)}
    assert wanted[1:].startswith(near.rpartition("-")[0])


def test_names_that_are_like_none():
    with pytest.raises(InputError, match="expected one of netloom study list"):
        exhibits.recompute("xyz")


def test_quick_is_passed_on(monkeypatch):
    asked = []

    def recompute(quick):
        asked.append(quick)
        return shown(True)

    monkeypatch.setattr(exhibits, "_of", lambda _: {"fig-1": Exhibit("Line", recompute)})
    assert exhibits.recompute("johnson/fig-1", quick=True).quick
    assert not exhibits.recompute("johnson/fig-1").quick
    assert asked == [True, False]
