"""Flows that share channels max-min fairly, event by event: bytes and seconds."""

from netloom.simulation.flow.network import FlowNetwork, Ways, flow_network, made_ways, ways_of
from netloom.simulation.flow.run import FlowRun, run_flows, run_paths

__all__ = [
    "FlowNetwork", "FlowRun", "Ways", "flow_network", "made_ways", "run_flows", "run_paths",
    "ways_of",
]  # fmt: skip
