"""Experiments on a terminal: what they will cost, and what they have found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from netloom.base.units import seconds
from netloom.base.words import counted
from netloom.cli.show import console, show_again, show_verdict
from netloom.experiments.findings import COSTS
from netloom.experiments.seeds import SEED, over_seeds
from netloom.questions.answers import Column, Columns
from netloom.questions.recorded import key_columns
from netloom.questions.shown import show, table_of

if TYPE_CHECKING:
    import polars as pl

    from netloom.experiments.costs import Estimate
    from netloom.experiments.findings import Results

MOST_ROWS = 40


def show_estimate(guess: Estimate) -> None:
    """Print what each table of an experiment asks and costs, and what that comes to."""
    screen = console()
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("", "points", "to answer", "each", "all, on one process"):
        table.add_column(column, justify="right" if column else "left")
    for each in guess.sections:
        cost = "" if each.point_seconds is None else seconds(each.point_seconds)
        whole = seconds(each.seconds) if cost else ""
        least = "> " if each.at_least else ""
        name = escape(f"[{each.section}]")
        table.add_row(name, str(each.points), str(each.left), least + cost, least + whole)
    told = "[dim]Points near the knee of a curve come on top. Curves end at saturation.[/]"
    show_verdict(screen, guess.verdict)
    show(["", table, told], screen)


def show_results(found: Results) -> None:
    """Print the main columns of every table of an experiment, and how far it has come."""
    screen = console()
    show_verdict(screen, found.verdict)
    told = [each for each in (found.title, found.question) if each]
    show([f"  [dim]{escape(each)}[/]" for each in told], screen)
    sections: dict[str, list[Any]] = {}
    for each in found.answered:
        sections.setdefault(each.point.section, []).append(each)
    table = found.table()
    for section, answered in sections.items():
        rows, first = table.filter(section=section), answered[0]
        varied, sweep = first.point.varied, first.point.sweep
        keys = sorted((name for name in varied if name != SEED), key=lambda name: name != sweep)
        figures = key_columns(first.record, but=[*varied, *COSTS])
        lines = over_seeds(rows.iter_rows(named=True), keys, figures.names)
        columns = [Column(name, name, kind=_kind(rows[name])) for name in keys]
        screen.print(f"\n[bold]{escape(f'[{section}]')}[/]{_seeds(rows)}")
        show([table_of(Columns(*columns, *figures), lines[:MOST_ROWS])], screen, keys=len(keys))
        if len(lines) > MOST_ROWS:
            screen.print(f"[dim]and {counted(len(lines) - MOST_ROWS, 'row')} more[/]")
    screen.print()
    show_again(screen, found.verdict)


def _seeds(rows: pl.DataFrame) -> str:
    """Return how many seeds each row is of, if it is of several."""
    many = rows[SEED].n_unique() if SEED in rows.columns else 1
    return f"  [dim]means of {many} seeds ± half of the 95\u00a0% interval[/]" if many > 1 else ""


def _kind(column: pl.Series) -> type:
    """Return whether a column is of numbers or of words."""
    return float if column.dtype.is_numeric() else str
