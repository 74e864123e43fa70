"""Simulate messages of which a part goes to all nodes."""

VERB = "simulate_broadcast"
