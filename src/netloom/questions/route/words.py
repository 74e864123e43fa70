"""Routing tables in words: what they gain beside the installed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import size
from netloom.base.words import counted, number
from netloom.drawing.names import base_names
from netloom.questions.fabric.words import (
    CLOSE,
    PROVED,
    plainly,
    ports_line,
    size_in_words,
)
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import Verdict, ended, interval, percent, plain_table, short_name
from netloom.topology.names import short_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.table import Table

    from netloom.questions.register import Recorded
    from netloom.questions.route.question import RoutedFabric


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return whether the tables are better than those that are installed, and by what."""
    mark, said, better = _found(figures)
    of = f"{short_name(figures['topology'])}, {_made(figures)}"
    asked = dict(figures["provenance"]["configuration"])
    if isinstance(asked["on"], str):
        asked["on"] = asked["on"].removeprefix("fabric:")
    more = {"out": "better.lfts"}
    if figures["lanes"] > 1:
        more["qos_policy"] = "qos-policy.conf"
    then = ""
    if mark == "act" and asked["engine"] != "balanced":
        then = command_line(kind_of("route"), asked | {"engine": "balanced"})
    elif better and figures["changes"]["entries"] is not None and not _given(figures):
        then = command_line(kind_of("route"), asked, **more)
    return Verdict(mark, said, of, _lines(figures), then)


def _given(figures: Mapping[str, Any]) -> bool:
    """Whether the tables are those of a file, to be compared with others."""
    return str(figures["engine"]).startswith("lfts:")


def _made(figures: Mapping[str, Any]) -> str:
    """Return what made the tables."""
    if _given(figures):
        return f"{base_names(figures['engine']).removeprefix('lfts:')} tables"
    programs = [short_name(each["name"]) for each in figures["programs"]]
    return {
        "balanced": f"balanced for {', '.join([*programs, figures['objective']])}",
        "repair": f"{base_names(figures['installed'])}, repaired",
    }.get(figures["engine"], f"OpenSM's {figures['engine']}")


def _found(figures: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Return the mark, the sentence, and whether to install the tables."""
    before, after = figures["before"], figures["all_to_all"]
    if not figures["deadlock_free"]:
        return "act", (
            f"Do not install these tables: packets in {counted(figures['lanes'], 'lane')} can wait "
            "for each other in a circle (credit loop)."
        ), False  # fmt: skip
    if figures["unrouted"]:
        pairs = counted(figures["unrouted"], "pair", ",")
        return "act", f"Do not install these tables: {pairs} of hosts have no path.", False
    if before["unrouted"] and not figures["programs"]:
        pairs = counted(before["unrouted"], "pair", ",")
        return "fine", (
            f"Use these tables: {pairs} of hosts get a path that the installed ones lack."
        ), True  # fmt: skip
    if not before["deadlock_free"]:
        return "fine", (
            "Use these tables: they have no credit loop, the installed ones have. "
            f"The busiest cable carries {_paths(figures, after)}."
        ), True  # fmt: skip
    if figures["programs"]:
        return _of_programs(figures["programs"])
    if not after["bound"]:
        cables = counted(figures["cables"], "cable", ",")
        return "fine", f"No packet crosses any of the {cables} between switches.", False
    return _of_cables(figures)


def _of_cables(figures: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Return what the tables do for all programs: first for the busiest cable of an all-to-all."""
    before, after = figures["before"]["all_to_all"], figures["all_to_all"]
    bound = {"max": after["bound"], "time": after["time_bound"]}
    least = _least(after["ratio"], number(_busiest(figures, bound)))
    mark = "fine" if after["ratio"] <= CLOSE else "limited"
    was, now = number(_busiest(figures, before)), _paths(figures, after)
    if before["time"] > after["time"] * PROVED:
        fewer = percent(1 - after["time"] / before["time"])
        return mark, (
            f"Use these tables: the busiest cable carries {fewer} less ({was} → {now}); {least}."
        ), True  # fmt: skip
    gain, more = _other_gain(figures), after["time"] > before["time"] * PROVED
    if gain and more:
        return "limited", (
            f"{gain[:1].upper()}{gain[1:]}, but the busiest cable carries more: {now}, not {was}."
        ), True  # fmt: skip
    if gain:
        return mark, f"Use these tables: {gain}. The busiest cable carries {now} by both.", True
    if more:
        return "limited", (
            f"Keep the installed tables: the busiest cable would carry more, {now}, not {was}; "
            f"{least}."
        ), False  # fmt: skip
    return mark, (
        f"Keep the installed tables: the busiest cable carries {now} by both; {least}."
    ), False  # fmt: skip


def _other_gain(figures: Mapping[str, Any]) -> str:
    """Return what the tables gain in random matchings or in shifts. "" if nothing that shows."""
    before = figures["before"]
    half, old = figures["effective_bisection"], before["effective_bisection"]
    if half["mean"] is not None and old["mean"] is not None:
        error = ((half["sd"] ** 2 + old["sd"] ** 2) / half["samples"]) ** 0.5
        if half["mean"] > old["mean"] + 3 * error:
            return (
                f"random pairs get {percent(half['mean'])} of a host's bandwidth instead of "
                f"{percent(old['mean'])}"
            )
    shift, was = figures["shifts"]["mean"], before["shifts"]["mean"]
    if shift is not None and was is not None and shift < 0.99 * was:
        return f"a shift puts {number(shift)} instead of {number(was)} paths on its busiest cable"
    return ""


def _busiest(figures: Mapping[str, Any], of: Mapping[str, Any]) -> float:
    """Return the paths of the busiest cable, over bandwidth where cables are not alike."""
    return float(of["time" if per_bandwidth(figures) else "max"])


def _paths(figures: Mapping[str, Any], of: Mapping[str, Any]) -> str:
    paths = counted(number(_busiest(figures, of)), "path")
    return f"{paths}{' per unit of bandwidth' if per_bandwidth(figures) else ''}"


def per_bandwidth(figures: Mapping[str, Any]) -> bool:
    """Return whether cables differ in bandwidth, so that paths count over it."""
    both = (figures["all_to_all"], figures["before"]["all_to_all"])
    return any(abs(each["max"] - each["time"]) > 1e-6 * each["max"] for each in both)


def _least(ratio: float, bound: str) -> str:
    """Return how far the busiest cable is above the least that any tables can have."""
    if ratio <= PROVED:
        return "no tables can do better (proved)"
    if ratio < 2:
        return f"{percent(ratio - 1)} above the least possible ({bound})"
    return f"{number(ratio)}× the least possible ({bound})"


def _of_programs(programs: list[dict[str, Any]]) -> tuple[str, str, bool]:
    """Return what the tables do for the program that they leave farthest from its least."""
    worst = max(programs, key=lambda each: each["after"] / (each["floor"] or 1))
    name, old, new = worst["name"], worst["before"], worst["after"]
    if not new:
        many = counted(len(programs), "program")
        return "fine", f"No byte of {many} crosses a cable between switches: 0 B to route.", False
    whose = f" of {short_name(name)}" if len(programs) > 1 else ""
    limit, mark = _least(new / worst["floor"], size(worst["floor"])), "fine"
    if new > worst["floor"] * PROVED and new <= worst["hosts"]:
        limit = f"its busiest adapter sends {size(worst['hosts'])}"
    elif new > worst["floor"] * CLOSE:
        mark = "limited"
    busiest = f"the busiest cable{whose} carries"
    if old is None:
        return mark, (
            f"Use these tables: {busiest} {size(new)}, and the installed ones do not lead to all "
            f"its hosts; {limit}."
        ), True  # fmt: skip
    if old != new and max(old, new) <= worst["hosts"]:
        return "fine", (
            f"Keep the installed tables: the busiest adapter of {short_name(name)} sends "
            f"{size(worst['hosts'])}, a cable between switches no more than {size(old)} "
            f"({size(new)} by these)."
        ), False  # fmt: skip
    if old > new * PROVED:
        return mark, (
            f"Use these tables: {busiest} {percent(1 - new / old)} less ({size(old)} → "
            f"{size(new)}); {limit}."
        ), True  # fmt: skip
    if new > old * PROVED:
        return "limited", (
            f"{busiest[:1].upper()}{busiest[1:]} more: {size(new)}, {size(old)} by the installed "
            f"tables; {limit}."
        ), False  # fmt: skip
    return mark, f"Keep the installed tables: {busiest} {size(new)} by both; {limit}.", False


def _lines(figures: Mapping[str, Any]) -> dict[str, str]:
    """Return what else changes, and what goes with it."""
    lines, half, old = {}, figures["effective_bisection"], figures["before"]["effective_bisection"]
    if half["mean"] is not None and old["mean"] is not None:
        error = 1.96 * half["sd"] / half["samples"] ** 0.5
        now, most = percent(half["mean"]), percent(half["bound"])
        sure = ""
        if error:
            now = f"{interval(100 * half['mean'], 100 * error)}\u00a0%"
            sure = " (95\u00a0% interval)"
        lines["halves"] = (
            f"random pairs get {percent(old['mean'])} → {now} of a host's bandwidth{sure}, "
            f"at most {most}"
        )
    changes = figures["changes"]
    if changes["entries"]:
        gone = f"; {number(changes['unavoidable'])} of them led over what is gone"
        lines["cost"] = (
            f"{counted(number(changes['entries']), 'entry')} change in "
            f"{counted(number(changes['blocks']), 'block')} of 64 LIDs"
            f"{gone * bool(changes['unavoidable'])}"
        )
    if figures["lanes"] > 1:
        lines["lanes"] = f"{figures['lanes']} lanes, which OpenSM gives by service level"
        if changes["entries"] is not None:
            lines["lanes"] += ": -Q -Y qos-policy.conf"
    if figures["fallback"]:
        lines["care"] = figures["fallback"]
    return lines | ports_line(figures)


MOST_MISSING = 3
"""Missing parts that a page names."""


def lines(result: RoutedFabric) -> list[Any]:
    """Return both tables side by side, programs, and what goes with them."""
    data = result.to_dict()
    page: list[Any] = [_compared(data)]
    if data["programs"]:
        page += ["", _programs(data)]
    short = {"short": short_names(result.topology.routers.labels)}
    told = [f"• {escape(plainly(short, each))}" for each in _remarks(data)]
    name = escape(data["topology"].removeprefix("fabric:"))
    return [*page, *[""] * bool(told), *told, f"[dim]{name}: {size_in_words(data)}[/]"]


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
