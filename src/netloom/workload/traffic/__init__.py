"""Traffic: which node sends packets when, how long, and to whom."""

from netloom.workload.traffic.patterns import (
    Traffic,
    asymmetric,
    from_process_graph,
    hot_spot,
    incast,
    pairs,
    permutation,
    uniform,
    with_rates,
)

__all__ = [
    "Traffic",
    "asymmetric",
    "from_process_graph",
    "hot_spot",
    "incast",
    "pairs",
    "permutation",
    "uniform",
    "with_rates",
]
