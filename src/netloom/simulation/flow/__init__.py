"""Flows that share channels max-min fairly, event by event: bytes and seconds."""

from netloom.simulation.flow.engine import FlowRun
from netloom.simulation.flow.network import (
    FlowNetwork,
    GivenPaths,
    Ways,
    flow_network,
    made_ways,
    ways_of,
)
from netloom.simulation.flow.rounds import RoundsRun, run_rounds
from netloom.simulation.flow.run import run_flows, run_paths, trust

__all__ = [
    "FlowNetwork", "FlowRun", "GivenPaths", "RoundsRun", "Ways", "flow_network",
    "made_ways", "run_flows", "run_paths", "run_rounds", "trust", "ways_of",
]  # fmt: skip
