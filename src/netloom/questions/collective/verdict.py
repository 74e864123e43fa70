"""What algorithms of a collective come to: which to use where, how far from the best, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.words import counted, listed, number
from netloom.phases.collectives.synthesis import SYNTHESISED
from netloom.questions.collective.phased import PHASES
from netloom.questions.commands import command_line
from netloom.questions.register import kind_of
from netloom.questions.shown import percent
from netloom.questions.verdict import Verdict, arrow, subject

if TYPE_CHECKING:
    from collections.abc import Mapping

NEAR = 1.1
"""Times its bound, up to which nothing can be gained that matters."""

LONGER = 1.005
"""Times the fastest, from which on another one is slower."""

DIGITS = 6
"""Of a size in a command."""

MOST_OTHERS, MOST_WINNERS, MOST_CUT_OFF = 3, 4, 4
"""Slower algorithms that are named, ranges of sizes, and hosts."""


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return which algorithm to use at which sizes, what limits it, and what could be better."""
    program = f"{figures['collective']} of {counted(figures['ranks'], 'rank', ',')}"
    of = subject(program, figures["topology"], figures["mapping"])
    last, *others = largest(figures)
    sentence = _of_sizes(figures, last) if _several(figures) else _of_one(last)
    lines = {"why": f"{last['algorithm']}: {reason(told(last))}"}
    if whole := figures.get("whole"):
        best = min(_at(whole, last["size"]), key=lambda each: float(each["seconds"]))
        took = units.seconds(best["seconds"])
        sentence += f" On the whole network: {best['algorithm']}, {took}."
        lines |= _beside(figures, whole, last)
    if slower := _slower(last, others):
        lines["others"] = slower
    lines["bound"] = _bound(figures, last)
    if figures["reordered"]:
        lines["order"] = order_words(figures["reordered"])
    if figures["phases"]:
        lines["phases"] = figures["phases"]["verdict"]
    mark = "fine" if last["ratio"] is None or last["ratio"] < NEAR else "limited"
    return Verdict(mark, sentence, of, lines, _next(figures, last, mark), _note(figures))


def largest(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all algorithms of messages at the largest size, as given, the fastest first."""
    points = figures.get("points", [figures])
    size = max(each["size"] for each in points)
    some = [
        each for each in points
        if (each["size"], each["order"]) == (size, "given") and each["algorithm"] != PHASES
    ]  # fmt: skip
    return sorted(some, key=lambda each: float(each["seconds"]))


def told(point: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``reason`` takes of a point as JSON has it."""
    channel = point["busiest_channel"]
    busy = channel["seconds"] / point["seconds"] if point["seconds"] else 0.0
    return {**point, "busiest": channel["name"], "busy": busy}


def reason(found: Mapping[str, Any]) -> str:
    """Return why an algorithm takes as long as it does."""
    if found["held_by"] == "latency":
        return f"latency of {counted(found['steps'], 'step', ',')}"
    if found["held_by"] == "switches":
        return f"switches of {counted(found['steps'], 'phase', ',')}"
    name = arrow(found["busiest"])
    busy = f"{name} is busy {percent(found['busy'])}"
    return busy if found["held_by"] == "channel" else f"waits; {busy}"


def order_words(found: Mapping[str, Any]) -> str:
    """Return in words what a search for a better rank order found."""
    given, better = units.seconds(found["given_seconds"]), units.seconds(found["found_seconds"])
    what = f"{found['algorithm']} of {units.size(found['size'])}"
    if not found["better"]:
        return f"no better rank order was found for {what} ({given} as given)"
    saved = percent(1 - found["found_seconds"] / found["given_seconds"])
    return f"{what} takes {saved} less in a better rank order ({given} → {better})"


def _at(whole: Mapping[str, Any], size: float) -> list[Mapping[str, Any]]:
    return [each for each in whole["points"] if each["size"] == size]


def _beside(
    figures: Mapping[str, Any], whole: Mapping[str, Any], last: Mapping[str, Any]
) -> dict[str, str]:
    """Return what failures cost: the same algorithm without them, who is cut off, what is lost."""
    found = dict[str, str]()
    by = whole["routing"]
    by = f"also by {by}" if by == figures["routing"] else f"by {by}, not {figures['routing']}"
    same = whole["same_ranks_seconds"]
    ranks = " with the same ranks" * bool(whole["cut_off"])
    times = number(last["seconds"] / same)
    longer = "it takes as long" if times == "1" else f"{times} times as long"
    found["whole"] = (
        f"{last['algorithm']} takes {units.seconds(same)} on the whole network{ranks}, {by}: with "
        f"the failures {longer}"
    )
    if whole["cut_off"]:
        hosts = counted(len(whole["cut_off"]), "host", ",")
        found["cut off"] = (
            f"{hosts} ({listed(whole['cut_off'], MOST_CUT_OFF)}): {figures['ranks']:,} of "
            f"{counted(whole['ranks'], 'rank', ',')} take part"
        )
    if whole["left_out"]:
        some = [f"{name} ({why})" if why else name for name, why in whole["left_out"].items()]
        found["lost"] = f"algorithms that run on the whole network only: {', '.join(some)}"
    return found


def _several(figures: Mapping[str, Any]) -> bool:
    return len({each["size"] for each in figures.get("points", [figures])}) > 1


def _of_sizes(figures: Mapping[str, Any], last: Mapping[str, Any]) -> str:
    """Return who wins where, and how fast the winner is at the largest size."""
    winners, said = figures["winners"], list[str]()
    for each in winners[: MOST_WINNERS - 1]:
        end = each["to_size"]
        said.append(each["algorithm"] + ("" if end is None else f" below {units.size(end, 2)}"))
    if len(winners) >= MOST_WINNERS:
        said.append(f"{winners[-1]['algorithm']} from {units.size(winners[-1]['from_size'], 2)}")
    elif len(said) > 1:
        said[-1] = f"{winners[-1]['algorithm']} above"
    where = " at all sizes" if len(winners) == 1 else ""
    speed = units.rate(last["bus_bandwidth"])
    of_bound = "" if last["ratio"] is None else f", {_near(last['ratio'])}"
    return (
        f"Use {', '.join(said)}{where}: {speed} bus bandwidth at {units.size(last['size'])}"
        f"{of_bound}."
    )


def _of_one(first: Mapping[str, Any]) -> str:
    what = f" for {units.size(first['size'])}" if first["size"] else ""
    over = "" if first["ratio"] is None else f", {_near(first['ratio'])}"
    return f"Use {first['algorithm']}{what}: {units.seconds(first['seconds'])}{over}."


def _near(ratio: float) -> str:
    """Return how many times the least possible time something takes.

    Nothing but the bound says that it is the best possible: libraries have other algorithms.
    """
    if ratio < LONGER:
        return "the best possible"
    return f"{number(ratio)} times the least possible time"


def _slower(first: Mapping[str, Any], others: list[dict[str, Any]]) -> str:
    """Return by how much other algorithms are slower at the largest size, and why."""
    said = list[str]()
    for each in others:
        longer = each["seconds"] / first["seconds"]
        if longer < LONGER:
            said.append(f"{each['algorithm']} is as fast")
        else:
            said.append(
                f"{each['algorithm']} {number(longer)} times as long ({reason(told(each))})"
            )
    some = said[:MOST_OTHERS]
    if more := len(said) - len(some):
        some.append(f"{more} more take longer")
    return " · ".join(some)


def _bound(figures: Mapping[str, Any], last: Mapping[str, Any]) -> str:
    """Return the least possible time at the largest size, and what sets it."""
    bound = figures["bound"]
    at = f" at {units.size(last['size'])}" if last["size"] else ""
    least = f"{units.seconds(last['bound_seconds'])}{at}"
    if last["bound_seconds"] > bound["latency_seconds"] * LONGER and bound["why"]:
        return f"{least}: {bound['why'].rstrip('.').replace(' -> ', '→')}"
    return f"{least}, by latency"


def _next(figures: Mapping[str, Any], last: Mapping[str, Any], mark: str) -> str:
    """Return what to try next: an order that was found, a search for one, or a schedule."""
    kind, asked = kind_of("collective"), figures["provenance"]["configuration"]
    found = figures["reordered"]
    if found and found["better"]:
        return command_line(kind, asked, rankfile="ranks.txt")
    if mark == "fine":
        return ""
    if not found and last["held_by"] != "latency":
        return command_line(kind, asked, reorder=True)
    if figures["collective"] in SYNTHESISED and asked["tasks_per_node"] == 1 and last["size"]:
        size = units.size(last["size"], DIGITS).replace(" ", "")
        left_out = dict.fromkeys(("routing", "chunks", "overhead"))
        return command_line(kind_of("compile.collective"), {**asked, **left_out, "size": size})
    return ""


def _note(figures: Mapping[str, Any]) -> str:
    note = figures["note"]
    return f"* {note[0].lower()}{note[1:]}" if note else ""
