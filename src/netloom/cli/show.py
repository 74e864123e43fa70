"""The terminal, and what is shown there that no question answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from netloom.questions.shown import WIDTH, show
from netloom.questions.verdict import STYLES
from netloom.units import rate, seconds

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
    for column in ("name", "machine", "network", "channel", "start-up"):
        table.add_column(column, justify="right" if column in ("channel", "start-up") else "left")
    for each in machines:
        startup = seconds(each.message_costs[0].startup_us * 1e-6, 4) if each.message_costs else ""
        table.add_row(
            *map(escape, (each.name, each.full_name, each.topology)),
            rate(each.bandwidth_bytes_per_us * 1e6),
            startup,
        )
    show([table], console())
