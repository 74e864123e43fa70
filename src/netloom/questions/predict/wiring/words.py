"""A model of wiring in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.shown import plain_table
from netloom.words import counted, number

if TYPE_CHECKING:
    from netloom.questions.predict.wiring.answer import WiringPrediction
    from netloom.questions.recorded import Recorded


def lines(result: WiringPrediction) -> list[Any]:
    """Return how many times better the mesh is."""
    asked = result.provenance.configuration
    lengths = [f"L/H = {number(length)}" for length in result.message_headers]
    heads = ("nodes", "peak widths", "wider", "shorter", "delay", "faster clock", "bandwidth")
    table = plain_table((*heads, *lengths), words=("delay",))
    for point in result.points:
        mesh = point["mesh_peak_width"]
        wires = f"{'-' if mesh is None else f'{mesh:,}'} : {point['hypercube_peak_width']:,}"
        size = [f"{point['nodes']:,}", wires, number(point["channel_width_ratio"])]
        size.append(number(point["wire_length_ratio"]))
        for delay in point["delays"]:
            cells = [number(delay["channel_rate_ratio"]), number(delay["channel_bandwidth_ratio"])]
            cells += [number(each["speedup"]) for each in delay["speedups"]]
            table.add_row(*size, delay["delay"], *cells)
            size = [""] * len(size)
    return [
        "[bold]Square mesh against hypercube[/], wired as densely: how many times better the mesh "
        f"is; {asked['form']} forms",
        table,
        "[dim]Peak widths: links side by side past a node, mesh : hypercube; wider: its channels; "
        "shorter: the longest wire, at least; L/H: how many times sooner a message of so many "
        f"headers arrives, {asked['distance']} distance, nothing in its way.[/]",
    ]


def sentences(record: Recorded) -> list[str]:
    """Return how much sooner messages arrive on the mesh, a sentence a size."""
    said = []
    for point in record.points:
        gains = [each["speedup"] for delay in point["delays"] for each in delay["speedups"]]
        said.append(
            f"With {counted(point['nodes'], 'node', ',')} messages arrive {number(min(gains))} to "
            f"{number(max(gains))} times sooner on the mesh than on the hypercube."
        )
    return said
