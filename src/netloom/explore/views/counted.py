"""Answers that say what channels carry, but not of whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import number
from netloom.explore.view import View
from netloom.explore.views.made import verdict_of
from netloom.questions.commands import command_line
from netloom.questions.network_chart import at_last, topology_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from netloom.questions.answers import Answer
    from netloom.questions.recorded import Recorded

UNKNOWN = "The answer counts what crosses each channel, not who sends it."
"""Why there are no ways."""

LOADS = ("offered", "applied", "rate")
"""Columns that tell the loads of one answer apart."""

KINDS = ("switching", "contexts")
"""Columns that tell apart what was asked at one load."""


def counted_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield the use of channels at the highest load of an answer, by each kind of switching.

    Raises
    ------
    InputError
        If the answer does not say what channels carry.
    """
    channels = record.tables.get("channels")
    topology = None if channels is None or channels.is_empty() else topology_of(record)
    if channels is None or topology is None or "utilisation" not in channels.columns:
        wanted = "an answer that says what each channel carries, such as analyze or simulate"
        raise InputError(record.verb, "no loads of channels to explore", wanted)
    several = next((each for each in LOADS if each in channels.columns), "")
    table = at_last(record, several) if several else channels
    for name, part in _by_kind(table, several):
        inside = topology.num_network_channels
        used = part["utilisation"].to_numpy().astype(np.float64)[:inside]
        yield View(
            name, verdict_of(record), command_line(record.kind, record.configuration), topology,
            "share", used / topology.channel_bandwidth[:inside], missing=UNKNOWN,
        )  # fmt: skip


def _by_kind(table: pl.DataFrame, load: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield what each kind puts on channels, and what it is called."""
    at = f"{load} {number(float(table[load][0]))}" if load else "answer"
    kind = next((each for each in KINDS if each in table.columns), "")
    kinds = table[kind].unique(maintain_order=True).to_list() if kind else []
    if len(kinds) < 2:
        yield at, table
        return
    for each in kinds:
        name = str(each) if kind == "switching" else f"{each} {kind}"
        yield f"{name}, {at}" if load else name, table.filter(table[kind] == each)
