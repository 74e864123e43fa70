"""What a replayed trace comes to: when the program ends, and what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.units import seconds
from netloom.base.words import counted, number
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import Measure, Verdict, arrow, percent, subject
from netloom.questions.simulate.trace.programs import AS_PLANNED
from netloom.simulation.figures import ORDER_SAYS_NOTHING
from netloom.simulation.traces import WAITS

if TYPE_CHECKING:
    from collections.abc import Mapping

FEW_TIMES, MANY_TIMES = 1.05, 1.5

LITTLE, MUCH = 0.05, 0.2
"""Shares of the finish time that waiting takes: up to which it is little, and from which much."""

LONGER = 10
"""Times the cycles of a run that was too short, for the next one."""

PARTS = {
    "compute": "computing",
    "processor_wait": "waiting for a processor",
    "source_wait": "waiting for the node's own channel",
    "message": "messages on the way",
    "contention": "contention in the network",
    "receive": "receiving",
}
"""What a critical path is made of, in words."""

LEAST_PART = 0.005
"""Parts of the critical path below this share of the time are not said."""


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return how long the program takes, and what part of that it waits."""
    flow, unit = figures["engine"] == "flow", _unit(figures)
    placed = AS_PLANNED if figures["routing"] == AS_PLANNED else figures["mapping"]
    of = subject(figures["trace"], figures["topology"], placed)
    finish = figures[f"finish_{unit}"]
    if finish is None:
        return _unfinished(figures, of)
    if not finish:
        return Verdict("fine", f"Takes {_said(figures, 0)}: nothing computes or moves.", of)
    sentence, mark = _flow_sentence(figures) if flow else _sentence(figures)
    note = _with_computing(figures, estimated(figures) if flow else _other_path(figures))
    next_ = "" if mark == "fine" else _next(figures)
    return Verdict(mark, sentence, of, _lines(figures), next_, note)


def measure(figures: Mapping[str, Any]) -> Measure | None:
    """Return when the program finishes. None if it did not."""
    finish = figures[f"finish_{_unit(figures)}"]
    if not finish:
        return None
    return Measure(finish, _said(figures, finish), "takes {}", "time to finish")


def _with_computing(figures: Mapping[str, Any], note: str) -> str:
    """Return a note, and that computing takes no time if a training step does not say it."""
    trace = str(figures["trace"])
    if not trace.startswith("llm:") or "tflops=" in trace:
        return note
    said = "omputing takes no time: add tflops=N to the program (10^12 operations per second)"
    return f"{note} C{said}" if note else f"* c{said}"


def _other_path(figures: Mapping[str, Any]) -> str:
    """Say that less time would be saved than the critical path waits, where that is so."""
    path, finish, ideal = (figures[each] for each in ("critical_path", "finish_cycles",
                                                      "ideal_finish_cycles"))  # fmt: skip
    if not path or sum(path[f"{part}_cycles"] for part in WAITS) <= finish - ideal:
        return ""
    return "* if nothing waited, another path would be critical"


def _unfinished(figures: Mapping[str, Any], of: str) -> Verdict:
    done, rows = figures["rows_complete"], counted(figures["rows"], "row", ",")
    asked = figures["provenance"]["configuration"]
    if figures["interrupted"]:
        said = f"Interrupted: {done:,} of {rows} were complete."
        return Verdict("unknown", said, of, next=command_line(kind_of("simulate.trace"), asked))
    cycles = figures["cycles"]
    said = f"Not finished after {counted(cycles, 'cycle', ',')}: {done:,} of {rows} were complete."
    more = command_line(kind_of("simulate.trace"), asked, most_cycles=LONGER * cycles)
    return Verdict("unknown", said, of, next=more)


def _sentence(figures: Mapping[str, Any]) -> tuple[str, str]:
    """Return the sentence and the mark of a run in cycles."""
    finish, ideal = figures["finish_cycles"], figures["ideal_finish_cycles"]
    took = _said(figures, finish)
    if ideal is None or ideal >= finish:
        return f"Takes {took}, no longer than if nothing waited.", "fine"
    lost = 1 - ideal / finish
    return f"Takes {took}; {_said(figures, ideal)} if nothing waited ({_less(lost)}).", _mark(lost)


def _flow_sentence(figures: Mapping[str, Any]) -> tuple[str, str]:
    """Return the sentence and the mark of a run of flows."""
    unit = _unit(figures)
    finish, alone = figures[f"finish_{unit}"], figures[f"alone_{unit}"]
    bound, took = figures[f"bound_{unit}"], _said(figures, finish)
    if order_decides(figures):
        ends = sorted(figures[f"{each}_finish_{unit}"] for each in ("in_order", "shared"))
        low, high = (_said(figures, each) for each in ends)
        return f"Takes {low} to {high}: the order in which messages are sent decides.", "unknown"
    if bound > alone * (1 + 1e-9):
        over = finish / bound
        busiest = arrow(figures["busiest"][0]["name"])
        if over < FEW_TIMES:
            said = f"Takes {took}: {busiest} is busy {percent(min(1 / over, 1))} of the time."
            return said, "limited"
        said = f"Takes {took}, {percent(over - 1)} more than {busiest} is busy for"
        mark = "limited" if over < MANY_TIMES else "act"
        return f"{said} ({_said(figures, bound)}).", mark
    lost = 1 - alone / finish
    if lost < 1e-9:
        return f"Takes {took}, no longer than if no message met another.", "fine"
    said = f"Takes {took}; {_said(figures, alone)} if no message met another ({_less(lost)})."
    return said, _mark(lost)


def _mark(lost: float) -> str:
    return "fine" if lost < LITTLE else "limited" if lost < MUCH else "act"


def _less(lost: float) -> str:
    return f"{percent(lost)} less"


def _lines(figures: Mapping[str, Any]) -> dict[str, str]:
    unit, path = _unit(figures), figures["critical_path"]
    found = dict[str, str]()
    if said := _place(figures):
        found["where"] = said
    if path:
        parts = {name: path[f"{name}_{unit}"] / figures[f"finish_{unit}"] for name in PARTS}
        some = sorted((share, name) for name, share in parts.items() if share >= LEAST_PART)
        made_of = " · ".join(f"{percent(share)} {PARTS[name]}" for share, name in reversed(some))
        if made_of:
            found["why"] = f"critical path: {made_of}"
    if split := figures.get(f"parallelism_{unit}"):
        whole = sum(split.values())
        most = sorted((name for name in split if split[name]), key=split.__getitem__, reverse=True)
        said = " · ".join(f"{percent(split[name] / whole)} {name}" for name in most)
        found["split"] = f"critical path by parallelism: {said}"
    if (used := figures["utilisation"]["max"]) and (busiest := _busiest(figures)):
        found["busiest"] = f"between routers {busiest}, {percent(used)} used"
    return found


def _place(figures: Mapping[str, Any]) -> str:
    """Return where the critical path waits for longest. "" if nowhere."""
    longest = figures["longest_wait"]
    if not longest:
        return ""
    waits = f"{longest['id']} waits {_said(figures, longest[_unit(figures)])}"
    if longest["part"] == "source_wait":
        return f"{waits} for {longest['source']}'s own channel into the network"
    if longest["part"] == "contention":
        way = f"{longest['source']}→{longest['target']}" if longest["target"] else longest["source"]
        return f"{waits} for other messages, {way}"
    return f"{waits} for a processor, at {longest['source']}"


def _busiest(figures: Mapping[str, Any]) -> str:
    """Return the name of the busiest channel between routers."""
    for each in figures.get("busiest_channels", figures.get("busiest")) or ():
        if each["between"] == "routers":
            return arrow(each["name"])
    return ""


def _next(figures: Mapping[str, Any]) -> str:
    """Return what a better placement is searched with, or what shows each message's waits."""
    asked = figures["provenance"]["configuration"]
    if str(asked["trace"]).startswith("llm:") and asked["mapping"] == "identity":
        return command_line(kind_of("map"), asked | {"app": asked["trace"]}, rankfile="ranks.txt")
    return command_line(kind_of("simulate.trace"), asked, save_messages="times.csv")


def _unit(figures: Mapping[str, Any]) -> str:
    return str(figures.get("unit", "cycles"))


def _said(figures: Mapping[str, Any], time: float) -> str:
    """Return a time in the user's unit: seconds if a clock is known."""
    if _unit(figures) == "seconds":
        return seconds(time)
    whole = counted(number(time), "cycle")
    us = figures.get("cycle_us")
    return whole if not us else seconds(time * us * 1e-6)


def order_decides(figures: Mapping[str, Any]) -> bool:
    """Whether the order in which messages are sent makes so much that no finish is expected."""
    unit = figures.get("unit", "seconds")
    ends = [figures[f"{each}_finish_{unit}"] for each in ("in_order", "shared")]
    if figures["expected_error"]["within"] is not None or not all(ends):
        return False
    return bool(max(ends) >= ORDER_SAYS_NOTHING * min(ends))


def estimated(figures: Mapping[str, Any]) -> str:
    """Return how far the finish in order is from what flits would take, as expected."""
    if figures["interrupted"]:
        return ""
    within, why = figures["expected_error"]["within"], figures["expected_error"]["why"]
    if within is None:
        return f"* estimate: flits may take far more or less. {why}"
    if not within:
        return f"* {why}"
    if figures.get("unit") == "cycles":
        end = counted(number(figures["in_order_finish_cycles"]), "cycle")
    else:
        end = units.seconds(figures["in_order_finish_seconds"])
    return (
        f"* estimate: sent in order, flits take {end} ± {percent(within)} in 9 of 10 cases. {why}"
    )
