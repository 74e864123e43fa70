"""What a row compares with, and how often a number counts."""

import json
from importlib.resources import files

import pytest

from netloom_papers.studies import johnson_model
from netloom_papers.studies.kinds import (
    CAUSES,
    CLASSES,
    KINDS,
    causes,
    count,
    distinct,
    kind_of,
    rates,
    verdict,
)
from netloom_papers.studies.validation import Row, Validation, published

FILES = (
    "chittor", "chittor-programs", "johnson", "johnson-model", "shahrabi", "shahrabi-model",
    "rosenblum-mayr", "rosenblum-mayr-tables", "feldmann/published",
)  # fmt: skip


def row(kind="printed", *, good=True, number="", tolerance=0.0, cause="", paper="p"):
    return Row(paper, "i", "q", 1, 1 if good else 2, tolerance, "" if good else "why",
               cause=cause, kind=kind, number=number)  # fmt: skip


def parts_of(known):
    """All dictionaries of a data file, outermost first."""
    yield known
    for each in known.values() if isinstance(known, dict) else known:
        if isinstance(each, dict | list):
            yield from parts_of(each)


def test_a_shared_number_counts_once_and_only_if_all_its_rows_agree():
    rows = [row(number="n"), row(number="n", good=False), row(), row(), row(number="n", paper="q")]
    assert count(rows) == (4, 3)
    assert len(distinct(rows)) == 4
    assert count([row(number="n"), row(number="n")]) == (1, 1)


def test_inputs_never_count_and_other_kinds_have_rates_of_their_own():
    rows = [row(), row(good=False), row("input"), row("words"), row("formula", good=False)]
    assert count(rows).percent == 50
    assert verdict(rows) == (
        "Reproduced: 1 of 2 printed numbers (50.0 %), 1 of 1 statements in words, "
        "0 of 1 formulas evaluated. Not counted: 1 input."
    )
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


@pytest.mark.parametrize("file", FILES)
def test_data_files_say_of_each_item_what_it_is_and_why_rows_are_outside(file):
    text = files("netloom_papers.studies").joinpath("data", f"{file}.json").read_text()
    for known in parts_of(json.loads(text)):
        if not isinstance(known, dict):
            continue
        if "values" in known and "within" in known:
            assert known["kind"] in KINDS
        if "reason" in known:
            assert known["cause"] in CAUSES, known["reason"]
        for part in known.get("kinds", ()):
            assert part.get("kind", "printed") in KINDS
            if "values" in known:
                assert any(part["match"] in quantity for quantity in known["values"]), part


def test_numbers_that_parameters_were_inferred_from_are_inputs():
    rows = list(johnson_model.rows())
    used = [each for each in rows if "used to infer" in each.quantity]
    assert len(used) == 8 + 1 + 3 + 1
    assert {each.kind for each in used} == {"input"}
    assert all(each.kind == "input" for each in rows if each.item == "table 1")
    assert count(rows).numbers < len(rows) / 4  # what the paper prints, each once


def test_johnson_s_statements_in_words_are_not_printed_numbers():
    known = published("johnson")["figure 3, coherence"]
    assert kind_of(known, "buffered, R² for p = 1") == ("words", "")
    twice = [
        kind_of(published("johnson")[item], "wormhole, slope for p = 2 over p = 1")
        for item in ("figure 3, coherence", "figure 3, request-reply")
    ]
    assert twice[0] == twice[1]
    assert twice[0][0] == "printed"
    assert kind_of(known, "buffered, T_r + T_f from the line, p = 1 (cycles)")[0] == "input"
