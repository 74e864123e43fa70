"""Studies, tables and figures of papers on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

import polars as pl
from rich.text import Text

from netloom.base.words import counted, folded, number, percent
from netloom.cli.show import console, show_again, show_lines, show_verdict
from netloom.questions.answers import Verdict
from netloom.questions.terminal import HEAD, Column, column, columns_drawn
from netloom_papers.exhibits import COMPUTED, MODELLED, PRINTED, Cell, Grid, Plot, grid
from netloom_papers.ledger import RATES, Picture, Validation, grouped, rates_told
from netloom_papers.measured_machines import CHOICE, SUMMARY, Account
from netloom_papers.studies.running import StudyResult

Lines: TypeAlias = Iterator[str | Text]

WIDEST = 300
"""Letters of a line of a table, at most, so that no number is cut off."""

FEW, MANY = 6, 14
"""Series and places of which all points of a plot are shown. Of more the least and the most."""


def show_studies(studies: Mapping[str, str]) -> None:
    """Print names and lines, one study a line: those of papers, and the others."""
    screen, width = console(), max(map(len, studies))
    for head, some in groupby(studies, lambda name: name.rpartition("/")[0] or "other studies"):
        show_lines([Text(head, "bold")], screen)
        show_lines((f"{name:{width}}  {studies[name]}" for name in some), screen)


def show(verdict: Verdict, lines: Iterable[str | Text]) -> None:
    """Print a verdict, what it rests on, and its sentence again."""
    screen = console()
    show_verdict(screen, verdict)
    show_lines(lines, screen)
    screen.width = max(screen.width, WIDEST)
    show_again(screen, verdict)


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[str] = ()
) -> list[str]:
    """Return a table of words. Its first column and ``words`` stand left, all else right."""
    cells = list(zip(*rows, strict=True))
    told = enumerate(zip(heads, cells, strict=bool(cells)))
    columns = (column(head, some, words=not at or head in words) for at, (head, some) in told)
    return columns_drawn(list(columns), WIDEST)


def of_picture(result: Picture) -> Lines:
    """Yield a table or figure: printed numbers, computed beside them, and what is outside."""
    if result.rows:
        yield "Printed, then computed. ✗: outside its tolerance."
    for panel in result.panels:
        yield from ("", Text(panel.title, "bold"))
        yield from _of_grid(panel) if isinstance(panel, Grid) else _of_plot(panel)
    yield ""
    outside = grouped((row for row in result.rows if not row.within), "reason")
    for reason, some in outside.items():
        style, sign = ("yellow", "!") if reason else ("red", "✗")
        kind = "misprint" if all(row.misprint for row in some) else "outside"
        yield Text(f"{sign} {kind}: {reason or 'no known reason'}", style)
        for row in some:
            values = f"{number(row.printed)} ({row.kind}), {number(row.computed)} computed"
            off = f"{percent(row.deviation)} off, {percent(row.tolerance)} allowed"
            yield Text(f"  {row.item}, {row.quantity}: {values} ({off})")
    yield from (Text(f"• {remark}", "dim") for remark in result.remarks)


def _of_grid(shown: Grid) -> list[str]:
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
    return columns_drawn(found, WIDEST)


def _of_plot(plot: Plot) -> Lines:
    """Yield all points of few series and places, or the least and the most of each series."""
    yield Text(f"{plot.y} by {plot.x}" if plot.x else plot.y, "dim")
    names = plot.table["series"].unique(maintain_order=True).to_list()
    once = plot.table.select("series", "x", "whose").n_unique() == len(plot.table)
    if once and len(names) <= FEW and plot.table["x"].n_unique() <= MANY:
        yield from _of_grid(point_by_point(plot))
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
    yield from _table(heads, rows, words=heads)


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


def of_machines(result: Account) -> Lines:
    """Yield the errors by class of rows and size, and whether the right algorithms are named."""
    if errors := result.summary():
        heads = [head.lstrip(":") for head in SUMMARY]
        yield from ("", *_table(heads, errors, ("size", "goal")))
    if choice := result.choice():
        said = (
            "Cells in which the algorithm that netloom calls fastest takes at most 10 % longer than"
        )
        yield from ("", f"{said} the best measured one:", "", *_table(CHOICE, choice))


def of_study(result: StudyResult) -> Lines:
    """Yield the tables of a study, the goals, and what they come to."""
    for section in result.sections:
        yield from ("", Text(section.title, "bold"))
        yield from _table(section.columns, section.rows)
        yield from (Text(remark, "dim") for remark in section.remarks)
    heads = ("goal", "at most", "found", "", "worst at")
    goals = []
    for goal in result.goals:
        limit, found = (f"{number(each)} {goal.unit}" for each in (goal.limit, goal.found))
        goals.append((goal.what, limit, found, "✓" if goal.met else "✗ missed", goal.where))
    yield from ("", *_table(heads, goals, words=("", "worst at")), "")
    if result.interrupted:
        yield "• interrupted: what was finished by then. The same command goes on from here."


def of_validation(result: Validation) -> Lines:
    """Yield what is reproduced: every row beside the computed value, reasons, rates by kind."""
    rows = []
    for row in result.rows:
        outside = row.cause or ("known" if row.reason else "")
        seen = "✓" if row.within else f"! {outside}" if outside else "✗ outside"
        off, room = percent(row.deviation), "at most" if row.at_most else percent(row.tolerance)
        of = row.paper, row.item, row.quantity, row.kind
        rows.append((*of, number(row.printed), number(row.computed), off, room, seen))
    words = ("item", "quantity", "kind", "")
    heads = ("paper", "item", "quantity", "kind", "compared with", "computed", "off", "tol", "")
    yield from ("", *_table(heads, rows, words))
    for reason in grouped((row for row in result.rows if not row.within), "reason"):
        if reason:
            yield Text.assemble(("! known", "yellow"), f": {reason}")
    yield from ("", *_table(RATES, rates_told(result.rows)), "")
