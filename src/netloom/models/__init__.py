"""Closed-form and fixed-point predictions: switching, wiring, combining, locality, tori."""

from netloom.models.channel_flows import Flows, any_vc_flows, follow_flows
from netloom.models.channel_queueing import (
    ChannelPrediction,
    ChannelRouter,
    PreparedChannels,
    channel_latency_curve,
    channel_saturation,
    predict_channels,
    prepare_channels,
)
from netloom.models.combining import single_hot_spot, tree_saturation
from netloom.models.effective import effective_bandwidth, saturated_bandwidth, saturated_speedup
from netloom.models.locality import (
    Locality,
    alewife,
    expected_gain,
    per_hop_limit,
    predict_locality,
)
from netloom.models.locality_network import TorusNetwork, random_distance
from netloom.models.locality_node import Application, TransactionCost, balance, message_curve
from netloom.models.switching import (
    circuit_switched,
    store_and_forward,
    virtual_cut_through,
    wormhole,
)
from netloom.models.torus_broadcast import TorusBroadcast, saturation_rate, torus_broadcast
from netloom.models.wiring import (
    Delay,
    Distance,
    Form,
    channel_bandwidth_ratio,
    channel_rate_ratio,
    channel_width_ratio,
    cut_widths,
    hypercube_peak_width,
    layout_bisection,
    mesh_peak_width,
    minimum_peak_width,
    peak_position,
    peak_width,
    speedup,
    wire_length_ratio,
)

__all__ = [
    "Application",
    "ChannelPrediction",
    "ChannelRouter",
    "Delay",
    "Distance",
    "Flows",
    "Form",
    "Locality",
    "PreparedChannels",
    "TorusBroadcast",
    "TorusNetwork",
    "TransactionCost",
    "alewife",
    "any_vc_flows",
    "balance",
    "channel_bandwidth_ratio",
    "channel_latency_curve",
    "channel_rate_ratio",
    "channel_saturation",
    "channel_width_ratio",
    "circuit_switched",
    "cut_widths",
    "effective_bandwidth",
    "expected_gain",
    "follow_flows",
    "hypercube_peak_width",
    "layout_bisection",
    "mesh_peak_width",
    "message_curve",
    "minimum_peak_width",
    "peak_position",
    "peak_width",
    "per_hop_limit",
    "predict_channels",
    "predict_locality",
    "prepare_channels",
    "random_distance",
    "saturated_bandwidth",
    "saturated_speedup",
    "saturation_rate",
    "single_hot_spot",
    "speedup",
    "store_and_forward",
    "torus_broadcast",
    "tree_saturation",
    "virtual_cut_through",
    "wire_length_ratio",
    "wormhole",
]
