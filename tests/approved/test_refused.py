"""What is refused is refused in one line, which was read and kept (``refused.txt``)."""

import pytest

from tests.approved.refused import kept, said_now


@pytest.mark.parametrize("section", kept(), ids=lambda section: section.head)
def test_bad_inputs_are_refused_as_they_were(section):
    assert said_now(section).text() == section.text()
    assert all("\n" not in entry.said != "taken" for entry in section.entries)
