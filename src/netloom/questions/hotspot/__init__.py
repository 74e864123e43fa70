"""Simulate shared counters and locks in memory behind a network that combines requests."""
