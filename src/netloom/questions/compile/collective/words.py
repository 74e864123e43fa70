"""A compiled collective in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base import units
from netloom.base.words import counted
from netloom.questions.compile.collective import stepped
from netloom.questions.compile.collective.verdict import verdict
from netloom.questions.shown import pairs, percent, plain_table, size_of

if TYPE_CHECKING:
    from netloom.phases.collectives.in_steps import InSteps
    from netloom.questions.compile.collective.answer import CollectiveSchedule
    from netloom.questions.register import Recorded

__all__ = ["lines", "sentences", "verdict"]


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
    return said if result.few is None else said + _few(result, result.few)


def _few(result: CollectiveSchedule, found: InSteps) -> list[Any]:
    """Return the frontier of few steps as a table, and the proof of the fastest point."""
    frontier = found.frontier
    rows = plain_table(
        ("steps", "rounds", "chunks", "rounds per chunk", "at least", "time", ""), ("",)
    )
    for row in stepped.frontier_rows(found):
        rows.add_row(
            str(row["steps"]), str(row["rounds"]), str(row["chunks"]), row["rounds_per_chunk"],
            row["least_rounds_per_chunk"], units.seconds(row["finish_seconds"], 4),
            "fastest" if row["fastest"] else "",
        )  # fmt: skip
    bound = frontier.bound(frontier.points[found.best].steps)
    said = stepped.proof_lines(found, bound)
    if not stepped.by_prices(bound):
        said = [f"The bottleneck cut bounds the rounds per chunk: {bound.rounds_per_chunk}."]
    elif len(said) > stepped.MOST_LINES:
        many = counted(bound.prices.proof.count, "number", ",")
        said = [f"{many} prove the rounds per chunk: --json and --out list them."]
    unlimited = result.unlimited_seconds or 0.0
    other = units.seconds(unlimited, 4)
    if unlimited < result.finish_seconds:
        other += ", less than in steps that wait for each other"
    lines = [f"• {stepped.formula(found)}", f"• Without --steps: {other}.", f"• {said[0]}"]
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
