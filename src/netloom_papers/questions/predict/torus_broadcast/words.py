"""A model of a torus with broadcasts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.predict.shown import curve_table, of_unit
from netloom.questions.shown import interruption, pairs, percent
from netloom_papers.questions.predict.torus_broadcast.verdict import verdict

if TYPE_CHECKING:
    from netloom_papers.questions.predict.torus_broadcast.answer import TorusBroadcastPrediction

__all__ = ["lines", "verdict"]


def lines(result: TorusBroadcastPrediction) -> list[Any]:
    """Return what the model says of each rate, and how far to trust it."""
    data = result.to_dict()
    notes = [
        f"[dim]Adaptive routing, {counted(data['vcs'], 'VC')}, messages of "
        f"{counted(number(data['message_flits']), 'flit')}, {data['variant']} model[/]"
    ]
    if result.simulated is not None:
        ends = data["simulated_network"]["cycles_at_ends_taken_off"]
        buffers = data["simulated_network"]["router"]["buffer_flits"]
        notes.append(
            f"[dim]Simulated: adaptive routing, a cycle per hop, VCs of {buffers} flits, seed "
            f"{result.provenance.seed}, less the {ends} cycles on the channels at the ends, which "
            "the model lacks.[/]"
        )
    notes += interruption(result, "simulated")
    if "points" not in data:
        rows = {
            "latency": of_unit(data["latency"], "cycles"),
            "  in the network": number(data["network_latency"]),
            "  in the source queue": number(data["source_wait"]),
            "  starting up": number(data["startup_cycles"]),
            "VC multiplexing": number(data["vc_multiplexing"]),
            "channels": f"{number(data['channel_rate'])} messages/cycle, busy "
            f"{percent(data['channel_utilisation'])}",
            "a head finds no VC": f"{percent(data['blocked'])}, and waits "
            f"{number(data['channel_wait'])} cycles",
            "VCs held": ", ".join(
                f"{count}: {percent(each)}" for count, each in enumerate(data["held_vcs"] or ())
            ),
        }
        if not data["startup_cycles"]:
            del rows["  starting up"]
        if data["saturated"]:
            rows = {name: rows[name] for name in ("latency", "channels")}
        return [pairs(rows), *notes]
    columns = {
        "rate": "rate", "latency\n(cycles)": "latency", "in network": "network_latency",
        "at source": "source_wait", "VC multi-\nplexing": "vc_multiplexing",
    }  # fmt: skip
    shares = {"channels\nbusy": "channel_utilisation", "no VC": "blocked"}
    return [curve_table(data, columns, shares), *notes]
