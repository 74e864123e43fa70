from .channel_loads import (
    ChannelLoads as ChannelLoads,
    Contention as Contention,
    measure as measure,
    measure_loads as measure_loads,
    measure_paths as measure_paths,
    measured as measured,
)
from .channel_queueing import (
    ChannelPrediction as ChannelPrediction,
    ChannelRouter as ChannelRouter,
    Flows as Flows,
    PreparedChannels as PreparedChannels,
    channel_saturation as channel_saturation,
    follow_flows as follow_flows,
    limiting_resource as limiting_resource,
    predict_channels as predict_channels,
    prepare_channels as prepare_channels,
)
from .estimates import (
    Expectation as Expectation,
    MeshEstimate as MeshEstimate,
    estimate_mesh as estimate_mesh,
    expect_random as expect_random,
)
from .expected_load import expected_loads as expected_loads
from .messages import (
    ConSetCosts as ConSetCosts,
    MessageCosts as MessageCosts,
    conset_clocks as conset_clocks,
    pattern_message_passing_clocks as pattern_message_passing_clocks,
)
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
