"""Simulate processors that issue transactions and wait for them (Johnson 1992)."""

VERB = "simulate_transactions"
