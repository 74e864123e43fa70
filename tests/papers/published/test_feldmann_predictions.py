"""Feldmann, Stricker & Warfel 1993: every predicted entry of Tables 1-3 and 6."""

import pytest

from netloom.models import ConSetCosts, MessageCosts, conset_clocks
from netloom_papers.studies.feldmann import (
    FELDMANN_1993,
    fitted_finite_element_clocks,
    message_passing_clocks,
    regular_conset_clocks,
)

WORDS = (32, 256, 2048, 16384)

CONSET = {  # pattern: (phases, sends, printed)
    "torus": (1, 4, (776, 2568, 16909, 131592)),
    "butterfly": (2, 6, (1424, 4112, 25616, 197216)),
    "all-to-all": (30, 63, (19631, 47856, 273648, 2075448)),
}
MESSAGES = {  # pattern: (messages, printed)
    "torus": (4, (3456, 5248, 19584, 134272)),
    "butterfly": (6, (5184, 7872, 29376, 201408)),
    "all-to-all": (64, (55296, 83968, 313344, 2148352)),
}
MISPRINTS = {  # (pattern, words): what the formula gives
    ("torus", 2048): 16904,
    ("all-to-all", 32): 19632,
    ("butterfly", 16384): 197648,
    ("all-to-all", 16384): 2079984,
}
FINITE_ELEMENTS = {  # mesh: (phases, words of the makespan (inferred), deg, c_max, both printed)
    "m11k": (2, 373, 8, 133, 4786, 8378),
    "c10k": (2, 401, 5, 189, 5066, 6752),
    "c100k": (3, 1819, 13, 638, 19774, 19508),
    "q20k": (5, 3327, 22, 1070, 35910, 32852),
}


@pytest.mark.parametrize("pattern", CONSET)
def test_conset_predictions(pattern):
    phases, sends, printed = CONSET[pattern]
    for words, entry in zip(WORDS, printed, strict=True):
        clocks = regular_conset_clocks(phases, sends, words, FELDMANN_1993)
        assert clocks == MISPRINTS.get((pattern, words), entry)
        assert (clocks == entry) == ((pattern, words) not in MISPRINTS)


@pytest.mark.parametrize("pattern", MESSAGES)
def test_message_passing_predictions(pattern):
    messages, printed = MESSAGES[pattern]
    for words, entry in zip(WORDS, printed, strict=True):
        assert message_passing_clocks(messages, words, MessageCosts()) == entry


@pytest.mark.parametrize("pattern", ["butterfly", "all-to-all"])
def test_two_last_rows_were_computed_with_digits_swapped(pattern):
    phases, sends, printed = CONSET[pattern]
    assert regular_conset_clocks(phases, sends, 16348, FELDMANN_1993) == printed[-1]


def test_the_text_has_eight_clocks_a_switch_more_than_the_tables():
    assert ConSetCosts().switch_clocks - FELDMANN_1993.switch_clocks == 8
    assert regular_conset_clocks(1, 4, 32, ConSetCosts()) == 776 + 8


@pytest.mark.parametrize("mesh", FINITE_ELEMENTS)
def test_finite_element_predictions(mesh):
    phases, makespan, degree, most_words, conset, passing = FINITE_ELEMENTS[mesh]
    costs = ConSetCosts(clocks_per_word=10, both_ways=False)
    lasting = [10 * makespan] + [0] * (phases - 1)
    assert conset_clocks(lasting, costs) == conset
    assert fitted_finite_element_clocks(degree, most_words) == pytest.approx(passing, rel=0.004)
