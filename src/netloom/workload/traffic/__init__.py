"""Traffic: which node sends packets when, how long, and to whom."""

from netloom.workload.traffic.patterns import (
    Traffic,
    from_process_graph,
    hot_spot,
    pairs,
    permutation,
    uniform,
    with_rates,
)

__all__ = [
    "Traffic",
    "from_process_graph",
    "hot_spot",
    "pairs",
    "permutation",
    "uniform",
    "with_rates",
]
