"""Kernels of models."""
