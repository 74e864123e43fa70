"""Which channels a packet may take: dimension order, shortest paths, tables, routes of your own.

Broken channels are gone round. On virtual channels also adaptive and oblivious routing; what can
deadlock is refused.
"""

from netloom.routing.deadlock import dependency_cycle, find_deadlock
from netloom.routing.dimension_order import DimensionOrder, half_way_round
from netloom.routing.layered import Layered, ShortestPath
from netloom.routing.parse import Routing, all_routes, parse_routing, paths, routes_by
from netloom.routing.port_numbers import Ports, ports
from netloom.routing.ragged import Paths
from netloom.routing.route_tables import RouteTable, table
from netloom.routing.source_routing import SourceRoutes, read_routes, source_routes, write_routes
from netloom.routing.up_down import UpDown
from netloom.routing.virtual_channel_deadlock import virtual_channel_cycle
from netloom.routing.virtual_channels import (
    VirtualChannelRouting,
    draw_aux,
    virtual_channel_routing,
)

__all__ = [
    "DimensionOrder",
    "Layered",
    "Paths",
    "Ports",
    "RouteTable",
    "Routing",
    "ShortestPath",
    "SourceRoutes",
    "UpDown",
    "VirtualChannelRouting",
    "all_routes",
    "dependency_cycle",
    "draw_aux",
    "find_deadlock",
    "half_way_round",
    "parse_routing",
    "paths",
    "ports",
    "read_routes",
    "routes_by",
    "source_routes",
    "table",
    "virtual_channel_cycle",
    "virtual_channel_routing",
    "write_routes",
]
