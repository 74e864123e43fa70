"""The terminal, and what is shown there that no question answers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.text import Text

from netloom.base.figures import unit_of
from netloom.base.units import rate, seconds
from netloom.base.words import arrows, counted, folded
from netloom.experiments.findings import COSTS, SEED, Results, over_seeds
from netloom.experiments.runner import Estimate
from netloom.machines import Machine
from netloom.questions.answers import STYLES, Verdict
from netloom.questions.recorded import key_columns
from netloom.questions.terminal import Column, column, columns_drawn

WIDTH = 80
"""Letters of a line where there is no terminal."""

MOST_ROWS = 40
"""Rows of a table that a terminal shows. How many more there are is said."""


def console() -> Console:
    """Return the terminal. If there is none, lines of 80 letters."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)


def show_lines(lines: Iterable[str | Text], screen: Console) -> None:
    """Print lines as they are: none is broken."""
    for line in lines:
        screen.print(Text(arrows(line)) if isinstance(line, str) else line, soft_wrap=True)


def show_verdict(screen: Console, verdict: Verdict) -> None:
    """Print a verdict."""
    show_lines(verdict.text(screen.width), screen)


def show_again(screen: Console, verdict: Verdict) -> None:
    """Print the sentence of a verdict after its mark, below what it rests on."""
    style = STYLES[verdict.mark]
    said = arrows(verdict.marked)
    show_lines((Text(each, style) for each in folded(said, screen.width)), screen)


def show_table(columns: Sequence[Column], screen: Console, *, keys: int = 1) -> None:
    """Print a table."""
    show_lines(columns_drawn(columns, screen.width, keys), screen)


def show_machines(machines: Sequence[Machine]) -> None:
    """Print one row per machine."""
    startup = [
        seconds(each.message_costs[0].startup_us * 1e-6, 4) if each.message_costs else ""
        for each in machines
    ]
    columns = [
        column("name", [each.name for each in machines], words=True),
        column("machine", [each.full_name for each in machines], words=True),
        column("network", [each.wired for each in machines], words=True),
        column("channel", [rate(each.bandwidth_bytes_per_us * 1e6) for each in machines]),
        column("start-up", startup),
        column(
            "ties", ["" if each.ties == "either" else each.ties for each in machines], words=True
        ),
    ]
    show_table(columns, console())


def show_names(names: Sequence[dict[str, Any]]) -> None:
    """Print one row per host or switch."""
    columns = [
        column(name, [each[name] for each in names], words=name != "number") for name in names[0]
    ]
    show_table(columns, console())


def show_routings() -> None:
    """Print what takes each routing on each kind of network."""
    from netloom.routing.parse import NETWORKS, NOTES, USES, rows

    names, cells = zip(*rows(), strict=True)
    columns = [column("routing", names, words=True)]
    columns += [
        column(network, each, words=True)
        for network, each in zip(NETWORKS, zip(*cells, strict=True), strict=True)
    ]
    kinds = "; ".join(f"{kind}: {what}" for kind, what in NETWORKS.items())
    uses = [f"{letter}  {what}" for letter, what in USES.items()]
    told = ["", *uses, "A capital letter: the default there.", "", f"{kinds}.", *NOTES]
    screen = console()
    show_table(columns, screen)
    show_lines((line for text in told for line in wrap(text, WIDTH) or [""]), screen)


def show_estimate(guess: Estimate) -> None:
    """Print what each table of an experiment asks and costs, and what that comes to."""
    screen, found = console(), guess.sections
    cost = ["" if each.point_seconds is None else seconds(each.point_seconds) for each in found]
    whole = [seconds(each.seconds) if said else "" for each, said in zip(found, cost, strict=True)]
    least = ["> " if each.at_least else "" for each in found]
    columns = [
        column("", [f"[{each.section}]" for each in found], words=True),
        column("points", [each.points for each in found]),
        column("to answer", [each.left for each in found]),
        column("each", [more + said for more, said in zip(least, cost, strict=True)]),
        column(
            "all, on one process", [more + said for more, said in zip(least, whole, strict=True)]
        ),
    ]
    show_verdict(screen, guess.verdict)
    screen.print()
    show_table(columns, screen)
    told = "Points near the knee of a curve come on top. Curves end at saturation."
    show_lines(["", Text(told, "dim")], screen)


def show_results(found: Results) -> None:
    """Print the main columns of every table of an experiment, and how far it has come."""
    screen = console()
    show_verdict(screen, found.verdict)
    told = [each for each in (found.title, found.question) if each]
    show_lines((Text(f"  {each}", "dim") for each in told), screen)
    sections: dict[str, list[Any]] = {}
    for each in found.answered:
        sections.setdefault(each.point.section, []).append(each)
    table = found.table()
    for section, answered in sections.items():
        rows, first = table.filter(section=section), answered[0]
        varied, sweep = first.point.varied, first.point.sweep
        keys = sorted((name for name in varied if name != SEED), key=lambda name: name != sweep)
        figures = key_columns(first.record, but=[*varied, *COSTS])
        names = [each.name for each in figures]
        lines = over_seeds(rows.iter_rows(named=True), keys, names)
        shown = lines[:MOST_ROWS]
        columns = [
            column(name, [row[name] for row in shown], words=not rows[name].dtype.is_numeric())
            for name in keys
        ]
        answer = first.record.answer
        for leaf in figures:
            values, unit = [row[leaf.name] for row in shown], unit_of(leaf, answer)
            columns.append(column(leaf.title, values, unit, words=leaf.kind is str))
        many = rows[SEED].n_unique() if SEED in rows.columns else 1
        seeds = f"  means of {many} seeds ± half of the 95\u00a0% interval" * (many > 1)
        screen.print(Text.assemble("\n", (f"[{section}]", "bold"), (seeds, "dim")))
        show_table(columns, screen, keys=len(keys))
        if len(lines) > MOST_ROWS:
            show_lines([Text(f"and {counted(len(lines) - MOST_ROWS, 'row')} more", "dim")], screen)
