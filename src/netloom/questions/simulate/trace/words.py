"""A replayed trace in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import size
from netloom.base.words import counted, number
from netloom.questions.shown import pairs, percent, size_of
from netloom.questions.simulate.flows.words import sentences
from netloom.questions.simulate.trace.answer import ON_PATH
from netloom.questions.simulate.trace.flow_answer import FlowReplay
from netloom.questions.simulate.trace.verdict import measure, verdict

if TYPE_CHECKING:
    from netloom.questions.simulate.trace.answer import TraceReplay

__all__ = ["lines", "measure", "sentences", "verdict"]


def lines(result: TraceReplay | FlowReplay) -> list[Any]:
    """Return when the program finishes, what that is made of, and what contention costs."""
    if isinstance(result, FlowReplay):
        return _of_flows(result)
    data = result.to_dict()
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
    used = data["utilisation"]
    rows["between routers"] = (
        f"channels busy {percent(used['mean'])} on average, {percent(used['max'])} at most"
    )
    if ends := data["busiest_host_channel"]:
        rows["channels of hosts"] = (
            f"busy {percent(ends['utilisation'])} at most: {escape(ends['name'])}"
        )
    lines = [*_head(result), pairs(rows)]
    if path := data["critical_path"]:
        parts = ", ".join(
            f"{name.removesuffix('_cycles').replace('_', ' ')} {number(path[name])}"
            for name in ON_PATH
            if path[name]
        )
        lines.append(f"Critical path, {counted(path['length'], 'entry')}: {parts} cycles.")
    return lines + _note(result)


def _of_flows(result: FlowReplay) -> list[Any]:
    """Return the same of flows, with what bounds the finish time and which channels are busiest."""
    found, said = result.to_dict(), result.said
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
    used = found["utilisation"]
    rows["between routers"] = (
        f"channels busy {percent(used['mean'])} on average, {percent(used['max'])} at most"
    )
    if busiest := found["busiest"]:
        first = busiest[0]
        kind = "between routers" if first["between"] == "routers" else "a host's own"
        used_of = percent(first["utilisation"])
        rows["busiest of all"] = f"{first['name']}, {used_of} of the time ({kind})"
    lines = [*_head(result), pairs(rows)]
    if path := result.critical_path:
        parts = ", ".join(
            f"{name.replace('_', ' ')} {said(part)}" for name, part in path.totals().items() if part
        )
        begun = f" from {said(path.start)} on" if path.start else ""
        lines.append(f"Critical path, {counted(len(path.rows), 'entry')}{begun}: {parts}.")
    return lines + _note(result)


def _head(result: TraceReplay | FlowReplay) -> list[str]:
    """Return what the program runs on."""
    network = result.network
    return [
        escape(f"{size_of(network.topology)}, {network.routing_name}"),
        escape(network.router_name),
    ]


def _note(result: TraceReplay | FlowReplay) -> list[str]:
    """Return why a run did not come to its end, or how far it is from its plan."""
    return [escape(f"• {result.note}")] if result.note else []


def _finish(data: dict[str, Any], name: str) -> str:
    cycles, us = data[f"{name}_cycles"], data[f"{name}_us"]
    if cycles is None:
        return "not reached"
    return f"{cycles:,} cycles" + (f", {number(us)} µs" if us is not None else "")
