"""What plan files come to: whether they break a rule, and whether their words arrive."""

from __future__ import annotations

from math import floor
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.questions.shown import Verdict, short_name

if TYPE_CHECKING:
    from netloom.phases import Plan

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
    return on_network(plan.connections.name, plan.topology.name)


def on_network(what: str, network: str) -> str:
    """Return what is done, and on which network, by short names."""
    return f"{short_name(what)} on {short_name(network)}"


def proven(sentences: list[str]) -> dict[str, str]:
    """Return what was proven by label."""
    said = (each.partition(": ") for each in sentences)
    return {LABELS[label]: what for label, _, what in said}
