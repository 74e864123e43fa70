"""Rows of the same question with several seeds, as one: means with their intervals."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from netloom.base.words import give_or_take

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

SEED = "seed"


def over_seeds(
    rows: Iterable[Mapping[str, Any]], keys: Sequence[str], columns: Collection[str]
) -> list[dict[str, Any]]:
    r"""Return one row for each value of the keys, in the order of the first key.

    If an answer has several rows, the first of each seed belong together, the second, and so on.

    A number is the mean over the seeds with half of its 95 % interval (Student's t). If a seed has
    none, there is no mean. What is true of some seeds only is said with their number.

    Examples
    --------
    >>> rows = [{"on": "a", "seed": n, "latency": 20.0 + n, "up": n > 1} for n in (1, 2, 3)]
    >>> over_seeds(rows, ["on"], ["latency", "up"])
    [{'on': 'a', 'latency': '22.0\xa0±\xa02.5', 'up': '2 of 3'}]
    """
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    seen: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        key = tuple(row[name] for name in keys)
        one = (key, row.get(SEED))
        groups.setdefault((*key, seen[one]), []).append(row)
        seen[one] += 1
    firsts = {key[0]: place for place, key in reversed(list(enumerate(groups)))}
    order = sorted(groups, key=lambda key: _place(key[0], firsts) if keys else 0)
    return [
        dict(zip(keys, key, strict=False))
        | {name: _together([row[name] for row in groups[key]]) for name in columns}
        for key in order
    ]


def _place(value: Any, firsts: Mapping[Any, int]) -> float:
    """Return where a value of the first key stands: numbers rise, words keep their order."""
    return value if isinstance(value, int | float) else firsts[value]


def _together(values: Sequence[Any]) -> Any:
    """Return what several seeds have found as one value."""
    if len(values) == 1:
        return values[0]
    if all(isinstance(each, bool) for each in values):
        held = sum(values)
        return held == len(values) if held in (0, len(values)) else f"{held} of {len(values)}"
    if not all(isinstance(each, int | float) for each in values):
        if any(isinstance(each, int | float) for each in values):
            return None
        return values[0] if len(set(values)) == 1 else f"{len(set(values))} kinds"
    from scipy.special import stdtrit

    many = len(values)
    half = float(stdtrit(many - 1, 0.975)) * stdev(values) / sqrt(many)
    return give_or_take(fmean(values), half)
