"""What all exhibits are made of: curves on axes, and tables in a paper's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.simulation.intervals import batch_interval
from netloom_papers.figures import COMPUTED, Cell, Grid, Plot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl
    from numpy.typing import ArrayLike

    from netloom_papers.ledger import Row


def curve(
    series: str,
    x: ArrayLike,
    y: ArrayLike,
    whose: str = COMPUTED,
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> pl.DataFrame:
    """Return the points of one curve, as ``figures.Plot`` has them. Y is one number, or one each.

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


def cell(row: Row) -> Cell:
    """Return a row of ``netloom validate`` as a cell of a table."""
    return Cell(row.printed, row.computed, row.within)


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
