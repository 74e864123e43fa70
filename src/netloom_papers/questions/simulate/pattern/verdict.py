"""What a pattern of messages comes to, by its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.units import seconds
from netloom.base.words import counted
from netloom.questions.simulate.said import again, rough
from netloom.questions.subject import subject
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    Figures = Mapping[str, Any]

LITTLE, MUCH = 0.1, 1.0
"""What contention may add to a message before it limits, and before something is to be changed, in
times that the message takes alone."""


def verdict(found: Figures) -> Verdict:
    """Return what contention adds to messages, in the case in which it adds most."""
    of = subject(found["pattern"], found["topology"])
    worst = max(found["points"], key=lambda each: added(each, "mean"))
    mean, most = added(worst, "mean"), added(worst, "max")
    lines = {"where": _case(worst), "why": _why(worst)}
    takes = seconds(worst["communication_us_mean"] / 1e6)
    if found["interrupted"]:
        said = f"Interrupted: messages take up to {takes} so far, {rough(mean)} longer than alone."
        return Verdict("unknown", said, of, lines, again("simulate.pattern", found))
    if most <= LITTLE:
        said = f"Messages hardly meet: they take {takes}, {rough(max(mean, 0))} longer than alone."
        return Verdict("fine", said, of, lines)
    said = f"Messages take {takes}, {rough(max(mean, 0))} longer than alone, and "
    said += f"{rough(most)} longer at the slowest node."
    return Verdict("act" if mean > MUCH else "limited", said, of, lines)


def added(point: Figures, part: str) -> float:
    """Return what contention adds to a message, as a share of what the message takes alone."""
    return float(point[f"communication_us_{part}"]) / float(point["message_us"]) - 1


def _case(point: Figures) -> str:
    size = counted(point["message_bytes"], "byte", ",")
    think = seconds(point["think_us"] / 1e6)
    return f"messages of {size} after {think} of computation ({rough(point['applied'])} of a link)"


def _why(point: Figures) -> str:
    alone, loop = (seconds(point[name] / 1e6) for name in ("message_us", "loop_us_mean"))
    return f"alone a message takes {alone}, a loop takes {loop} here"
