"""The picture of any answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom import verbs
from netloom.report import predictions
from netloom.report import program_charts as programs
from netloom.report.combining import critical_chart, hot_spot_chart
from netloom.report.contention import contention_chart
from netloom.report.load_curve import simulation_chart
from netloom.report.mapping import mapping_chart
from netloom.report.phases import gantt_chart

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

CHARTS: dict[type, Callable[[Any], alt.HConcatChart]] = {
    verbs.Analysis: contention_chart,
    verbs.CompiledPhases: gantt_chart,
    verbs.CriticalQueues: critical_chart,
    verbs.HotSpotSimulation: hot_spot_chart,
    verbs.ProgramMapping: mapping_chart,
    verbs.Simulation: simulation_chart,
    verbs.NetworkSaturation: simulation_chart,
    verbs.LoopSimulation: programs.loop_chart,
    verbs.TransactionSimulation: programs.transaction_chart,
    verbs.TraceReplay: programs.replay_chart,
    verbs.BroadcastSimulation: programs.broadcast_chart,
    verbs.PatternSimulation: programs.pattern_chart,
    verbs.TorusBroadcastPrediction: predictions.torus_broadcast_chart,
    verbs.LatencyPrediction: predictions.latency_chart,
    verbs.LocalityPrediction: predictions.locality_chart,
    verbs.WiringPrediction: predictions.wiring_chart,
}


def chart_of(result: Any) -> alt.HConcatChart:
    """Return the picture of what a verb answered."""
    return CHARTS[type(result)](result)
