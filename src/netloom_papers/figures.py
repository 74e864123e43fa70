"""Figures and tables as data: what is shown, and nothing of how it is drawn.

Studies make them, reports draw them. Neither knows the other.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import polars as pl

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
