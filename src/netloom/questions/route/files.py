"""The files of routing tables: what OpenSM loads, levels of packets, and what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.fabrics.changes import write_changes
from netloom.fabrics.writing import write_levels, write_lfts
from netloom.questions.outputs import Output, check_in_folder
from netloom.routing.forwarding.addresses import addressed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _refuse(_: Any, ready: Any, __: Mapping[str, str]) -> None:
    """Raise InputError before the search where the file could not be written."""
    addressed(ready.network, "out")


def _write_tables(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    write_lfts(answer.topology, answer.forwarding, path)
    line = f"Tables: {path}; OpenSM loads them: opensm -R file -U {path}"
    if answer.after.lanes > 1:
        line += f" (only with the lanes of --levels: {answer.after.lanes} are needed)"
    return line


OUT = Output(
    "out", "The tables, as OpenSM loads them.", _write_tables, check_in_folder, refuse=_refuse
)


def _write_levels(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    if answer.forwarding.lanes is None:
        return f"No {path}: one lane, all packets take service level 0."
    write_levels(answer.topology, answer.forwarding, path)
    return f"Service levels: {path}"


LEVELS = Output(
    "levels", "The service level of each switch and destination, .csv.", _write_levels,
    check_in_folder, refuse=_refuse,
)  # fmt: skip


def _write_changes(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    write_changes(answer.changes, path)
    return f"Changes: {path}"


CHANGES = Output(
    "changes", "Entries that differ from the installed tables, .csv.", _write_changes,
    check_in_folder, refuse=_refuse,
)  # fmt: skip
