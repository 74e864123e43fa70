from netloom_papers.studies.validation import Row, Validation
from netloom_papers.studies.validation_page import page

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


def test_the_page_has_rates_by_kind_every_item_and_every_row_that_is_outside():
    text = page(Validation(ROWS))
    assert "| **printed** | 3 | 3 | 2 | 66.7 % |  | 1/2 |  | 1/1 |" in text
    assert "| **formula** | 1 | 1 | 0 | 0.0 % |  | 0/1 |  |  |" in text
    assert "| **input** | 1 |  |  |  |  |  |  |  |" in text
    assert "| `p` | 2 | 1 | 50.0 % |" in text
    assert "| **all** | 3 | 2 | 66.7 % |" in text
    assert "| **misprint** | the paper contradicts itself" in text
    assert "| table 1 | printed | 2 | 1 | 1 |" in text
    assert "origin is unpublished, 2 of 2 are reproduced (100.0 %)" in text
    assert "The formula gives 11" in text
    assert "| table 2 | d | formula |  | 10 | 12 |" in text
    assert "| table 1 | c | printed | misprint | 10 | 11 |" in text
    assert "what does not agree" not in text.partition("## q")[2]


def test_a_number_that_cannot_be_met_is_left_out_with_all_of_its_rows():
    shared = [
        Row("p", "i", "a", 1.0, 1.0, 0.0, number="n"),
        Row("p", "i", "b", 1.0, 2.0, 0.0, "a slip", cause="misprint", number="n"),
        Row("p", "i", "c", 1.0, 2.0, 0.0, "why", cause="claim"),
    ]
    text = page(Validation((*ROWS, *shared)))
    assert "origin is unpublished, 2 of 3 are reproduced (66.7 %)" in text


def test_the_page_claims_neither_completeness_nor_that_nothing_printed_is_used():
    text = page(Validation(ROWS))
    assert "Every number that the papers print" not in text
    assert "No published number enters" not in text
    assert "Published numbers do enter computations" in text


def test_the_table_has_a_line_a_row_with_kind_and_class():
    table = Validation(ROWS).table()
    assert table["within"].to_list() == [True, False, False, True, True]
    assert table["quantity"].to_list() == ["a | b", "c", "d", "e", "f"]
    assert table["kind"].to_list() == ["printed", "printed", "formula", "printed", "input"]
    assert table["tolerance_class"].to_list() == ["≤ 2 %"] * 3 + ["more", "exact"]
    data = Validation(ROWS).to_dict()
    assert [line["kind"] for line in data["rates"]] == ["printed", "formula", "input"]
    assert data["rows"][1]["cause"] == "misprint"


def test_the_verdict_is_short_and_has_what_is_outside_on_a_line():
    data = Validation(ROWS).to_dict()["verdict"]
    assert data["mark"] == ("act" if Validation(ROWS).failures else "limited")
    assert len(data["sentence"].split()) <= 30
    assert f"{data['sentence']} Outside: {data['lines']['outside']}" == Validation(ROWS).sentence
    good = Validation(ROWS[:1]).to_dict()["verdict"]
    assert (good["mark"], good["lines"]) == ("fine", {})
    unknown = Row("p", "text", "q", 10.0, 20.0, 0.1)
    assert Validation((unknown,)).verdict.mark == "act"
