"""Omega networks whose switches combine requests to one word, step by step."""

from netloom_papers.combining.engine import CombiningEngine
from netloom_papers.combining.network import CombiningNetwork, CombiningRun, run_combining
from netloom_papers.combining.replications import CriticalQueue, SizeTried, critical_queue

__all__ = [
    "CombiningEngine",
    "CombiningNetwork",
    "CombiningRun",
    "CriticalQueue",
    "SizeTried",
    "critical_queue",
    "run_combining",
]
