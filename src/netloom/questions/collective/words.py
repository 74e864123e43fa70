"""Which algorithm of a collective is fastest, in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom import units
from netloom.questions.collective.phased import PHASES
from netloom.questions.shown import KEPT_UP, ended, percent, plain_table, size_of
from netloom.topology.subnets.names import short_channel_name
from netloom.words import counted, listed, number

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.collective.answer import CollectiveTimes, Point
    from netloom.questions.recorded import Recorded


def lines(result: CollectiveTimes) -> list[Any]:
    """Return who wins, the winners by size, all algorithms at the largest size, and the bound."""
    topology = result.topology
    head = (
        f"[bold]{escape(result.collective)}[/] of {counted(result.num_ranks, 'rank', ',')} on "
        f"[bold]{escape(topology.name)}[/] ({size_of(topology)}), mapping "
        f"{escape(result.mapping)}, {escape(result.network.routing_name)}"
    )
    said: list[Any] = [
        Text(result.verdict, style=KEPT_UP), head, escape(result.network.router_name),
    ]  # fmt: skip
    if len(result.sizes) > 1:
        said.append(_by_size(result))
    last = result.sizes[-1]
    phases = [each for each in result.phases if each.size == last]
    said.append(_algorithms([*result.at(last), *phases], last))
    if any(each.run.capped for each in result.at(last)):
        said.append("[dim]* More chunks suit this size better, and are too many to run.[/]")
    said += _bounds(result)
    if result.beside:
        said.append(f"• {escape(result.beside)}")
    if result.reordered is not None:
        said.append(f"• {escape(order_words(result.reordered.to_dict()))}")
    reasons = dict[str, list[str]]()
    for name, why in result.left_out.items():
        reasons.setdefault(why, []).append(name)
    said += [
        f"• Not run: {escape(listed(names))} ({escape(why)})." for why, names in reasons.items()
    ]
    if result.note:
        said.append(f"• {escape(result.note)}")
    return said


def sentences(record: Recorded) -> list[str]:
    """Return who wins, what the others lose by, and what was assumed."""
    found = record.figures
    said = [ended(found["verdict"]), *_losers(record)]
    if found.get("phases"):
        said.append(found["phases"]["verdict"])
    if found["reordered"]:
        said.append(order_words(found["reordered"]))
    return said + ([found["note"]] if found["note"] else [])


def order_words(found: dict[str, Any]) -> str:
    """Return in words what a search for a better rank order found."""
    given, better = units.seconds(found["given_seconds"]), units.seconds(found["found_seconds"])
    what = f"{found['algorithm']} of {units.size(found['size'])}"
    if not found["better"]:
        return f"Rank order: no better one was found for {what} ({given} as given)."
    saved = percent(1 - found["found_seconds"] / found["given_seconds"])
    return f"Rank order: {what} takes {better} in the best order found, {saved} less than {given}."


def reason(found: dict[str, Any]) -> str:
    """Return why an algorithm takes as long as it does."""
    if found["held_by"] == "latency":
        return f"latency of {counted(found['steps'], 'step', ',')}"
    if found["held_by"] == "switches":
        return f"switches of {counted(found['steps'], 'phase', ',')}"
    busy = f"{short_channel_name(found['busiest'])} is busy {percent(found['busy'])}"
    return busy if found["held_by"] == "channel" else f"waits; {busy}"


def _losers(record: Recorded) -> list[str]:
    """Return a sentence on what holds the slower algorithms at the largest size."""
    import polars as pl

    messages = (pl.col("order") == "given") & (pl.col("algorithm") != PHASES)
    table = record.tables["table"].filter(messages)
    last = table.filter(pl.col("size") == table["size"].max()).sort("seconds")
    best = last.row(0, named=True)
    said = list[str]()
    for row in last.iter_rows(named=True):
        if row["algorithm"] == best["algorithm"] or len(said) == 3:
            continue
        row["busy"] = row["busiest_seconds"] / row["seconds"]
        longer = row["seconds"] / best["seconds"]
        said.append(f"{row['algorithm']} takes {longer:.3g} times as long: {reason(row)}.")
    return said


def _by_size(result: CollectiveTimes) -> Table:
    table = plain_table(
        ("size", "fastest", "time", "bus bandwidth", "algorithm", "bound", "over it", "next"),
        words=("fastest", "next"),
    )
    for column in table.columns:
        column.no_wrap = True
    for size in result.sizes:
        first, *others = result.at(size)
        over = "" if first.ratio is None else number(first.ratio)
        next_ = ""
        if others:
            next_ = f"{others[0].algorithm}, × {others[0].seconds / first.seconds:.3g}"
        table.add_row(
            units.size(size), first.algorithm, units.seconds(first.seconds),
            units.rate(first.bus_bandwidth), units.rate(first.algorithm_bandwidth),
            units.seconds(first.bound_seconds), over, next_,
        )  # fmt: skip
    return table


def _algorithms(points: list[Point], size: float) -> Table:
    at = f"at {units.size(size)}" if size else "algorithm"
    table = plain_table(
        (at, "time", "bus bandwidth", "over bound", "chunks", "what takes the time"),
        words=(at, "what takes the time"),
    )
    for column in table.columns:
        column.no_wrap = True
    table.columns[-1].no_wrap = False
    for each in points:
        row = {name: getattr(each, name) for name in ("held_by", "steps", "busiest", "busy")}
        table.add_row(
            each.algorithm, units.seconds(each.seconds), units.rate(each.bus_bandwidth),
            number(each.ratio), f"{each.run.chunks:,}{'*' * each.run.capped}", escape(reason(row)),
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
