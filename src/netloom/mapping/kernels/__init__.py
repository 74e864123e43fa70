"""Kernels of mapping searches."""
