"""What can be explored. It stands apart, since the help of every command asks it."""

EXPLORED = (
    "analyze", "check_fabric", "compare_collectives", "compile_phases", "find_mapping",
    "find_saturation", "predict_latency", "replay", "route_fabric", "simulate",
    "simulate_broadcast", "simulate_flows", "simulate_loop", "simulate_transactions",
)  # fmt: skip
"""The verbs whose answers say what each channel carries."""
