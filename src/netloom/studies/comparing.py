"""Printed numbers against samples: a row is as wide as the print is vague and samples spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.simulation.intervals import batch_interval
from netloom.studies.kinds import kind_of
from netloom.studies.validation import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    Part: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]


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
        printed digit, or what a word such as "almost" is taken to mean, in the unit of the value;
        one number, or by quantity. ``at most``: quantities that may be anything below. ``outside``:
        a list of reasons, each with the quantities that it keeps outside, and its ``cause``.
        ``kind``, ``kinds`` and ``number``: see ``kinds.kind_of``.
    found
        One or more samples of each quantity. The computed number is their mean; its 95 %
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
        within = known["within"]
        room = within[quantity] if isinstance(within, dict) else within
        if len(samples) > 1:
            room += half
        tolerance = room / abs(value)
        part, at_most = outside.get(quantity, {}), quantity in known.get("at most", ())
        kind, number = kind_of(known, quantity)
        yield Row(
            paper, item, quantity, value, mean, tolerance, part.get("reason", ""), at_most,
            part.get("cause", ""), kind, number,
        )  # fmt: skip


def compare_all(paper: str, printed: Mapping[str, Any], parts: Mapping[str, Part]) -> Iterator[Row]:
    """Yield the rows of all items of a data file, each recomputed by its part; see ``compare``."""
    for item, part in parts.items():
        yield from compare(paper, item, printed[item], part(printed[item]))


def run_side_by_side(runs: Sequence[Callable[[], Any]], tell: Callable[[int], None]) -> list[Any]:
    """Return what each run finds, on all processors; Ctrl-C ends them all, without an answer."""
    from netloom.simulation.side_by_side import run_all

    def deaf(run: Callable[[], Any]) -> Callable[[Callable[[], bool]], Any]:
        return lambda _: run()  # a run cannot be stopped half-way

    found = run_all([deaf(run) for run in runs], tell=tell)
    if len(found) < len(runs):
        raise KeyboardInterrupt
    return found
