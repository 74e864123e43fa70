"""A model of latency in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.words import counted, number
from netloom.questions.predict.shared import (
    STEADY,
    checked,
    curve_table,
    rounded,
    routed,
    worst_checked,
)
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import Verdict, arrow, interruption, pairs, percent, size_of, subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.questions.predict.latency.question import LatencyPrediction


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return what one load, or several, come to."""
    of = subject(figures["traffic"], figures["topology"], figures["mapping"])
    points = figures.get("points")
    low, high = figures["saturation_range"]
    mark, said = _one(figures, figures) if points is None else _several(figures, points)
    limit, bound = figures["saturation_limit"], figures["throughput_bound"]
    first = arrow(limit["where"])
    lines = {"where": f"{first} saturates first, busy {percent(limit['utilisation'])}"}
    if not limit["told"]:
        lines["where"] = f"not known: the model has no answer above {_load(figures)}"
    lines["limits"] = (
        f"saturates at {number(low)} to {number(high)}* · nothing beyond {number(bound['load'])} ("
        f"{bound['limited_by'].replace(' -> ', '→')})"
    )
    simulated = checked(figures) if points is None else worst_checked(points)
    if simulated:
        lines["checked"] = simulated
    if figures["flags"]:
        lines["care"] = "; ".join(figures["flags"])
    return Verdict(mark, said, of, lines, _next(figures, mark, simulated), _note(figures))


def sentence_of(point: Mapping[str, Any], network: Mapping[str, Any]) -> str:
    """Return what one load comes to. ``network`` has the figures of all loads."""
    return _one(point, network)[1]


def _one(point: Mapping[str, Any], network: Mapping[str, Any]) -> tuple[str, str]:
    """Return the mark of one load, and what it comes to."""
    load, (low, high) = point["offered"], network["saturation_range"]
    bound = network["throughput_bound"]["load"]
    if point["state"] == STEADY:
        said = f"{_about(point, network)}. Saturates near {_load(network)}."
        return ("limited" if load >= low else "fine"), said
    if load > bound:
        return "act", (
            f"Overloaded: {number(load)} is offered, at most {_shown_load(bound)} can be carried."
        )
    if load > high:
        return "act", (
            f"Overloaded at {number(load)}: saturates near {_load(network)} ({number(low)} to "
            f"{number(high)})."
        )
    return "unknown", (
        f"{number(load)} is too near saturation for a model ({number(low)} to {number(high)} "
        "flits/node/cycle): simulate it."
    )


def _several(figures: Mapping[str, Any], points: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the mark of several loads, and what they come to."""
    low, high = figures["saturation_range"]
    steady = [each for each in points if each["state"] == STEADY]
    last = points[-1]
    if not steady:
        return _one(points[0], figures)
    if last["state"] == STEADY and last["offered"] < low:
        said = _about(last, figures).replace("About", f"All {len(points)} loads are carried: about")
        return "fine", f"{said}. Saturates near {_load(figures)}."
    half = figures["saturation_offered"] / 2
    near = min(steady, key=lambda each: abs(each["offered"] - half))
    said = (
        f"Saturates near {_load(figures)} ({number(low)} to {number(high)}): "
        f"{number(figures['zero_load_latency'])} cycles idle"
    )
    if near["offered"] > 0:
        said += f", about {number(near['latency'])} at {number(near['offered'])}"
    return "limited", f"{said}."


def _about(point: Mapping[str, Any], network: Mapping[str, Any]) -> str:
    """Return a latency with that of the idle network and its expected error."""
    idle = number(network["zero_load_latency"])
    return (
        f"About {number(point['latency'])} cycles at {number(point['offered'])} ({idle} idle, "
        f"model error {rounded(point['expected_error'])})"
    )


def _load(network: Mapping[str, Any]) -> str:
    return _shown_load(network["saturation_offered"])


def _shown_load(load: float) -> str:
    return f"{number(load)} flits/node/cycle"


def _next(figures: Mapping[str, Any], mark: str, simulated: str) -> str:
    """Return the command that checks the model, or that lowers the load of what saturates."""
    asked = figures["provenance"]["configuration"]
    if mark == "act" and asked["app"] is not None:
        shared = {name: asked[name] for name in ("app", "on", "messages", "parts", "nodes")}
        return command_line(kind_of("map"), shared)
    if simulated or mark == "fine":
        return ""
    if mark == "act":
        return command_line(kind_of("predict.latency"), dict(asked) | {"offered": "0:auto"})
    return command_line(kind_of("predict.latency"), dict(asked) | {"simulate": True})


def _note(figures: Mapping[str, Any]) -> str:
    return (
        "* estimate. Nine of ten simulated meshes and tori with such routers saturate within "
        f"{rounded(figures['saturation_expected_error'])} of it."
    )


def lines(result: LatencyPrediction) -> list[Any]:
    """Return what the model says of each load, and of which routers."""
    data = result.to_dict()
    router = data["router"]
    told = [
        f"[dim]{size_of(result.topology)}, {escape(routed(data))}, {router['name']} router, "
        f"{router['switching']}, {counted(router['vcs'], 'VC')} of "
        f"{counted(router['buffer_flits'], 'flit')}, packets of "
        f"{counted(data['packet_flits'], 'flit')}[/]"
    ]
    if result.simulated is not None:
        told.append(f"[dim]Simulated: the same network, seed {result.provenance.seed}.[/]")
    told += interruption(result, "simulated")
    if "points" not in data:
        return [pairs(_of_one_load(data)), *told]
    columns = {
        "load": "offered", "latency\n(cycles)": "latency", "in network": "network_latency",
        "at source": "source_wait", "worst path": "worst_path_latency",
    }  # fmt: skip
    shares = {"model\nerror": "expected_error", "busiest\nchannel": "utilisation_max"}
    lines = [curve_table(data, columns, shares), *told]
    if data["busiest_channel"]:
        lines.append(f"• Busiest channel: {escape(arrow(data['busiest_channel']))}")
    return lines


def _of_one_load(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what the model says of one load. Without latencies where it gives none."""
    channels = (
        f"{percent(data['utilisation_mean'])} on average, "
        f"{percent(data['utilisation_max'])} at most{_where(data)}"
    )
    if data["latency"] is None:
        return {"latency": f"none: {data['state']}", "channels busy": channels} | _tightest(data)
    expected = _between((data["latency_low"], data["latency_high"]))
    return {
        "latency": f"{number(data['latency'])} cycles, nine of ten times {expected}",
        "  in the network": number(data["network_latency"]),
        "  in the source queue": number(data["source_wait"]),
        "  on the worst path": number(data["worst_path_latency"]),
        "channels busy": channels,
    } | _tightest(data)


def _tightest(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what has least to spare. Nothing past saturation."""
    if data["tightest"] is None:
        return {}
    share = percent(data["tightest_utilisation"])
    return {"tightest": f"{escape(data['tightest'].replace(' -> ', '→'))}, {share} of the time"}


def _between(ends: Sequence[float]) -> str:
    low, high = ends
    return f"{number(low)} to {number(high)}"


def _where(data: Mapping[str, Any]) -> str:
    return f": {escape(arrow(data['busiest_channel']))}" if data["busiest_channel"] else ""
