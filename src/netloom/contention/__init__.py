"""Static analysis of a routed process graph: loads, path contention, saturation, estimates."""

from netloom.contention.estimates import Expectation, MeshEstimate, estimate_mesh, expect_random
from netloom.contention.path_contention import Contention, measure, measure_paths
from netloom.contention.saturation_limit import (
    Saturation,
    accepted_path_traffic,
    accepted_path_traffic_threshold,
    capacity_fraction,
    load_to_compare,
    loop_saturation,
    node_traffic_of_capacity,
    offered_by_program,
    offered_by_run,
    path_slowdown,
    saturation,
    slowdown,
)
from netloom.contention.several_paths import expected_loads
from netloom.contention.verdicts import Level, Verdict, verdict

__all__ = [
    "Contention",
    "Expectation",
    "Level",
    "MeshEstimate",
    "Saturation",
    "Verdict",
    "accepted_path_traffic",
    "accepted_path_traffic_threshold",
    "capacity_fraction",
    "estimate_mesh",
    "expect_random",
    "expected_loads",
    "load_to_compare",
    "loop_saturation",
    "measure",
    "measure_paths",
    "node_traffic_of_capacity",
    "offered_by_program",
    "offered_by_run",
    "path_slowdown",
    "saturation",
    "slowdown",
    "verdict",
]
