"""Static analysis of a routed process graph: loads, path contention, saturation, estimates."""

from netloom.contention.channel_loads import (
    ChannelLoads,
    Contention,
    measure,
    measure_loads,
    measure_paths,
    measured,
)
from netloom.contention.estimates import Expectation, MeshEstimate, estimate_mesh, expect_random
from netloom.contention.permutations import (
    EffectiveBisection,
    Shifts,
    effective_bisection,
    shift_loads,
)
from netloom.contention.saturation_limit import (
    Level,
    Saturation,
    Verdict,
    accepted_path_traffic,
    accepted_path_traffic_threshold,
    capacity_fraction,
    load_to_compare,
    loop_saturation,
    offered_by_program,
    offered_by_run,
    path_slowdown,
    saturation,
    slowdown,
    verdict,
)
from netloom.contention.several_paths import expected_loads

__all__ = [
    "ChannelLoads",
    "Contention",
    "EffectiveBisection",
    "Expectation",
    "Level",
    "MeshEstimate",
    "Saturation",
    "Shifts",
    "Verdict",
    "accepted_path_traffic",
    "accepted_path_traffic_threshold",
    "capacity_fraction",
    "effective_bisection",
    "estimate_mesh",
    "expect_random",
    "expected_loads",
    "load_to_compare",
    "loop_saturation",
    "measure",
    "measure_loads",
    "measure_paths",
    "measured",
    "offered_by_program",
    "offered_by_run",
    "path_slowdown",
    "saturation",
    "shift_loads",
    "slowdown",
    "verdict",
]
