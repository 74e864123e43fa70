"""Routing tables in words: the verdict first, then what they gain beside the installed ones."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.fabric.verdict import PROVED, amount, percent, short_names
from netloom.questions.fabric.words import COLUMNS
from netloom.questions.shown import DOUBTFUL, KEPT_UP, ended, plain_table
from netloom.units import size
from netloom.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from netloom.questions.recorded import Recorded
    from netloom.questions.route.answer import RoutedFabric

CLOSE = 1.03
"""Times its bound up to which a busiest cable leaves nothing that is worth looking for."""

MOST_MISSING = 3
"""Missing parts that a page names."""


def lines(result: RoutedFabric) -> list[Any]:
    """Return the verdict, both tables side by side, programs, and what changes."""
    data = result.to_dict()
    short = short_names(result.topology.labels)
    good, said = _verdict(data)
    style = KEPT_UP if good else DOUBTFUL
    page: list[Any] = [*_head(data), ""]
    page += [Text(each, style=style) for each in _hung(f"{'✓' if good else '!'} {said}")]
    for each in _remarks(data):
        page += [escape(line) for line in _hung(f"• {_plainly(each, short)}")]
    page += ["", _compared(data)]
    if data["programs"]:
        page += ["", _programs(data)]
    return page


def ending(result: RoutedFabric, *, wrote: bool) -> str:
    """Return how to install the tables, where no file was asked for and the fabric has LIDs."""
    if wrote or result.changes is None:
        return ""
    return "Write them: --out FILE.lfts. OpenSM loads them: -R file -U FILE.lfts"


def sentences(record: Recorded) -> list[str]:
    """Return the verdict of a recorded answer, and what goes with it."""
    data = record.figures
    return [ended(each) for each in (_verdict(data)[1], *_remarks(data))]


def _hung(text: str) -> list[str]:
    return wrap(text, COLUMNS, subsequent_indent="  ", break_long_words=False,
                break_on_hyphens=False)  # fmt: skip


def _plainly(said: str, short: dict[str, str]) -> str:
    for label, name in short.items():
        said = said.replace(label, name)
    return said


def _head(data: Any) -> list[str]:
    size = (
        f"{counted(data['hosts'], 'host', ',')}, {counted(data['switches'], 'switch', ',')}, "
        f"{counted(data['cables'], 'cable', ',')}"
    )
    made = {
        "balanced": f"balanced for {_aims(data)}",
        "repair": f"{data['installed']}, repaired",
    }.get(data["engine"], f"OpenSM's {data['engine']}")
    name = data["topology"].removeprefix("fabric:")
    return [f"[bold]{escape(name)}[/]: {size}", f"New tables: {escape(made)}"]


def _aims(data: Any) -> str:
    programs = [each["name"] for each in data["programs"]]
    return ", ".join([*programs, data["objective"]])


def _verdict(data: Any) -> tuple[bool, str]:
    """Return whether the tables are as good as can be, and what they come to in one sentence."""
    if not data["deadlock_free"]:
        return (
            False,
            "These tables have a credit loop: packets can wait for each other in a circle.",
        )
    if data["unrouted"]:
        return False, f"{counted(data['unrouted'], 'pair', ',')} of hosts have no path."
    if data["programs"]:
        return _of_programs(data["programs"])
    found, old = data["all_to_all"], data["before"]["all_to_all"]
    if not found["bound"]:
        return True, "No packet crosses a cable between switches."
    paths = f"{_paths(data, found)} of an all-to-all{_per_bandwidth(data)}"
    if old["time"] > found["time"] * PROVED:
        paths += f" instead of {amount(_busiest(data, old))}"
    elif found["time"] > old["time"] * PROVED:
        paths += f", more than the {amount(_busiest(data, old))} of the installed tables"
    ratio = found["ratio"]
    limit = f"{_ratio(ratio)} must ({amount(found['time_bound'])})"
    if ratio <= PROVED:
        limit = "no tables can do better (proved)"
    return ratio <= CLOSE, f"The busiest cable carries {paths}; {limit}."


def _busiest(data: Any, figures: Any) -> float:
    """Return the paths of the busiest cable, over bandwidth where cables are not alike."""
    return float(figures["time" if _per_bandwidth(data) else "max"])


def _paths(data: Any, figures: Any) -> str:
    busiest = _busiest(data, figures)
    return f"{amount(busiest)} {'path' if busiest == 1 else 'paths'}"


def _per_bandwidth(data: Any) -> str:
    """Return what goes behind a number of paths where cables are not alike in bandwidth."""
    both = (data["all_to_all"], data["before"]["all_to_all"])
    alike = all(abs(each["max"] - each["time"]) <= 1e-6 * each["max"] for each in both)
    return "" if alike else " per unit of bandwidth"


def _ratio(ratio: float) -> str:
    if ratio < 1.095:
        return f"{percent(ratio - 1)} more than it"
    return f"{ratio:.2g} times what it"


def _of_programs(programs: list[dict[str, Any]]) -> tuple[bool, str]:
    """Return what the tables do for the program that they leave farthest from its least."""
    worst = max(programs, key=lambda each: each["after"] / (each["floor"] or 1))
    name, old, new = worst["name"], worst["before"], worst["after"]
    if not new:
        whose = "these programs" if len(programs) > 1 else "the program"
        return True, f"Nothing that {whose} must send crosses a cable between switches."
    whose = f"For {name} the" if len(programs) > 1 else "The program's"
    said = f"{whose} busiest cable carries {size(new)}"
    if old is None:
        said += " (the installed tables do not lead to all its hosts)"
    elif old > new * PROVED:
        said += f" instead of {size(old)}"
    elif new > old * PROVED:
        said += f", more than the {size(old)} of the installed tables"
    else:
        said += ", as it does by the installed tables"
    if new <= worst["floor"] * PROVED:
        return True, f"{said}; no tables can do better (proved)."
    if new <= worst["hosts"]:
        return True, f"{said}, less than its busiest adapter ({size(worst['hosts'])})."
    ratio = new / worst["floor"]
    return ratio <= CLOSE, f"{said}, {_ratio(ratio)} must."


def _compared(data: Any) -> Table:
    """Return the figures of both tables, row by row."""
    shown = plain_table(["", "installed", "new", "limit"])
    old, new = data["before"], data
    half = new["effective_bisection"]
    if old["unrouted"]:
        shown.add_row("pairs of hosts without a path", amount(old["unrouted"]),
                      amount(new["unrouted"]), "")  # fmt: skip
    per = _per_bandwidth(data)
    rows = [
        (f"paths of an all-to-all{' / bandwidth' if per else ', busiest cable'}", "all_to_all",
         "time" if per else "max", amount, amount(new["all_to_all"]["time_bound"])),
        ("shifts of the hosts: paths, worst", "shifts", "max", amount, ""),
        ("shifts of the hosts: paths, mean", "shifts", "mean", "{:.3g}".format, ""),
        ("effective bisection bandwidth", "effective_bisection", "mean", _share,
         _share(half["bound"])),
        ("hops between switches, mean", "switch_hops", "mean", "{:.3g}".format, ""),
    ]  # fmt: skip
    for title, group, part, form, limit in rows:
        shown.add_row(title, form(old[group][part]), form(new[group][part]), limit)
    shown.add_row("virtual lanes", str(old["lanes"]), str(new["lanes"]), "")
    loops = ["none" if each["deadlock_free"] else "yes" for each in (old, new)]
    shown.add_row("credit loops between hosts", *loops, "")
    return shown


def _share(value: float) -> str:
    return f"{100 * value:.1f}\u00a0%"


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
    if data["fallback"]:
        yield f"{data['fallback']}."
    if not data["before"]["deadlock_free"] and data["deadlock_free"]:
        yield f"The installed tables ({data['installed']}) have a credit loop; these have none."
    changes, half = data["changes"], data["effective_bisection"]
    if data["lanes"] > 1 and changes["entries"] is None:
        yield f"They need {data['lanes']} lanes."
    elif data["lanes"] > 1:
        yield (
            f"They need {data['lanes']} lanes: --qos-policy FILE writes the service levels, which "
            "OpenSM gives to paths (-Q -Y FILE)."
        )
    for each in data["programs"]:
        yield f"Limit of {each['name']}: {each['why']}."
    if data["programs"]:
        yield "What ranks send inside their node takes no cable, and is not counted."
    if half["mean"] > half["bound"]:
        error = half["sd"] / half["samples"] ** 0.5
        yield (
            f"The effective bisection bandwidth is a mean of {half['samples']:,} random matchings "
            f"(± {100 * error:.1f} %), and above its limit by chance."
        )
    if changes["entries"]:
        gone = f"; {changes['unavoidable']:,} of them led over what is gone"
        yield (
            f"{counted(changes['entries'], 'entry', ',')} of the installed tables change, in "
            f"{counted(changes['blocks'], 'block', ',')} of 64 LIDs"
            f"{gone * bool(changes['unavoidable'])}."
        )
    if data["missing"]:
        more = len(data["missing"]) - MOST_MISSING
        rest = f"; {more} more: netloom fabric" * (more > 0)
        yield f"Missing: {'; '.join(data['missing'][:MOST_MISSING])}{rest}."
