"""One number, several, or a range of them: loads, rates and sizes.

What is no such number raises InputError, which calls it by its ``field`` and ``unit``.
"""

from __future__ import annotations

from math import floor, log
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import real_number, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_NUMBERS = 1000
"""Most numbers of one question."""

MOST_VALUE = 1e9
"""Numbers of bytes or µs from which on they are taken for a mistake."""

AUTO, AUTO_STEPS = "auto", 20
"""The end of a range of rates that is to be where the network saturates, and its usual steps."""

NEARLY = 0.99
"""Of the saturation rate, where such ranges end: there, latency hangs on how it was found."""


def parse_numbers(
    given: Any, field: str, *, below_one: bool = False, unit: str = "flits/node/cycle"
) -> tuple[float, ...]:
    """Return numbers above 0 and at most 1, rising, none twice.

    Parameters
    ----------
    given
        A number, several (also ``0.1,0.2``), or a range ``START:STOP:STEP`` with both ends.
    below_one
        Whether 1 itself is refused.

    Examples
    --------
    >>> parse_numbers("0.05:0.2:0.05", "load")
    (0.05, 0.1, 0.15, 0.2)
    >>> parse_numbers([0.3, 0.1], "load")
    (0.1, 0.3)
    """
    wanted = f"above 0, {'below' if below_one else 'at most'} 1 ({unit})"
    if given is None:
        raise InputError(field, "none", f"{wanted}, such as 0.2, 0.1,0.2 or 0.05:0.6:0.05")
    values = _parse(given, field, wanted)
    for value in values:
        if not 0 < value <= 1 or (below_one and value == 1):  # NaN is neither
            raise InputError(field, f"{value:g}", wanted)
    return values


def parse_positive(
    given: Any, field: str, *, whole: bool = False, zero: bool = False
) -> tuple[float, ...]:
    """Return finite numbers above 0, rising, none twice. Given as for ``parse_numbers``.

    Examples
    --------
    >>> parse_positive("256,1024", "message_bytes", whole=True)
    (256.0, 1024.0)
    """
    kind = "whole numbers" if whole else "numbers"
    wanted = f"{kind} {'of at least' if zero else 'above'} 0, with commas, or START:STOP:STEP"
    values = _parse(given, field, wanted)
    for value in values:
        if value >= MOST_VALUE:
            raise InputError(field, f"{value:g}", f"below {MOST_VALUE:,.0f}")
        fits = value > 0 or (zero and value == 0)
        if not fits or (whole and value % 1):
            raise InputError(field, f"{value:g}", wanted)
    return values


def parse_sizes(given: Any, field: str) -> tuple[int, ...]:
    """Return whole numbers above 0, rising, none twice.

    Parameters
    ----------
    given
        As for ``parse_positive``, or ``START:STOP:xFACTOR``, a range of which each is so many times
        the one before.

    Examples
    --------
    >>> parse_sizes("64:4096:x4", "nodes"), parse_sizes(1000, "nodes")
    ((64, 256, 1024, 4096), (1000,))
    """
    words = given.split(":") if isinstance(given, str) else []
    if len(words) == 3 and words[2].strip().startswith("x"):
        start, stop = (real_number(word.strip(), where=field) for word in words[:2])
        factor = real_number(words[2].strip().removeprefix("x"), where=field)
        if not (start >= 1 and stop >= start and factor > 1):
            raise InputError(field, f"'{given}'", "START:STOP:xFACTOR, such as 64:4096:x4")
        count = floor(min(log(stop / start) / log(factor) + 1e-9, MOST_NUMBERS)) + 1
        given = [round(start * factor**power) for power in range(count)]
    return tuple(int(each) for each in parse_positive(given, field, whole=True))


def parse_rates(
    given: Any, field: str, saturation: Callable[[], float], *, nearly: float = NEARLY
) -> tuple[float, ...]:
    """Return rates of at least 0, rising, none twice.

    Parameters
    ----------
    given
        As for ``parse_positive``. ``START:auto`` and ``START:auto:STEPS`` go to where the network
        saturates, nearly, in 20 steps or so many.
    saturation
        Gives the rate at which the network saturates.
    nearly
        At which part of that rate a curve ends.

    Examples
    --------
    >>> parse_rates("0:auto:4", "rate", lambda: 0.04 / 0.99)
    (0.0, 0.01, 0.02, 0.03, 0.04)
    """
    words = [word.strip() for word in given.split(":")] if isinstance(given, str) else []
    if AUTO not in words:
        return parse_positive(given, field, zero=True)
    wanted = f"START:{AUTO}:STEPS, such as 0:{AUTO} or 0.1:{AUTO}:10"
    if len(words) not in (2, 3) or words[1] != AUTO or words.count(AUTO) > 1:
        raise InputError(field, f"'{given}'", wanted)
    steps = whole_number(words[2], where=field, least=1) if len(words) == 3 else AUTO_STEPS
    start, stop = real_number(words[0], where=field), nearly * saturation()
    if not 0 <= start < stop:
        raise InputError(field, f"'{given}'", f"a start from 0 to {stop:.4g}, where it saturates")
    if steps >= MOST_NUMBERS:
        raise InputError(field, f"{steps} steps", f"at most {MOST_NUMBERS - 1}")
    return parse_positive(np.linspace(start, stop, steps + 1), field, zero=True)


def _parse(given: Any, field: str, wanted: str) -> tuple[float, ...]:
    if not isinstance(given, str):
        values = _values(given, field, wanted)
    elif ":" in given:
        values = _range(given, field)
    else:
        values = [real_number(word.strip(), where=field) for word in given.split(",")]
    if not 0 < len(values) <= MOST_NUMBERS:
        raise InputError(field, f"{len(values)} {field.rstrip('s')}s", f"1 to {MOST_NUMBERS}")
    return tuple(sorted(set(values)))


def _values(given: Any, field: str, wanted: str) -> list[float]:
    """Return a number, or a flat list of numbers, as a list."""
    try:
        numbers = np.atleast_1d(np.asarray(given, np.float64))
        if numbers.ndim == 1 and np.asarray(given).dtype != np.bool_:
            return [float(value) for value in numbers]
    except (TypeError, ValueError):
        pass
    raise InputError(field, repr(given), wanted)


def _range(text: str, field: str) -> list[float]:
    words = text.split(":")
    if len(words) != 3:
        raise InputError(field, f"'{text}'", "START:STOP:STEP, such as 0.05:0.6:0.05")
    start, stop, step = (real_number(word.strip(), where=field) for word in words)
    if not step > 0 or stop < start:
        raise InputError(field, f"'{text}'", "a step above 0, and a stop that is not below start")
    count = floor(min((stop - start) / step + 1e-9, MOST_NUMBERS)) + 1
    return [round(start + step * index, 12) for index in range(count)]


def known(value: Any) -> float | None:
    """Return a number as JSON has it: None for NaN, which stands for what is not known.

    Examples
    --------
    >>> known(np.float64(1.5)), known(float("nan"))
    (1.5, None)
    """
    return None if np.isnan(value) else float(value)


def tidy(data: Any) -> Any:
    """Return data as types of Python only: no NumPy scalars and arrays, no tuples, no -0.0.

    Examples
    --------
    >>> tidy({"mean": np.float64(-0.0), "of": (np.int32(1), np.array([True]))})
    {'mean': 0.0, 'of': [1, [True]]}
    """
    if isinstance(data, np.ndarray | np.generic):
        data = data.tolist()
    if isinstance(data, dict):
        return {key: tidy(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [tidy(value) for value in data]
    return data + 0.0 if isinstance(data, float) else data  # -0.0 + 0.0 is 0.0
