"""The timeline of a program as a file that answers can be written to.

Each answer that has such times has a method ``timeline``, and ``PERFETTO`` among its outputs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from netloom.base.figures import plain
from netloom.base.words import counted
from netloom.drawing.timelines import check_timeline, write_timeline
from netloom.questions.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from netloom.drawing.timelines import Timeline


def save_timeline(timeline: Timeline, path: Path, **about: Any) -> str:
    """Write a timeline, with what else there is to say, and return the line that says so."""
    write_timeline(path, replace(timeline, about=plain({**timeline.about, **about})))
    shown, messages = len(timeline.arrows.begin), timeline.about["messages"]
    many = counted(messages, "message", ",")
    said = many if shown == messages else f"{shown:,} of {many}"
    return f"Timeline: {path}, {said}; open it in ui.perfetto.dev"


def _write(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    return save_timeline(answer.timeline(), path, provenance=answer.provenance.to_dict())


def perfetto_output(
    refuse: Callable[[Any, Any, Mapping[str, str]], None] | None = None, asks: str = ""
) -> Output:
    """Return the output of an answer's ``timeline``. Parameters as in ``Output``."""
    said = "Timeline for Perfetto, .json or .json.gz."
    return Output("perfetto", said, _write, check_timeline, refuse=refuse, asks=asks)


PERFETTO = perfetto_output()
