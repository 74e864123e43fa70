"""Tables for terminals of any width: words wrap, columns are left out, no number is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderResult

GAP = 2
"""Letters between columns."""


class FittingTable(Table):
    """A table without lines: names of rows wrap, and its last columns go where room is short."""

    def __init__(self, heads: Iterable[str]) -> None:
        """Make a table with these heads. The first column is of words, the others of numbers."""
        super().__init__(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
        name, *numbers = heads
        self.add_column(name)
        for head in numbers:
            self.add_column(head, justify="right", no_wrap=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table with as many columns as fit without cutting a number."""
        every = self.columns
        while len(self.columns) > 1 and self._needed() > options.max_width:
            self.columns = self.columns[:-1]
        yield from super().__rich_console__(console, options)
        self.columns = every

    def _needed(self) -> int:
        """Return the letters of the longest word of a name, and of all numbers."""
        first, *others = self.columns
        words = (word for said in _cells(first) for word in said.split())
        numbers = (max(map(cell_len, _cells(each))) for each in others)
        return max(map(cell_len, words), default=0) + sum(GAP + each for each in numbers)


def _cells(column: Column) -> list[str]:
    """Return the lines of the head and of all cells of a column."""
    return [line for cell in (column.header, *column.cells) for line in str(cell).split("\n")]
