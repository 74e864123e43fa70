"""A compiled collective in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base import units
from netloom.base.words import counted, number
from netloom.phases.collectives.synthesis import BY_TREES
from netloom.questions.compile.collective.question import (
    MOST_LINES,
    by_prices,
    formula,
    frontier_rows,
    proof_lines,
)
from netloom.questions.compile.plan_verdicts import NEAR, part_of
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import Verdict, pairs, percent, plain_table, size_of, subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.phases.collectives.few_steps import InSteps
    from netloom.questions.compile.collective.question import CollectiveSchedule
    from netloom.questions.register import Recorded


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


def lines(result: CollectiveSchedule) -> list[Any]:
    """Return how fast the schedule is, what no schedule beats and why, and what it is made of."""
    topology, program = result.topology, result.schedule.program
    head = f"{size_of(topology)}; {result.clock.words(topology)}"
    rows = {
        "time": f"{units.seconds(result.finish_seconds, 4)}; the bound is "
        f"{units.seconds(result.bound_seconds, 4)}",
        "algorithm bandwidth": f"{units.rate(result.algorithm_bandwidth, 4)} of "
        f"{units.rate(result.bound_bandwidth, 4)}",
        "bus bandwidth": units.rate(result.bus_bandwidth, 4),
        "made of": f"{result.method}: {counted(program.num_messages, 'message', ',')}, "
        f"{counted(program.num_chunks, 'chunk', ',')}, {counted(program.num_steps, 'step', ',')}",
        "depth": f"data takes {counted(result.judged.depth, 'message', ',')} one after the other "
        "at most",
        "busiest channels": f"used {percent(result.judged.busiest)} of the time",
    }
    said: list[Any] = [escape(head), pairs(rows)]
    return said if result.few is None else said + _in_few_steps(result, result.few)


def _in_few_steps(result: CollectiveSchedule, found: InSteps) -> list[Any]:
    """Return the frontier of few steps as a table, and the proof of the fastest point."""
    frontier = found.frontier
    rows = plain_table(
        ("steps", "rounds", "chunks", "rounds per chunk", "at least", "time", ""), ("",)
    )
    for row in frontier_rows(found):
        rows.add_row(
            str(row["steps"]), str(row["rounds"]), str(row["chunks"]), row["rounds_per_chunk"],
            row["least_rounds_per_chunk"], units.seconds(row["finish_seconds"], 4),
            "fastest" if row["fastest"] else "",
        )  # fmt: skip
    bound = frontier.bound(frontier.points[found.best].steps)
    said = proof_lines(found, bound)
    if not by_prices(bound):
        said = [f"The bottleneck cut bounds the rounds per chunk: {bound.rounds_per_chunk}."]
    elif len(said) > MOST_LINES:
        many = counted(bound.prices.proof.count, "number", ",")
        said = [f"{many} prove the rounds per chunk: --json and --out list them."]
    unlimited = result.unlimited_seconds or 0.0
    other = units.seconds(unlimited, 4)
    if unlimited < result.finish_seconds:
        other += ", less than in steps that wait for each other"
    lines = [f"• {formula(found)}", f"• Without --steps: {other}.", f"• {said[0]}"]
    lines += [f"  {each}" for each in said[1:]]
    if frontier.undecided:
        some = ", ".join(f"({a.steps}, {a.rounds}, {a.chunks})" for a in frontier.undecided[:4])
        lines.append(f"• The time did not suffice for {some} (steps, rounds, chunks).")
    return ["", rows, *map(escape, lines)]


def sentences(record: Recorded) -> list[str]:
    """Return the verdict, the bottleneck, what is proven and what was assumed."""
    found = record.figures
    said = [found["verdict"]["sentence"], found["bound"], found["proof"]]
    return said + ([found["note"]] if found["note"] else [])
