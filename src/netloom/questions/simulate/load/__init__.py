"""Simulate a network flit by flit under one load, or under several until it saturates."""

VERB = "simulate"
