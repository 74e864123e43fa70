from .by_hop.hosted import routing_by_hop as routing_by_hop
from .by_hop.tables import (
    HostedPorts as HostedPorts,
    Ports as Ports,
    hosted_ports as hosted_ports,
    ports as ports,
)
from .forwarding.engines import would_fall_back as would_fall_back
from .forwarding.lfts import read_lfts as read_lfts
from .forwarding.tables import (
    ForwardingTable as ForwardingTable,
    Lanes as Lanes,
    Problems as Problems,
    dependency_cycle as dependency_cycle,
    lane_circle as lane_circle,
    lanes_used as lanes_used,
    table_problems as table_problems,
)
from .parse import (
    NamedRouting as NamedRouting,
    Routing as Routing,
    all_routes as all_routes,
    default_routing as default_routing,
    draw_paths as draw_paths,
    parse_routing as parse_routing,
    paths as paths,
    routes_by as routes_by,
)
from .ragged import Paths as Paths
from .rules import (
    DimensionOrder as DimensionOrder,
    DModK as DModK,
    Ecmp as Ecmp,
    Layered as Layered,
    Minimal as Minimal,
    MinimalGroup as MinimalGroup,
    RandomUp as RandomUp,
    ShortestPath as ShortestPath,
    SModK as SModK,
    Spread as Spread,
    UpDown as UpDown,
    Valiant as Valiant,
    half_way_round as half_way_round,
    spread_table as spread_table,
)
from .source_routing import (
    SourceRoutes as SourceRoutes,
    read_routes as read_routes,
    source_routes as source_routes,
    table as table,
    write_routes as write_routes,
)
from .virtual_channel_tables import VirtualChannelRouting as VirtualChannelRouting
from .virtual_channels import (
    draw_aux as draw_aux,
    find_deadlock as find_deadlock,
    virtual_channel_cycle as virtual_channel_cycle,
    virtual_channel_routing as virtual_channel_routing,
)
