"""Repeat a measurement of a machine: patterns of neighbours."""
