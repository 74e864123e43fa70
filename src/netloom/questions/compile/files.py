"""The files of compiled phases: the plan, the programs of nodes, and pictures of both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from netloom.base.errors import InputError
from netloom.base.textfiles import write_text
from netloom.drawing.save import check_writable, make_folder
from netloom.questions.outputs import Output, picture_output
from netloom.questions.register import chart_of, record
from netloom.questions.timelines import PERFETTO

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _write_plan(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    make_folder(path.parent)
    answer.write(path)
    return f"Plan: {path}"


def _check_programs(path: Path) -> None:
    """Refuse what is neither a .json file nor a folder, or cannot be written."""
    check_writable(path, folder=path.suffix != ".json")
    if path.suffix not in ("", ".json"):
        raise InputError(str(path), f"suffix '{path.suffix}'", "a .json file or a folder")


def _write_programs(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    make_folder(path.parent)
    programs = answer.programs()
    if path.suffix == ".json":
        lines = ",\n ".join(json.dumps(each.to_dict()) for each in programs)
        write_text(path, f"[\n {lines}\n]\n")
        return f"Programs: {path}"
    make_folder(path)
    width = len(str(len(programs) - 1))
    for each in programs:
        write_text(path / f"node-{each.node:0{width}}.txt", f"{each}\n")
    return f"Programs: {path}"


def _phase_map(answer: Any) -> Any:
    from netloom.questions.compile.chart import phase_map

    return phase_map(record(answer))


FILES = (
    Output("out", "Plan file: phases, routes, times, programs.", _write_plan),
    Output(
        "programs",
        "Programs of the nodes: a .json file, or a folder for a text file per node.",
        _write_programs,
        _check_programs,
    ),
    picture_output("gantt", "Gantt chart", chart_of, "Gantt chart"),
    PERFETTO,
    picture_output("map", "Every phase on the network", _phase_map, "Map"),
)
