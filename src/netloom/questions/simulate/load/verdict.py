"""What a simulated load comes to, by its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, listed, number
from netloom.questions.shown import Verdict, arrow, subject
from netloom.questions.simulate.said import (
    SLOW,
    again,
    around,
    bound_said,
    configuration,
    longer,
    rough,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Figures = Mapping[str, Any]

NOTABLE = 1.005
"""Latency beside other programs, in times that alone, that is worth a word."""

SATURATION, LOAD = "simulate.saturation", "simulate.load"


def verdict(figures: Figures) -> Verdict:
    """Return whether the network carries the load, at which latency, and what limits it."""
    points = figures.get("points")
    if points is None:
        return _of_one(figures)
    if len(figures["throughput_bounds"]) + len(figures["refused"]) > 1:
        return _of_techniques(figures, points)
    return _of_loads(figures, points)


def is_known(point: Figures) -> bool:
    """Whether a run was long enough to tell whether the network carries its load."""
    if point["interrupted"] or not point["packets"]:
        return False
    return not point["stable"] or point["backlog"]["growth"] is not None


def is_sure(point: Figures) -> bool:
    """Whether the latency of a run that carries its load is as precise as it was asked for."""
    return bool(is_known(point) and point["stable"] and point["warmed_up"] and point["precise"])


def is_slow(point: Figures) -> bool:
    """Whether packets take so much longer than on an idle network that it counts as saturated."""
    idle = point["zero_load_latency"]
    return bool(idle and point["packet_latency"]["mean"] > SLOW * idle)


def _saturates(point: Figures) -> bool:
    """Whether the network is saturated, as a search for saturation defines it."""
    return _is_overloaded(point) or (is_known(point) and point["stable"] and is_slow(point))


def _is_surely_slow(point: Figures) -> bool:
    """Whether latency is too long for certain, as far as its interval tells."""
    latency, idle = point["packet_latency"], point["zero_load_latency"]
    return bool(latency["mean"] - (latency["ci95"] or 0) > SLOW * idle)


def _is_overloaded(point: Figures) -> bool:
    """Whether a load is too much: as the run shows, or for certain above the bound."""
    above = point["offered"] > point["throughput_bound"]["load"]
    return not point["stable"] and (above or is_known(point))


def of(figures: Figures) -> str:
    """Return what was simulated, in short."""
    asked = configuration(figures)
    mapping = asked["mapping"] if asked["app"] is not None else None
    return subject(figures["traffic"], figures["topology"], mapping)


def _of_one(point: Figures) -> Verdict:
    if _is_overloaded(point):
        return Verdict(
            "act", f"Overloaded: {overload(point)}. No latency exists here.", of(point),
            {**_accepted(point), **_limits(point)}, again(SATURATION, point, cycles=None),
        )  # fmt: skip
    if not is_known(point):
        return Verdict("unknown", _too_short(point), of(point), _limits(point),
                       longer(LOAD, point))  # fmt: skip
    latency, load = point["packet_latency"], number(point["offered"])
    if not is_sure(point):
        mean = around(latency["mean"], latency["ci95"])
        said = f"Too short to be sure: about {mean} cycles at {load}{_idle(point)}."
        why = {"why": _doubt(point)}
        return Verdict("unknown", said, of(point), why | _limits(point), longer(LOAD, point))
    busiest = ""
    if (used := point["utilisation"])["max"] is not None:
        busiest = f" Busiest link {rough(used['max'])}."
    if is_slow(point):
        times = number(latency["mean"] / point["zero_load_latency"])
        said = f"Carries {load}, but at {number(latency['mean'])} cycles, {times} times the idle "
        said += f"{number(point['zero_load_latency'])}."
        mark = "limited"
    else:
        known = f", p99 {number(latency['p99'])}"
        said = f"Carries {load} at {number(latency['mean'])} cycles{_idle(point, known)}."
        mark = "fine"
    lines = {**_where(point), **_shared(point), **_limits(point)}
    return Verdict(mark, said + busiest, of(point), lines, again(SATURATION, point, cycles=None))


def overload(point: Figures) -> str:
    """Return in words by how much a load is too much."""
    load, backlog = number(point["offered"]), point["backlog"]
    if backlog["node"] is not None:
        share = rough(backlog["node_growth"])
        return f"at {load} the queue of node {backlog['node']} keeps {share} of what the node sends"
    if backlog["growth"] is not None:
        return f"{load} asked, {rough(backlog['growth'])} of it piles up"
    most = number(point["throughput_bound"]["load"])
    if most == load:
        return f"{load} flits/node/cycle asked, which is all that can be carried"
    return f"{load} flits/node/cycle asked, at most {most} can be carried"


def _too_short(point: Figures) -> str:
    ran = counted(point["cycles"], "cycle", ",")
    if point["interrupted"]:
        return f"Interrupted after {ran}: not known whether {number(point['offered'])} is carried."
    seen = counted(point["packets"], "packet", ",")
    return f"Too short to tell at {number(point['offered'])}: {seen} in {ran}."


def _doubt(point: Figures) -> str:
    if not point["warmed_up"]:
        return "the start-up was not seen to end"
    return f"after {counted(point['cycles'], 'cycle', ',')} the latency is less precise than asked"


def _idle(point: Figures, more: str = "") -> str:
    """Return the latency of the idle network, if it is known, and more, in brackets."""
    idle = point["zero_load_latency"]
    if idle is None:
        return f" ({more.removeprefix(', ')})" * bool(more)
    return f" ({number(idle)} idle{more})"


def _where(point: Figures) -> dict[str, str]:
    used = point["utilisation"]
    if used["busiest_channel"] is None:
        return {}
    said = f"{arrow(used['busiest_channel'])} is {rough(used['max'])} busy"
    average = f"the average link {rough(used['mean'])}"
    return {"where": f"{said} at {number(point['offered'])}, {average}"}


def _accepted(point: Figures) -> dict[str, str]:
    said = f"{number(point['accepted'])} of {number(point['offered'])} flits/node/cycle arrive"
    least = f"least from {point['worst_node']}: {number(point['accepted_worst_node'])}"
    return {"accepts": f"{said}, {least}"}


def _limits(point: Figures) -> dict[str, str]:
    return {"limits": bound_said(point["throughput_bound"])}


def _shared(point: Figures) -> dict[str, str]:
    """Return which of several programs suffers most from the others."""
    slower = [
        (each["slowdown"]["packet_latency"], each["name"])
        for each in point["programs"]
        if each["slowdown"] and each["slowdown"]["packet_latency"]
    ]
    if not slower:
        return {}
    times, name = max(slower)
    if times < NOTABLE:
        return {"shared": "no program delays another"}
    return {"shared": f"{name} suffers most: {number(times)} times its latency alone"}


# Several loads of one technique.


def _of_loads(figures: Figures, points: Sequence[Figures]) -> Verdict:
    failed = next((each for each in points if _saturates(each)), None)
    below = [each for each in points if failed is None or each["offered"] < failed["offered"]]
    carried = [each for each in below if is_known(each) and each["stable"]]
    vague = [each for each in points if not is_known(each) and each is not failed]
    last = carried[-1] if carried else points[-1]
    lines = {**(_where(last) if carried else {}), **_limits(last)}
    if vague:
        return Verdict("unknown", _known_so_far(vague[0], carried), of(figures), _limits(last),
                       longer(LOAD, figures))  # fmt: skip
    more = again(SATURATION, figures, cycles=None)
    slow = failed is not None and not _is_overloaded(failed)
    if failed is not None and not carried:
        if slow:
            said, mark = f"Saturated from the lowest load on: {_slow_said(failed)}.", "limited"
            return Verdict(mark, said, of(figures), {**_where(failed), **lines}, more)
        said = f"Overloaded from the lowest load on: {overload(failed)}."
        return Verdict("act", said, of(figures), {**_accepted(failed), **lines}, more)
    latency = last["packet_latency"]
    mean = number(latency["mean"]) if is_sure(last) else around(latency["mean"], latency["ci95"])
    if failed is not None:
        at = f" ({mean} cycles at {number(last['offered'])}{_comma_idle(last)})"
        said = f"Saturates between {number(last['offered'])} and {number(failed['offered'])}{at}."
        lines = {"why": _slow_said(failed), **lines} if slow else lines
    else:
        said = f"Carries all loads up to {number(last['offered'])}: {mean} cycles there"
        said += f"{_idle(last)}."
    mark = "fine" if failed is None else "limited"
    if not all(map(is_sure, carried)) or (failed and slow and not _is_surely_slow(failed)):
        mark, more = "unknown", longer(LOAD, figures)
        said = said.removesuffix(".") + ", in runs too short to be sure."
    return Verdict(mark, said, of(figures), lines, more)


def _slow_said(point: Figures) -> str:
    """Return why a load that is carried counts as too much."""
    latency, idle = point["packet_latency"], point["zero_load_latency"]
    mean = around(latency["mean"], latency["ci95"])
    times = number(latency["mean"] / idle)
    return f"packets take {mean} cycles at {number(point['offered'])}, {times} times idle"


def _comma_idle(point: Figures) -> str:
    return _idle(point).replace(" (", ", ").removesuffix(")")


def _known_so_far(vague: Figures, carried: Sequence[Figures]) -> str:
    if not carried:
        return _too_short(vague)
    last, most = carried[-1], number(vague["offered"])
    why = "Interrupted" if vague["interrupted"] else "Too short to tell"
    known = f"{number(last['offered'])} at {number(last['packet_latency']['mean'])} cycles"
    return f"{why}: carries {known}, not known whether {most} too."


# Several techniques.


def _of_techniques(figures: Figures, points: Sequence[Figures]) -> Verdict:
    best = max(figures["throughput_bounds"].values(), key=lambda bound: bound["load"])
    lines = {"limits": bound_said(best)}
    asked = list(figures["throughput_bounds"])
    seen = {each["switching"] for each in points}
    if vague := [each for each in points if not is_known(each) and not _is_overloaded(each)]:
        said = f"Not all techniques are known: {vague[0]['switching']} ran too short, "
        said += f"{counted(vague[0]['cycles'], 'cycle', ',')} at {number(vague[0]['offered'])}."
        return Verdict("unknown", said, of(figures), lines, longer(LOAD, figures))
    if missing := [each for each in asked if each not in seen]:
        said = f"Interrupted: {len(seen)} of {len(asked)} techniques ran, {listed(missing)} did not"
        return Verdict("unknown", f"{said}.", of(figures), lines, again(LOAD, figures))
    carried = [each for each in points if each["stable"]]
    more = again(SATURATION, figures, cycles=None)
    if not carried:
        least = min(points, key=lambda each: each["backlog"]["growth"] or 0)
        said = f"No technique carries the lowest load: with {least['switching']}, {overload(least)}"
        return Verdict("act", f"{said}.", of(figures), lines, more)
    most = max(each["offered"] for each in carried)
    there = [each for each in carried if each["offered"] == most]
    first = min(there, key=lambda each: each["packet_latency"]["mean"])
    equal = [each["switching"] for each in there if _as_fast(each, first)]
    slower = [each for each in there if not _as_fast(each, first)]
    others = [each for each in asked if each not in {one["switching"] for one in there}]
    latencies = {each["switching"]: number(each["packet_latency"]["mean"]) for each in slower}
    lines = {
        "slower": listed([f"{name} {cycles} cycles" for name, cycles in latencies.items()]),
        "fails": listed(others),
        **lines,
    }
    lines = {label: said for label, said in lines.items() if said}
    names = listed(equal)
    names = f"{names[0].upper()}{names[1:]} {'are' if len(equal) > 1 else 'is'}"
    latency = f"{number(first['packet_latency']['mean'])} cycles{_idle(first)}"
    above = [each["offered"] for each in points if each["offered"] > most]
    if above:
        said = f"{names} fastest: {latency} at {number(most)}, and overloaded at "
        said += f"{number(min(above))}."
    else:
        said = f"{names} fastest at {number(most)}: {latency}."
    if not all(map(is_sure, there)):
        said = said.removesuffix(".") + ", in runs too short to be sure."
        return Verdict("unknown", said, of(figures), lines, longer(LOAD, figures))
    mark = "limited" if others or above or is_slow(first) else "fine"
    return Verdict(mark, said, of(figures), lines, more)


def _as_fast(point: Figures, first: Figures) -> bool:
    """Whether a mean latency is that of the fastest, as far as their intervals tell."""
    mine, least = point["packet_latency"], first["packet_latency"]
    apart = mine["mean"] - least["mean"]
    return bool(point is first or apart <= (mine["ci95"] or 0) + (least["ci95"] or 0))
