"""Kernels of fabrics."""
