"""Bandwidths and latencies of channels, as files of networks write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

NUMBER = r"[\d.]+(?:[eE][+-]?\d+)?"

PER_GBPS = {"k": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}
"""Gb/s of a kilobit, megabit … a second."""

PER_NS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3}
"""Nanoseconds of a unit of time."""

MOST_CYCLES = 2**20
"""Longest latency of a channel."""

RATE = "a bandwidth such as 2, 100Gb/s or 12.5GB/s"
DELAY = "a latency in cycles such as 4, or a time such as 600ns"
CLOCK = "a clock such as 1GHz or 850MHz"


class Said(NamedTuple):
    """A number that a file says of a channel; ``unit`` is empty where it says none."""

    value: float = nan
    unit: str = ""


NOTHING = Said()
NO_UNIT = "no unit"


def bandwidth_of(word: str) -> Said | None:
    """Return a bandwidth in Gb/s, or without a unit as a number; None if it is no bandwidth.

    Units are b/s (or bit/s, bps) and B/s with k, M, G or T before them: a b is a bit, a B a byte.

    Examples
    --------
    >>> bandwidth_of("12.5GB/s"), bandwidth_of("2"), bandwidth_of("fast")
    (Said(value=100.0, unit='Gb/s'), Said(value=2.0, unit='no unit'), None)
    """
    found = re.fullmatch(rf"({NUMBER})\s*(?:([kMGT])(bit|b|B)(?:/s|ps)?)?", word, re.ASCII)
    number = _positive(found[1]) if found else None
    if found is None or number is None:
        return None
    if not found[2]:
        return Said(number, NO_UNIT)
    gbps = number * PER_GBPS[found[2]] * (8 if found[3] == "B" else 1)
    return Said(float(f"{gbps:.12g}"), "Gb/s")  # the same rate is the same number in every unit


def latency_of(word: str) -> Said | None:
    """Return a latency in cycles, or in ns where a unit of time is given; None if it is none.

    Examples
    --------
    >>> latency_of("4"), latency_of("0.6us")
    (Said(value=4.0, unit='cycles'), Said(value=600.0, unit='ns'))
    """
    found = re.fullmatch(rf"({NUMBER})\s*(ps|ns|us|µs)?", word, re.ASCII)
    number = _positive(found[1]) if found else None
    if found is None or number is None:
        return None
    if found[2]:
        return Said(number * PER_NS[found[2]], "ns")
    return Said(number, "cycles") if number.is_integer() else None


def clock_of(word: str) -> float | None:
    """Return a clock in GHz, which is cycles per ns; None if it is none.

    Examples
    --------
    >>> clock_of("850 MHz")
    0.85
    """
    found = re.fullmatch(rf"({NUMBER})\s*([MG])Hz", word, re.ASCII)
    number = _positive(found[1]) if found else None
    return None if found is None or number is None else number * PER_GBPS[found[2]]


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

    def rates(self, measured_by: slice) -> tuple[NDArray[np.float64] | None, float | None]:
        """Return the bandwidth of each channel relative to the reference rate, and that in Gb/s.

        The reference rate is the one that most of the channels in ``measured_by`` have; of several
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

    def cycles(self) -> NDArray[np.int32] | None:
        """Return the latency of each channel in cycles, at least 1; None where none is said.

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
        """Return the unit in which every channel says something; empty where none does."""
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
    """Return a positive finite number; None where it is none."""
    try:
        number = float(text)
    except ValueError:
        number = inf
    return number if isfinite(number) and number > 0 else None
