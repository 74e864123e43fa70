"""The files of routing tables: what OpenSM loads, levels of packets, and what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.fabrics.writing import write_lfts
from netloom.questions.outputs import Output, check_in_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _write_tables(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    write_lfts(answer.topology, answer.forwarding, path)
    line = f"Tables: {path}; OpenSM loads them: opensm -R file -U {path}"
    if answer.after.lanes > 1:
        line += f" (only with the lanes of --levels: {answer.after.lanes} are needed)"
    return line


OUT = Output("out", "The tables, as OpenSM loads them.", _write_tables, check_in_folder)
