"""What permutations come to: the share of their bandwidth that pairs get, and the worst shift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.analyze.where import CLOSE
from netloom.questions.commands import command_line
from netloom.questions.register import kind_of
from netloom.questions.shown import percent
from netloom.questions.verdict import Verdict, short_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Figures = Mapping[str, Any]

FULL, HALF = 0.95, 0.5
"""Shares of a host's bandwidth from which on pairs get nearly all of it, and half."""

UNEVEN = 1.05
"""Times the bound from which on another routing may gain something in an all-to-all."""


def verdict(figures: Figures) -> Verdict:
    """Return how a network bears permutations, by the figures of the answer."""
    half, shifts = figures["effective_bisection"], figures["shifts"]
    if half["mean"] is not None:
        mean, worst = percent(half["mean"]), percent(half["least"])
        mark = "fine" if half["mean"] >= FULL else "limited" if half["mean"] >= HALF else "act"
        sentence = f"Pairs get {mean} of a host's bandwidth in random matchings"
        sentence += f", {worst} in the worst." if half["samples"] > 1 else "."
    else:
        mark = "fine" if shifts["max"] <= 1 else "limited"
        sentence = (
            f"The worst shift, by {number(shifts['worst'])}, puts "
            f"{counted(number(shifts['max']), 'path')} on one channel."
        )
    of = f"{counted(figures['hosts'], 'host', ',')} on {short_name(figures['topology'])}"
    of += f", {figures['routing']}"
    note = f"Not known: {figures['note']}." if figures["note"] else ""
    return Verdict(mark, sentence, of, dict(_lines(figures)), _next(figures, mark), note)


def _lines(figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield what goes with the sentence, by label."""
    half, shifts, every = (
        figures[each] for each in ("effective_bisection", "shifts", "all_to_all")
    )
    if half["ci"] is not None:
        low, high = map(percent, half["ci"])
        yield "trust", f"95\u00a0% interval {low} to {high}, {half['samples']:,} matchings"
    if half["mean"] is not None and shifts["max"] is not None:
        paths = counted(number(shifts["max"]), "path")
        yield "shifts", f"the worst, by {number(shifts['worst'])}, puts {paths} on one channel"
    if every["max"] is not None:
        paths = f"{counted(number(every['max']), 'path')} on the busiest channel"
        ratio = every["time"] / every["bound"] if every["bound"] else None
        if ratio is not None and ratio <= CLOSE:
            paths += ", as few as any routing allows"
        elif ratio is not None:
            paths += f", {number(ratio)}× the least that any routing allows"
        yield "all", f"{paths} in an all-to-all"


def _next(figures: Figures, mark: str) -> str:
    """Return the command that makes better tables, if any can be better."""
    every = figures["all_to_all"]
    if mark == "fine" or not every["bound"] or every["time"] <= UNEVEN * every["bound"]:
        return ""
    return command_line(kind_of("route"), _network(figures))


def _network(figures: Figures) -> dict[str, Any]:
    """Return the fields of the question that name its network."""
    asked = figures["provenance"]["configuration"]
    return {name: asked[name] for name in ("on", "failed_channels", "failed_nodes")}
