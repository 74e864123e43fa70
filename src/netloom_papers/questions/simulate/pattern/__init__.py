"""Simulate a machine whose nodes exchange messages in a pattern (Chittor 1991, chapter 4)."""

VERB = "simulate_pattern"
