"""What nothing can beat: parts of a network, and what must leave them over what leads out."""

from netloom.bounds.bisection import bisection_bound
from netloom.bounds.cuts import Bounds, Cut, bounds_of, cut_bounds, cuts_of
from netloom.bounds.demand import Demand, all_to_all, demand_of
from netloom.bounds.parts import Taper, tapers
from netloom.bounds.tables import Bound, busiest_bound, traffic_bound

__all__ = [
    "Bound",
    "Bounds",
    "Cut",
    "Demand",
    "Taper",
    "all_to_all",
    "bisection_bound",
    "bounds_of",
    "busiest_bound",
    "cut_bounds",
    "cuts_of",
    "demand_of",
    "tapers",
    "traffic_bound",
]
