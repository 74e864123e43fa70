"""Sizes, rates and tables of a curve: what questions to a model have in common."""

from __future__ import annotations

from math import floor, log
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.questions.numbers import MOST_NUMBERS, parse_positive
from netloom.spec import real_number, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

AUTO = "auto"

NEARLY = 0.99
"""Of the saturation rate, where curves end: there, latency hangs on how it was found."""

"""The end of a range of rates that is to be where the network saturates."""

AUTO_STEPS = 20

MOST_SIMULATED = 8
"""Rates of a curve that are simulated beside the model."""

OF_A_SIMULATION = ("cycles", "precision", "most_cycles")
"""Fields of a question that say something of its ``simulate`` only."""


def parse_sizes(given: Any, field: str) -> tuple[int, ...]:
    """Return whole numbers above 0, rising, none twice.

    Parameters
    ----------
    given
        As for ``parse_positive``, or ``START:STOP:xFACTOR``, a range of which each is so many times
        the one before.
    field
        What they are, for messages.

    Raises
    ------
    InputError
        If these are no such numbers.

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
        As for ``parse_positive``; ``START:auto`` and ``START:auto:STEPS`` go to where the network
        saturates, nearly, in 20 steps or so many.
    field
        What they are, for messages.
    saturation
        Gives the rate at which the network saturates.
    nearly
        At which part of that rate a curve ends.

    Raises
    ------
    InputError
        If these are no such rates.

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


def some_of(rates: Sequence[float]) -> list[float]:
    """Return at most ``MOST_SIMULATED`` rates, evenly chosen, first and last among them.

    Examples
    --------
    >>> some_of(range(1, 21))
    [1, 4, 6, 9, 12, 15, 17, 20]
    """
    places = np.linspace(0, len(rates) - 1, min(len(rates), MOST_SIMULATED)).round()
    return [rates[int(place)] for place in places]


def table_of(points: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """Return one row a point, with what was ``simulated`` beside it, null where nothing was.

    Examples
    --------
    >>> run = {"latency": 8.0, "ci95": 0.1, "stable": True, "error": 0.25}
    >>> points = [{"latency": 10.0, "simulated": run}, {"latency": None, "simulated": None}]
    >>> table_of(points).columns
    ['latency', 'simulated_latency', 'simulated_ci95', 'simulated_stable', 'error']
    """
    import polars as pl

    rows = []
    for point in points:
        figures = {name: value for name, value in point.items() if name != "simulated"}
        measured = point["simulated"] or {}
        for name in ("latency", "ci95", "stable"):
            figures[f"simulated_{name}"] = measured.get(name)
        rows.append(figures | {"error": measured.get("error")})
    table = pl.DataFrame(rows, infer_schema_length=None)
    unknown = [name for name, dtype in table.schema.items() if dtype == pl.Null]
    return table.cast(dict.fromkeys(unknown, pl.Float64))
