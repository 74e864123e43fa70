"""Arrays in a page are what they were."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from netloom.explore.network import packed, packed_words
from tests.explore.decoded import unpacked

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


@given(arrays(np.int64, LENGTHS, elements=st.integers(-(2**53), 2**53)))
def test_negative_and_huge_numbers_come_back(values):
    assert back(values, delta=True).tolist() == values.tolist()


@given(arrays(np.bool_, LENGTHS))
def test_truths_come_back_as_0_and_1(values):
    assert back(values).tolist() == values.astype(int).tolist()


def test_a_table_comes_back_row_by_row():
    values = np.arange(12).reshape(3, 4)[:, ::-1]
    assert back(values).tolist() == values.ravel().tolist()


def test_what_rises_steadily_is_shorter_as_differences():
    rising = np.arange(5000) * 7
    assert len(packed(rising, delta=True)["data"]) < len(packed(rising)["data"]) / 10


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_words_come_back(words):
    assert unpacked(json.loads(json.dumps(packed_words(words)))) == words


@pytest.mark.parametrize(("word", "shown"), [("two\nlines", "two lines"), ("\n", " ")])
def test_a_word_stays_in_its_line(word, shown):
    assert unpacked(packed_words(["a", word, "b"])) == ["a", shown, "b"]
