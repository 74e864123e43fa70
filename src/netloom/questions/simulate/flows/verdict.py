"""What flows sent at once come to: how long they take, and which channel holds them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.words import counted, number
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import Measure, Verdict, arrow, percent, subject
from netloom.simulation.flow.run import ORDER_SAYS_NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

FEW_TIMES, MANY_TIMES = 1.05, 1.5
"""Times its bound up to which a finish is as quick as can be, and from which it is slow."""

ORDER = 0.9
"""A finish with all flows at once below so many times that in order: the order costs time."""


def measure(figures: Mapping[str, Any]) -> Measure | None:
    """Return how long the flows take. None if they were interrupted, or if their order decides."""
    took = figures["finish_seconds"]
    if not took or order_decides(figures):
        return None
    return Measure(took, units.seconds(took), "takes {}", "time to finish")


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return how long the flows take, and how much longer than the fullest channel needs."""
    of = subject(figures["program"], figures["topology"], figures["mapping"])
    if figures["finish_seconds"] is None:
        return _interrupted(figures, of)
    over, took = figures["finish_over_bound"], units.seconds(figures["finish_seconds"])
    if order_decides(figures):
        ends = sorted(figures[f"{each}_finish_seconds"] for each in ("in_order", "shared"))
        low, high = map(units.seconds, ends)
        said = f"Takes {low} to {high}: the order in which flows are sent decides."
        return Verdict("unknown", said, of, _lines(figures), _next(figures), estimated(figures))
    many = figures["busiest_together"]
    fullest = many or arrow(figures["busiest"][0]["name"])
    needs = f"{fullest} need{'s' * (not many)} ({units.seconds(figures['bound_seconds'])})"
    if over < FEW_TIMES:
        if figures["slowdown"]["max"] < FEW_TIMES:
            said = f"Takes {took}; no flow is slower than alone."
            return Verdict("fine", said, of, _lines(figures), note=estimated(figures))
        said = f"Takes {took}, as fast as {fullest} can carry {'their' if many else 'its'} flows."
        return Verdict("limited", said, of, _lines(figures), _next(figures), estimated(figures))
    mark = "limited" if over < MANY_TIMES else "act"
    said = f"Takes {took}, {percent(over - 1)} more than {needs}."
    return Verdict(mark, said, of, _lines(figures), _next(figures), estimated(figures))


def _interrupted(figures: Mapping[str, Any], of: str) -> Verdict:
    ended, many = figures["ended_flows"], counted(figures["flows"], "flow", ",")
    asked = figures["provenance"]["configuration"]
    said = f"Interrupted: {ended:,} of {many} had ended."
    return Verdict("unknown", said, of, next=command_line(kind_of("simulate.flows"), asked))


def _lines(figures: Mapping[str, Any]) -> dict[str, str]:
    fullest, found = figures["busiest"][0], dict[str, str]()
    carries = f"{units.size(fullest['bytes'])} in {counted(fullest['flows'], 'flow', ',')}"
    found["where"] = f"{arrow(fullest['name'])} carries {carries}"
    if held := fullest["held_flows"]:
        found["where"] += f" and holds back {held:,} of them"
    if many := figures["busiest_together"]:
        found["where"] = f"{many} are used alike: {found['where']}"
    slow = figures["slowdown"]
    if slow["max"] >= FEW_TIMES:
        found["why"] = (
            f"flows take {number(slow['mean'])} times as long as alone on average, at most "
            f"{number(slow['max'])} times"
        )
    if _order_costs(figures):
        shared = units.seconds(figures["shared_finish_seconds"])
        found["order"] = f"{shared} if each host sent all of its flows at once"
    return found


def _order_costs(figures: Mapping[str, Any]) -> bool:
    """Whether the flows take longer because each host sends its own in order."""
    finish, shared = figures["finish_seconds"], figures["shared_finish_seconds"]
    return bool(shared and figures["injection"] == "in-order" and shared < ORDER * finish)


def _next(figures: Mapping[str, Any]) -> str:
    """Return the search for a better mapping, if a channel between routers is the limit.

    No mapping helps an all-to-all, or flows that wait for others of their own host.
    """
    asked = figures["provenance"]["configuration"]
    between, alike = figures["busiest"][0]["between"], str(asked["app"]).startswith("all-to-all")
    placed = between == "routers" and not alike and not _order_costs(figures)
    if placed and asked["mapping"] == "identity":
        return command_line(kind_of("map"), asked, rankfile="ranks.txt")
    return command_line(kind_of("simulate.flows"), asked, save_flows="flows.csv")


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
