"""Names of array types, and ragged arrays: lists of numbers, one after the other.

Integers are int32 where there are many, such as ends of channels and paths, and int64 elsewhere.
A docstring says which, and the shape. Rare types are spelled out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints: TypeAlias = NDArray[np.signedinteger[Any]]
"""Integers with a sign, of 32 or 64 bits."""

Floats: TypeAlias = NDArray[np.float64]
"""Numbers of double precision."""

Bools: TypeAlias = NDArray[np.bool_]
"""Truth values."""

Int8s: TypeAlias = NDArray[np.int8]
Int16s: TypeAlias = NDArray[np.int16]
UInt8s: TypeAlias = NDArray[np.uint8]
UInt64s: TypeAlias = NDArray[np.uint64]
"""Integers of few bits, or without a sign: of large tables, kinds, GUIDs and hashes."""

Records: TypeAlias = NDArray[Any]
"""Records of several fields, or numbers whose type the caller knows."""

NO_INT32S, NO_INT64S = np.zeros(0, np.int32), np.zeros(0, np.int64)
"""No integers, where a record or a kernel takes some and there are none."""


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


def places_within(counts: Ints | Sequence[int]) -> Ints:
    """Return the place of each member of such groups within its own: int64[sum of counts].

    Examples
    --------
    >>> places_within([2, 0, 3]).tolist()
    [0, 1, 0, 1, 2]
    """
    starts = offsets_of(counts)
    return np.arange(starts[-1]) - np.repeat(starts[:-1], counts)


def places_among(keys: Ints) -> Ints:
    """Return the place of each key among its equals, in the order in which they come: int64[keys].

    Examples
    --------
    >>> places_among(np.array([7, 5, 7, 7, 5])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(keys, kind="stable")
    ordered, found = keys[order], np.empty(len(keys), np.int64)
    found[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return found


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
