"""Numba kernels of the collective compiler."""
