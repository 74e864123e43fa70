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
    """Slope, critical path, T_r + T_f and R² by contexts."""
    table = johnson.simulated_curves(1, distances=(1, 3, 6))
    assert table["distance"].to_list() == pytest.approx([1, 3, 6] * 3, abs=0.06)
    return zip(*(johnson.message_curve(table.filter(contexts=p)) for p in (1, 2, 4)), strict=True)


def test_message_curves_are_lines_that_give_back_what_was_put_in(lines):
    """s = p g / c, with a critical path of somewhat over two messages."""
    slopes, paths, grains, fits = lines
    assert min(fits) > 0.99
    assert [slope / slopes[0] for slope in slopes] == pytest.approx([1, 2, 4], rel=0.08)
    assert paths == pytest.approx([2.2] * 3, abs=0.2)
    assert grains[0] == pytest.approx(johnson.RUN_CYCLES + johnson.FIXED_CYCLES, rel=0.06)
