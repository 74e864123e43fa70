"""Kernels that several simulators share."""
