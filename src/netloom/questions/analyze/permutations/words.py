"""What permutations come to, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.questions.shown import ended, percent
from netloom.words import counted, number

if TYPE_CHECKING:
    from netloom.questions.analyze.permutations.answer import PermutationAnalysis
    from netloom.questions.recorded import Recorded


def lines(result: PermutationAnalysis) -> list[Any]:
    """Return what was asked, and each figure as a sentence."""
    data = result.to_dict()
    head = (
        f"[bold]{escape(data['topology'])}[/] ({counted(data['hosts'], 'host')}, "
        f"{counted(data['routers'], 'router')}, {counted(data['channels'], 'channel')}), "
        f"{escape(data['routing'])}"
    )
    return [head, *(escape(f"• {each}") for each in _said(data))]


def sentences(record: Recorded) -> list[str]:
    """Return each figure of a recorded answer as a sentence."""
    return [ended(each) for each in _said(record.figures)]


def _said(data: Any) -> list[str]:
    half, shifts, every = data["effective_bisection"], data["shifts"], data["all_to_all"]
    said = []
    if half["mean"] is not None:
        low, high = half["ci"] or (None, None)
        between = "" if low is None else f" (95 % interval {percent(low)} to {percent(high)})"
        said.append(
            f"Effective bisection bandwidth: {percent(half['mean'])} of what a host can send"
            f"{between}, {percent(half['least'])} in the worst of "
            f"{counted(half['samples'], 'matching', ',')}."
        )
    if shifts["max"] is not None:
        said.append(
            f"Shifts: {counted(number(shifts['max']), 'path')} on the busiest channel between "
            f"routers in the worst of {counted(shifts['count'], 'shift', ',')} (by "
            f"{shifts['worst']}), {number(shifts['mean'])} on average."
        )
    if every["max"] is not None:
        bound = ""
        if every["bound"]:
            bound = (
                f"; the busiest of all channels works {every['time'] / every['bound']:.2f} times "
                "as long as it must under any routing"
            )
        said.append(
            f"All-to-all: {counted(number(every['max']), 'path')} on the busiest channel between "
            f"routers, {number(every['mean'])} on average{bound}."
        )
    if data["note"]:
        said.append(f"Left out: {data['note']}.")
    return said
