"""Will this program's communication contend on this network, where, and what fixes it?

The names below are netloom's face. Each is imported when it is first used, so that starting up
costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from netloom._version import __version__
from netloom.base.declared import declared
from netloom.base.errors import DeadlockError, InputError, NoRouteError, NotAMappingError

if TYPE_CHECKING:
    from netloom import topology as topology
    from netloom.experiments import results as results, run as run
    from netloom.machines import machine as machine
    from netloom.pages import explore as explore, report as report
    from netloom.questions.analyze import analyze as analyze
    from netloom.questions.collective import compare_collectives as compare_collectives
    from netloom.questions.compile import compile_phases as compile_phases
    from netloom.questions.compile_collective import compile_collective as compile_collective
    from netloom.questions.fabric import check_fabric as check_fabric
    from netloom.questions.map import find_mapping as find_mapping
    from netloom.questions.permutations import analyze_permutations as analyze_permutations
    from netloom.questions.plans import verify_plan as verify_plan
    from netloom.questions.predict.latency import predict_latency as predict_latency
    from netloom.questions.recorded import to_pandas as to_pandas
    from netloom.questions.route import route_fabric as route_fabric
    from netloom.questions.simulate.flows import simulate_flows as simulate_flows
    from netloom.questions.simulate.load import (
        simulate as simulate,
        simulate_beside as simulate_beside,
    )
    from netloom.questions.simulate.loop import simulate_loop as simulate_loop
    from netloom.questions.simulate.saturation import find_saturation as find_saturation
    from netloom.questions.simulate.trace import replay as replay
    from netloom.workload import process_graph as process_graph, read as read, write as write

_FACE = {
    "explore": "netloom.pages",
    "machine": "netloom.machines",
    "process_graph": "netloom.workload",
    "read": "netloom.workload",
    "report": "netloom.pages",
    "results": "netloom.experiments",
    "run": "netloom.experiments",
    "simulate_beside": "netloom.questions.simulate.load",
    "to_pandas": "netloom.questions.recorded",
    "verify_plan": "netloom.questions.plans",
    "write": "netloom.workload",
}
"""Where the names are that ask no question. Those that do are in the register."""

__all__ = [
    "DeadlockError",
    "InputError",
    "NoRouteError",
    "NotAMappingError",
    "__version__",
    "analyze",
    "analyze_permutations",
    "check_fabric",
    "compare_collectives",
    "compile_collective",
    "compile_phases",
    "explore",
    "find_mapping",
    "find_saturation",
    "machine",
    "predict_latency",
    "process_graph",
    "read",
    "replay",
    "report",
    "results",
    "route_fabric",
    "run",
    "simulate",
    "simulate_beside",
    "simulate_flows",
    "simulate_loop",
    "to_pandas",
    "topology",
    "verify_plan",
    "write",
]


def __getattr__(name: str) -> Any:
    if name == "topology":  # a package that can be called
        return import_module("netloom.topology")
    if name in _FACE:
        return getattr(import_module(_FACE[name]), name)
    if (module := _questions().get(name)) is not None:
        return getattr(import_module(module), name)
    if (added := declared("functions").get(name)) is not None:
        return added.load()
    raise AttributeError(f"module 'netloom' has no attribute '{name}'")


def _questions() -> dict[str, str]:
    """Return where the functions are that ask questions, by name."""
    from netloom.questions.register import modules

    return modules()


def __dir__() -> list[str]:
    return sorted({*__all__, *_questions(), *declared("functions")})
