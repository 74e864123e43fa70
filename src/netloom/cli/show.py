"""The terminal, and what is shown there that no question answers."""

from __future__ import annotations

import sys
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from netloom.base.units import rate, seconds
from netloom.base.words import counted
from netloom.experiments.findings import COSTS, SEED, over_seeds
from netloom.questions.columns import Column, Columns
from netloom.questions.register import key_columns
from netloom.questions.shown import STYLES, WIDTH, show, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from netloom.experiments.findings import Results
    from netloom.experiments.runner import Estimate
    from netloom.machines import Machine
    from netloom.questions.shown import Verdict


def console() -> Console:
    """Return the terminal. If there is none, lines long enough for every table."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)


def show_verdict(screen: Console, verdict: Verdict) -> None:
    """Print a verdict, with commands that a terminal may break where a shell goes on."""
    show(verdict.text(screen.width, terminal=screen.is_terminal), screen)


def show_again(screen: Console, verdict: Verdict) -> None:
    """Print the sentence of a verdict after its mark, below what it rests on."""
    show([Text(verdict.marked, STYLES[verdict.mark])], screen)


def show_machines(machines: Sequence[Machine]) -> None:
    """Print one row per machine."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("name", "machine", "network", "channel", "start-up", "ties"):
        table.add_column(column, justify="right" if column in ("channel", "start-up") else "left")
    for each in machines:
        startup = seconds(each.message_costs[0].startup_us * 1e-6, 4) if each.message_costs else ""
        table.add_row(
            *map(escape, (each.name, each.full_name, each.topology)),
            rate(each.bandwidth_bytes_per_us * 1e6),
            startup,
            "" if each.ties == "either" else each.ties,
        )
    show([table], console())


def show_names(names: Sequence[dict[str, Any]]) -> None:
    """Print one row per host or switch."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in names[0]:
        table.add_column(column, justify="right" if column == "number" else "left")
    for each in names:
        table.add_row(*(escape("" if value is None else str(value)) for value in each.values()))
    show([table], console())


def show_routings() -> None:
    """Print what takes each routing on each kind of network."""
    from netloom.routing.parse import NETWORKS, NOTES, USES, rows

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    for column in ("routing", *NETWORKS):
        table.add_column(column, no_wrap=True)
    for names, cells in rows():
        table.add_row(escape(names), *cells)
    kinds = "; ".join(f"{kind}: {what}" for kind, what in NETWORKS.items())
    uses = [f"{letter}  {what}" for letter, what in USES.items()]
    told = ["", *uses, "A capital letter: the default there.", "", f"{kinds}.", *NOTES]
    lines = [line for text in told for line in wrap(text, 80) or [""]]
    show([table, *map(escape, lines)], console())


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
