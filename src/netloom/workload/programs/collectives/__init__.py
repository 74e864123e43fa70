"""Collectives as programs: what each rank sends in which step, executed on data and checked."""
