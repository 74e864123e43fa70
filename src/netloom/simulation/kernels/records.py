"""Records at places that are never negative, sets as the bits of an int64, wheels of what is due.

Twin: ``tests/reference/network.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import intrinsic

from netloom.base.compilation import inlined

unsigned = np.uint64
"""An index as it is: signed ones are checked for counting from the end, at a fifth of the speed."""


@inlined
def record(records, place):
    """Return the record at a place that is not negative."""
    return records[np.uint64(place)]


def _soon(_: Any, records: Any, __: Any) -> Any:
    """Ask the memory for the record at a place, which will be needed."""
    size = records.dtype.size

    def put(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, given[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        at = builder.mul(given[1], context.get_constant(types.int64, size))
        address = builder.gep(builder.bitcast(data, byte), [at])
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [address, number(1), number(3), number(1)])  # to write, and keep
        return context.get_dummy_value()

    return types.void(records, types.int64), put


soon: Any = intrinsic(_soon)


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
