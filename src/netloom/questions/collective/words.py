"""Which algorithm of a collective is fastest, in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base import units
from netloom.base.words import counted, listed, number
from netloom.phases.collectives.synthesis import SYNTHESISED
from netloom.questions.collective.cycles import InCycles
from netloom.questions.collective.prepared import PHASES
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import Verdict, arrow, ended, percent, plain_table, size_of, subject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from netloom.questions.collective.answer import CollectiveTimes, Point
    from netloom.questions.register import Recorded


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


def lines(result: CollectiveTimes) -> list[Any]:
    """Return who wins, the winners by size, all algorithms at the largest size, and the bound."""
    topology = result.topology
    ranks = counted(result.num_ranks, "rank", ",")
    if result.node_of_host is not None:
        ranks += f" on {counted(len(result.ranks_of_place), 'node', ',')}"
    head = f"{ranks}; {size_of(topology)}; {result.network.routing_name}"
    how, posted = result.network.router_name, [each for each in result.points if each.at_once]
    if isinstance(result.network, InCycles):
        how += f"; {result.network.units}"
    if posted and result.network.injection == "in-order":
        how += f"; {posted[0].algorithm} posts all at once"
    said: list[Any] = [escape(head), escape(how)]
    if len(result.sizes) > 1:
        said.append(_by_size(result))
    last = result.sizes[-1]
    phases = [each for each in result.phases if each.size == last]
    said.append(_algorithms([*result.at(last), *phases], last, result.whole))
    if any(each.run.capped for each in result.at(last)):
        said.append("[dim]* More chunks suit this size better, and are too many to run.[/]")
    said += _bounds(result)
    reasons = dict[str, list[str]]()
    for name, why in result.left_out.items():
        reasons.setdefault(why, []).append(name)
    said += [
        f"• Not run: {escape(listed(names))} ({escape(why)})." for why, names in reasons.items()
    ]
    return said


def sentences(record: Recorded) -> list[str]:
    """Return who wins, what limits it, what the others lose by, and what was assumed."""
    found = record.figures["verdict"]
    said = [found["sentence"]]
    for label in ("others", "phases", "order"):
        if label in found["lines"]:
            each = ended(found["lines"][label])
            said.append(each[0].upper() + each[1:])
    note = record.figures["note"]
    return said + ([note] if note else [])


def _by_size(result: CollectiveTimes) -> Table:
    table = plain_table(
        ("size", "fastest", "time", "bus bandwidth", "× bound", "next"), words=("fastest", "next")
    )
    for size in result.sizes:
        first, *others = result.at(size)
        over = "" if first.ratio is None else number(first.ratio)
        next_ = ""
        if others:
            next_ = f"{others[0].algorithm} ×{others[0].seconds / first.seconds:.3g}"
        table.add_row(
            units.size(size), first.algorithm, units.seconds(first.seconds),
            units.rate(first.bus_bandwidth), over, next_,
        )  # fmt: skip
    return table


def _algorithms(points: list[Point], size: float, whole: CollectiveTimes | None) -> Table:
    at = f"at {units.size(size)}" if size else "algorithm"
    there = {} if whole is None else {each.algorithm: each.seconds for each in whole.at(size)}
    heads = [at, "time", *["whole network"] * bool(there), "bus bandwidth", "over bound",
             "chunks", "what takes the time"]  # fmt: skip
    table = plain_table(heads, words=(at, "what takes the time"))
    for column in table.columns:
        column.no_wrap = True
    table.columns[-1].no_wrap = False
    for each in points:
        row = {name: getattr(each, name) for name in ("held_by", "steps", "busiest", "busy")}
        table.add_row(
            each.algorithm, units.seconds(each.seconds),
            *[units.seconds(there.get(each.algorithm))] * bool(there),
            units.rate(each.bus_bandwidth), number(each.ratio),
            f"{each.run.chunks:,}{'*' * each.run.capped}", escape(reason(row)),
        )  # fmt: skip
    return table


def _bounds(result: CollectiveTimes) -> list[str]:
    bound = result.bound_dict
    said = f"• Bound: latency {units.seconds(bound['latency_seconds'])}"
    if bound["seconds_per_byte"]:
        said += f"; bandwidth {units.rate(1 / bound['seconds_per_byte'])} of the size. "
        said += escape(bound["why"])
    else:
        said += "."
    steps, alpha = counted(bound["steps"], "step"), units.seconds(bound["alpha_seconds"])
    least = units.seconds(bound["steps_seconds"])
    return [said, f"• If no rank sends two messages at once: {steps} of {alpha} or more, {least}."]
