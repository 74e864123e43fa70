"""Sets as the bits of an int64, and wheels of what is due."""

from numba.cpython.unsafe.numbers import trailing_zeros

from netloom.compilation import inlined
from netloom.simulation.records_kernel import unsigned


@inlined
def post(wheel, due, each, bucket, what):
    """Put something into a bucket of a wheel."""
    place = unsigned(bucket)
    count = due[place]
    wheel[unsigned(bucket * each + count)] = what
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
