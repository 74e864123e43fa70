"""Answers in words that their own folders do not yet say: to be deleted as these do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.shown import ended
from netloom.words import counted, give_or_take, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.questions.recorded import Recorded


def sentences(record: Recorded) -> list[str]:
    """Return what an answer without a verdict comes to."""
    said = [_of_point(record.verb, point) for point in record.points]
    said += [
        f"At rate {number(each['rate'])}: {ended(each['verdict'])}"
        for each in record.figures.get("rates") or []
        if isinstance(each, dict) and "verdict" in each
    ]
    return [each for each in said if each]


def _of_point(verb: str, point: Mapping[str, Any]) -> str:
    """Return what one point of an answer without a verdict comes to; "" if nothing short does."""
    if verb == "simulate":
        return _simulated(point)
    if verb in ("predict_latency", "predict_torus_broadcast"):
        load = number(point.get("offered", point.get("rate")))
        if point["saturated"]:
            return f"The model says that {load} is past saturation."
        if point["latency"] is None:
            return f"{load} is so near saturation that the model says no latency: simulate."
        error = point.get("expected_error")
        off = "" if error is None else f" ± {100 * error:.0f}\u00a0%"
        return f"The model says {number(point['latency'])} cycles{off} at {load}."
    if verb == "replay":
        return _replayed(point)
    if verb == "simulate_transactions":
        said = give_or_take(point["transaction_latency"], point["transaction_latency_ci95"])
        busy = f"{100 * point['processor_use']:.3g}\u00a0%"
        return f"A transaction takes {said} cycles; a processor works {busy} of the time."
    if verb == "predict_wiring":
        gains = [each["speedup"] for delay in point["delays"] for each in delay["speedups"]]
        return (
            f"With {counted(point['nodes'], 'node', ',')} messages arrive {number(min(gains))} to "
            f"{number(max(gains))} times sooner on the mesh than on the hypercube."
        )
    if verb == "predict_locality":
        best, asked = number(point["gain"]), number(point["gain_of_mapping"])
        return (
            f"On {counted(point['nodes'], 'node', ',')} the best mapping is {best} times as fast "
            f"as a random one; the asked one {asked} times."
        )
    return ""


def _simulated(point: Mapping[str, Any]) -> str:
    """Return what one simulated load comes to."""
    latency, load = point["packet_latency"], number(point["offered"])
    if not point["stable"] or latency["mean"] is None:
        return f"At {load}: {ended(point['note'] or 'nothing was measured')}"
    said = give_or_take(latency["mean"], latency["ci95"])
    busiest = point["utilisation"]["busiest_channel"]
    most = point["utilisation"]["max"]
    beside = f"; the busiest channel, {busiest}, carries {number(most)}" if busiest else ""
    idle = number(point["zero_load_latency"])
    return f"Keeps up with {load}: {said} cycles, {idle} if idle{beside}."


def _replayed(point: Mapping[str, Any]) -> str:
    """Return what a replayed trace comes to."""
    finish, ideal = point.get("finish_cycles"), point.get("ideal_finish_cycles")
    if not finish:
        return f"The program did not finish: {ended(point.get('note') or 'it was interrupted')}"
    longer = f"{finish / ideal:.3g} times as long as" if ideal and finish > ideal else "as soon as"
    beside = f", {longer} without contention" if ideal else ""
    return f"The program finishes after {number(finish)} cycles{beside}."
