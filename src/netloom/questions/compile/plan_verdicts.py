"""What plan files come to: whether they break a rule, and whether their words arrive."""

from __future__ import annotations

from math import floor
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.base import units
from netloom.base.declared import declared
from netloom.base.words import counted
from netloom.phases.collectives.schedules import least_latency
from netloom.questions.shown import Verdict, short_name

if TYPE_CHECKING:
    from netloom.phases import Plan
    from netloom.questions.compile.collective.verified import VerifiedCollective, VerifiedProgram
    from netloom.questions.compile.plans import VerifiedPlan

NEAR = 0.99
"""Part of a time from which on it is as good as all of it."""

LABELS = {
    "Data": "data", "Channels": "routes", "Time": "time", "Steps": "steps", "Fabric": "fabric",
}  # fmt: skip
"""What begins a sentence on what was proven, and its label."""


def told(path: str, verdict: Verdict) -> str:
    """Return a plan file and what it comes to, as text."""
    lines = [f"{label}: {said}" for label, said in verdict.lines.items()]
    return "\n".join([f"<{path}>", verdict.marked, *lines])


def broken(plan: str | Path) -> Verdict:
    """Return what a plan comes to that breaks a rule: which one is said elsewhere."""
    return Verdict("act", f"Not verified: {Path(plan).name} breaks a rule.")


def of_phases(found: VerifiedPlan) -> Verdict:
    """Return what a plan of phases comes to that breaks no rule."""
    plan, limit, least = found.file.plan, found.file.plan.capacity, found.lower_bound_phases
    many = counted(plan.num_phases, "phase", ",")
    said = f"Verified: {counted(len(plan.connections), 'connection', ',')} in {many} break no rule."
    lines = {
        "proven": f"at most {found.max_channels_used} of {limit.virtual_channels} virtual channels "
        f"per {limit.per} are in use; the {found.file.timetable.kind} times are kept",
        "limits": f"{many}, and no plan has fewer" if plan.num_phases == least
        else f"{many} of at least {least:,}",
    }  # fmt: skip
    runs = len(plan.connections) and "run_plan" in declared("functions")
    run = f"netloom compile run {found.path}" if runs else ""
    return Verdict("fine", said, of_what(plan), lines, run)


def of_schedule(found: VerifiedCollective) -> Verdict:
    """Return what a schedule of a collective comes to that breaks no rule."""
    program, network = found.schedule.program, found.schedule.network
    said = (
        f"Verified: {program.collective} of {units.size(found.schedule.size_bytes)} in "
        f"{units.seconds(found.judged.finish_seconds)}{_how_near(found)}."
    )
    of = _of(counted(program.num_ranks, "rank", ","), network.name)
    note = "" if found.bound_verified else "* the file does not prove its bound"
    return Verdict("fine", said, of, _proven(found.proves), note=note)


def _how_near(found: VerifiedCollective) -> str:
    """Return what is proven of the time of a schedule: in few steps, by latencies or by bytes."""
    schedule = found.schedule
    if found.few_steps is not None:
        return f" and {counted(found.few_steps['steps'], 'step')}"
    latency = least_latency(schedule.network, schedule.program.collective, schedule.program.root)
    if found.efficiency < NEAR <= latency / found.judged.finish_seconds:
        return ", as fast as latencies allow"
    best = "the best possible" if found.bound_verified else "the bound in the file"
    return f", {part_of(found.efficiency)} of {best}"


def of_program(found: VerifiedProgram) -> Verdict:
    """Return what MSCCL XML comes to that does what its collective means."""
    program = found.execution.found
    messages = counted(len(found.execution.sent), "message", ",")
    said = f"Verified: {messages} do what {program.collective} means."
    return Verdict("fine", said, counted(program.num_gpus, "rank", ","), _proven(found.proves))


def part_of(efficiency: float) -> str:
    r"""Return a part of the best in percent, never rounded up.

    Examples
    --------
    >>> part_of(0.99999), part_of(0.5)
    ('99.99\xa0%', '50\xa0%')
    """
    return f"{floor(efficiency * 1e4) / 100:g}\u00a0%"


def of_what(plan: Plan) -> str:
    """Return what is connected, on which network."""
    return _of(plan.connections.name, plan.topology.name)


def _of(what: str, network: str) -> str:
    return f"{short_name(what)} on {short_name(network)}"


def _proven(sentences: list[str]) -> dict[str, str]:
    """Return what was proven by label."""
    said = (each.partition(": ") for each in sentences)
    return {LABELS[label]: what for label, _, what in said}
