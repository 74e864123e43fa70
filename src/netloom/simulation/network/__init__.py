"""Virtual-channel networks, flit by flit: routers, open-loop runs, sweeps, saturation."""

from netloom.simulation.capacity import Bound
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.loaded import SaturationPoint, bracket_saturation, run_loads
from netloom.simulation.network.program import Reservation, reserve, reserve_paths
from netloom.simulation.network.routers import PRESETS, SWITCHINGS, Router, router
from netloom.simulation.network.run import NetworkRun, Run, run_network
from netloom.simulation.steady import Limits

__all__ = [
    "PRESETS",
    "SWITCHINGS",
    "Bound",
    "Limits",
    "NetworkRun",
    "Reservation",
    "Router",
    "Run",
    "SaturationPoint",
    "bracket_saturation",
    "reserve",
    "reserve_paths",
    "router",
    "run_loads",
    "run_network",
    "throughput_bound",
]
