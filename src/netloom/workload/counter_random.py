"""Random numbers that are looked up, not drawn in turn: the value of a stream at any place.

A program's n-th choice in its k-th chain is a pure function of the seed, k and n. So it does not
matter in which order, or in how many parts, a simulation asks for it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError

Law: TypeAlias = Literal["fixed", "uniform", "exponential"]

LAWS = ("fixed", "uniform", "exponential")

LONGEST_MEAN = 5e7
"""Largest mean of a law of cycles: exponential ones reach 37 times that, and are int32."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def random_bits(
    seed: int, stream: int, chain: ArrayLike, index: ArrayLike = 0
) -> NDArray[np.uint64]:
    """Return 64 random bits for every chain and index, as SplitMix64 would draw them.

    Each chain is a SplitMix64 generator with a state of its own, scrambled from seed, stream and
    chain. ``index`` says how many values to skip (Steele, Lea & Flood, *Fast splittable
    pseudorandom number generators*, OOPSLA 2014, figure 17).

    ``seed``, ``stream``, ``chain`` and ``index`` are whole numbers that are not negative.
    Values of different streams are independent. The result has the shape to which chain and
    index broadcast.

    Examples
    --------
    >>> together = random_bits(1, 0, chain=[[0], [7]], index=[3, 4])
    >>> bool(together[1, 0] == random_bits(1, 0, chain=7, index=3))
    True
    """
    assert seed >= 0
    key = _scrambled(np.array([seed % 2**64], np.uint64))
    for number in (np.array([stream]), np.asarray(chain)):
        key = _scrambled(key + _words(number) * _GOLDEN)
    shape = np.broadcast_shapes(np.shape(chain), np.shape(index))
    bits = _scrambled(key + (_words(np.asarray(index)) + np.uint64(1)) * _GOLDEN)
    return bits.reshape(shape)


def uniforms(seed: int, stream: int, chain: ArrayLike, index: ArrayLike = 0) -> Floats:
    """Return float64 numbers in [0, 1), multiples of 2⁻⁵³, one for every chain and index.

    ``seed`` … ``index``: as for ``random_bits``.

    Examples
    --------
    >>> drawn = uniforms(1, 0, chain=np.arange(1000))
    >>> drawn.shape, bool(abs(drawn.mean() - 0.5) < 0.03)
    ((1000,), True)
    """
    bits = random_bits(seed, stream, chain, index) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53


def durations(
    law: Law, mean: float, seed: int, stream: int, chain: ArrayLike, index: ArrayLike = 0
) -> Ints:
    """Return whole cycles whose mean is exactly ``mean``, one for every chain and index.

    A time between two cycles is rounded up or down by chance, so that its mean is kept.

    The law is ``fixed``, ``uniform`` from 0 to twice the mean, or ``exponential``. The mean, in
    cycles, need not be whole. ``seed`` … ``index``: as for ``random_bits``.

    Raises
    ------
    InputError
        If there is no such law, or the mean is negative or above ``LONGEST_MEAN``.

    Examples
    --------
    >>> durations("fixed", 12, 1, 0, chain=[0, 1])
    array([12, 12], dtype=int32)
    """
    if law not in LAWS:
        raise InputError("law", f"'{law}'", ", ".join(LAWS))
    if not 0 <= mean <= LONGEST_MEAN:  # NaN is neither
        raise InputError("mean", f"{mean:g} cycles", f"0 to {LONGEST_MEAN:g}")
    rounding = uniforms(seed, 2 * stream + 1, chain, index)
    if law == "fixed":
        return np.floor(mean + rounding).astype(np.int32)
    drawn = uniforms(seed, 2 * stream, chain, index)
    exact = 2 * mean * drawn if law == "uniform" else -mean * np.log1p(-drawn)
    return np.floor(exact + rounding).astype(np.int32)


def stream_keys(seed: int, streams: int) -> NDArray[np.uint64]:
    """Return the keys of streams 0 to ``streams`` − 1, for kernels that look numbers up.

    Examples
    --------
    >>> stream_keys(1, 3).shape
    (3,)
    """
    assert seed >= 0
    key = _scrambled(np.array([seed % 2**64], np.uint64))
    return _scrambled(key + np.arange(streams, dtype=np.uint64) * _GOLDEN)


def _words(numbers: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Whole numbers as arrays of at least one dimension: those wrap around silently."""
    return np.atleast_1d(numbers).astype(np.uint64)


def _scrambled(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's bijection of 64 bits, each of which depends on all."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
