"""Lists and ranges in experiment files: the values that a field takes, one per point."""

from __future__ import annotations

from math import floor, isfinite
from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.questions.numbers import MOST_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

RANGE = {"from", "to"}, {"from", "to", "step", "factor"}
"""The keys that a range has at least, and at most."""


def values_of(
    field: str, value: Any, levels: Callable[[Any], Iterable[Any]] | None = None
) -> list[Any] | None:
    """Return the values that a field of an experiment file takes. None if it has just the one.

    Parameters
    ----------
    field, value
        As in the file. A list is one value a point, of which a list is one that is a list itself.
        ``{from = 1, to = 8, step = 1}`` and ``{from = 64, to = 4096, factor = 4}`` are ranges with
        both ends.
    levels
        What reads the values in which points form a curve: they rise, none is there twice.

    Raises
    ------
    InputError
        If it is no such list or range.

    Examples
    --------
    >>> values_of("vcs", {"from": 1, "to": 8, "factor": 2})
    [1, 2, 4, 8]
    >>> values_of("app", "ring:8")
    >>> values_of("load", "0.1,0.2", lambda text: map(float, text.split(",")))
    [0.1, 0.2]
    """
    found = value if isinstance(value, list) else None
    if is_range(value):
        found = _range(field, value)
    if found is not None and not found:
        raise InputError(field, "an empty list", "one value at least")
    if levels is None:
        return found
    return list(levels(value if found is None else found))


def is_range(value: Any) -> bool:
    """Whether a value has the keys of a range."""
    return isinstance(value, dict) and RANGE[0] <= value.keys() <= RANGE[1]


def _range(field: str, given: dict[str, Any]) -> list[int | float]:
    """Return the values of a range, both ends among them."""
    numbers = list(given.values())
    wanted = "numbers: from, to that is not below it, and a step above 0 or a factor above 1"
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers):
        raise InputError(field, repr(given), wanted)
    first, last, step = given["from"], given["to"], given.get("step", 1)
    factor = given.get("factor", 1)
    rises = step > 0 if "factor" not in given else factor > 1 and first > 0
    if not all(map(isfinite, numbers)) or last < first or not rises or len(given) > 3:
        raise InputError(field, repr(given), wanted)
    found: list[int | float] = []
    if "factor" in given:
        while first <= last * (1 + 1e-12) and len(found) <= MOST_NUMBERS:
            found.append(first)
            first *= factor
    else:
        count = floor(min((last - first) / step + 1e-9, MOST_NUMBERS)) + 1
        found = [first + step * place for place in range(count)]
    if len(found) > MOST_NUMBERS:
        raise InputError(field, f"over {MOST_NUMBERS} values", f"at most {MOST_NUMBERS}")
    whole = all(isinstance(each, int) for each in numbers)
    return [each if whole else round(each, 12) for each in found]
