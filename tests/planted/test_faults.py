"""The faults that are planted by command can still be planted."""

from pathlib import Path

import pytest

from tests.planted import listed, places

WHERE = places(Path("src"))


def test_there_are_sixty():
    assert len(set(listed())) == 60


@pytest.mark.parametrize("fault", listed(), ids=lambda fault: fault.line)
def test_the_line_of_a_fault_stands_in_one_place(fault):
    """A line that was rewritten needs a new fault in ``faults.txt``."""
    assert len(WHERE.get(fault.line, [])) == 1
    assert fault.line != fault.spoiled
