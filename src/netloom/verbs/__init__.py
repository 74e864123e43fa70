"""One file a question, and the one function that answers it."""

from netloom.verbs.analysis import Analysis
from netloom.verbs.analyze import AnalyzeQuestion, analyze
from netloom.verbs.broadcast import BroadcastQuestion, simulate_broadcast
from netloom.verbs.broadcast_simulation import BroadcastSimulation
from netloom.verbs.compile_phases import CompileQuestion, compile_phases
from netloom.verbs.compiled_phases import CompiledPhases
from netloom.verbs.critical_queues import CriticalQueues
from netloom.verbs.find_mapping import MappingQuestion, find_mapping
from netloom.verbs.found_mapping import ProgramMapping
from netloom.verbs.hot_spot_simulation import HotSpotSimulation
from netloom.verbs.hot_spots import (
    CriticalQueueQuestion,
    HotSpotQuestion,
    find_critical_queue,
    simulate_hot_spots,
)
from netloom.verbs.latency_prediction import LatencyPrediction
from netloom.verbs.locality_prediction import LocalityPrediction
from netloom.verbs.loop import LoopQuestion, simulate_loop
from netloom.verbs.loop_simulation import LoopSimulation
from netloom.verbs.pattern import PatternQuestion, PatternSimulation, simulate_pattern
from netloom.verbs.plans import PlanRun, VerifiedPlan, run_plan, verify_plan
from netloom.verbs.predict_latency import LatencyQuestion, predict_latency
from netloom.verbs.predict_locality import LocalityQuestion, predict_locality
from netloom.verbs.predict_torus_broadcast import TorusBroadcastQuestion, predict_torus_broadcast
from netloom.verbs.predict_wiring import WiringPrediction, WiringQuestion, predict_wiring
from netloom.verbs.replay import ReplayQuestion, replay
from netloom.verbs.simulate import find_saturation, simulate, simulate_beside
from netloom.verbs.simulate_question import SimulateQuestion
from netloom.verbs.simulation import NetworkSaturation, Simulation
from netloom.verbs.torus_broadcast_prediction import TorusBroadcastPrediction
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
    "CompileQuestion",
    "CompiledPhases",
    "CriticalQueueQuestion",
    "CriticalQueues",
    "HotSpotQuestion",
    "HotSpotSimulation",
    "LatencyPrediction",
    "LatencyQuestion",
    "LocalityPrediction",
    "LocalityQuestion",
    "LoopQuestion",
    "LoopSimulation",
    "MappingQuestion",
    "NetworkSaturation",
    "PatternQuestion",
    "PatternSimulation",
    "PlanRun",
    "ProgramMapping",
    "ReplayQuestion",
    "SimulateQuestion",
    "Simulation",
    "TorusBroadcastPrediction",
    "TorusBroadcastQuestion",
    "TraceReplay",
    "TransactionQuestion",
    "TransactionSimulation",
    "VerifiedPlan",
    "WiringPrediction",
    "WiringQuestion",
    "analyze",
    "compile_phases",
    "find_critical_queue",
    "find_mapping",
    "find_saturation",
    "predict_latency",
    "predict_locality",
    "predict_torus_broadcast",
    "predict_wiring",
    "replay",
    "run_plan",
    "simulate",
    "simulate_beside",
    "simulate_broadcast",
    "simulate_hot_spots",
    "simulate_loop",
    "simulate_pattern",
    "simulate_transactions",
    "verify_plan",
]
