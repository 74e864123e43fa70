"""The files of a compiled collective: the plan, MSCCL XML and a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.drawing.save import make_folder
from netloom.questions.outputs import PLOT, Output

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _write_plan(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    make_folder(path.parent)
    answer.write(path)
    return f"Plan: {path}"


FILES = (
    Output("out", "Plan file: messages, times and routes (.json, .json.gz).", _write_plan),
    PLOT,
)
