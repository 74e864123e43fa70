"""Tables that fit the width of a terminal: columns that matter least go, no number is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult


class Head(NamedTuple):
    """A column's name and unit, whether it holds words, and how soon it may go: 0 never."""

    name: str
    unit: str = ""
    words: bool = False
    spare: int = 0


class FittedTable(Table):
    """A table that leaves columns out, those with the highest ``spare`` first, until it fits.

    Examples
    --------
    >>> from rich.console import Console
    >>> table = FittedTable([Head("load"), Head("latency", "cycles"), Head("hops", spare=1)])
    >>> table.add_cells(["0.1", "31.3", "5.33"])
    >>> Console(width=14).print(table)
    load  latency
           cycles
     0.1     31.3
    1 column left out: hops
    """

    def __init__(self, heads: Iterable[Head]) -> None:
        super().__init__(box=None, pad_edge=False, header_style="dim")
        self.heads = tuple(heads)
        self.cells: list[Sequence[str]] = []

    def add_cells(self, cells: Sequence[str]) -> None:
        """Add a row: a cell for each head."""
        assert len(cells) == len(self.heads), "a cell for each head"
        self.cells.append(cells)

    def _of(self, chosen: Sequence[int]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="dim")
        has_units = any(self.heads[each].unit for each in chosen)
        for each in chosen:
            head = self.heads[each]
            title = f"{head.name}\n{head.unit}" if has_units else head.name
            table.add_column(
                escape(title), justify="left" if head.words else "right", no_wrap=not head.words,
                overflow="fold",
            )  # fmt: skip
        for row in self.cells:
            table.add_row(*(escape(row[each]) for each in chosen))
        return table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield as many columns as fit, and the names of those left out."""
        chosen = list(range(len(self.heads)))
        free = sorted((each for each in chosen if self.heads[each].spare),
                      key=lambda each: self.heads[each].spare)  # fmt: skip
        gone: list[str] = []
        unbound = options.update(max_width=10_000)
        while free:
            needed = Measurement.get(console, unbound, self._of(chosen)).maximum
            if needed <= options.max_width:
                break
            last = free.pop()
            chosen.remove(last)
            gone.append(self.heads[last].name.replace("\n", " "))
        yield self._of(chosen)
        if gone:
            from rich.text import Text

            many = f"{len(gone)} column{'s' * (len(gone) > 1)} left out: {', '.join(gone)}"
            yield Text(many, style="dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Measure it with all columns."""
        return Measurement.get(console, options, self._of(range(len(self.heads))))
