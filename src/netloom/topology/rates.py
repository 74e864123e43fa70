"""Bandwidths and latencies of channels, as files of networks write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base import units
from netloom.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.base.arrays import Floats, Ints

PER_GHZ = {"MHz": 1e-3, "GHz": 1.0}
"""GHz of a unit of a clock."""

MOST_CYCLES = 2**20
"""Longest latency of a channel."""

RATE = "a bandwidth such as 2, 100Gb/s or 12.5GB/s"
DELAY = "a latency in cycles such as 4, or a time such as 600ns"
CLOCK = "a clock such as 1GHz or 850MHz"


class Said(NamedTuple):
    """A number that a file says of a channel. ``unit`` is empty where it says none."""

    value: float = nan
    unit: str = ""


NOTHING = Said()
NO_UNIT = "no unit"


def bandwidth_of(word: str) -> Said | None:
    """Return a bandwidth in Gb/s, or without a unit as a number. None if it is no bandwidth.

    Units are those of ``netloom.base.units``: a b is a bit, a B a byte.

    Examples
    --------
    >>> bandwidth_of("12.5GB/s"), bandwidth_of("2"), bandwidth_of("fast")
    (Said(value=100.0, unit='Gb/s'), Said(value=2.0, unit='no unit'), None)
    """
    plain = _positive(word)
    if plain is not None:
        return Said(plain, NO_UNIT)
    gbps = _in_units(word, units.RATE, Fraction(8, 10**9))
    return None if gbps is None else Said(gbps, "Gb/s")


def latency_of(word: str) -> Said | None:
    """Return a latency in cycles, or in ns where a unit of time is given. None if it is none.

    Examples
    --------
    >>> latency_of("4"), latency_of("0.6us")
    (Said(value=4.0, unit='cycles'), Said(value=600.0, unit='ns'))
    """
    plain = _positive(word)
    if plain is not None:
        return Said(plain, "cycles") if plain.is_integer() else None
    nanoseconds = _in_units(word, units.TIME, Fraction(10**9))
    return None if nanoseconds is None else Said(nanoseconds, "ns")


def clock_of(word: str) -> float | None:
    """Return a clock in GHz, which is cycles per ns. None if it is none.

    Examples
    --------
    >>> clock_of("850 MHz")
    0.85
    """
    found = re.fullmatch(rf"({units.NUMBER})\s*([MG]Hz)", word, re.ASCII)
    number = _positive(found[1]) if found else None
    return None if found is None or number is None else number * PER_GHZ[found[2]]


@dataclass(frozen=True)
class Channels:
    """What a file says of each of its channels, and how messages call them.

    Attributes
    ----------
    name
        Of the network.
    bandwidth, latency
        One a channel, or one ``NOTHING`` for all.
    link_name
        Returns what to call a channel.
    clock_ghz
        Cycles per ns, where the file says it.
    """

    name: str
    bandwidth: Sequence[Said]
    latency: Sequence[Said]
    link_name: Callable[[int], str]
    clock_ghz: float | None = None

    def rates(self, measured_by: slice) -> tuple[Floats | None, float | None]:
        """Return the bandwidth of each channel relative to the reference rate, and that in Gb/s.

        The reference rate is the one that most of the channels in ``measured_by`` have. Of several
        such the slowest. In Gb/s it is None where the file says numbers without a unit.

        Raises
        ------
        InputError
            If some channels have a bandwidth and others none, or some a unit and others none.
        """
        unit = self._one_unit(self.bandwidth, "bandwidth", f"{RATE} for every link")
        if not unit:
            return None, None
        given = np.array([said.value for said in self.bandwidth])
        known, counts = np.unique(given[measured_by], return_counts=True)
        reference = float(known[np.argmax(counts)])  # ascending: the first of the most common
        return given / reference, reference if unit == "Gb/s" else None

    def cycles(self) -> Ints | None:
        """Return the latency of each channel in cycles, at least 1. None where none is said.

        Raises
        ------
        InputError
            If some channels have a latency and others none, or cycles and others a time, if a time
            is given without a clock, or if one is too long.
        """
        wanted = f"{DELAY}, for every link in one unit"
        unit = self._one_unit(self.latency, "latency", wanted)
        if not unit:
            return None
        given = np.array([said.value for said in self.latency])
        if unit == "ns":
            if self.clock_ghz is None:
                found = f"a latency of {given[0]:g} ns and no clock"
                raise InputError(self.name, found, f"cycles, or {CLOCK} (the word clock)")
            given = np.maximum(np.rint(given * self.clock_ghz), 1)
        if given.max() > MOST_CYCLES:
            at = int(np.argmax(given))
            found = f"a latency of {given[at]:g} cycles on {self.link_name(at)}"
            raise InputError(self.name, found, f"at most {MOST_CYCLES}")
        return given.astype(np.int32)

    def _one_unit(self, said: Sequence[Said], what: str, wanted: str) -> str:
        """Return the unit in which every channel says something. Empty where none does."""
        units = dict.fromkeys(each.unit for each in said)
        if len(units) < 2:
            return next(iter(units), "")
        texts = []
        for unit in list(units)[:2]:
            at = next(place for place, each in enumerate(said) if each.unit == unit)
            number = f"{what} {said[at].value:g} {unit}".removesuffix(" " + NO_UNIT)
            texts.append(f"{self.link_name(at)} with {number if unit else f'no {what}'}")
        raise InputError(self.name, ", ".join(texts), wanted)


def _positive(text: str) -> float | None:
    """Return a positive finite number without a unit. None where it is none."""
    number = float(text) if re.fullmatch(units.NUMBER, text, re.ASCII) else 0.0
    return number if 0 < number < inf else None


def _in_units(word: str, quantity: units.Quantity, times: Fraction) -> float | None:
    """Return so many times a positive value with a unit. None where it is none."""
    try:
        return float(quantity.exact(word, where="") * times) or None
    except InputError:
        return None
