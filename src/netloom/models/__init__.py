"""Closed-form predictions: switching times, and what a topology costs in wires."""

from netloom.models.switching import circuit_switched, store_and_forward, wormhole
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
    "Delay",
    "Distance",
    "Form",
    "channel_bandwidth_ratio",
    "channel_rate_ratio",
    "channel_width_ratio",
    "circuit_switched",
    "cut_widths",
    "hypercube_peak_width",
    "layout_bisection",
    "mesh_peak_width",
    "minimum_peak_width",
    "peak_position",
    "peak_width",
    "speedup",
    "store_and_forward",
    "wire_length_ratio",
    "wormhole",
]
