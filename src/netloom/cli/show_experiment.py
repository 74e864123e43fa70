"""Experiments on a terminal: what they will cost, and what they have found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from netloom.cli.show import console
from netloom.words import counted

if TYPE_CHECKING:
    import polars as pl

    from netloom.experiments.estimate import Estimate
    from netloom.experiments.results import Results

SHOWN: dict[str, tuple[str, ...]] = {
    "analyze": ("saturation_worst_node", "saturation_upper_bound", "path_contention_max"),
    "simulate": ("offered", "accepted", "packet_latency_mean", "packet_latency_p99", "stable"),
    "predict_latency": ("offered", "latency", "expected_error", "state"),
    "simulate_hot_spots": ("rate", "steps_mean", "steps_p99", "stable"),
    "find_mapping": ("mapping", "objective", "max_channel_load", "hop_bytes"),
}
"""Of the many columns of an answer those that are shown; elsewhere the first few."""

MOST_COLUMNS = 6
MOST_ROWS = 40


def show_estimate(guess: Estimate) -> None:
    """Print what each table of an experiment asks and costs, and what that comes to."""
    screen = console()
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("", "points", "to answer", "each", "all, on one process"):
        table.add_column(column, justify="right" if column else "left")
    for each in guess.sections:
        cost = "" if each.point_seconds is None else f"{each.point_seconds:.3g} s"
        whole = f"{each.seconds:.3g} s" if cost else ""
        least = "> " if each.at_least else ""
        rest = each.points - each.answered
        name = escape(f"[{each.section}]")
        table.add_row(name, str(each.points), str(rest), least + cost, least + whole)
    screen.print(table)
    screen.print("[dim]points near the knee of a curve come on top; curves end at saturation[/]")
    screen.print(guess.sentence)


def show_results(found: Results) -> None:
    """Print the main columns of every table of an experiment, and how far it has come."""
    screen = console()
    if found.title:
        screen.print(f"[bold]{escape(found.title)}[/]")
    if found.question:
        screen.print(escape(found.question))
    sections: dict[str, list[Any]] = {}
    for each in found.answered:
        sections.setdefault(each.point.section, []).append(each)
    table = found.table()
    for section, answered in sections.items():
        point = answered[0].point
        rows = table.filter(section=section)
        rows = rows.select(column.name for column in rows if not column.is_null().all())
        wanted = [*point.varied, *SHOWN.get(point.verb, rows.columns[1:])]
        columns = [name for name in dict.fromkeys(wanted) if name in rows.columns]
        columns = columns[: len(point.varied) + MOST_COLUMNS]
        screen.print(f"\n[bold]{escape(f'[{section}]')}[/]")
        screen.print(_table(rows.select(columns)))
        if len(rows) > MOST_ROWS:
            screen.print(f"[dim]and {counted(len(rows) - MOST_ROWS, 'row')} more[/]")
    screen.print(f"\n{escape(found.sentence)}")


def _table(rows: pl.DataFrame) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in rows:
        table.add_column(column.name, justify="right" if column.dtype.is_numeric() else "left")
    for row in rows.head(MOST_ROWS).iter_rows():
        table.add_row(*(escape(_word(value)) for value in row))
    return table


def _word(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
