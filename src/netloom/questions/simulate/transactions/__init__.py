"""Simulate processors whose contexts run, issue a transaction and wait for it (Johnson 1992)."""

VERB = "simulate_transactions"
