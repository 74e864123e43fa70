"""Simulate processors that wait for transactions."""

VERB = "simulate_transactions"
