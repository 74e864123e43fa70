"""The files of a compiled collective: the plan, MSCCL XML and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.drawing.save import make_folder
from netloom.questions.outputs import PLOT, Output
from netloom.questions.timelines import PERFETTO

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _write_plan(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    make_folder(path.parent)
    answer.write(path)
    return f"Plan: {path}"


def _write_msccl(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    from netloom.workload.programs.collectives.msccl import write_msccl

    make_folder(path.parent)
    write_msccl(path, answer.schedule.program)
    return f"MSCCL XML: {path}"


def _refuse_msccl(question: Any, ready: Any, _: Mapping[str, str]) -> None:
    """Refuse a collective that MSCCL XML has no name for before any work is done."""
    from netloom.workload.programs.collectives.msccl import NAMES

    del ready
    if question.collective not in NAMES:
        raise InputError("msccl", question.collective, f"one of {', '.join(NAMES)}")


FILES = (
    Output("out", "Plan file: messages, times and routes (.json, .json.gz).", _write_plan),
    Output("msccl", "Program as MSCCL XML.", _write_msccl, refuse=_refuse_msccl),
    PERFETTO,
    PLOT,
)
