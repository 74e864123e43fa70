"""Simulate a network: under a load, or driven by a program that waits for it."""

USUAL = "load"
