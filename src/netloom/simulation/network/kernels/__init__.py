"""Kernels of virtual-channel networks."""
