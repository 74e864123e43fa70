from netloom.studies.validation import Row, Validation
from netloom.studies.validation_page import page

ROWS = (
    Row("p", "table 1", "a | b", 10.0, 10.1, 0.02),
    Row("p", "table 1", "c", 10.0, 11.0, 0.02, "the paper's own formula gives 11", misprint=True),
    Row("p", "table 2", "d", 10.0, 12.0, 0.02, "not understood"),
    Row("q", "figure 1", "e", 10.0, 9.0, 0.02, at_most=True),
)


def test_the_sentence_counts_what_is_within_outside_and_misprinted():
    assert Validation(ROWS).sentence == (
        "4 numbers: 2 reproduced (50.0 %), 2 outside their tolerance (2 of them known, with the "
        "reason, 1 of them misprints of the paper)."
    )
    assert Validation(ROWS[:1]).sentence.endswith("(0 of them known, with the reason).")


def test_the_page_has_every_item_and_every_number_that_is_outside():
    text = page(Validation(ROWS))
    assert "| `p` | 3 | 1 | 2 | 1 |" in text
    assert "| **all** | 4 | 2 | 2 | 1 |" in text
    assert "| table 1 | 2 | 1 | 1 | 1 |" in text
    assert "The paper's own formula gives 11" in text
    assert "| table 2 | d | 10 | 12 |  |" in text
    assert "what does not agree" not in text.partition("## q")[2]


def test_the_table_has_a_row_a_number():
    table = Validation(ROWS).table()
    assert table["within"].to_list() == [True, False, False, True]
    assert table["quantity"].to_list() == ["a | b", "c", "d", "e"]
