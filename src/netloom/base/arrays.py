"""Names of array types, and ragged arrays: lists of numbers, one after the other.

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


def offsets_of(lengths: ArrayLike) -> Ints:
    """Return where each list begins, and where the last ends, int64[number of lists + 1].

    Examples
    --------
    >>> offsets_of([2, 0, 1])
    array([0, 2, 2, 3])
    """
    return np.append(0, np.cumsum(lengths, dtype=np.int64))


def owners_of(lengths: Ints) -> Ints:
    """Return the list that each number is in, int64[sum of lengths].

    Examples
    --------
    >>> owners_of(np.array([2, 0, 1]))
    array([0, 0, 2])
    """
    return np.repeat(np.arange(len(lengths)), lengths)


def ranges(begin: Ints, count: Ints) -> Ints:
    """Return begin[i], begin[i] + 1, …: count[i] of them, for each i.

    Examples
    --------
    >>> ranges(np.array([3, 10]), np.array([2, 3]))
    array([ 3,  4, 10, 11, 12])
    """
    skipped = np.repeat(begin - (np.cumsum(count) - count), count)
    return skipped + np.arange(len(skipped))
