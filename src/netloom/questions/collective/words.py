"""Which algorithm of a collective is fastest, in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base import units
from netloom.base.words import counted, listed, number
from netloom.questions.collective.verdict import reason, verdict
from netloom.questions.shown import ended, plain_table, size_of

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.collective.answer import CollectiveTimes, Point
    from netloom.questions.register import Recorded

__all__ = ["lines", "sentences", "verdict"]


def lines(result: CollectiveTimes) -> list[Any]:
    """Return who wins, the winners by size, all algorithms at the largest size, and the bound."""
    topology = result.topology
    ranks = counted(result.num_ranks, "rank", ",")
    if result.node_of_host is not None:
        ranks += f" on {counted(len(result.ranks_of_place), 'node', ',')}"
    head = f"{ranks}; {size_of(topology)}; {result.network.routing_name}"
    how, posted = result.network.router_name, [each for each in result.points if each.at_once]
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
