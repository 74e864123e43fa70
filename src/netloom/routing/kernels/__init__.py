"""Kernels of routing."""
