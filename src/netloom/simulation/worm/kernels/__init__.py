"""Kernels of lockstep worms."""
