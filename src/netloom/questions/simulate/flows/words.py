"""Flows sent at once, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base import units
from netloom.base.words import counted, number
from netloom.questions.shown import arrow, ended, pairs, percent, plain_table, size_of
from netloom.questions.simulate.flows.verdict import measure, verdict

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.register import Recorded
    from netloom.questions.simulate.flows.answer import FlowsAnswer

__all__ = ["lines", "measure", "sentences", "verdict"]

MOST_SHOWN = 5
"""Busiest channels that are shown."""


OTHERS = {
    "in_order": "  if in order", "shared": "  if shared", "lossless": "  if lossless, in order",
}  # fmt: skip
"""What finishes that were not asked for are called."""


def lines(result: FlowsAnswer) -> list[Any]:
    """Return what was run, what the flows take alone and at least, and the busiest channels."""
    data, topology = result.to_dict(), result.topology
    said: list[Any] = [
        escape(f"{size_of(topology)}, {result.network.routing_name}"),
        escape(result.network.router_name),
    ]
    if not result.interrupted:
        said += [pairs(_figures(data)), _busiest(data["busiest"])]
    if result.note:
        said.append(escape(f"• {result.note}"))
    return said


def sentences(record: Recorded) -> list[str]:
    """Return the verdict, and how far it can be trusted."""
    found = record.figures["verdict"]
    trusted = found["note"].removeprefix("* ")
    return [found["sentence"], *([ended(trusted[0].upper() + trusted[1:])] if trusted else [])]


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
            escape(arrow(each["name"])),
        )
    return table
