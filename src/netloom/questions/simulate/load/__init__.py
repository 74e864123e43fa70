"""Simulate a network flit by flit under one load, or several."""

VERB = "simulate"
