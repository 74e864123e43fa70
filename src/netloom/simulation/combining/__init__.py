"""Omega networks whose switches combine requests to one word, step by step."""

from netloom.simulation.combining.engine import CombiningEngine
from netloom.simulation.combining.network import CombiningNetwork, CombiningRun, run_combining
from netloom.simulation.combining.replications import CriticalQueue, SizeTried, critical_queue

__all__ = [
    "CombiningEngine",
    "CombiningNetwork",
    "CombiningRun",
    "CriticalQueue",
    "SizeTried",
    "critical_queue",
    "run_combining",
]
