"""What a model of wiring comes to: how much sooner messages arrive on the mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEARLY = 1.005
"""Times sooner up to which two networks are alike."""

NOTE = "Formulas for messages that nothing delays, and the longest wire of each network."


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return what the largest size comes to, with wires that are least kind to the mesh."""
    points = figures.get("points", [figures])
    first, last = points[0], points[-1]
    constant, *others = last["delays"]
    gains = [each["speedup"] for delay in last["delays"] for each in delay["speedups"]]
    one_sided = min(gains) >= 1 / NEARLY or max(gains) <= 1 / NEARLY
    lines = {
        "why": f"channels {_than(last['channel_width_ratio'], 'wider', 'narrower')}, the longest "
        f"wire {_than(last['wire_length_ratio'], 'shorter', 'longer')}",
        "delays": "; ".join(f"{each['delay']}: {_lengths(each['speedups'])}" for each in others),
    }
    if len(points) > 1:
        size = counted(first["nodes"], "node", ",")
        lines["sizes"] = f"{_lengths(first['delays'][0]['speedups'])} at {size}"
    said = sentence_of(last, constant)
    return Verdict(
        "fine" if one_sided else "limited", said, "same density of wires", lines, note=NOTE
    )


def sentence_of(point: Mapping[str, Any], delay: Mapping[str, Any]) -> str:
    """Return how much sooner messages arrive at one size, with wires of one delay."""
    gains = [each["speedup"] for each in delay["speedups"]]
    where = f"At {counted(point['nodes'], 'node', ',')}"
    wires = f"({delay['delay']} wire delay)"
    if all(1 / NEARLY <= each <= NEARLY for each in gains):
        return f"{where} a mesh and a hypercube, wired as densely, deliver alike {wires}."
    said = _lengths(delay["speedups"])
    return f"{where} a mesh wired as densely as a hypercube delivers {said} {wires}."


def _lengths(speedups: Sequence[Mapping[str, Any]]) -> str:
    """Return the gains of the shortest and the longest messages."""
    gains = [_than(each["speedup"], "sooner", "later") for each in speedups]
    if gains[0] == gains[-1]:
        return f"messages {gains[0]}"
    short = gains[0]
    if short.split()[-1] == gains[-1].split()[-1]:
        short = short.split()[0]
    return f"short messages {short} and long ones {gains[-1]}"


def _than(ratio: float, more: str, less: str) -> str:
    """Return how many times more or less something is, as a number above 1."""
    return f"{number(ratio)}× {more}" if ratio >= 1 else f"{number(1 / ratio)}× {less}"
