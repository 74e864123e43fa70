"""What a compiled collective comes to: how near the best possible it is, and what sets that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.words import counted, number
from netloom.phases.collectives.synthesis import BY_TREES
from netloom.questions.commands import command_line
from netloom.questions.compile.plan_verdicts import NEAR, part_of
from netloom.questions.register import kind_of
from netloom.questions.verdict import Verdict, subject

if TYPE_CHECKING:
    from collections.abc import Mapping

LATENCY = 0.1
"""Part of the time from which on latencies are said."""


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return how fast the schedule is, beside the best possible, and what that is set by."""
    program = f"{figures['collective']} of {counted(figures['ranks'], 'rank', ',')}"
    of = subject(program, figures["topology"])
    few = figures["few_steps"] is not None
    sentence, mark = _few(figures) if few else _sentence(figures)
    lines = (
        {"where": figures["bound"].replace(" -> ", "→")}
        | _lines(figures)
        | {"proven": figures["proof"]}
    )
    return Verdict(mark, sentence, of, lines, _next(figures), note_of(figures))


def _sentence(figures: Mapping[str, Any]) -> tuple[str, str]:
    efficiency, latency = figures["efficiency"], figures["latency_seconds"]
    finish = figures["finish_seconds"]
    if efficiency < NEAR and latency >= NEAR * finish:
        took, part = units.seconds(finish), part_of(min(latency / finish, 1.0))
        return f"As fast as latencies allow: {took}, {part} of it latency.", "fine"
    best = "the best possible"
    if figures["bound"].startswith(BY_TREES):
        best = "the best that pairs of trees can reach"
    rates = [units.rate(figures[f"{each}_bandwidth"], 4) for each in ("algorithm", "bound")]
    said = f"{part_of(efficiency)} of {best}: {rates[0]} of {rates[1]}."
    return said, "fine" if efficiency >= NEAR else "limited"


def _few(figures: Mapping[str, Any]) -> tuple[str, str]:
    """Return the sentence and the mark of the fastest schedule of few steps."""
    few = figures["few_steps"]
    rooted = figures["collective"] in ("broadcast", "reduce")
    chunks = counted(few["chunks"], "chunk") + ("" if rooted else " per rank")
    said = (
        f"Takes {units.seconds(figures['finish_seconds'])} in {counted(few['steps'], 'step')}, "
        f"{counted(few['rounds'], 'round')} of {chunks}"
    )
    quicker = few["unlimited_seconds"] < figures["finish_seconds"]
    mark = "limited" if quicker or not few["proven"] else "fine"
    if few["proven"]:
        return f"{said}: proven to be the fewest rounds per chunk.", mark
    return f"{said}: at least {few['least_rounds_per_chunk']} per chunk are needed.", mark


def _lines(figures: Mapping[str, Any]) -> dict[str, str]:
    finish, latency = figures["finish_seconds"], figures["latency_seconds"]
    found = dict[str, str]()
    if few := figures["few_steps"]:
        free = units.seconds(few["unlimited_seconds"])
        which = "less" if few["unlimited_seconds"] < finish else "no less"
        found["limits"] = f"{which} with any number of steps ({free})"
    elif figures["efficiency"] < NEAR and LATENCY * finish <= latency < NEAR * finish:
        took = units.seconds(latency)
        found["why"] = f"latencies alone take {took} of {units.seconds(finish)}"
    if _cut(figures):
        limit = figures["provenance"]["configuration"]["seconds"]
        found["limits"] = f"what is found in {number(limit)} s: more time may find a better one"
    return found


def _next(figures: Mapping[str, Any]) -> str:
    """Return the command that writes the plan, or that frees its steps where that is quicker."""
    kind, asked = kind_of("compile.collective"), figures["provenance"]["configuration"]
    few = figures["few_steps"]
    if few and few["unlimited_seconds"] < figures["finish_seconds"]:
        return command_line(kind, asked | {"steps": None})
    if _cut(figures):
        return command_line(kind, asked | {"seconds": None})
    return command_line(kind, asked, out="plan.json")


def _cut(figures: Mapping[str, Any]) -> bool:
    """Whether a limit of time may be why a schedule is far from the bound."""
    limit = figures["provenance"]["configuration"]["seconds"]
    return limit is not None and not figures["few_steps"] and figures["efficiency"] < NEAR


def note_of(figures: Mapping[str, Any]) -> str:
    """Return what was assumed, as a footnote. "" if nothing was."""
    note = figures["note"]
    return f"* {note[0].lower()}{note[1:]}" if note else ""
