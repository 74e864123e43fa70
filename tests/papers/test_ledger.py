"""The ledger: what rows are, how often a number counts, items and pictures by name, the page."""

import pytest

from netloom_papers import ledger
from netloom_papers.exhibits import Cell, Grid
from netloom_papers.ledger import (
    CAUSES,
    CLASSES,
    KINDS,
    PAPERS,
    Against,
    Item,
    Row,
    Validation,
    causes,
    compare,
    count,
    distinct,
    items,
    page,
    picture,
    pictures,
    published,
    rates,
    rows_of,
)


def row(kind="printed", *, good=True, number="", tolerance=0.0, cause="", paper="p"):
    return Row(paper, "i", "q", 1, 1 if good else 2, tolerance, "" if good else "why",
               cause=cause, kind=kind, number=number)  # fmt: skip


def test_a_shared_number_counts_once_and_only_if_all_its_rows_agree():
    rows = [row(number="n"), row(number="n", good=False), row(), row(), row(number="n", paper="q")]
    assert count(rows) == (4, 3)
    assert len(distinct(rows)) == 4
    assert count([row(number="n"), row(number="n")]) == (1, 1)


def test_inputs_never_count_and_other_kinds_have_rates_of_their_own():
    rows = [row(), row(good=False), row("input"), row("words"), row("formula", good=False)]
    assert count(rows).percent == 50
    by_kind = {line["kind"]: line for line in rates(rows)}
    assert by_kind["input"] == {"kind": "input", "rows": 1}
    assert "implementation" not in by_kind
    assert "numbers" in by_kind["words"]


def test_the_class_of_a_number_is_that_of_its_loosest_row():
    rows = [
        row(), row(tolerance=0.02), row(tolerance=0.1),
        row(number="n", tolerance=0.01), row(number="n", tolerance=0.2),
    ]  # fmt: skip
    assert [count(rows, allowed=name).numbers for name in CLASSES] == [1, 1, 1, 1]
    (line,) = rates(rows)
    assert sum(each["numbers"] for each in line["by_tolerance"].values()) == line["numbers"] == 4


def test_causes_are_of_printed_numbers_and_count_each_once():
    rows = [
        row(good=False, cause="claim", number="n"), row(good=False, cause="claim", number="n"),
        row(good=False, cause="misprint"), row("formula", good=False, cause="claim"), row(),
    ]  # fmt: skip
    assert causes(rows) == {"claim": 1, "misprint": 1}
    assert "2 misprint" not in Validation(tuple(rows)).sentence
    assert "1 misprint of the paper" in Validation(tuple(rows)).sentence


@pytest.mark.parametrize("paper", PAPERS)
def test_data_files_say_of_each_item_what_it_is_and_why_rows_are_outside(paper):
    declared, known = items(paper), published(paper)["items"]
    assert known.keys() == declared.keys()
    for name, of in known.items():
        values = of.get("values", {})
        assert bool(declared[name].draw) == ("shows" in of), name
        if declared[name].recompute:
            assert of["kind"] in KINDS, name
        for part in of.get("kinds", ()):
            assert part.get("kind", "printed") in KINDS
            assert not values or any(part["match"] in quantity for quantity in values), part
        named = [quantity for part in of.get("outside", ()) for quantity in part["rows"]]
        assert len(named) == len(set(named))
        assert not values or set(named) <= values.keys()
        assert all(part["cause"] in CAUSES and part["reason"] for part in of.get("outside", ()))


ROWS = (
    Row("p", "table 1", "a | b", 10.0, 10.1, 0.02),
    Row("p", "table 1", "c", 10.0, 11.0, 0.02, "the formula gives 11", cause="misprint"),
    Row("p", "table 2", "d", 10.0, 12.0, 0.02, "not understood", kind="formula"),
    Row("q", "figure 1", "e", 10.0, 9.0, 0.02, at_most=True),
    Row("q", "figure 1", "f", 10.0, 10.0, 0.0, kind="input"),
)


def test_the_sentence_counts_by_kind_what_is_within_outside_and_misprinted():
    assert Validation(ROWS).sentence == (
        "Reproduced: 2 of 3 printed numbers (66.7 %), 0 of 1 formulas evaluated. "
        "Not counted: 1 input. Outside: 2 rows, each with its reason, 1 misprint of the paper."
    )
    assert Validation(ROWS[:1]).sentence == "Reproduced: 1 of 1 printed numbers (100.0 %)."
    unknown = Row("p", "table 1", "c", 10.0, 11.0, 0.02)
    assert "Outside: 1 row, 1 without a known reason." in Validation((unknown,)).sentence


def test_a_number_that_cannot_be_met_is_left_out_with_all_of_its_rows():
    shared = [
        Row("p", "i", "a", 1.0, 1.0, 0.0, number="n"),
        Row("p", "i", "b", 1.0, 2.0, 0.0, "a slip", cause="misprint", number="n"),
        Row("p", "i", "c", 1.0, 2.0, 0.0, "why", cause="claim"),
    ]
    text = page(Validation((*ROWS, *shared)))
    assert "origin is unpublished, 2 of 3 are reproduced (66.7 %)" in text


def test_the_verdict_has_what_is_outside_on_a_line():
    data = Validation(ROWS).to_dict()["verdict"]
    assert data["mark"] == "limited"
    assert f"{data['sentence']} Outside: {data['lines']['outside']}" == Validation(ROWS).sentence
    good = Validation(ROWS[:1]).to_dict()["verdict"]
    assert (good["mark"], good["lines"]) == ("fine", {})
    unknown = Row("p", "text", "q", 10.0, 20.0, 0.1)
    assert Validation((unknown,)).verdict.mark == "act"


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_none_says_why(paper):
    of_paper = {name.partition("/")[2] for name in pictures() if name.startswith(f"{paper}/")}
    left_out = published(paper).get("without numbers", {})
    assert not left_out.keys() & of_paper
    assert all(reason.endswith(".") for reason in left_out.values())


GRID = Grid("numbers", ("", "one", "two"), (("row", (Cell(1.0, 2.0, within=False), None)),))


@pytest.fixture
def one_item(monkeypatch):
    """Have a paper of one item, of which this is known."""

    def have(item, **known):
        monkeypatch.setattr(ledger, "items", lambda _: {item.id: item})
        data = {"items": {item.id: known}, "notes": {"a note": "Beware."}}
        monkeypatch.setattr(ledger, "published", lambda _: data)
        return item

    rows_of.cache_clear()
    yield have
    rows_of.cache_clear()


def test_a_picture_is_drawn_from_rows_that_are_recomputed_once(one_item):
    asked = []

    def recompute(known):
        asked.append(known["seeds"])
        return {"a": known["seeds"], "b": 2} if known["seeds"] > 1 else {"a": 1}

    def draw(made):
        yield "found"
        yield GRID
        assert [row.computed for row in made.rows] == [made.known["seeds"], 2][: len(made.rows)]

    item = Item("figure 1", recompute, draw)
    values = {"kind": "printed", "within": 0, "values": {"a": 3, "b": 2}, "seeds": 3}
    values["in a quick run"] = {"seeds": 1}
    one_item(item, shows="Line", remarks=["{a note}"], quick="Quick: less.", **values)
    for _ in range(2):
        full = picture("johnson/fig-1")
        quick = picture("johnson/fig-1", quick=True)
    assert asked == [3, 1]
    assert (full.remarks, len(full.rows)) == (("found", "Beware."), 2)
    assert (quick.remarks, len(quick.rows)) == (("found", "Beware.", "Quick: less."), 1)
    assert full.panels == quick.panels == (GRID,)


def test_an_interval_widens_a_row_and_a_reason_never_passes_it(one_item):
    found = {"a": [10.0, 11.0, 12.0], "b": [11.0], "c": Against(0.0, 0.5, 1)}  # mean 11 ± 2.48
    item = one_item(
        Item("i", lambda _: found),
        kind="printed",
        values={"a": 10, "b": 10},
        within=0.5,
        outside=[{"reason": "known", "rows": ["b"], "cause": "misprint"}],
    )
    a, b, c = compare("p", item)
    assert a.within
    assert a.tolerance == pytest.approx((0.5 + 2.4841) / 10, abs=1e-4)
    assert (b.within, b.reason, b.misprint, b.tolerance) == (False, "known", True, 0.05)
    assert not a.misprint
    assert (c.printed, c.tolerance, c.within) == (0, 1, True)
