"""Arrays in a page are what they were."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from netloom.pages.explorer.network import packed, packed_words
from tests.pages.explorer.decoded import unpacked

LARGEST = {"u1": 2**8 - 1, "u2": 2**16 - 1, "u4": 2**32 - 1}
LENGTHS = st.integers(0, 40)


def back(values, **settings):
    """Return an array as it comes back from JSON."""
    return unpacked(json.loads(json.dumps(packed(values, **settings), allow_nan=False)))


@given(
    st.sampled_from(sorted(LARGEST)).flatmap(
        lambda kind: arrays(np.int64, LENGTHS, elements=st.integers(0, LARGEST[kind]))
    ),
    st.booleans(),
)
def test_whole_numbers_come_back(values, delta):
    found = back(values, delta=delta)
    assert found.tolist() == values.tolist()
    most = values.max(initial=0)
    kind = next(name for name, largest in LARGEST.items() if most <= largest)
    assert packed(values, delta=delta)["type"] == kind


@given(arrays(np.float64, LENGTHS, elements=st.floats(allow_nan=True)), st.booleans())
def test_other_numbers_come_back(values, delta):
    assert np.array_equal(back(values, delta=delta), values, equal_nan=True)


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_words_come_back(words):
    assert unpacked(json.loads(json.dumps(packed_words(words)))) == words


@pytest.mark.parametrize(("word", "shown"), [("two\nlines", "two lines"), ("\n", " ")])
def test_a_word_stays_in_its_line(word, shown):
    assert unpacked(packed_words(["a", word, "b"])) == ["a", shown, "b"]
