"""Flows that share channels max-min fairly, event by event: bytes and seconds."""

from netloom.simulation.flow.network import FlowNetwork, flow_network
from netloom.simulation.flow.round_log import RoundsRun
from netloom.simulation.flow.rounds import run_rounds
from netloom.simulation.flow.run import FlowRun, run_flows, run_paths
from netloom.simulation.flow.trusted import Trust, trust
from netloom.simulation.flow.ways import GivenPaths, Ways, made_ways, ways_of

__all__ = [
    "FlowNetwork", "FlowRun", "GivenPaths", "RoundsRun", "Trust", "Ways", "flow_network",
    "made_ways", "run_flows", "run_paths", "run_rounds", "trust", "ways_of",
]  # fmt: skip
