"""One file a question, and the one function that answers it."""

from netloom.verbs.analysis import Analysis
from netloom.verbs.analyze import AnalyzeQuestion, analyze
from netloom.verbs.broadcast import BroadcastQuestion, simulate_broadcast
from netloom.verbs.broadcast_simulation import BroadcastSimulation
from netloom.verbs.critical_queues import CriticalQueues
from netloom.verbs.hot_spot_simulation import HotSpotSimulation
from netloom.verbs.hot_spots import (
    CriticalQueueQuestion,
    HotSpotQuestion,
    find_critical_queue,
    simulate_hot_spots,
)
from netloom.verbs.loop import LoopQuestion, simulate_loop
from netloom.verbs.loop_simulation import LoopSimulation
from netloom.verbs.pattern import PatternQuestion, PatternSimulation, simulate_pattern
from netloom.verbs.replay import ReplayQuestion, replay
from netloom.verbs.simulate import find_saturation, simulate
from netloom.verbs.simulate_question import SimulateQuestion
from netloom.verbs.simulation import NetworkSaturation, Simulation
from netloom.verbs.trace_replay import TraceReplay
from netloom.verbs.transactions import (
    TransactionQuestion,
    TransactionSimulation,
    simulate_transactions,
)

__all__ = [
    "Analysis",
    "AnalyzeQuestion",
    "BroadcastQuestion",
    "BroadcastSimulation",
    "CriticalQueueQuestion",
    "CriticalQueues",
    "HotSpotQuestion",
    "HotSpotSimulation",
    "LoopQuestion",
    "LoopSimulation",
    "NetworkSaturation",
    "PatternQuestion",
    "PatternSimulation",
    "ReplayQuestion",
    "SimulateQuestion",
    "Simulation",
    "TraceReplay",
    "TransactionQuestion",
    "TransactionSimulation",
    "analyze",
    "find_critical_queue",
    "find_saturation",
    "replay",
    "simulate",
    "simulate_broadcast",
    "simulate_hot_spots",
    "simulate_loop",
    "simulate_pattern",
    "simulate_transactions",
]
