"""A model of wiring in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import number
from netloom.questions.shown import plain_table
from netloom_papers.questions.predict.wiring.verdict import verdict

if TYPE_CHECKING:
    from netloom_papers.questions.predict.wiring.answer import WiringPrediction

__all__ = ["lines", "verdict"]


def lines(result: WiringPrediction) -> list[Any]:
    """Return how many times better the mesh is, size by size."""
    asked = result.provenance.configuration
    lengths = [f"L/H =\n{number(length)}" for length in result.message_headers]
    heads = ("nodes", "peak widths", "wider", "shorter", "delay", "faster\nclock", "bandwidth")
    table = plain_table((*heads, *lengths), words=("delay",))
    for point in result.points:
        mesh = point["mesh_peak_width"]
        wires = f"{'–' if mesh is None else f'{mesh:,}'} : {point['hypercube_peak_width']:,}"
        size = [f"{point['nodes']:,}", wires, number(point["channel_width_ratio"])]
        size.append(number(point["wire_length_ratio"]))
        for delay in point["delays"]:
            cells = [number(delay["channel_rate_ratio"]), number(delay["channel_bandwidth_ratio"])]
            cells += [number(each["speedup"]) for each in delay["speedups"]]
            table.add_row(*size, delay["delay"], *cells)
            size = [""] * len(size)
    return [
        table,
        f"[dim]Factors by which the mesh is better, {asked['form']} formulas, {asked['distance']} "
        "distance. Peak widths: links side by side past a node, mesh : hypercube. Wider: channels. "
        "Shorter: the longest wire. L/H: how much sooner a message of so many headers arrives if "
        "nothing delays it.[/]",
    ]
