from .cuts import (
    Bounds as Bounds,
    Cut as Cut,
    Taper as Taper,
    bounds_of as bounds_of,
    cut_bounds as cut_bounds,
    cuts_of as cuts_of,
    tapers as tapers,
)
from .demand import Demand as Demand, all_to_all as all_to_all, demand_of as demand_of
from .tables import (
    Bound as Bound,
    bisection_bound as bisection_bound,
    busiest_bound as busiest_bound,
    traffic_bound as traffic_bound,
)
