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
from netloom.questions.shown import WIDTH, show
from netloom.questions.verdict import STYLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.machines import Machine
    from netloom.questions.verdict import Verdict


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
    from netloom.routing.names import NETWORKS, NOTES, USES, rows

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
