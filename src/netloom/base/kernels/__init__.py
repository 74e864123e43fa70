"""Kernels that every package may call."""
