"""Which channels a packet may take: dimension order, shortest paths, tables, routes of your own.

Broken channels are gone round. On virtual channels also adaptive and oblivious routing. What can
deadlock is refused.
"""

from netloom.routing.by_hop.hosted import routing_by_hop
from netloom.routing.cycles import dependency_cycle
from netloom.routing.deadlock import Layering, find_deadlock, layers_needed
from netloom.routing.dimension_order import DimensionOrder, half_way_round
from netloom.routing.forwarding.engines import would_fall_back
from netloom.routing.forwarding.lanes import lane_circle, lanes_used
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import ForwardingTable, Lanes, Problems, table_problems
from netloom.routing.parse import (
    NamedRouting,
    Routing,
    all_routes,
    default_routing,
    draw_paths,
    parse_routing,
    paths,
    routes_by,
)
from netloom.routing.port_numbers import HostedPorts, Ports, hosted_ports, ports
from netloom.routing.ragged import Paths
from netloom.routing.route_tables import table
from netloom.routing.rules import (
    DModK,
    Ecmp,
    Layered,
    Minimal,
    MinimalGroup,
    RandomUp,
    ShortestPath,
    SModK,
    Spread,
    UpDown,
    Valiant,
    spread_table,
)
from netloom.routing.source_routing import SourceRoutes, read_routes, source_routes, write_routes
from netloom.routing.virtual_channel_tables import VirtualChannelRouting
from netloom.routing.virtual_channels import (
    draw_aux,
    virtual_channel_cycle,
    virtual_channel_routing,
)

__all__ = [
    "DModK",
    "DimensionOrder",
    "Ecmp",
    "ForwardingTable",
    "HostedPorts",
    "Lanes",
    "Layered",
    "Layering",
    "Minimal",
    "MinimalGroup",
    "NamedRouting",
    "Paths",
    "Ports",
    "Problems",
    "RandomUp",
    "Routing",
    "SModK",
    "ShortestPath",
    "SourceRoutes",
    "Spread",
    "UpDown",
    "Valiant",
    "VirtualChannelRouting",
    "all_routes",
    "default_routing",
    "dependency_cycle",
    "draw_aux",
    "draw_paths",
    "find_deadlock",
    "half_way_round",
    "hosted_ports",
    "lane_circle",
    "lanes_used",
    "layers_needed",
    "parse_routing",
    "paths",
    "ports",
    "read_lfts",
    "read_routes",
    "routes_by",
    "routing_by_hop",
    "source_routes",
    "spread_table",
    "table",
    "table_problems",
    "virtual_channel_cycle",
    "virtual_channel_routing",
    "would_fall_back",
    "write_routes",
]
