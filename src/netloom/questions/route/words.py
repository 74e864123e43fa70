"""Routing tables in words: what they gain beside the installed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import size
from netloom.base.words import counted, number
from netloom.questions.route.verdict import per_bandwidth, verdict
from netloom.questions.shown import ended, percent, plain_table
from netloom.topology.subnets.names import short_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from netloom.questions.register import Recorded
    from netloom.questions.route.answer import RoutedFabric

__all__ = ["lines", "sentences", "verdict"]

MOST_MISSING = 3
"""Missing parts that a page names."""


def lines(result: RoutedFabric) -> list[Any]:
    """Return both tables side by side, programs, and what goes with them."""
    data = result.to_dict()
    page: list[Any] = [_compared(data)]
    if data["programs"]:
        page += ["", _programs(data)]
    short = short_names(result.topology.routers.labels)
    told = [f"• {escape(_plainly(each, short))}" for each in _remarks(data)]
    counts = [counted(data[of], name, ",") for of, name in
              (("hosts", "host"), ("switches", "switch"), ("cables", "cable"))]  # fmt: skip
    name = escape(data["topology"].removeprefix("fabric:"))
    return [*page, *[""] * bool(told), *told, f"[dim]{name}: {', '.join(counts)}[/]"]


def _plainly(said: str, short: dict[str, str]) -> str:
    for label, name in short.items():
        said = said.replace(label, name)
    return said


def sentences(record: Recorded) -> list[str]:
    """Return the verdict of a recorded answer, and what goes with it."""
    found = record.figures["verdict"]
    told = (found["sentence"], *found["lines"].values(), *_remarks(record.figures))
    return [ended(each[:1].upper() + each[1:]) for each in told]


def _compared(data: Any) -> Table:
    """Return the figures of both tables, row by row."""
    shown = plain_table(["", "installed", "new", "limit"])
    old, new = data["before"], data
    half = new["effective_bisection"]
    if old["unrouted"]:
        shown.add_row("pairs of hosts without a path", number(old["unrouted"]),
                      number(new["unrouted"]), "")  # fmt: skip
    per = per_bandwidth(data)
    rows = [
        (f"paths of an all-to-all{' / bandwidth' if per else ', busiest cable'}", "all_to_all",
         "time" if per else "max", number,
         number(new["all_to_all"]["time_bound" if per else "bound"])),
        ("shifts of the hosts: paths, worst", "shifts", "max", number, ""),
        ("shifts of the hosts: paths, mean", "shifts", "mean", number, ""),
        ("effective bisection bandwidth", "effective_bisection", "mean", percent,
         percent(half["bound"])),
        ("hops between switches, mean", "switch_hops", "mean", number, ""),
    ]  # fmt: skip
    for title, group, part, form, limit in rows:
        shown.add_row(title, form(old[group][part]), form(new[group][part]), limit)
    shown.add_row("virtual lanes", str(old["lanes"]), str(new["lanes"]), "")
    loops = ["none" if each["deadlock_free"] else "yes" for each in (old, new)]
    shown.add_row("credit loops between hosts", *loops, "")
    return shown


def _programs(data: Any) -> Table:
    """Return what each program keeps busy."""
    names = {"installed": "before", "new": "after", "limit": "floor", "busiest adapter": "hosts"}
    if not any(each["hosts"] for each in data["programs"]):  # nodes are switches themselves
        del names["busiest adapter"]
    shown = plain_table(["busiest cable of", *names], ["busiest cable of"])
    for each in data["programs"]:
        cells = ["no path" if each[name] is None else size(each[name]) for name in names.values()]
        shown.add_row(escape(each["name"]), *cells)
    return shown


def _remarks(data: Any) -> Iterator[str]:
    """Yield what else there is to know."""
    for each in data["programs"]:
        yield f"Limit of {each['name']}: {each['why']}."
        if each["inside"]:
            share = percent(each["inside"])
            yield f"{share} of the traffic of {each['name']} stays inside nodes, without a cable."
    half = data["effective_bisection"]
    if half["mean"] is not None and half["mean"] > half["bound"]:
        yield "The effective bisection bandwidth is above its limit by chance of the matchings."
    if data["missing"]:
        more = len(data["missing"]) - MOST_MISSING
        rest = f"; {more} more: netloom fabric" * (more > 0)
        yield f"Missing: {'; '.join(data['missing'][:MOST_MISSING])}{rest}."
