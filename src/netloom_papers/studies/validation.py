"""The former dialect of data files, of the papers that are not in the ledger yet."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.simulation.intervals import batch_interval
from netloom_papers.ledger import Row, Validation, kind_of, validate
from netloom_papers.studies.running import run_side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import ArrayLike

    Part: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]

__all__ = [
    "Row",
    "Validation",
    "compare",
    "compare_all",
    "published",
    "run_side_by_side",
    "validate",
]


def published(paper: str) -> dict[str, Any]:
    """Return the printed numbers of a paper, with tolerances and reasons, from its data file."""
    text = files("netloom_papers.studies").joinpath("data", f"{paper}.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found


def compare(
    paper: str, item: str, known: Mapping[str, Any], found: Mapping[str, ArrayLike]
) -> Iterator[Row]:
    """Yield a row for each printed number of an item.

    Parameters
    ----------
    paper, item
        As in the rows.
    known
        Of the data file. ``values``: printed numbers by quantity. ``within``: half of the last
        printed digit, or what a word such as "almost" is taken to mean, in the unit of the value.
        One number, or by quantity. ``percent`` instead: of the value. One number, or by the part of
        a quantity before its comma. ``at most``: quantities that may be anything below.
        ``outside``: a list of reasons, each with the quantities that it keeps outside, and its
        ``cause``. ``kind``, ``kinds`` and ``number``: see ``kinds.kind_of``.
    found
        One or more samples of each quantity. The computed number is their mean. Its 95 %
        confidence interval widens the tolerance.

    Examples
    --------
    >>> known = {"kind": "printed", "values": {"loop (cycles)": 100}, "within": 0.5}
    >>> (row,) = compare("p", "table 1", known, {"loop (cycles)": 100.4})
    >>> row.within, row.tolerance, row.kind
    (True, 0.005, 'printed')
    """
    outside = {quantity: part for part in known.get("outside", ()) for quantity in part["rows"]}
    assert known["values"].keys() == found.keys(), (
        f"{item}: {known['values'].keys() ^ found.keys()}"
    )
    for quantity, value in known["values"].items():
        samples = np.atleast_1d(np.asarray(found[quantity], np.float64))
        mean, half = batch_interval(samples, np.ones(len(samples)))
        room = _room(known, quantity, value) + (half if len(samples) > 1 else 0)
        part, at_most = outside.get(quantity, {}), quantity in known.get("at most", ())
        kind, number = kind_of(known, quantity)
        yield Row(
            paper, item, quantity, value, mean, room / abs(value), part.get("reason", ""), at_most,
            part.get("cause", ""), kind, number,
        )  # fmt: skip


def _room(known: Mapping[str, Any], quantity: str, value: float) -> float:
    """Return how far a quantity may be off, in its unit."""
    if "percent" not in known:
        within = known["within"]
        return float(within[quantity] if isinstance(within, dict) else within)
    percent = known["percent"]
    if isinstance(percent, dict):
        percent = percent[quantity.partition(",")[0]]
    return float(value * percent / 100)


def compare_all(
    paper: str,
    printed: str | Mapping[str, Any],
    parts: Mapping[str, Part],
    *items: str,
    **changes: Any,
) -> tuple[Row, ...]:
    """Return the rows of items of a data file, each recomputed by its part. See ``compare``.

    Parameters
    ----------
    paper
        As in the rows.
    printed
        The data file's name, or its content.
    parts
        What recomputes each item, from what the file says of it.
    items
        Those wanted. All of ``parts`` if none.
    changes
        What the items have in place of what the file says, such as fewer ``seeds``.
    """
    if isinstance(printed, str):
        printed = published(printed)
    rows: list[Row] = []
    for item in items or parts:
        known = printed[item] | changes
        rows += compare(paper, item, known, parts[item](known))
    return tuple(rows)
