"""Lockstep worms: single-flit buffers, a blocked head stops its whole message (Chittor 1991)."""

from netloom.simulation.worm.engine import Worm, WormEngine, check_one_path

__all__ = ["Worm", "WormEngine", "check_one_path"]
