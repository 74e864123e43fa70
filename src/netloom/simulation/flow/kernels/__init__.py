"""Kernels of the flow engine."""
