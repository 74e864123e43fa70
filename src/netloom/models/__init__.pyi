from .channel_queueing import (
    ChannelPrediction as ChannelPrediction,
    ChannelRouter as ChannelRouter,
    Flows as Flows,
    PreparedChannels as PreparedChannels,
    channel_saturation as channel_saturation,
    follow_flows as follow_flows,
    predict_channels as predict_channels,
    prepare_channels as prepare_channels,
    saturation_limit as saturation_limit,
)
from .messages import (
    ConSetCosts as ConSetCosts,
    MessageCosts as MessageCosts,
    conset_clocks as conset_clocks,
    pattern_message_passing_clocks as pattern_message_passing_clocks,
)
