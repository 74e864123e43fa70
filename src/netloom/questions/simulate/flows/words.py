"""Flows sent at once, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom import units
from netloom.questions.shown import (
    DOUBTFUL,
    FELL_BEHIND,
    KEPT_UP,
    ended,
    pairs,
    percent,
    plain_table,
    size_of,
)
from netloom.words import counted, number

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.recorded import Recorded
    from netloom.questions.simulate.flows.answer import FlowsAnswer

MOST_SHOWN = 5
"""Busiest channels that are shown."""


OTHERS = {
    "in_order": "  if in order", "shared": "  if shared", "lossless": "  if lossless, in order",
}  # fmt: skip
"""What finishes that were not asked for are called."""


def lines(result: FlowsAnswer) -> list[Any]:
    """Return how long the flows take, what they take alone and at least, and what holds them."""
    data, topology = result.to_dict(), result.topology
    head = (
        f"[bold]{escape(result.graph.name)}[/] on [bold]{escape(topology.name)}[/] "
        f"({size_of(topology)}), mapping {escape(result.mapping)}, "
        f"{escape(result.network.routing_name)}"
    )
    said = [_verdict(result), head, escape(result.network.router_name)]
    if not result.interrupted:
        said += [pairs(_figures(data)), _busiest(data["busiest"])]
    said.append(escape(f"• {expected(data)}"))
    if result.note:
        said.append(escape(f"• {result.note}"))
    return said


def sentences(record: Recorded) -> list[str]:
    """Return the verdict, and how far it can be trusted."""
    found = record.figures
    return [ended(found["verdict"]), expected(found)]


def expected(data: Any) -> str:
    """Return in words how far the finish is from what flits would take, as expected."""
    within, why = data["expected_error"]["within"], data["expected_error"]["why"]
    if within is None:
        return f"What flits take may be far from this. {why}"
    if data.get("unit") == "cycles":
        end = f"{number(data['in_order_finish_cycles'])} cycles"
    else:
        end = units.seconds(data["in_order_finish_seconds"])
    return f"What flits take is expected within {percent(within)} of {end}. {why}"


def _verdict(result: FlowsAnswer) -> Text:
    over, slow = result.finish_over_bound, result.slowdown
    if over is None or slow is None:
        return Text(result.verdict, style=FELL_BEHIND)
    style = KEPT_UP if over < 1.1 else DOUBTFUL if over < 1.5 else FELL_BEHIND
    return Text(result.verdict, style=style)


def _figures(data: Any) -> dict[str, str]:
    slow, path = data["slowdown"], data["critical_path"]
    own = {"in-order": "in_order", "shared": "shared"}[data["injection"]]
    if data["sharing"] == "lossless":
        own = "lossless" if own == "in_order" else ""
    ends = {OTHERS[name]: data[f"{name}_finish_seconds"] for name in OTHERS if name != own}
    rows = {
        "finish": f"{units.seconds(data['finish_seconds'])}, injection {data['injection']}",
        **{each: units.seconds(end) for each, end in ends.items() if end is not None},
        "longest flow alone": units.seconds(data["alone_seconds"]),
        "fullest channel": f"{units.seconds(data['bound_seconds'])} at full speed",
        "slow-down of flows": f"{number(slow['mean'])} on average, 99 % up to "
        f"{number(slow['p99'])}, {number(slow['max'])} at most",
        "sent": f"{counted(data['flows'], 'flow', ',')}, {units.size(data['bytes'])}",
    }
    if path is not None and path["length"] > 1:
        rows["last host"] = (
            f"{counted(path['length'], 'flow', ',')} one after the other: sending "
            f"{units.seconds(path['sending_seconds'])}, held back "
            f"{units.seconds(path['held_seconds'])}"
        )
    if data["tolerance"]:
        rows["tolerance"] = f"flows end within {percent(data['tolerance_error'])} of exact"
    return rows


def _busiest(channels: list[dict[str, Any]]) -> Table:
    table = plain_table(("used", "bytes", "flows", "held", "for each", "busiest channel"), words=())
    *figures, name = table.columns
    for column in figures:
        column.no_wrap = True
    name.justify = "left"
    for each in channels[:MOST_SHOWN]:
        held = each["held_flows"]
        table.add_row(
            percent(each["utilisation"]),
            units.size(each["bytes"]),
            f"{each['flows']:,}",
            f"{held:,}",
            units.seconds(each["held_seconds"] / held) if held else "-",
            escape(each["name"]),
        )
    return table
