"""Which channels a packet may take: dimension order, shortest-path tables, routes of your own."""

from netloom.routing.deadlock import dependency_cycle, find_deadlock
from netloom.routing.dimension_order import DimensionOrder
from netloom.routing.parse import Routing, parse_routing, paths
from netloom.routing.ragged import Paths
from netloom.routing.shortest_path import ShortestPath
from netloom.routing.source_routes import SourceRoutes, read_routes, source_routes

__all__ = [
    "DimensionOrder",
    "Paths",
    "Routing",
    "ShortestPath",
    "SourceRoutes",
    "dependency_cycle",
    "find_deadlock",
    "parse_routing",
    "paths",
    "read_routes",
    "source_routes",
]
