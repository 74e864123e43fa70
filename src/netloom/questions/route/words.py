"""Routing tables in words: what they gain, beside what is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.shown import DOUBTFUL, KEPT_UP, ended, number, percent, plain_table
from netloom.words import counted

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.recorded import Recorded
    from netloom.questions.route.answer import RoutedFabric

MOST_MISSING = 4
"""Missing parts that a page names."""

CLOSE = 1.02
"""A busiest cable this many times its bound leaves nothing that is worth looking for."""


def lines(result: RoutedFabric) -> list[Any]:
    """Return the verdict, both tables side by side, programs, and what changes."""
    data = result.to_dict()
    good, said = _verdict(data)
    verdict = Text(f"{'✓' if good else '✗'} {said}", style=KEPT_UP if good else DOUBTFUL)
    head = (
        f"[bold]{escape(data['topology'])}[/]: {counted(data['hosts'], 'host', ',')}, "
        f"{counted(data['switches'], 'switch')}, {counted(data['cables'], 'cable', ',')}; "
        f"tables by {escape(data['engine'])}, for {escape(data['objective'])}"
    )
    programs = [_programs(data)] if data["programs"] else []
    return [verdict, head, _compared(data), *programs, *(escape(f"• {e}") for e in _remarks(data))]


def ending(_: RoutedFabric, *, wrote: bool) -> str:
    """Return how to install the tables, where no file was asked for."""
    return "" if wrote else "Write them: --out FILE.lfts, which opensm -R file -U FILE.lfts loads."


def sentences(record: Recorded) -> list[str]:
    """Return the verdict of a recorded answer, and what goes with it."""
    data = record.figures
    return [ended(each) for each in (_verdict(data)[1], *_remarks(data))]


def _verdict(data: Any) -> tuple[bool, str]:
    """Return whether the tables are as good as can be, or what they leave, in one sentence."""
    if not data["deadlock_free"]:
        return False, "These tables have a credit loop: packets can wait for each other for ever."
    if data["unrouted"]:
        return False, f"{counted(data['unrouted'], 'pair', ',')} of hosts have no path."
    if data["programs"]:
        return _of_programs(data["programs"])
    found, old = data["all_to_all"], data["before"]["all_to_all"]
    said = f"The busiest cable of an all-to-all carries {counted(number(found['max']), 'path')}"
    if found["proved"]:
        said += ", and no tables can do with less"
    elif found["bound"]:
        said += f", {_above(found['time'] / found['bound'])} {number(found['bound'])}"
    if old["time"] > found["time"]:
        said += f"; by {data['installed']} it is {number(old['max'])}"
    close = bool(found["bound"]) and found["time"] <= CLOSE * found["bound"]
    return close, f"{said}."


def _above(ratio: float) -> str:
    if ratio < 1.1:
        return f"{100 * (ratio - 1):.2g} % above the least possible,"
    return f"{ratio:.2f} times the least possible,"


def _of_programs(programs: list[dict[str, Any]]) -> tuple[bool, str]:
    worst = max(programs, key=lambda each: each["after"] / (each["floor"] or 1))
    name = f"{worst['name']}: the" if len(programs) > 1 else "The"
    said = f"{name} busiest cable of the program carries {_bytes(worst['after'])}"
    if worst["after"] <= worst["hosts"]:
        said += f", no more than its busiest adapter ({_bytes(worst['hosts'])})"
    if worst["before"] > worst["after"]:
        said += f"; by the installed tables {_bytes(worst['before'])}"
    else:
        said += ", as by the installed tables"
    return worst["after"] <= max(CLOSE * worst["floor"], worst["hosts"]), f"{said}."


def _compared(data: Any) -> Table:
    """Return the figures of both tables, row by row."""
    shown = plain_table(("", data["installed"], "new", "limit"))
    old, new = data["before"], data
    found = new["all_to_all"]
    rows = [
        ("paths on the busiest cable, all-to-all", number(old["all_to_all"]["max"]),
         number(found["max"]), f"≥ {number(found['bound'])}"),
        ("effective bisection bandwidth", percent(old["effective_bisection"]["mean"]),
         percent(new["effective_bisection"]["mean"]),
         f"≤ {percent(new['effective_bisection']['bound'])}"),
        ("paths on the busiest cable, worst shift", number(old["shifts"]["max"]),
         number(new["shifts"]["max"]), "≥ 1"),
        ("the same, mean of shifts", number(old["shifts"]["mean"]), number(new["shifts"]["mean"]),
         ""),
        ("hops between switches, mean", number(old["switch_hops"]["mean"]),
         number(new["switch_hops"]["mean"]), ""),
        ("virtual lanes", str(old["lanes"]), str(new["lanes"]), ""),
        ("credit loops", "none" if old["deadlock_free"] else "yes",
         "none" if new["deadlock_free"] else "yes", ""),
    ]  # fmt: skip
    if old["unrouted"]:
        pairs = f"{old['unrouted']:,}", f"{new['unrouted']:,}"
        rows.insert(0, ("pairs of hosts without a path", *pairs, "≥ 0"))
    for row in rows:
        shown.add_row(*map(escape, row))
    return shown


def _programs(data: Any) -> Table:
    """Return what each program keeps busy."""
    heads = ("program", "busiest cable before", "after", "least possible", "busiest adapter")
    shown = plain_table(heads)
    for each in data["programs"]:
        row = [_bytes(each[name]) for name in ("before", "after", "floor", "hosts")]
        shown.add_row(escape(each["name"]), *row)
    return shown


def _bytes(value: float) -> str:
    """Return bytes with a unit, three digits."""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


def _remarks(data: Any) -> list[str]:
    said = []
    if not data["before"]["deadlock_free"] and data["deadlock_free"]:
        said.append(f"{data['installed']} has a credit loop; these tables have none")
    said += [f"{each['name']}: least possible because {each['why']}" for each in data["programs"]]
    changes = data["changes"]
    if changes["entries"]:
        gone = f"; {changes['unavoidable']:,} of them led over what is gone"
        said.append(
            f"{counted(changes['entries'], 'entry', ',')} of the installed tables change, in "
            f"{counted(changes['blocks'], 'block', ',')} of 64 LIDs"
            f"{gone * bool(changes['unavoidable'])}"
        )
    if data["missing"]:
        more = len(data["missing"]) - MOST_MISSING
        rest = f"; and {more} more (netloom fabric lists them)" * (more > 0)
        said.append(f"Missing: {'; '.join(data['missing'][:MOST_MISSING])}{rest}")
    return said
