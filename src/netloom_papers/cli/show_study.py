"""Studies, tables and figures of papers on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from netloom.base.words import number, percent
from netloom.cli.show import console, show_again, show_lines, show_verdict
from netloom_papers.exhibits import COMPUTED, MODELLED, PRINTED, Cell, Grid, Plot
from netloom_papers.ledger import CLASSES, Picture, rates

WIDEST = 300
"""Letters of a line, at most."""

FEW, MANY = 6, 14
"""Columns and rows in which all points of a plot are shown. Of more the least and the most."""


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


def _grid(grid: Grid) -> Table:
    """Return a table: both halves of cells right-aligned, one that a column has not left out."""
    table = _table(grid.columns, no_wrap=True, padding=(0, 3, 0, 0))
    halves = [grid.letters(at) for at in range(len(grid.columns) - 1)]
    marked = {
        at for _, row in grid.rows for at, cell in enumerate(row) if cell and cell.within is False
    }
    for label, row in grid.rows:
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
    places = plot.table["x"].unique(maintain_order=True).to_list()
    once = plot.table.select("series", "x", "whose").n_unique() == len(plot.table)
    few, many = sorted((len(places), len(names)))
    if once and few <= FEW and many <= MANY:
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
            least, most = some.min(), some.max()
            count = f"{len(some)} point{'s' * (len(some) != 1)}"
            cells.append(f"{number(least)} … {number(most)}  ({count})" if len(some) else "–")
        table.add_row(Text(name), *cells)
    screen.print(table, soft_wrap=True)


def point_by_point(plot: Plot) -> Grid:
    """Return the points of axes as a table: what is fewer, places or series, is its columns."""
    values = {(row["series"], row["x"], row["whose"]): row["y"] for row in plot.table.to_dicts()}
    names = plot.table["series"].unique(maintain_order=True).to_list()
    places = plot.table["x"].unique(maintain_order=True)
    order = sorted(places) if places.dtype.is_numeric() else places.to_list()
    lines: dict[str, list[Cell | None]] = {}
    for name in names:
        cells = [
            _cell(values.get((name, x, PRINTED)), values.get((name, x, COMPUTED))) for x in order
        ]
        model = [_cell(None, values.get((name, x, MODELLED))) for x in order]
        lines |= {name: cells} if any(cells) else {}
        lines |= {f"{name}, model": model} if any(model) else {}
    heads = [x if isinstance(x, str) else number(x) for x in order]
    if len(lines) > len(order):
        rows = [(name, tuple(cells)) for name, cells in lines.items()]
        return Grid(plot.title, (f"{plot.x}:" if plot.x else "", *heads), tuple(rows))
    turned = zip(*lines.values(), strict=True)
    return Grid(plot.title, (plot.x, *lines), tuple(zip(heads, turned, strict=True)))


def _cell(printed: float | None, computed: float | None) -> Cell | None:
    found = None if printed is None and computed is None else Cell(printed, computed)
    if found is not None and printed is not None and not isnan(printed):
        return Cell(float(f"{printed:.4g}"), computed)  # read off or recalculated: no more digits
    return found


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
    shares = _table(("kind", "rows", "numbers", "reproduced", "rate", *CLASSES), no_wrap=True)
    for line in rates(result.rows):
        cells = [line["kind"], str(line["rows"])]
        if "numbers" in line:
            share = percent(line["reproduced"] / line["numbers"])
            cells += [str(line["numbers"]), str(line["reproduced"]), share]
            cells += [
                f"{each['reproduced']}/{each['numbers']}" if each["numbers"] else ""
                for each in line["by_tolerance"].values()
            ]
        shares.add_row(*cells)
    screen.print("", shares, "", sep="\n", soft_wrap=True)
    show_again(screen, result.verdict)
