"""Simulation, cycle by cycle: the virtual-channel network and what its runs are worth."""
