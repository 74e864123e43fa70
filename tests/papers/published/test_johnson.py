"""Johnson 1992 with fewer seeds and mappings than ``netloom validate johnson``."""

import pytest

from netloom_papers.ledger import compare, items, rows_of
from netloom_papers.studies import johnson


def test_messages_and_distances_are_exact():
    found = rows_of("johnson", "section 3.2")
    found += compare("johnson", items("johnson")["equation 17"], mappings=50)
    assert len(found) == 2 + 8
    assert all(row.within and not row.reason for row in found)


@pytest.fixture(scope="module")
def lines():
    table = johnson.simulated_curves(1, distances=(1, 3, 6))
    assert table["distance"].to_list() == pytest.approx([1, 3, 6] * 3, abs=0.06)
    return johnson.message_curves(table)


def test_message_curves_are_lines(lines):
    assert lines["r_squared"].min() > 0.99


def test_slopes_grow_with_the_contexts(lines):
    """s = p g / c, with a critical path of somewhat over two messages."""
    slopes = lines["slope"].to_numpy()
    assert slopes / slopes[0] == pytest.approx([1, 2, 4], rel=0.08)
    assert lines["critical_path"].to_numpy() == pytest.approx(2.2, abs=0.2)


def test_the_line_gives_back_what_was_put_in(lines):
    assert lines["grain"][0] == pytest.approx(johnson.RUN_CYCLES + johnson.FIXED_CYCLES, rel=0.06)
