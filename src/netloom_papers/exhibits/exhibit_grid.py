"""A table of a paper as a picture: in each cell the printed number and the computed one."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from netloom.base.figures import Grid
from netloom.drawing.colours import REFERENCE, THIS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from netloom.base.figures import Plot

MEANING = (
    "Tables: the printed number is grey and left, the computed one black and right; "
    "red where it is outside its tolerance."
)

LETTER = 6.4
"""Pixels of a digit or letter, about."""

LINE, HEAD_LINE = 21, 14
"""Pixels of a row, and of a line of the heads."""

GAP = 22
"""Pixels between columns."""

HEAD_LETTERS = 14
"""Of a line of a head."""


def grid_size(grid: Grid) -> tuple[int, int]:
    """Return width and height of the picture of a table, in pixels.

    Examples
    --------
    >>> from netloom.base.figures import Cell, Grid
    >>> grid_size(Grid("t", ("mesh", "clocks"), (("m11k", (Cell(12, 13),)),)))
    (91, 47)
    """
    widths = _widths(grid)
    return sum(widths), _head_height(grid) + LINE * len(grid.rows) + 4


def has_printed(panels: Sequence[Plot | Grid]) -> bool:
    """Return whether a table among some panels has a printed number to tell from a computed one.

    Examples
    --------
    >>> from netloom.base.figures import Cell, Grid
    >>> has_printed([Grid("t", ("torus", "off"), (("8 × 8", (Cell(None, 3.6),)),))])
    False
    """
    tables = (panel for panel in panels if isinstance(panel, Grid))
    cells = (cell for table in tables for _, row in table.rows for cell in row)
    return any(cell is not None and cell.printed is not None for cell in cells)


def grid_chart(grid: Grid) -> alt.LayerChart:
    """Return the picture of a table.

    Parameters
    ----------
    grid
        The table.
    """
    import altair as alt

    width, height = grid_size(grid)
    texts, marked = _texts(grid)
    x, y = alt.X("x:Q", scale=None, axis=None), alt.Y("y:Q", scale=None, axis=None)
    base = alt.Chart(alt.InlineData(texts)).encode(x=x, y=y, text="text:N")
    rules = [{"y": _head_height(grid) + LINE * row} for row in range(len(grid.rows) + 1)]
    layers: list[Any] = [
        alt.Chart(alt.InlineData(rules))
        .mark_rule(strokeWidth=0.6, color=REFERENCE, opacity=0.45)
        .encode(y=y)
    ]
    if marked:
        layers.append(
            alt.Chart(alt.InlineData(marked))
            .mark_rect(color=THIS, opacity=0.16, cornerRadius=3)
            .encode(x=x, x2="x2:Q", y=y, y2="y2:Q")
        )
    for kind, look in LOOKS.items():
        if any(text["kind"] == kind for text in texts):
            layers.append(
                base.transform_filter(f"datum.kind == '{kind}'").mark_text(
                    baseline="middle", **look
                )
            )
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=width,
        height=height,
        title=alt.TitleParams(
            wrap(grid.title, max(24, int(width / LETTER))), anchor="start", fontSize=12.5
        ),
    )
    return chart


LOOKS: dict[str, dict[str, Any]] = {
    "label": {"align": "left", "fontSize": 12},
    "head": {"align": "right", "fontWeight": 600, "fontSize": 12},
    "printed": {"align": "right", "color": REFERENCE, "fontSize": 12},
    "computed": {"align": "right", "fontSize": 12},
    "outside": {"align": "right", "color": THIS, "fontWeight": 600, "fontSize": 12},
}


def _texts(grid: Grid) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return all texts with their places, and the rectangles of cells that are outside."""
    widths, top = _widths(grid), _head_height(grid)
    right = [sum(widths[: at + 1]) for at in range(len(widths))]
    texts: list[dict[str, Any]] = []
    marked: list[dict[str, Any]] = []

    def write(kind: str, x: float, y: float, text: str) -> None:
        texts.append({"kind": kind, "x": x, "y": y, "text": text})

    for at, head in enumerate(grid.columns):
        lines = wrap(head, HEAD_LETTERS)
        for place, line in enumerate(lines):
            above = 10 + HEAD_LINE * (len(lines) - 1 - place)
            write("head" if at else "label", right[at] if at else 0, top - above, line)
    for place, (label, cells) in enumerate(grid.rows):
        y = top + LINE * (place + 0.5)
        write("label", 0, y, label)
        for at, cell in enumerate(cells, 1):
            if cell is None:
                continue
            printed, computed = cell.words()
            first, second = _halves(grid, at)
            if first:
                write("printed", right[at] - second, y, printed)
            outside = cell.within is False
            if second:
                write("outside" if outside else "computed", right[at], y, computed)
            if outside:
                half = LINE / 2 - 2
                spot = {"x": right[at - 1] + GAP / 2, "x2": right[at] + 4}
                marked.append({**spot, "y": y - half, "y2": y + half})
    return texts, marked


def _widths(grid: Grid) -> list[int]:
    """Return the width of each column, with the gap before it."""
    labels = [grid.columns[0], *(label for label, _ in grid.rows)]
    widths = [int(max(len(label) for label in labels) * LETTER) + 6]
    for at, head in enumerate(grid.columns[1:], 1):
        head_width = max((len(line) for line in wrap(head, HEAD_LETTERS)), default=0) * LETTER
        widths.append(int(max(head_width, sum(_halves(grid, at)))) + GAP)
    return widths


def _halves(grid: Grid, at: int) -> tuple[float, float]:
    """Return the widths of the printed and the computed numbers of a column; 0 where none is."""
    cells = [row[at - 1] for _, row in grid.rows]
    words = [cell.words() for cell in cells if cell is not None]
    first, second = (
        max((len(pair[half]) for pair in words), default=0) * LETTER
        if any(cell is not None and cell[half] is not None for cell in cells)
        else 0.0
        for half in (0, 1)
    )
    return first, second + 12 if first and second else second


def _head_height(grid: Grid) -> int:
    return HEAD_LINE * max(len(wrap(head, HEAD_LETTERS)) for head in grid.columns) + 8
