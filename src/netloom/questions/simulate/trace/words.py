"""A replayed trace in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import size
from netloom.base.words import counted, number
from netloom.questions.shown import ended, pairs, percent, size_of
from netloom.questions.simulate.trace.flow_answer import FlowReplay
from netloom.questions.simulate.trace.verdict import measure, verdict

if TYPE_CHECKING:
    from netloom.questions.register import Recorded
    from netloom.questions.simulate.trace.replayed import Replayed

__all__ = ["lines", "measure", "sentences", "verdict"]


def lines(result: Replayed) -> list[Any]:
    """Return when the program finishes, what that is made of, and what contention costs."""
    network, found = result.network, result.to_dict()
    rows, last = _of_flows(result, found) if isinstance(result, FlowReplay) else _in_cycles(found)
    used = found["utilisation"]
    rows["between routers"] = (
        f"channels busy {percent(used['mean'])} on average, {percent(used['max'])} at most"
    )
    lines = [
        escape(f"{size_of(network.topology)}, {network.routing_name}"),
        escape(network.router_name),
        pairs(rows | last),
    ]
    if path := result.critical_path:
        times = {name.replace("_", " "): part for name, part in path.totals().items() if part}
        begun, unit, said = "", " cycles", {name: number(part) for name, part in times.items()}
        if isinstance(result, FlowReplay):
            begun = f" from {result.said(path.start)} on" if path.start else ""
            unit, said = "", {name: result.said(part) for name, part in times.items()}
        parts = ", ".join(f"{name} {part}" for name, part in said.items()) + unit
        lines.append(f"Critical path, {counted(len(path.rows), 'entry')}{begun}: {parts}.")
    return lines + ([escape(f"• {result.note}")] if result.note else [])


def _in_cycles(data: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return what is said of a run in cycles, and at last of the channels of hosts."""
    rows = {
        "finish": _finish(data, "finish"),
        "without contention": _finish(data, "ideal_finish"),
        "messages": f"{data['messages']:,}, {counted(data['flits'], 'flit', ',')}, "
        f"{data['flit_hops']:,} flit-hops",
    }
    latency, alone = data["message_latency"], data["unhindered_latency"]
    if latency["mean"] is not None:
        rows["message latency"] = (
            f"{number(latency['mean'])} cycles on average, 99 % up to {number(latency['p99'])}; "
            f"{number(alone['mean'])} where nothing is in the way"
        )
    ends = data["busiest_host_channel"]
    if not ends:
        return rows, {}
    busy = f"busy {percent(ends['utilisation'])} at most: {escape(ends['name'])}"
    return rows, {"channels of hosts": busy}


def _of_flows(result: FlowReplay, found: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the same of flows, with what bounds the finish time, and the busiest channel."""
    said = result.said
    sent = (
        size(found["bytes"]) if result.size == "bytes" else counted(found["flits"], "flit", ",.0f")
    )
    rows = {"finish": "not reached" if result.finish is None else said(result.finish)}
    if result.finish is not None:
        other = "shared" if result.injection == "in-order" else "in-order"
        rows[f"  if {other}"] = said(result.other_finish)
        rows["no message meets another"] = said(result.alone_finish)
        rows["earliest possible"] = said(result.bound)
    rows["messages"] = f"{found['messages']:,}, {sent}"
    slow = found["slowdown"]
    if slow["mean"] is not None:
        rows["slow-down"] = (
            f"{number(slow['mean'])} on average, 99 % up to {number(slow['p99'])}, at most "
            f"{number(slow['max'])}"
        )
    if not found["busiest"]:
        return rows, {}
    first = found["busiest"][0]
    kind = "between routers" if first["between"] == "routers" else "a host's own"
    used = f"{first['name']}, {percent(first['utilisation'])} of the time ({kind})"
    return rows, {"busiest of all": used}


def _finish(data: dict[str, Any], name: str) -> str:
    cycles, us = data[f"{name}_cycles"], data[f"{name}_us"]
    if cycles is None:
        return "not reached"
    return f"{cycles:,} cycles" + (f", {number(us)} µs" if us is not None else "")


def sentences(record: Recorded) -> list[str]:
    """Return the verdict, and how far it can be trusted."""
    found = record.figures["verdict"]
    trusted = found["note"].removeprefix("* ")
    return [found["sentence"], *([ended(trusted[0].upper() + trusted[1:])] if trusted else [])]
