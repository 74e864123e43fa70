"""Studies, tables and figures of papers on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from netloom.base.words import counted, folded, number, percent
from netloom.cli.show import console, show_again, show_lines, show_table, show_verdict
from netloom.questions.terminal import HEAD, Column, column
from netloom_papers.exhibits import COMPUTED, MODELLED, PRINTED, Cell, Grid, Plot, grid
from netloom_papers.ledger import RATES, Picture, rates_told

WIDEST = 300
"""Letters of a line, at most."""

FEW, MANY = 6, 14
"""Series and places of which all points of a plot are shown. Of more the least and the most."""


def show_studies(exhibits: Iterable[tuple[str, str]], others: Sequence[tuple[str, str]]) -> None:
    """Print names and lines, one study a line: those of papers, and the others."""
    exhibits = list(exhibits)
    width = max(len(name) for name, _ in (*exhibits, *others))
    lines: list[Text] = []
    papers = groupby(exhibits, lambda each: each[0].partition("/")[0])
    for head, some in (*((paper, list(some)) for paper, some in papers), ("other studies", others)):
        lines += [Text(head, "bold"), *(Text(f"{name:{width}}  {line}") for name, line in some)]
    show_lines(lines, console())


def show_picture(result: Picture) -> None:
    """Print a table or figure: printed numbers, computed beside them, and what is outside."""
    screen = console()
    show_verdict(screen, result.verdict)
    screen.width = max(screen.width, WIDEST)  # so that no number is cut off
    if result.rows:
        show_lines(["Printed, then computed. ✗: outside its tolerance."], screen)
    for panel in result.panels:
        show_lines(["", Text(panel.title, "bold")], screen)
        if isinstance(panel, Grid):
            show_table(_columns_of(panel), screen)
        else:
            _show_plot(screen, panel)
    lines = [Text()]
    outside = [row for row in result.rows if not row.within]
    for reason in dict.fromkeys(row.reason for row in outside):
        some = [row for row in outside if row.reason == reason]
        style, sign = ("yellow", "!") if reason else ("red", "✗")
        kind = "misprint" if all(row.misprint for row in some) else "outside"
        lines.append(Text(f"{sign} {kind}: {reason or 'no known reason'}", style))
        for row in some:
            values = f"{number(row.printed)} ({row.kind}), {number(row.computed)} computed"
            off = f"{percent(row.deviation)} off, {percent(row.tolerance)} allowed"
            lines.append(Text(f"  {row.item}, {row.quantity}: {values} ({off})"))
    lines += [Text(f"• {remark}", "dim") for remark in result.remarks]
    show_lines(lines, screen)
    show_again(screen, result.verdict)


def _columns(
    heads: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[str] = ()
) -> list[Column]:
    """Return a table of words. Its first column and ``words`` stand left, all else right."""
    cells = list(zip(*rows, strict=True))
    told = zip(heads, cells, strict=bool(cells))
    return [
        column(head, some, words=not at or head in words) for at, (head, some) in enumerate(told)
    ]


def _columns_of(shown: Grid) -> list[Column]:
    """Return a table: both halves of cells right-aligned, one that a column has not left out."""
    found = [column(shown.columns[0], [label for label, _ in shown.rows], words=True)]
    for head, told in zip(shown.columns[1:], shown.told(), strict=True):
        first = max(len(printed) for printed, _, _ in told)
        second = max(len(computed) for _, computed, _ in told)
        gap = "  " if first and second else ""
        marks = (" ✗", "  ") if any(outside for _, _, outside in told) else ("", "")
        said = [
            f"{printed:>{first}}{gap}{computed:>{second}}{marks[not outside]}"
            for printed, computed, outside in told
        ]
        found.append(Column(folded(head, HEAD), said))
    return found


def _show_plot(screen: Console, plot: Plot) -> None:
    """Print all points of few series and places, or the least and the most of each series."""
    import polars as pl

    by = f" by {plot.x}" if plot.x else ""
    show_lines([Text(f"{plot.y}{by}", "dim")], screen)
    names = plot.table["series"].unique(maintain_order=True).to_list()
    once = plot.table.select("series", "x", "whose").n_unique() == len(plot.table)
    if once and len(names) <= FEW and plot.table["x"].n_unique() <= MANY:
        show_table(_columns_of(point_by_point(plot)), screen)
        return
    kinds = [each for each in (PRINTED, COMPUTED, MODELLED) if each in plot.table["whose"]]
    rows = []
    for name in names:
        cells = []
        for kind in kinds:
            some = plot.table.filter(series=name, whose=kind)["y"].cast(pl.Float64).drop_nulls()
            some = some.filter(some.is_not_nan())
            said = f"{number(some.min())} … {number(some.max())}  ({counted(len(some), 'point')})"
            cells.append(said if len(some) else "–")
        rows.append([name, *cells])
    heads = ("series", *(f"{kind}, least … most" for kind in kinds))
    show_table(_columns(heads, rows, words=heads), screen)


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
    screen.width = max(screen.width, WIDEST)  # so that no number is cut off
    for section in result.sections:
        show_lines(["", Text(section.title, "bold")], screen)
        show_table(_columns(section.columns, section.rows), screen)
        show_lines([Text(remark, "dim") for remark in section.remarks], screen)
    heads = ("goal", "at most", "found", "", "worst at")
    goals = []
    for goal in result.goals:
        limit, found = (f"{number(each)} {goal.unit}" for each in (goal.limit, goal.found))
        goals.append((goal.what, limit, found, "✓" if goal.met else "✗ missed", goal.where))
    show_lines([""], screen)
    show_table(_columns(heads, goals, words=("", "worst at")), screen)
    show_lines([""], screen)
    show_again(screen, result.verdict)
    if result.interrupted:
        said = "• interrupted: what was finished by then. The same command goes on from here."
        show_lines([said], screen)


def show_validation(result: Any) -> None:
    """Print what is reproduced, every row beside the computed value, reasons, rates by kind."""
    screen = console()
    show_verdict(screen, result.verdict)
    screen.width = max(screen.width, WIDEST)  # so that no number is cut off
    rows = []
    for row in result.rows:
        outside = row.cause or ("known" if row.reason else "")
        seen = "✓" if row.within else f"! {outside}" if outside else "✗ outside"
        off, room = percent(row.deviation), "at most" if row.at_most else percent(row.tolerance)
        of = row.paper, row.item, row.quantity, row.kind
        rows.append((*of, number(row.printed), number(row.computed), off, room, seen))
    words = ("item", "quantity", "kind", "")
    heads = ("paper", "item", "quantity", "kind", "compared with", "computed", "off", "tol", "")
    show_lines([""], screen)
    show_table(_columns(heads, rows, words), screen)
    for reason in dict.fromkeys(row.reason for row in result.rows if row.reason and not row.within):
        show_lines([Text.assemble(("! known", "yellow"), f": {reason}")], screen)
    show_lines([""], screen)
    show_table(_columns(RATES, rates_told(result.rows)), screen)
    show_lines([""], screen)
    show_again(screen, result.verdict)
