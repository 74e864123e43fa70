"""Repeat a measurement of a machine: patterns of neighbours."""

VERB = "simulate_pattern"
