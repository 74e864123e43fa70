"""Kernels of combining networks."""
