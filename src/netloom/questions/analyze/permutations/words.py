"""Permutations on a terminal: their verdict, and the figures that it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.analyze.permutations.verdict import verdict
from netloom.questions.shown import percent, plain_table

if TYPE_CHECKING:
    from netloom.questions.analyze.permutations.answer import PermutationAnalysis

__all__ = ["lines", "verdict"]


def lines(result: PermutationAnalysis) -> list[Any]:
    """Return the figures of matchings, shifts and the all-to-all."""
    data = result.to_dict()
    half, shifts, every = data["effective_bisection"], data["shifts"], data["all_to_all"]
    table = plain_table(("", "mean", "worst"))
    if half["mean"] is not None:
        many = counted(half["samples"], "matching", ",")
        table.add_row(
            f"share of a host's bandwidth, {many}", percent(half["mean"]), percent(half["least"])
        )
    if shifts["max"] is not None:
        many = counted(shifts["count"], "shift", ",")
        table.add_row(
            f"paths on the busiest channel, {many}", number(shifts["mean"]), number(shifts["max"])
        )
    if every["max"] is not None:
        table.add_row("paths on a channel, all-to-all", number(every["mean"]), number(every["max"]))
    return [table]
