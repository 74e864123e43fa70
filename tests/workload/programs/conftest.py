"""Files of programs."""

import pytest


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a file."""

    def write(text, name="trace.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write
