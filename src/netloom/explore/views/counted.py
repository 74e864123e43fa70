"""Answers that say what channels carry, but not of whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.explore.view import View
from netloom.explore.views.made import verdict_of
from netloom.questions.commands import command_line
from netloom.questions.network_chart import at_last, topology_of
from netloom.words import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.questions.answers import Answer
    from netloom.questions.recorded import Recorded

UNKNOWN = "The answer counts what crosses each channel, not who sends it."
"""Why there are no ways."""

LOADS = ("load", "applied", "rate")
"""Columns that tell the loads of one answer apart."""


def counted_views(record: Recorded, _: Answer | None) -> Iterator[View]:
    """Yield the use of channels at the highest load of an answer.

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
    inside = topology.num_network_channels
    used = table["utilisation"].to_numpy().astype(np.float64)[:inside]
    share = used / topology.channel_bandwidth[:inside]
    name = f"{several} {number(float(table[several][0]))}" if several else "answer"
    yield View(
        name, verdict_of(record),
        command_line(record.kind, record.configuration), topology, "share", share,
        missing=UNKNOWN,
    )  # fmt: skip
