"""Whatever a user types or a file holds: an answer, or one line that says what is wrong."""

import pytest

from tests.attack.run import wrong_with

CASES = 300
CHUNK = 30


@pytest.mark.parametrize("first", range(0, CASES, CHUNK))
def test_nonsense_is_answered_in_one_line(first):
    wrong = [found for number in range(first, first + CHUNK) if (found := wrong_with(number))]
    assert not wrong, "\n".join(wrong)
