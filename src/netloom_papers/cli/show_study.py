"""Studies, tables and figures of papers on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from netloom.base.words import counted, number, percent
from netloom.cli.show import console, show_again, show_lines, show_verdict
from netloom_papers.exhibits import COMPUTED, MODELLED, PRINTED, Cell, Grid, Plot, grid
from netloom_papers.ledger import RATES, Picture, rates_told

WIDEST = 300
"""Letters of a line, at most."""

FEW, MANY = 6, 14
"""Series and places of which all points of a plot are shown. Of more the least and the most."""


def _table(
    heads: Sequence[str], words: Sequence[str] = (), *, no_wrap: bool = False, **style: Any
) -> Table:
    """Return a table without lines. Its first column and ``words`` are text, all else figures.

    ``no_wrap`` is whether figures stay on their line.
    """
    table = Table(box=None, pad_edge=False, header_style="dim", **style)
    for place, head in enumerate(heads):
        text = not place or head in words
        table.add_column(head, justify="left" if text else "right", no_wrap=no_wrap and not text)
    return table


def show_studies(exhibits: Iterable[tuple[str, str]], others: Iterable[tuple[str, str]]) -> None:
    """Print names and lines, one study a line: those of papers, and the others."""
    screen = console()
    exhibits, others = list(exhibits), list(others)
    width = max((len(name) for name, _ in (*exhibits, *others)), default=0)
    before = ""
    for name, line in exhibits:
        paper = name.partition("/")[0]
        if paper != before:
            screen.print(f"[bold]{escape(paper)}[/]", soft_wrap=True)
        before = paper
        screen.print(Text(f"{name:{width}}  {line}"), soft_wrap=True)
    screen.print("[bold]other studies[/]", soft_wrap=True)
    for name, line in others:
        screen.print(Text(f"{name:{width}}  {line}"), soft_wrap=True)


def show_picture(result: Picture) -> None:
    """Print a table or figure: printed numbers dim, computed beside them, and what is outside."""
    screen = console()
    show_verdict(screen, result.verdict)
    screen.width = max(screen.width, WIDEST)  # so that no number is cut off
    if result.rows:
        told = "[dim]Printed[/], then computed. [red]✗[/]: outside its tolerance."
        screen.print(told, soft_wrap=True)
    for panel in result.panels:
        screen.print()
        screen.print(f"[bold]{escape(panel.title)}[/]", soft_wrap=True)
        if isinstance(panel, Grid):
            screen.print(_grid(panel), soft_wrap=True)
        else:
            _show_plot(screen, panel)
    screen.print()
    outside = [row for row in result.rows if not row.within]
    for reason in dict.fromkeys(row.reason for row in outside):
        some = [row for row in outside if row.reason == reason]
        style, sign = ("yellow", "!") if reason else ("red", "✗")
        kind = "misprint" if all(row.misprint for row in some) else "outside"
        said = f"{sign} {kind}: {reason or 'no known reason'}"
        screen.print(Text(said, style=style), soft_wrap=True)
        for row in some:
            screen.print(
                Text(
                    f"  {row.item}, {row.quantity}: {number(row.printed)} ({row.kind}), "
                    f"{number(row.computed)} computed ({percent(row.deviation)} off, "
                    f"{percent(row.tolerance)} allowed)"
                ),
                soft_wrap=True,
            )
    for remark in result.remarks:
        screen.print(Text(f"• {remark}", style="dim"), soft_wrap=True)
    show_again(screen, result.verdict)


def _grid(shown: Grid) -> Table:
    """Return a table: both halves of cells right-aligned, one that a column has not left out."""
    table = _table(shown.columns, no_wrap=True, padding=(0, 3, 0, 0))
    halves = [shown.letters(at) for at in range(len(shown.columns) - 1)]
    marked = {
        at for _, row in shown.rows for at, cell in enumerate(row) if cell and cell.within is False
    }
    for label, row in shown.rows:
        texts = [Text() for _ in row]
        for at, (text, cell, (first, second)) in enumerate(zip(texts, row, halves, strict=True)):
            if cell is None:
                continue
            printed, computed = cell.words()
            if first:
                text.append(f"{printed:>{first}}", style="dim")
            if first and second:
                text.append("  ")
            if second:
                bad = cell.within is False
                text.append(f"{computed:>{second}}", style="red" if bad else "")
                text.append(" ✗" if bad else "  " * (at in marked), style="red")
        table.add_row(label, *texts)
    return table


def _show_plot(screen: Console, plot: Plot) -> None:
    """Print all points of few series and places, or the least and the most of each series."""
    import polars as pl

    by = f" by {plot.x}" if plot.x else ""
    screen.print(Text(f"{plot.y}{by}", style="dim"), soft_wrap=True)
    names = plot.table["series"].unique(maintain_order=True).to_list()
    once = plot.table.select("series", "x", "whose").n_unique() == len(plot.table)
    if once and len(names) <= FEW and plot.table["x"].n_unique() <= MANY:
        screen.print(_grid(point_by_point(plot)), soft_wrap=True)
        return
    kinds = [each for each in (PRINTED, COMPUTED, MODELLED) if each in plot.table["whose"]]
    heads = ("series", *(f"{kind}, least … most" for kind in kinds))
    table = _table(heads, no_wrap=True, padding=(0, 3, 0, 0))
    for name in names:
        cells = []
        for kind in kinds:
            some = plot.table.filter(series=name, whose=kind)["y"].cast(pl.Float64).drop_nulls()
            some = some.filter(some.is_not_nan())
            said = f"{number(some.min())} … {number(some.max())}  ({counted(len(some), 'point')})"
            cells.append(said if len(some) else "–")
        table.add_row(Text(name), *cells)
    screen.print(table, soft_wrap=True)


def point_by_point(plot: Plot) -> Grid:
    """Return the points of axes as a table: a row for each place, and a column for each series."""
    table = plot.table.sort("x") if plot.table["x"].dtype.is_numeric() else plot.table
    cells: dict[tuple[str, str], Cell] = {}
    for row in table.iter_rows(named=True):
        head = f"{row['series']}, model" if row["whose"] == MODELLED else row["series"]
        place = row["x"] if isinstance(row["x"], str) else number(row["x"])
        cell = cells.get((place, head), Cell(None, None))
        if row["whose"] == PRINTED:  # read off or recalculated: no more digits
            cells[place, head] = cell._replace(printed=float(f"{row['y']:.4g}"))
        else:
            cells[place, head] = cell._replace(computed=row["y"])
    seen, names = {head for _, head in cells}, plot.table["series"].unique(maintain_order=True)
    heads = [head for name in names for head in (name, f"{name}, model") if head in seen]
    return grid(plot.title, cells, heads, plot.x)


def show_study(result: Any) -> None:
    """Print the tables of a study, the goals, and what they come to."""
    screen = console()
    show_verdict(screen, result.verdict)
    screen.print()
    screen.width = max(screen.width, WIDEST)  # so that no number is cut off
    for section in result.sections:
        screen.print(f"[bold]{section.title}[/]", soft_wrap=True)
        table = _table(section.columns)
        for row in section.rows:
            table.add_row(*row)
        screen.print(table, soft_wrap=True)
        for remark in section.remarks:
            screen.print(Text(remark, style="dim"), soft_wrap=True)
        screen.print()
    goals = _table(("goal", "at most", "found", "", "worst at"), words=("", "worst at"))
    for goal in result.goals:
        met = Text("✓", style="green") if goal.met else Text("✗ missed", style="red")
        goals.add_row(
            goal.what, f"{goal.limit:g} {goal.unit}", f"{number(goal.found)} {goal.unit}", met,
            goal.where,
        )  # fmt: skip
    screen.print(goals, "", sep="\n", soft_wrap=True)
    show_again(screen, result.verdict)
    if result.interrupted:
        said = "• interrupted: what was finished by then. The same command goes on from here."
        show_lines([said], screen)


def show_validation(result: Any) -> None:
    """Print what is reproduced, every row beside the computed value, reasons, rates by kind."""
    screen = console()
    show_verdict(screen, result.verdict)
    screen.print()
    screen.width = max(screen.width, WIDEST)  # so that no number is cut off
    words = ("item", "quantity", "kind", "")
    heads = ("paper", "item", "quantity", "kind", "compared with", "computed", "off", "tol", "")
    table = _table(heads, words, no_wrap=True)
    for row in result.rows:
        outside = row.cause or ("known" if row.reason else "")
        seen = (
            "[green]✓[/]"
            if row.within
            else f"[yellow]! {outside}[/]"
            if outside
            else "[red]✗ outside[/]"
        )
        table.add_row(
            *map(escape, (row.paper, row.item, row.quantity, row.kind)),
            number(row.printed), number(row.computed),
            percent(row.deviation), "at most" if row.at_most else percent(row.tolerance), seen,
        )  # fmt: skip
    screen.print(table, soft_wrap=True)
    for reason in dict.fromkeys(row.reason for row in result.rows if row.reason and not row.within):
        show_lines([Text.assemble(("! known", "yellow"), f": {reason}")], screen)
    shares = _table(RATES, no_wrap=True)
    for cells in rates_told(result.rows):
        shares.add_row(*cells)
    screen.print("", shares, "", sep="\n", soft_wrap=True)
    show_again(screen, result.verdict)
