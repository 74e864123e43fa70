"""One file a question, and the one function that answers it."""

from netloom.verbs.analysis import Analysis
from netloom.verbs.analyze import AnalyzeQuestion, analyze
from netloom.verbs.simulate import SimulateQuestion, find_saturation, simulate
from netloom.verbs.simulation import NetworkSaturation, Simulation

__all__ = [
    "Analysis",
    "AnalyzeQuestion",
    "NetworkSaturation",
    "SimulateQuestion",
    "Simulation",
    "analyze",
    "find_saturation",
    "simulate",
]
