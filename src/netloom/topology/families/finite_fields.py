"""Arithmetic in fields of a prime power of elements, as tables."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from netloom.base.arrays import Ints


class Field(NamedTuple):
    """GF(q): elements 0 … q − 1, written as polynomials of digits in base p. Q = p^m.

    Attributes
    ----------
    plus, times
        int64[q, q], the tables of addition and multiplication.
    powers
        int64[q − 1], the powers ξ^0, ξ^1 … of a primitive element.
    """

    plus: Ints
    times: Ints
    powers: Ints


def prime_power(q: int) -> tuple[int, int] | None:
    """Return p and m of q = p^m with a prime p. None if q is no power of a prime.

    Examples
    --------
    >>> prime_power(27), prime_power(12), prime_power(1)
    ((3, 3), None, None)
    """
    prime = next((p for p in range(2, int(q**0.5) + 1) if q % p == 0), q)
    exponent, left = 0, q
    while left > 1 and left % prime == 0:
        left, exponent = left // prime, exponent + 1
    return (prime, exponent) if exponent and left == 1 else None


def field(prime: int, exponent: int) -> Field:
    """Return the field of prime^exponent elements.

    Its modulus is the first monic polynomial, coefficients counted up, of which x is a primitive
    root. In a field of p elements the primitive element is the least one.

    Examples
    --------
    >>> field(2, 2).times[2].tolist(), field(5, 1).powers.tolist()
    ([0, 2, 3, 1], [1, 2, 4, 3])
    """
    q = prime**exponent
    places = prime ** np.arange(exponent)
    digits = np.arange(q)[:, None] // places % prime
    powers = _powers(prime, exponent)
    log = np.zeros(q, np.int64)
    log[powers] = np.arange(q - 1)
    times = powers[(log[:, None] + log) % (q - 1)]
    times[0] = times[:, 0] = 0
    plus = np.zeros((q, q), np.int64)
    for place in range(exponent):
        plus += (digits[:, None, place] + digits[None, :, place]) % prime * places[place]
    return Field(plus, times, powers)


def _powers(prime: int, exponent: int) -> Ints:
    q = prime**exponent
    if exponent == 1:
        for root in range(1, q):
            found = [pow(root, k, q) for k in range(q - 1)]
            if len(set(found)) == q - 1:
                return np.array(found)
    for low in product(range(prime), repeat=exponent):
        # x^m = -(low_{m-1} ... low_0), and multiplying by x moves digits up by one place
        element, found = [1] + [0] * (exponent - 1), []
        for _ in range(q - 1):
            found.append(sum(digit * prime**place for place, digit in enumerate(element)))
            top = element[-1]
            element = [
                (before - top * coefficient) % prime
                for before, coefficient in zip([0, *element[:-1]], low[::-1], strict=True)
            ]
        if len(set(found)) == q - 1 and 0 not in found:
            return np.array(found)
    raise AssertionError(f"no primitive element of GF({q})")
