"""Bytes, rates and times as people write and read them: the one definition of each unit.

Inside netloom sizes are bytes, rates bytes/s and times seconds, as floats. Text always says its
unit, except bytes where nothing else can be meant, and the time 0. A ``b`` is a bit, a ``B`` a
byte. K (or K), M, G, T and P are powers of 1,000, Ki, Mi, Gi, Ti and Pi powers of 1,024.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isinf, isnan
from numbers import Real

from netloom.base.errors import InputError

NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
"""A number without a sign, as text has it."""

MOST_TEXT = 60
"""Most characters of a number and its unit."""

LARGEST = 1e18
"""Above so many bytes, or bytes per second, are only mistakes."""

LONGEST_SECONDS = 1e9
"""A longer time is a mistake."""

PREFIXES = {
    "": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50,
}  # fmt: skip
"""What stands before a bit or a byte, and how many of them it is."""

_WRITTEN = PREFIXES | {"K": 1000}
_SIZES = {prefix + "B": Fraction(scale) for prefix, scale in _WRITTEN.items()}
_TIMES = {unit: Fraction(1, 1000**n) for n, unit in enumerate(("s", "ms", "us", "ns", "ps"))}
_MICRO = {"\u00b5s": _TIMES["us"], "\u03bcs": _TIMES["us"]}  # the sign, and the Greek letter
_RATES = {
    f"{prefix}{unit}{per}": scale * part
    for prefix, scale in _WRITTEN.items()
    for unit, part in (("b", Fraction(1, 8)), ("bit", Fraction(1, 8)), ("B", Fraction(1)))
    for per in ("/s", "ps", "")
}


@dataclass(frozen=True)
class Quantity:
    """Sizes, rates or times: how text says them, and how people read them.

    Attributes
    ----------
    units
        By each spelling of a unit how many bytes, bytes/s or seconds it is, exactly.
    wanted
        What would be right, for messages.
    shown
        The units that netloom writes, rising.
    most
        The largest value. None is below 0.
    zero
        Whether 0 is a value.
    plain
        Which numbers need no unit: ``any``, only ``0``, or ``none``.
    """

    units: Mapping[str, Fraction]
    wanted: str
    shown: tuple[tuple[str, float], ...]
    most: float
    zero: bool
    plain: str

    def parse(self, given: str | float, *, where: str) -> float:
        """Return a value from text with its unit. A number is bytes, bytes/s or seconds already.

        Raises
        ------
        InputError
            Naming ``where``, if the text has no unit where one is needed or another one, or the
            number is negative, infinite, NaN, too large, or 0 where that is no value.

        Examples
        --------
        >>> parse_bytes("64KiB", where="size"), parse_bytes("1 GB", where="size")
        (65536.0, 1000000000.0)
        >>> parse_rate("200Gb/s", where="rate") == parse_rate("25GB/s", where="rate") == 25e9
        True
        >>> parse_rate("200", where="bandwidth")
        Traceback (most recent call last):
            ...
        netloom.InputError: bandwidth: found '200' without a unit; expected a rate with its unit,
        such as 200Gb/s or 25GB/s (b is a bit, B a byte)
        >>> parse_seconds("600ns", where="latency"), parse_seconds("0", where="latency")
        (6e-07, 0.0)
        """
        if isinstance(given, str):
            return float(self.exact(given, where=where))
        if not isinstance(given, Real) or isinstance(given, bool):
            raise InputError(where, f"{given!r}", self.wanted)
        self._check(given, f"{given!r}", where)
        return float(given)

    def exact(self, text: str, *, where: str) -> Fraction:
        """Return the value of text exactly: ``parse`` rounds it once."""
        found = re.fullmatch(rf"([+-]?{NUMBER})\s*([^\d\s].*)?", text.strip(), re.ASCII)
        if len(text) > MOST_TEXT or found is None:
            raise InputError(where, f"'{text}'" if text.strip() else "nothing", self.wanted)
        number, unit = Fraction(found[1]), found[2] or ""
        if not unit:
            if self.plain == "none" or (self.plain == "0" and number):
                raise InputError(where, f"'{text}' without a unit", self.wanted)
        elif unit not in self.units:
            raise InputError(where, f"'{text}', whose unit is not known here", self.wanted)
        value = number * self.units.get(unit, 1)
        self._check(value, f"'{text}'", where)
        return value

    def _check(self, value: float | Fraction, said: str, where: str) -> None:
        if not 0 <= value <= self.most or (value == 0 and not self.zero):  # NaN is neither
            least = "of at least 0" if self.zero else "above 0"
            wanted = f"{self.wanted}: {least}, at most {self.said(self.most)}"
            raise InputError(where, said, wanted)

    def said(self, value: float | None, digits: int = 3) -> str:
        """Return a value with the unit that suits it, and so many significant digits.

        Examples
        --------
        >>> size(8), size(1_234_567), size(999_999), size(None)
        ('8 B', '1.23 MB', '1 MB', '–')
        >>> rate(25e9), rate(12.5e9)
        ('25 GB/s', '12.5 GB/s')
        >>> seconds(3.2e-6), seconds(0.0123456), seconds(0), seconds(7200)
        ('3.2 µs', '12.3 ms', '0 s', '7,200 s')
        """
        if value is None or isnan(value):
            return "–"
        sign, value = ("−" if value < 0 else ""), abs(value)
        if isinf(value):
            return f"{sign}∞"
        scale, unit = self.scale(float(f"{value:.{digits - 1}e}"))
        scaled = float(f"{value / scale:.{digits - 1}e}")
        number = f"{scaled:,.0f}" if scaled >= 10**digits else f"{scaled:.{digits}g}"
        return f"{sign}{number} {unit}"

    def scale(self, value: float) -> tuple[float, str]:
        """Return the unit that suits a value, and how many bytes, bytes/s or seconds it is.

        An axis of a chart takes the unit of its largest value; 0 has the plain one.
        """
        if value == 0:
            return 1.0, next(name for name, scale in self.shown if scale == 1)
        fits = [(scale, name) for name, scale in self.shown if value >= scale * (1 - 1e-12)]
        return max(fits, default=(self.shown[0][1], self.shown[0][0]))


def _decimal(unit: str) -> tuple[tuple[str, float], ...]:
    return tuple(
        (prefix + unit, float(PREFIXES[prefix])) for prefix in ("", "k", "M", "G", "T", "P")
    )


_SECONDS = (("ps", 1e-12), ("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0))
_BYTES = "bytes such as 8, 64KiB or 1GB (B is a byte)"
_RATE = "a rate with its unit, such as 200Gb/s or 25GB/s (b is a bit, B a byte)"
_TIME = "a time with its unit, such as 600ns, 1.2us or 3ms"

SIZE = Quantity(_SIZES, _BYTES, _decimal("B"), LARGEST, zero=True, plain="any")
RATE = Quantity(_RATES, _RATE, _decimal("B/s"), LARGEST, zero=False, plain="none")
TIME = Quantity(_TIMES | _MICRO, _TIME, _SECONDS, LONGEST_SECONDS, zero=True, plain="0")

parse_bytes, parse_rate, parse_seconds = SIZE.parse, RATE.parse, TIME.parse
"""Return bytes, bytes/s and seconds of what is given: see ``Quantity.parse``."""

size, rate, seconds = SIZE.said, RATE.said, TIME.said
"""Return bytes, bytes/s and seconds for people: see ``Quantity.said``."""
