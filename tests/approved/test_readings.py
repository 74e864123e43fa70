"""Readers make of words and files what was read and kept (``readings.txt``)."""

import pytest

from tests.approved.readings import kept, said_now


@pytest.mark.parametrize("section", kept(), ids=lambda section: section.head)
def test_words_and_files_are_read_or_refused_as_they_were(section):
    assert said_now(section).text() == section.text()
    assert all("\n" not in entry.said for entry in section.entries)
