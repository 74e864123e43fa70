"""Simulate traffic of which a part is broadcast, by trees of messages from node to node."""

VERB = "simulate_broadcast"
