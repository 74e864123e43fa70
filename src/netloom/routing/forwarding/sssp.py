"""OpenSM's sssp: cheapest ways, where each path that is there makes its channels dearer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.routing.forwarding.end_points import channels_by_port, end_points
from netloom.routing.forwarding.tables import ForwardingTable

if TYPE_CHECKING:
    from netloom.topology import Topology


def sssp(topology: Topology) -> ForwardingTable:
    """Return the table of OpenSM's engine sssp.

    End points take their turns: those at routers of most end points first, router by router and
    port by port, then the routers themselves. The ways to each are those of least weight, by
    Dijkstra's algorithm. A channel weighs the square of the number of end points (so that ways are
    shortest in hops), and one more for each path that takes it so far. Packets may wait for each
    other in a circle. After Hoefler, Schneider & Lumsdaine, *Optimized routing for large-scale
    InfiniBand networks*, 2009.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> sssp(topology("leaf-spine:2x2x2")).next_channel[2:].tolist()
    [[0, -1, 5, 7], [1, -1, 5, 7]]
    """
    from netloom.routing.kernels.sssp import cheapest_ways

    inside, ends = topology.routers, end_points(topology)
    links = (inside.channel_source, inside.channel_target, *channels_by_port(topology))
    weight = np.full(inside.num_channels, int(ends.at_router.sum()) ** 2, np.int64)
    table = np.empty((len(ends.order), inside.num_vertices), np.int32)
    table[ends.order] = cheapest_ways(
        ends.exit[ends.order], ends.order < ends.num_apart, ends.copies[ends.order],
        ends.routers, ends.at_router, links, weight,
    )  # fmt: skip
    return ForwardingTable("sssp", table[: ends.num_destinations], table[ends.num_destinations :])
