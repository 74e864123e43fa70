from .channel_loads import (
    ChannelLoads as ChannelLoads,
    Contention as Contention,
    measure as measure,
    measure_loads as measure_loads,
    measure_paths as measure_paths,
    measured as measured,
)
from .estimates import (
    Expectation as Expectation,
    MeshEstimate as MeshEstimate,
    estimate_mesh as estimate_mesh,
    expect_random as expect_random,
)
from .expected_load import expected_loads as expected_loads
from .permutations import (
    EffectiveBisection as EffectiveBisection,
    Shifts as Shifts,
    effective_bisection as effective_bisection,
    shift_loads as shift_loads,
)
from .saturation_limit import (
    Level as Level,
    Saturation as Saturation,
    Verdict as Verdict,
    accepted_path_traffic as accepted_path_traffic,
    capacity_fraction as capacity_fraction,
    load_to_compare as load_to_compare,
    loop_saturation as loop_saturation,
    offered_by_program as offered_by_program,
    offered_by_run as offered_by_run,
    path_slowdown as path_slowdown,
    saturation as saturation,
    slowdown as slowdown,
    verdict as verdict,
)
