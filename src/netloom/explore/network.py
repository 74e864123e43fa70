"""A network as JSON: what its parts are called, how they are joined, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.explore.blobs import packed, packed_words
from netloom.explore.drawings import drawing_json, drawings_of
from netloom.explore.ways import routers_of
from netloom.topology.subnets.names import short_switch_name

if TYPE_CHECKING:
    from netloom.topology import Topology


def network_json(topology: Topology) -> dict[str, Any]:
    """Return a network, and how it is drawn, as JSON.

    Channels are those between routers. ``port`` numbers the channels that leave a router: what
    tables hold.

    Raises
    ------
    InputError
        If it cannot be drawn.
    """
    inside = topology.num_network_channels
    routers = topology.routers
    names = [
        short_switch_name(topology.name_of(topology.router_vertex(each)))
        for each in range(routers.num_vertices)
    ]
    hosts = [topology.name_of(each) for each in range(topology.num_hosts)]
    found: dict[str, Any] = {
        "name": topology.name,
        "direct": topology.direct,
        "hosts": topology.num_hosts,
        "routers": topology.num_routers,
        "channels": inside,
        "router_names": packed_words(names),
        "host_names": packed_words([] if topology.direct else hosts),
        "router_of": packed(routers_of(topology) + 1),
        "source": packed(routers.channel_source, delta=False),
        "target": packed(routers.channel_target, delta=False),
        "rate": packed(_rates(topology)),
        "rate_unit": "Gb/s" if topology.reference_gbps else "flits/cycle",
        "up": packed(topology.vertex_up[topology.num_hosts * (not topology.direct) :]),
        "missing": int(topology.whole.num_network_channels - inside),
        "drawings": [drawing_json(each, topology) for each in drawings_of(topology)],
    }
    if topology.cabling is not None:
        found["out_port"] = packed(topology.cabling.out_port[:inside])
        found["in_port"] = packed(topology.cabling.in_port[:inside])
    return found


def _rates(topology: Topology) -> Any:
    """Return float64[num_network_channels], bandwidths. In Gb/s where the network knows them."""
    rate = topology.channel_bandwidth[: topology.num_network_channels]
    return rate * (topology.reference_gbps or 1.0)


def ports(topology: Topology) -> Any:
    """Return int64[num_network_channels], which of its router's channels each is, from 0."""
    offsets, channel = topology.routers.outgoing()
    found = np.empty(len(channel), np.int64)
    found[channel] = np.arange(len(channel)) - np.repeat(offsets[:-1], np.diff(offsets))
    return found
