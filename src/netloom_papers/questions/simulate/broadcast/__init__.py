"""Simulate traffic with some broadcasts, sent by trees of messages."""

VERB = "simulate_broadcast"
