"""Simulate a network, under a load or with a program that waits for it."""

USUAL = "load"
