"""Will this program's communication contend on this network, where, and what fixes it?

The names below are netloom's face; each is imported when it is first used, so that starting up
costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from netloom._version import __version__
from netloom.errors import DeadlockError, InputError, NoRouteError, NotAMappingError

if TYPE_CHECKING:
    from netloom import report as report
    from netloom import topology as topology
    from netloom.experiments import results as results
    from netloom.experiments import run as run
    from netloom.machines import machine as machine
    from netloom.verbs import analyze as analyze
    from netloom.verbs import compile_phases as compile_phases
    from netloom.verbs import find_critical_queue as find_critical_queue
    from netloom.verbs import find_mapping as find_mapping
    from netloom.verbs import find_saturation as find_saturation
    from netloom.verbs import predict_latency as predict_latency
    from netloom.verbs import predict_locality as predict_locality
    from netloom.verbs import predict_torus_broadcast as predict_torus_broadcast
    from netloom.verbs import predict_wiring as predict_wiring
    from netloom.verbs import replay as replay
    from netloom.verbs import run_plan as run_plan
    from netloom.verbs import simulate as simulate
    from netloom.verbs import simulate_broadcast as simulate_broadcast
    from netloom.verbs import simulate_hot_spots as simulate_hot_spots
    from netloom.verbs import simulate_loop as simulate_loop
    from netloom.verbs import simulate_pattern as simulate_pattern
    from netloom.verbs import simulate_transactions as simulate_transactions
    from netloom.verbs import verify_plan as verify_plan
    from netloom.verbs.frames import to_pandas as to_pandas
    from netloom.workload import process_graph as process_graph
    from netloom.workload import read as read
    from netloom.workload import write as write

_FACE = {
    "analyze": "netloom.verbs",
    "compile_phases": "netloom.verbs",
    "find_critical_queue": "netloom.verbs",
    "find_mapping": "netloom.verbs",
    "find_saturation": "netloom.verbs",
    "machine": "netloom.machines",
    "predict_latency": "netloom.verbs",
    "predict_locality": "netloom.verbs",
    "predict_torus_broadcast": "netloom.verbs",
    "predict_wiring": "netloom.verbs",
    "process_graph": "netloom.workload",
    "read": "netloom.workload",
    "run_plan": "netloom.verbs",
    "simulate": "netloom.verbs",
    "replay": "netloom.verbs",
    "results": "netloom.experiments",
    "run": "netloom.experiments",
    "simulate_broadcast": "netloom.verbs",
    "simulate_hot_spots": "netloom.verbs",
    "simulate_loop": "netloom.verbs",
    "simulate_pattern": "netloom.verbs",
    "simulate_transactions": "netloom.verbs",
    "to_pandas": "netloom.verbs.frames",
    "verify_plan": "netloom.verbs",
    "write": "netloom.workload",
}

__all__ = [
    "DeadlockError",
    "InputError",
    "NoRouteError",
    "NotAMappingError",
    "__version__",
    "analyze",
    "compile_phases",
    "find_critical_queue",
    "find_mapping",
    "find_saturation",
    "machine",
    "predict_latency",
    "predict_locality",
    "predict_torus_broadcast",
    "predict_wiring",
    "process_graph",
    "read",
    "replay",
    "report",
    "results",
    "run",
    "run_plan",
    "simulate",
    "simulate_broadcast",
    "simulate_hot_spots",
    "simulate_loop",
    "simulate_pattern",
    "simulate_transactions",
    "to_pandas",
    "topology",
    "verify_plan",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in ("report", "topology"):  # packages that can be called
        return import_module(f"netloom.{name}")
    if name in _FACE:
        return getattr(import_module(_FACE[name]), name)
    raise AttributeError(f"module 'netloom' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
