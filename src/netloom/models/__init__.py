"""Models: latency by the queueing of channels, and what messages and phases take."""

from netloom.models.channel_queueing import (
    ChannelPrediction,
    ChannelRouter,
    Flows,
    PreparedChannels,
    channel_saturation,
    follow_flows,
    predict_channels,
    prepare_channels,
    saturation_limit,
)
from netloom.models.messages import (
    FELDMANN_1993,
    ConSetCosts,
    MessageCosts,
    conset_clocks,
    fitted_finite_element_clocks,
    message_passing_clocks,
    pattern_message_passing_clocks,
    regular_conset_clocks,
)

__all__ = [
    "FELDMANN_1993",
    "ChannelPrediction",
    "ChannelRouter",
    "ConSetCosts",
    "Flows",
    "MessageCosts",
    "PreparedChannels",
    "channel_saturation",
    "conset_clocks",
    "fitted_finite_element_clocks",
    "follow_flows",
    "message_passing_clocks",
    "pattern_message_passing_clocks",
    "predict_channels",
    "prepare_channels",
    "regular_conset_clocks",
    "saturation_limit",
]
