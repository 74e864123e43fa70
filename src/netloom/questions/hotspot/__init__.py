"""Simulate shared counters and locks in memory behind a network that combines requests."""

VERB = "simulate_hot_spots"
