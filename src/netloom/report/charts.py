"""The picture of any answer, whole or in parts, from what is recorded of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.recorded import Recorded, record
from netloom.report import combining, contention, load_curve, mapping, phases, predictions
from netloom.report import program_charts as programs

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from netloom.report.frame import Part

CHARTS: dict[str, Callable[[Recorded], alt.HConcatChart]] = {
    "analyze": contention.contention_chart,
    "simulate": load_curve.simulation_chart,
    "find_saturation": load_curve.simulation_chart,
    "simulate_loop": programs.loop_chart,
    "simulate_transactions": programs.transaction_chart,
    "replay": programs.replay_chart,
    "simulate_broadcast": programs.broadcast_chart,
    "simulate_pattern": programs.pattern_chart,
    "predict_torus_broadcast": predictions.torus_broadcast_chart,
    "predict_latency": predictions.latency_chart,
    "predict_locality": predictions.locality_chart,
    "predict_wiring": predictions.wiring_chart,
    "simulate_hot_spots": combining.hot_spot_chart,
    "find_critical_queue": combining.critical_chart,
    "compile_phases": phases.gantt_chart,
    "find_mapping": mapping.mapping_chart,
}
"""The picture of each verb's answer."""

PARTS: dict[str, Callable[[Recorded], dict[str, Part]]] = {
    "analyze": contention.contention_parts,
    "simulate": load_curve.simulation_parts,
    "find_saturation": load_curve.simulation_parts,
    "simulate_loop": programs.loop_parts,
    "simulate_transactions": programs.transaction_parts,
    "replay": programs.replay_parts,
    "simulate_broadcast": programs.broadcast_parts,
    "simulate_pattern": programs.pattern_parts,
    "predict_torus_broadcast": predictions.torus_broadcast_parts,
    "predict_latency": predictions.latency_parts,
    "predict_locality": predictions.locality_parts,
    "predict_wiring": predictions.wiring_parts,
    "simulate_hot_spots": combining.hot_spot_parts,
    "find_critical_queue": combining.critical_parts,
    "compile_phases": phases.phase_parts,
    "find_mapping": mapping.mapping_parts,
}
"""The parts of it, by name; ``compile_phases`` has its phases on the network as well."""


def chart_of(result: Any) -> alt.HConcatChart:
    """Return the picture of what a verb answered: its answer, or what is recorded of it.

    Examples
    --------
    >>> from netloom import analyze
    >>> chart_of(analyze("ring:4", "mesh:2x2", random_mappings=0)).title.text
    'ring:4 on mesh:2x2, mapping identity'
    """
    kept = result if isinstance(result, Recorded) else record(result)
    return CHARTS[kept.verb](kept)


def parts_of(kept: Recorded) -> dict[str, Part]:
    """Return what the picture of an answer is made of, part by part, for a page of its own.

    Parts have neither background nor title of their own, and the colours of text and of channel
    loads (Vega's range ``ramp``) are those of the page.

    Examples
    --------
    >>> from netloom import analyze
    >>> list(parts_of(record(analyze("ring:4", "mesh:2x2", random_mappings=2))))
    ['channels', 'path contention', 'saturation']
    """
    return PARTS[kept.verb](kept)
