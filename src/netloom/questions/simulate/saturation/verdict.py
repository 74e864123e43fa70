"""What a search for saturation comes to, by its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, listed, number
from netloom.questions.shown import Verdict, arrow
from netloom.questions.simulate.load.verdict import is_known, is_sure, of
from netloom.questions.simulate.said import again, around, bound_said, longer, rough

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Figures = Mapping[str, Any]

WORDS = "simulate.saturation"

LONG = 200_000
"""Cycles of a run from which where it saturates is known about as well as a run can tell."""

CURVE_LOADS = 8
"""About how many loads the next command asks for."""

HALF = 0.5
"""A network whose busiest channel between routers is less in use saturates elsewhere: at hosts."""


def verdict(figures: Figures) -> Verdict:
    """Return at which load the network saturates, and what share of the bound that is."""
    searches = figures.get("points")
    return _of_one(figures) if searches is None else _of_techniques(figures, searches)


def _of_one(found: Figures) -> Verdict:
    lines = {"limits": bound_said(found["throughput_bound"])}
    if found["interrupted"]:
        return Verdict("unknown", _interrupted(found), of(found), lines, again(WORDS, found))
    last, load = carried(found), number(found["saturation_offered"])
    if last is None:
        said = f"Runs too short: of none is it known whether {load} flits/node/cycle is carried."
        return Verdict("unknown", said, of(found), lines, longer(WORDS, found))
    lines = _where(found, last) | lines
    sure = _is_long(last)
    more = again("simulate.load", found, load=_range(found), cycles=None, plot="curve.svg")
    if not found["saturates"]:
        latency = number(last["packet_latency"]["mean"])
        said = f"Carries all that nodes can offer, {load} flits/node/cycle, at {latency} cycles"
        mark = "fine"
    else:
        half = found["saturation_offered_width"] / 2
        where = around(found["saturation_offered"], half)
        said = f"Saturates at {where} flits/node/cycle, {_of_bound(found)}"
        mark = "limited"
    if not sure:
        ran = counted(last["cycles"], "cycle", ",")
        said = f"{said.replace('Saturates at', 'Saturates near')}, in short runs of {ran}"
        mark, more = "unknown", longer(WORDS, found)
    return Verdict(mark, f"{said}.", of(found), lines, more, _note(found))


def _is_long(run: Figures) -> bool:
    """Whether a run near saturation was long enough to rely on."""
    return is_sure(run) or bool(run["warmed_up"] and run["cycles"] >= LONG)


def carried(found: Figures) -> Figures | None:
    """Return the run at the highest load that the network carried below saturation, if any."""
    runs = [
        run
        for run in found["runs"]
        if is_known(run) and run["stable"]
        and (not found["saturates"] or run["offered"] < found["saturation_offered"])
    ]  # fmt: skip
    return max(runs, key=lambda run: run["offered"], default=None)


def _of_bound(found: Figures) -> str:
    bound = found["throughput_bound"]["load"]
    return f"{rough(found['saturation_offered'] / bound)} of the bound {number(bound)}"


def _interrupted(found: Figures) -> str:
    """Return how far an interrupted search had come."""
    last = carried({**found, "saturates": False})
    if last is None:
        return "Interrupted after 0 finished runs, 0 cycles: nothing is known yet."
    above = [run["offered"] for run in found["runs"] if is_known(run) and not run["stable"]]
    most = f" and below {number(min(above))}" if above else ""
    least = number(last["offered"])
    return f"Interrupted: saturates above {least}{most} flits/node/cycle, no more is known."


def _where(found: Figures, last: Figures) -> dict[str, str]:
    """Return what gets through there, and which link is busiest then."""
    worst, mean = number(found["accepted_worst_node"]), number(found["saturation_throughput"])
    lines = {"accepts": f"{mean} flits/node/cycle there, the worst node {worst}"}
    used = last["utilisation"]
    if used["busiest_channel"] is not None:
        said = f"{arrow(used['busiest_channel'])} is then {rough(used['max'])} busy"
        idle = ", no channel between routers is busier" if used["max"] < HALF else ""
        lines["where"] = f"{said}{idle}"
    return lines


def _range(found: Figures) -> str:
    """Return loads up to where the network saturates, as a question takes them."""
    most = found["saturation_offered"]
    step = float(f"{most / CURVE_LOADS:.1g}")
    return f"{step:g}:{min(most + step, 1):.3g}:{step:g}"


def _note(found: Figures) -> str:
    times, idle = number(found["latency_factor"]), number(found["zero_load_latency"])
    return (
        f"Saturated: traffic piles up, or latency is over {times} times the idle {idle} cycles. "
        "± is the last step of the search. Chance and short runs move saturation by about 2\u00a0%."
    )


def _of_techniques(figures: Figures, searches: Sequence[Figures]) -> Verdict:
    asked = list(figures["throughput_bounds"])
    ended = [each for each in searches if not each["interrupted"]]
    best_bound = max(figures["throughput_bounds"].values(), key=lambda bound: bound["load"])
    lines = {"limits": bound_said(best_bound)}
    if len(ended) < len(asked):
        done = {each["switching"] for each in ended}
        said = f"Interrupted: {rough(len(done) / len(asked))} of the techniques are known"
        missing = listed([each for each in asked if each not in done])
        return Verdict("unknown", f"{said}, not {missing}.", of(figures), lines,
                       again(WORDS, figures))  # fmt: skip
    most = max(ended, key=lambda each: each["saturation_offered"])
    equal = [each["switching"] for each in ended if _reach(each) >= most["saturation_offered"]]
    others = [
        f"{each['switching']} {number(each['saturation_offered'])}"
        for each in ended
        if each["switching"] not in equal
    ]
    if others:
        lines = {"others": f"{listed(others)} flits/node/cycle"} | lines
    names = listed(equal)
    verb = "carry" if len(equal) > 1 else "carries"
    load = number(most["saturation_offered"])
    said = f"{names[0].upper()}{names[1:]} {verb} most: up to {load} flits/node/cycle"
    said += f", {_of_bound(most)}"
    runs = [carried(each) for each in ended]
    if not all(run is not None and _is_long(run) for run in runs):
        return Verdict("unknown", f"{said}, in runs too short to be sure.", of(figures), lines,
                       longer(WORDS, figures), _note(most))  # fmt: skip
    mark = "limited" if any(each["saturates"] for each in ended) else "fine"
    more = again("simulate.load", figures, load=_range(most), cycles=None, plot="curve.svg")
    return Verdict(mark, f"{said}.", of(figures), lines, more, _note(most))


def _reach(search: Figures) -> float:
    """Return the highest load at which a technique may still not saturate."""
    most: float = search["saturation_offered"]
    return most + (search["saturation_offered_width"] or 0)
