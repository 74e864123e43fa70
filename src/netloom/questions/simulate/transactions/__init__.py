"""Simulate processors that wait for transactions."""
