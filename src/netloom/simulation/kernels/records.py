"""Records at places that are never negative, sets as the bits of an int64, wheels of what is due.

Twin: ``tests/reference/network.py``.
"""

from __future__ import annotations

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from netloom.base.compilation import inlined

unsigned = np.uint64
"""An index as it is: signed ones are checked for counting from the end, at a fifth of the speed."""


@inlined
def record(records, place):
    """Return the record at a place that is not negative."""
    return records[np.uint64(place)]


@inlined
def post(wheel, due, bucket, what):
    """Put something into a bucket of a wheel."""
    place = unsigned(bucket)
    count = due[place]
    wheel[place, unsigned(count)] = what
    due[place] = count + 1


@inlined
def lowest(bits):
    """Return the lowest member of a set that has one."""
    return trailing_zeros(bits)  # type: ignore[call-arg]


@inlined
def next_from(bits, start):
    """Return the first member at or after ``start``, and round the end, of a set that has one."""
    behind = (bits >> start) << start
    return trailing_zeros(behind if behind else bits)  # type: ignore[call-arg]


@inlined
def single(bits):
    """Whether a set that has members has one only."""
    return (bits & (bits - 1)) == 0


@inlined
def mixed(coin, number, cycle):
    """Return 31 bits that look random, from a coin, a number and a cycle that are not negative.

    The finalizer of SplitMix64 (Steele, Lea & Flood 2014), on the sum of their multiples.
    """
    bits = np.uint64(coin) * np.uint64(0x9E3779B97F4A7C15)
    bits += np.uint64(number) * np.uint64(0xD1B54A32D192ED03)
    bits += np.uint64(cycle) * np.uint64(0x8CB92BA72F3D8DD7)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(bits >> np.uint64(33))
