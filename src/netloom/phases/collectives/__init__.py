"""Collectives compiled: exact optima with their bottleneck, trees that reach them, schedules."""
