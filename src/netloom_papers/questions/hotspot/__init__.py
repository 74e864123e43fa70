"""Simulate an Omega network that combines requests to shared words of memory."""

VERB = "simulate_hot_spots"
