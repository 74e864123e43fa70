"""What a program of loops comes to, by its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.shown import Verdict, subject
from netloom.questions.simulate.said import again, configuration, rough

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Figures = Mapping[str, Any]

LITTLE, MUCH = 0.1, 0.5
"""Shares of their sending rate that ranks may lose before something is to be done, and to be
changed."""

NOTABLE_SLOWDOWN = 1.005
"""Time of a loop beside other programs, in times that alone, that is worth a word."""

NOTABLE = 0.05
"""Share of a loop from which waiting for other messages is worth another mapping."""


def verdict(found: Figures) -> Verdict:
    """Return what share of their sending rate the ranks lose, at the highest applied traffic."""
    points = found.get("points", [found])
    known = [each for each in points if each["actual"]["average_node"] is not None]
    uniform = found["program"] == "uniform"
    of = subject(found["program"], found["topology"], None if uniform else found["mapping"])
    if not points or not known or points[-1] is not known[-1]:
        return Verdict("unknown", _too_short(points), of, _limits(found), _longer(found))
    last = known[-1]
    mean, worst = (_lost(last, which) for which in ("average_node", "worst_node"))
    at = f" at applied traffic {number(last['applied'])}" if len(found["asked"]) > 1 else ""
    if found["interrupted"]:
        said = f"Interrupted: ranks lose {rough(mean)} of their sending rate so far{at}."
        return Verdict("unknown", said, of, _limits(found), again("simulate.loop", found))
    lines = _why(last) | _shared(last) | _limits(found)
    if worst <= LITTLE:
        said = f"Ranks keep {rough(1 - mean)} of their sending rate{at}, the slowest "
        return Verdict("fine", f"{said}{rough(1 - worst)}.", of, lines)
    said = f"Ranks lose {rough(mean)} of their sending rate to the network{at}, the slowest "
    mark = "act" if mean > MUCH else "limited"
    return Verdict(mark, f"{said}{rough(worst)}.", of, lines, _next(found, last))


def _lost(point: Figures, which: str) -> float:
    """Return the share of the applied traffic that does not get through, at least 0."""
    return max(1 - float(point["actual"][which]) / float(point["applied"]), 0.0)


def _too_short(points: Sequence[Figures]) -> str:
    if not points:
        return "Interrupted after 0 cycles: nothing is known yet."
    last = next(each for each in reversed(points) if each["actual"]["average_node"] is None)
    ran = counted(last["cycles"], "cycle", ",")
    applied = number(last["applied"])
    if last["interrupted"]:
        return f"Interrupted after {ran} at applied traffic {applied}: nothing is known of it."
    return f"Not known at applied traffic {applied}: after {ran} some rank has too few loops."


def _longer(found: Figures) -> str:
    if found["interrupted"]:
        return again("simulate.loop", found)
    return again("simulate.loop", found, most_cycles=10 * configuration(found)["most_cycles"])


def _contention(point: Figures) -> float:
    """Return the cycles of a loop that messages wait for others."""
    if point["message_latency"] is None:
        return 0.0
    return max(float(point["message_latency"]) - float(point["unhindered_latency"]), 0.0)


def _why(point: Figures) -> dict[str, str]:
    if point["message_latency"] is None:
        return {}
    takes, idle = number(point["message_latency"]), number(point["unhindered_latency"])
    return {"why": f"a message takes {takes} cycles, {idle} of them also on an idle network"}


def _shared(point: Figures) -> dict[str, str]:
    slower = [(each["slowdown"], each["name"]) for each in point["programs"] if each["slowdown"]]
    if not slower:
        return {}
    times, name = max(slower)
    if times < NOTABLE_SLOWDOWN:
        return {"shared": "no program delays another"}
    return {"shared": f"{name} suffers most: its loops take {number(times)} times as long as alone"}


def _limits(found: Figures) -> dict[str, str]:
    limit = found["saturation"]
    if limit is None:
        return {}
    said = f"the slowest rank saturates at {number(limit['worst_node'])}, the average one at "
    return {"limits": f"{said}{number(limit['average_node'])} flits/node/cycle (estimates)"}


def _next(found: Figures, point: Figures) -> str:
    """Return the command that looks for a better mapping, where waiting for others costs time."""
    app, mapping = (configuration(found)[name] for name in ("app", "mapping"))
    worth = _contention(point) > NOTABLE * float(point["loop_cycles"]["mean"])
    if not worth or not isinstance(app, str) or app == "uniform":
        return ""
    return again("map", found, rankfile="ranks.txt") if mapping == "identity" else ""
