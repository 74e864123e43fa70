"""What hot spots come to: whether the network keeps up, and what its queues must hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, give_or_take, number
from netloom.questions.commands import command_line
from netloom.questions.register import kind_of
from netloom.questions.shown import percent
from netloom.questions.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

FULL = 0.9
"""Share of its time from which a busy module counts as what limits the network."""

STEPS = 1000
"""Steps of a run that tells whether a network keeps up."""


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return what one rate, or several, come to."""
    asked = figures["provenance"]["configuration"]
    of = f"{counted(asked['hot_spots'], 'hot spot')} on omega:{figures['pes']}"
    points = figures.get("points", [figures])
    if not points:
        return Verdict("unknown", "Interrupted before the first of the runs was finished, 0 "
                       "steps are known.", of)  # fmt: skip
    bad = next((each for each in points if each["stable"] is False), None)
    kept = [each for each in points if each["stable"] and each["steps"]["mean"] is not None]
    if len(points) == 1 or not (kept or bad):
        point, mark, said = points[0], mark_of(points[0]), sentence_of(points[0])
    elif bad is None:
        point, mark = kept[-1], "fine"
        said = (
            f"Keeps up at {counted(len(kept), 'rate')}, up to {number(point['rate'])}: "
            f"{_steps(point)}. {_most_held(point)}."
        )
    elif not kept or kept[0]["rate"] > bad["rate"]:
        point, mark, said = bad, "act", sentence_of(bad)
    else:
        point, mark = bad, "limited"
        below = [each for each in kept if each["rate"] < bad["rate"]][-1]
        said = (
            f"Keeps up to rate {number(below['rate'])}: {_steps(below)}. At rate "
            f"{number(bad['rate'])}, {_too_much(bad)}."
        )
    note = point["note"] or ""
    return Verdict(
        mark, said, of, _lines(point, asked), _next(point, asked, figures),
        f"{note[:1].upper()}{note[1:]}." if note else "",
    )  # fmt: skip


def mark_of(point: Mapping[str, Any]) -> str:
    """Return the mark of one rate."""
    if point["steps"]["mean"] is None:
        return "unknown"
    return {True: "fine", False: "act", None: "unknown"}[point["stable"]]


def sentence_of(point: Mapping[str, Any]) -> str:
    """Return what one rate comes to."""
    rate = f"at rate {number(point['rate'])}"
    if point["steps"]["mean"] is None:
        return f"No request was completed {rate}: 0 messages are known."
    if point["stable"] is None:
        return f"Too short to tell {rate}: {_steps(point)} so far."
    if point["stable"]:
        return f"Keeps up {rate}: {_steps(point)}. {_most_held(point)}."
    return f"Cannot keep up {rate}: {_too_much(point)}."


def _steps(point: Mapping[str, Any]) -> str:
    found = point["steps"]
    return f"{counted(number(found['mean']), 'step')} ({found['unhindered']} idle)"


def _most_held(point: Mapping[str, Any]) -> str:
    """Say the most packets that were ever in a queue, and in a wait buffer."""
    said = f"Most ever held: {counted(point['queue']['max'], 'packet')} in a queue"
    waiting = point["wait_buffer"]["max"]
    return f"{said}, {waiting} in a wait buffer" if waiting else said


def _too_much(point: Mapping[str, Any]) -> str:
    refused = point["discarded"]["full_share"]
    if refused > (point["piled_up"] or 0):
        return f"{percent(refused)} of the requests are refused, because the PE's queue is full"
    where = point["fullest"].removeprefix("requests ").removeprefix("replies ")
    return f"{percent(point['piled_up'])} of the requests pile up {where}"


def _lines(point: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, str]:
    """Return where queues are longest, why, and how long requests take."""
    steps = point["steps"]
    if steps["mean"] is None:
        return {}
    found = {"where": f"longest queues: {point['fullest']}, "
             f"{counted(number(point['fullest_mean']), 'packet')} on average"}  # fmt: skip
    busiest = max(point["hot_spots"], key=lambda each: each["busy"], default=None)
    if busiest and point["stable"] is False and busiest["busy"] >= FULL:
        serves = counted(asked["service_steps"], "step")
        found["why"] = (
            f"module {busiest['module']} is busy {percent(busiest['busy'])} of the time, at "
            f"{serves} an access"
        )
    found["steps"] = (
        f"{give_or_take(steps['mean'], steps['ci95'])}; p50 {number(steps['p50'])}  "
        f"p99 {number(steps['p99'])}  max {number(steps['max'])} steps"
    )
    return found


def _next(point: Mapping[str, Any], asked: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """Return the command that finds the sizes, or that mends what limits the network."""
    same = dict(asked) | {"rate": point["rate"]}
    hotspot = kind_of("hotspot")
    if point["steps"]["mean"] is None:
        return command_line(hotspot, same | {"rate": 0.15}) if not point["rate"] else ""
    if point["stable"] is None:
        return command_line(hotspot, same | {"steps": max(STEPS, 2 * asked["steps"])})
    if point["stable"] is False and asked["combining"] == "none":
        return command_line(hotspot, same | {"combining": "waiting"})
    bounded = any(each is not None for each in figures["capacity"].values())
    if point["stable"] is False and not bounded:
        more = 2 * asked["hot_spots"]
        return command_line(hotspot, same | {"hot_spots": more}) if more <= asked["pes"] else ""
    sizes = {name: same[name] for name in same if name not in ("replications", "steps")}
    if asked["combining"] == "none":
        return ""
    return command_line(kind_of("hotspot.critical-queue"), sizes)
