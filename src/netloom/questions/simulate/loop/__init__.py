"""Simulate a program whose tasks wait for each of their messages."""

VERB = "simulate_loop"
