"""What nothing can beat: parts of a network, and what must leave them over what leads out."""

from netloom.bounds.cuts import Cut, cut_bounds, cuts_of
from netloom.bounds.demand import Demand, demand_of
from netloom.bounds.parts import Taper, tapers

__all__ = ["Cut", "Demand", "Taper", "cut_bounds", "cuts_of", "demand_of", "tapers"]
