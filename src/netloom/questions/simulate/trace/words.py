"""A replayed trace in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.shown import DOUBTFUL, FELL_BEHIND, KEPT_UP, ended, head_of, pairs, percent
from netloom.questions.simulate.flows.words import expected
from netloom.questions.simulate.trace.answer import ON_PATH
from netloom.questions.simulate.trace.flow_answer import FlowReplay
from netloom.units import seconds, size
from netloom.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.questions.recorded import Recorded
    from netloom.questions.simulate.trace.answer import TraceReplay


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
    rows["channels busy"] = f"{percent(used['mean'])} on average, {percent(used['max'])} at most"
    if ends := data["busiest_host_channel"]:
        rows["channels of hosts"] = (
            f"busy {percent(ends['utilisation'])} at most: {escape(ends['name'])}"
        )
    lines = [*head_of(result.network, data["trace"], f"mapping {data['mapping']}"), pairs(rows)]
    if path := data["critical_path"]:
        parts = ", ".join(
            f"{name.removesuffix('_cycles').replace('_', ' ')} {number(path[name])}"
            for name in ON_PATH
            if path[name]
        )
        lines.append(f"Critical path, {counted(path['length'], 'entry')}: {parts} cycles.")
    return lines + _ending(result)


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
    rows["channels busy"] = f"{percent(used['mean'])} on average, {percent(used['max'])} at most"
    if busiest := found["busiest"]:
        first = busiest[0]
        rows["busiest"] = f"{first['name']}, {percent(first['utilisation'])} of the time"
    lines = [*head_of(result.network, found["trace"], f"mapping {found['mapping']}"), pairs(rows)]
    if path := result.critical_path:
        parts = ", ".join(
            f"{name.replace('_', ' ')} {said(part)}" for name, part in path.totals().items() if part
        )
        begun = f" from {said(path.start)} on" if path.start else ""
        lines.append(f"Critical path, {counted(len(path.rows), 'entry')}{begun}: {parts}.")
    trusted = [] if result.interrupted else [escape(f"• {expected(found)}")]
    return lines + _ending(result) + trusted


def _ending(result: TraceReplay | FlowReplay) -> list[Any]:
    """Return what contention costs, and what to know."""
    lines: list[Any] = []
    share = result.contention_share
    if share is not None:
        style = KEPT_UP if share < 0.05 else DOUBTFUL if share < 0.2 else FELL_BEHIND
        said = f"Contention for channels is {percent(share)} of the finish time."
        lines.append(Text(said, style=style))
    if result.note:
        lines.append(escape(f"• {result.note}"))
    return lines


def sentences(record: Recorded) -> list[str]:
    """Return when the program finished, and how much later than without contention."""
    found = record.figures
    if found["engine"] == "flow":
        return _of_recorded_flows(found)
    finish, ideal = found["finish_cycles"], found["ideal_finish_cycles"]
    if not finish:
        return [f"The program did not finish: {ended(found['note'] or 'nothing was sent')}"]
    longer = f"{finish / ideal:.3g} times as long as" if ideal and finish > ideal else "as soon as"
    beside = f", {longer} without contention" if ideal else ""
    return [f"The program finishes after {finish:,} cycles{beside}."]


def _of_recorded_flows(found: Mapping[str, Any]) -> list[str]:
    unit = found["unit"]
    finish, alone = found[f"finish_{unit}"], found[f"alone_{unit}"]
    if not finish:
        return [f"The program did not finish: {ended(found['note'] or 'nothing was sent')}"]
    longer = f"{finish / alone:.3g} times as long as" if finish > alone > 0 else "as soon as"
    said = seconds(finish) if unit == "seconds" else f"{number(finish)} cycles"
    return [f"The program finishes after {said}, {longer} if no message met another."] + (
        [] if found["interrupted"] else [expected(found)]
    )


def _finish(data: dict[str, Any], name: str) -> str:
    cycles, us = data[f"{name}_cycles"], data[f"{name}_us"]
    if cycles is None:
        return "not reached"
    return f"{cycles:,} cycles" + (f", {number(us)} µs" if us is not None else "")
