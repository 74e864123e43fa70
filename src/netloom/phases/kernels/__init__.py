"""Kernels of the communication compiler."""
