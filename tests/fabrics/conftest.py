"""Fabrics of netloom's own families, as ibnetdiscover describes them."""

import re

import pytest

from netloom.topology import topology
from tests.reference.scans import scan


@pytest.fixture
def fabric(tmp_path):
    """Return a function that makes one of a family's spec."""

    def made(spec, **more):
        path = tmp_path / f"{re.sub('[^a-z0-9]', '-', spec)}.txt"
        path.write_text(scan(topology(spec), **more))
        return topology(f"fabric:{path}")

    return made
