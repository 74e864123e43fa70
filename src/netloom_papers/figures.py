"""Figures and tables as data: what is shown, and nothing of how it is drawn.

Studies make them of curves and cells, reports draw them. Neither knows the other.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.simulation.intervals import batch_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl
    from numpy.typing import ArrayLike

PRINTED, COMPUTED, MODELLED = "printed", "computed", "model"
"""Whose numbers a row of a plot has: the paper's, or netloom's. What netloom computes with a model
has a name of its own where it is beside what netloom simulates."""


class Plot(NamedTuple):
    """One pair of axes of a figure.

    Attributes
    ----------
    title, x, y
        What is shown, and the titles of the axes with their units.
    table
        One row per point: ``series`` (the name of its curve), ``x``, ``y``, and ``whose``:
        ``printed``, ``computed`` or ``model``. Perhaps ``low`` and ``high``, an interval
        round ``y``. ``x`` may be words, in the order in which they come first.
    form
        Lines through the points, the points alone, steps (a value holds until the next), or bars.
    log_x, log_y
        Whether an axis is logarithmic.
    """

    title: str
    x: str
    y: str
    table: pl.DataFrame
    form: Literal["lines", "points", "steps", "bars"] = "lines"
    log_x: bool = False
    log_y: bool = False


class Cell(NamedTuple):
    """One number of a printed table. None where the paper, or netloom, has none.

    ``within`` says whether they agree as far as they should. None where that is not compared.
    """

    printed: float | None
    computed: float | None
    within: bool | None = None

    def words(self) -> tuple[str, str]:
        """Return both as people read them: the computed one with the digits of the printed.

        One digit more where that would leave less than three.

        Examples
        --------
        >>> Cell(0.461, 0.49608).words(), Cell(25, 23.3333).words(), Cell(None, 16904.0).words()
        (('0.461', '0.496'), ('25', '23.3'), ('–', '16904'))
        """
        printed = "–" if self.printed is None or isnan(self.printed) else f"{self.printed:.10g}"
        printed = printed.replace("inf", "∞")
        if self.computed is None or isnan(self.computed):
            return printed, "–"
        if printed == "–" or "e" in printed:
            least = 4 if abs(self.computed) < 10_000 else 10
            return printed, f"{self.computed:.{least}g}"
        places = len(printed.partition(".")[2])
        text = f"{self.computed:.{places}f}"
        few = len(text.lstrip("-0.").replace(".", "")) < 3
        if few and self.computed != round(self.computed, places):
            text = f"{self.computed:.{places + 1}f}"
        return printed, text


class Grid(NamedTuple):
    """A table of a paper, in its form.

    Attributes
    ----------
    title
        What is shown.
    columns
        The heads: of the labels, then of the cells.
    rows
        A label and its cells, one for each further column. None where the paper has nothing.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def curve(
    series: str,
    x: ArrayLike,
    y: ArrayLike,
    whose: str = COMPUTED,
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> pl.DataFrame:
    """Return the points of one curve, as ``Plot`` has them. Y is one number, or one each.

    Examples
    --------
    >>> curve("ν = 2", [0, 1], 3.0)["y"].to_list()
    [3.0, 3.0]
    """
    import polars as pl

    at = np.asarray(x)
    columns: dict[str, Any] = {
        "series": [series] * len(at),
        "x": at if at.dtype.kind == "U" else at.astype(np.float64),
        "y": np.broadcast_to(np.asarray(y, np.float64), at.shape),
        "whose": [whose] * len(at),
    }
    if low is not None and high is not None:
        columns["low"], columns["high"] = np.asarray(low), np.asarray(high)
    return pl.DataFrame(columns)


def plot(
    title: str,
    axes: tuple[str, str],
    curves: Iterable[pl.DataFrame],
    *,
    form: Literal["lines", "points", "steps", "bars"] = "lines",
    log_x: bool = False,
    log_y: bool = False,
) -> Plot:
    """Return one pair of axes with these curves."""
    import polars as pl

    table = pl.concat(list(curves), how="diagonal_relaxed")
    return Plot(title, *axes, table, form, log_x, log_y)


def averaged(
    series: str, table: pl.DataFrame, y: str, *, x: str = "applied", percent: bool = True
) -> pl.DataFrame:
    """Return the curve of the means of a table's runs, with their 95 % confidence intervals.

    ``percent`` is whether ``x`` is a share, to be shown in per cent.
    """
    xs = np.unique(table[x].to_numpy())
    found = []
    for value in xs:
        samples = table.filter(table[x] == value)[y].to_numpy()
        mean, half = batch_interval(samples, np.ones(len(samples)))
        found.append((mean, 0.0 if len(samples) < 2 else half))
    means, halves = np.array(found).T
    at = 100 * xs if percent else xs
    if (table.group_by(x).len()["len"] < 2).any():
        return curve(series, at, means)
    return curve(series, at, means, low=means - halves, high=means + halves)


def grid(
    title: str, cells: Mapping[tuple[str, str], Cell], columns: Sequence[str] = (), head: str = ""
) -> Grid:
    """Return a table of cells by label and column. What is missing stays empty.

    Parameters
    ----------
    title
        What is shown.
    cells
        By label and column. Labels are in the order in which they come first.
    columns
        The columns in their order. That in which they come first, if none are given.
    head
        What the labels are.

    Examples
    --------
    >>> grid("t", {("64", "a"): Cell(1, 1), ("64", "b"): Cell(2, 2)}, head="N").columns
    ('N', 'a', 'b')
    """
    labels = dict.fromkeys(label for label, _ in cells)
    columns = columns or list(dict.fromkeys(column for _, column in cells))
    rows = ((label, tuple(cells.get((label, column)) for column in columns)) for label in labels)
    return Grid(title, (head, *columns), tuple(rows))
