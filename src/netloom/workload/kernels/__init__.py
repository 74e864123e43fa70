"""Kernels of programs and their random numbers."""
