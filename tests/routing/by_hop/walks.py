"""Packets walked through a network by the kernel, one choice of many at each router."""

import numpy as np

from netloom.routing.by_hop.tables import channels_at_ports
from tests.reference.walks import PACKET, ask


def idle(net, tables):
    """Nothing is used of any port."""
    return np.zeros((net.num_routers, 1 << tables.port_shift), np.int32)


def asked(tables, used, router, in_port, vc, packet, hops):
    """Return the (port, vc) that a packet may ask for."""
    allowed = np.zeros(((used.shape[1] << tables.lane_shift) >> 6) + 1, np.int64)
    ask(tables, used.ravel(), allowed, router, in_port, vc, packet, hops)
    slots = np.flatnonzero(np.unpackbits(allowed.view(np.uint8), bitorder="little")).tolist()
    return [(slot >> tables.lane_shift, slot & (1 << tables.lane_shift) - 1) for slot in slots]


def walk(net, routing, source, target, *, coin=0, used=None, rng=None):
    """Return the channels, first and last among them, that a packet takes, and its VCs."""
    tables, (outward, inward) = routing.tables, channels_at_ports(net)
    used = idle(net, tables) if used is None else used
    sink = int(np.argmax(net.port_host == target))
    packet = np.array([(source, target, sink, coin, -1, 0, 0)], PACKET)
    channels = [net.num_network_channels + int(np.argmax(net.port_host == source))]
    vcs = [0]
    while net.target_end[channels[-1]] >= net.num_hosts:
        router = net.target_end[channels[-1]] - net.num_hosts
        in_port = int(np.argmax(inward[router] == channels[-1]))
        found = asked(tables, used, router, in_port, vcs[-1], packet, len(channels) - 1)
        port, vc = found[0 if rng is None else rng.integers(len(found))]
        channels.append(int(outward[router, port]))
        vcs.append(vc)
        assert len(channels) < 100
    assert net.target_end[channels[-1]] == target
    return channels, vcs
