"""A model of a torus with broadcasts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.questions.predict.shown import (
    curve_table,
    of_unit,
    said_of,
    trust,
    verdict_of,
)
from netloom.questions.shown import interruption, pairs, percent
from netloom.words import counted, number

if TYPE_CHECKING:
    from netloom.questions.predict.torus_broadcast.answer import TorusBroadcastPrediction
    from netloom.questions.recorded import Recorded


def lines(result: TorusBroadcastPrediction) -> list[Any]:
    """Return what the model says of each rate, and how far to trust it."""
    data = result.to_dict()
    head = [
        f"[bold]{escape(result.name)}[/], adaptive routing, {counted(data['vcs'], 'VC')}; "
        f"messages of {counted(number(data['message_flits']), 'flit')}, "
        f"{percent(data['broadcast'])} broadcast; "
        f"{data['variant']} model",
        f"{number(data['zero_load_latency'])} cycles unhindered; saturates at "
        f"{number(data['saturation_rate'])} messages/node/cycle",
    ]
    notes = [f"[dim]{escape(trust(data))}[/]"]
    if data["broadcast"]:
        notes.insert(0, "[dim]Latency: of the messages that are not broadcast.[/]")
    if result.simulated is not None:
        ends = data["simulated_network"]["cycles_at_ends_taken_off"]
        buffers = data["simulated_network"]["router"]["buffer_flits"]
        notes.insert(
            0,
            f"[dim]Simulated: adaptive routing, a cycle a hop, VCs of {buffers} flits, seed "
            f"{result.provenance.seed}; less the {ends} cycles on the channels at the ends, which "
            "the model has not.[/]",
        )
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
        verdict = verdict_of(result.observations[0].sentence, data)
        return [*head, pairs(rows), *notes, verdict, *interruption(result, "simulated")]
    columns = {
        "rate": "rate", "latency": "latency", "network": "network_latency", "source": "source_wait",
        "multiplexing": "vc_multiplexing",
    }  # fmt: skip
    shares = {"busy": "channel_utilisation", "no VC": "blocked"}
    return [*head, curve_table(data, columns, shares), *notes, *interruption(result, "simulated")]


def sentences(record: Recorded) -> list[str]:
    """Return what the model says of each rate."""
    return [said_of(point, point["rate"]) for point in record.points]
