"""How long packets are, in flits."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, log1p
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import real_number, split_spec, whole_number

if TYPE_CHECKING:
    from netloom.base.arrays import Ints

LONGEST = 32_767
"""Most flits of a packet: the simulators count them in int16."""

LONGEST_MEAN = 4_096
"""Largest mean of the geometric law: cutting it at ``LONGEST`` takes 0.03 % off the mean there."""

LENGTHS = "a number of flits such as 5, uniform:1-9, bimodal:1,9,0.5 or geometric:5"


@dataclass(frozen=True)
class Lengths:
    """The law of packets' lengths. ``parse_lengths`` makes one.

    Attributes
    ----------
    name
        The spec string.
    law
        ``fixed``, ``uniform``, ``bimodal`` or ``geometric``.
    shortest, longest
        No packet has fewer or more flits.
    mean
        Expected flits of a packet, exactly.
    parameter
        Share of the short packets (bimodal). Mean before the law is cut at ``longest``
        (geometric). Otherwise 0.
    """

    name: str
    law: Literal["fixed", "uniform", "bimodal", "geometric"]
    shortest: int
    longest: int
    mean: float
    parameter: float = 0.0

    def draw(self, rng: np.random.Generator, count: int) -> Ints:
        """Return int32[count], the flits of as many packets, independent of one another.

        Examples
        --------
        >>> parse_lengths("5").draw(np.random.default_rng(1), 3)
        array([5, 5, 5], dtype=int32)
        """
        if self.law == "fixed":
            return np.full(count, self.shortest, np.int32)
        if self.law == "uniform":
            return rng.integers(self.shortest, self.longest + 1, count, dtype=np.int32)
        if self.law == "bimodal":
            short = rng.random(count) < self.parameter
            return np.where(short, np.int32(self.shortest), np.int32(self.longest))
        drawn = np.ceil(rng.standard_exponential(count) * geometric_scale(1 / self.parameter))
        return np.clip(drawn, 1, self.longest).astype(np.int32)


def parse_lengths(spec: str | int) -> Lengths:
    """Return the law of packets' lengths that ``spec`` names.

    Parameters
    ----------
    spec
        ``5``: every packet has 5 flits. ``uniform:1-9``: 1 to 9, each as likely.
        ``bimodal:1,9,0.5``: 1 flit for a share of 0.5 of the packets, 9 for the others.
        ``geometric:5``: k flits with probability (1 − 1/5)^(k − 1) / 5, and ``LONGEST`` flits in
        place of more.

    Raises
    ------
    InputError
        If there is no such law, or a length is not from 1 to ``LONGEST``.

    Examples
    --------
    >>> parse_lengths("bimodal:1,9,0.5").mean
    5.0
    >>> parse_lengths(5).longest
    5
    """
    text = str(spec).strip()
    where = f"lengths '{text}'"
    name, argument = split_spec(text)
    if name.isdigit() and ":" not in text:
        flits = _flits(name, where)
        return Lengths(text, "fixed", flits, flits, float(flits))
    if name == "uniform":
        words = argument.split("-")
        if len(words) != 2:
            raise InputError(where, f"'{argument}'", "shortest-longest, such as uniform:1-9")
        shortest, longest = _rising(words, where)
        return Lengths(text, "uniform", shortest, longest, (shortest + longest) / 2)
    if name == "bimodal":
        words = argument.split(",")
        if len(words) != 3:
            wanted = "short,long,share of short packets, such as bimodal:1,9,0.5"
            raise InputError(where, f"'{argument}'", wanted)
        shortest, longest = _rising(words[:2], where)
        share = real_number(words[2], where=where)
        if not 0 < share < 1:
            raise InputError(where, f"share {share:g}", "above 0 and below 1")
        mean = share * shortest + (1 - share) * longest
        return Lengths(text, "bimodal", shortest, longest, mean, share)
    if name == "geometric":
        mean = real_number(argument, where=where)
        if not 1 <= mean <= LONGEST_MEAN:
            raise InputError(where, f"mean {mean:g}", f"1 to {LONGEST_MEAN}")
        cut = mean * -expm1(LONGEST * log1p(-1 / mean)) if mean > 1 else 1.0  # Σ P(more than k)
        return Lengths(text, "geometric", 1, LONGEST if mean > 1 else 1, cut, mean)
    raise InputError(where, f"'{name}'", LENGTHS)


def geometric_scale(probability: float) -> float:
    """Return s such that ceil(s E) is geometric with this probability, if E is exponential.

    P(ceil(s E) > k) = exp(−k / s) = (1 − probability)^k. For probability 1 the scale is 0, and
    what should be 1 comes out as 0.

    Examples
    --------
    >>> round(geometric_scale(0.5), 4)
    1.4427
    """
    return -1 / log1p(-probability) if probability < 1 else 0.0


def _flits(text: str, where: str) -> int:
    flits = whole_number(text.strip(), where=where, least=1)
    if flits > LONGEST:
        raise InputError(where, f"{flits} flits", f"at most {LONGEST}")
    return flits


def _rising(words: list[str], where: str) -> tuple[int, int]:
    shortest, longest = (_flits(word, where) for word in words)
    if shortest >= longest:
        raise InputError(where, f"{shortest} and {longest} flits", "the shorter one first")
    return shortest, longest
