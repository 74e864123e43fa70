"""Places in arrays that are never negative.

Twin: ``tests/reference/network.py``.
"""

import numpy as np

from netloom.base.compilation import inlined

unsigned = np.uint64
"""An index as it is: signed ones are checked for counting from the end, at a fifth of the speed."""


@inlined
def record(records, place):
    """Return the record at a place that is not negative."""
    return records[np.uint64(place)]
