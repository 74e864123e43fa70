"""Kernels of contention analysis."""
