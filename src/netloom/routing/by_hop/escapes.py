"""The escape of adaptive routing on any network of two-way links: up*/down* in one VC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.routing.by_hop.tables import Automaton, NextPorts, bits, check_starts
from netloom.routing.port_numbers import hosted_ports
from netloom.routing.up_down import router_ranks, two_way

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology

ADAPTIVE, UP, DOWN = 0, 1, 2
"""The states of packets: in adaptive VCs, in the escape before it has gone down, and after."""


def escape_tables(topology: Topology) -> tuple[NDArray[np.int8], NextPorts, NextPorts]:
    """Return the kind of each channel, up 0 and down 1, and the ports that lead on.

    Of the shortest ways that go up and then down, for packets that have not gone down yet, and for
    those that have.
    """
    from netloom.routing.kernels.next_ports import fill_legal_ports

    inside, wired = topology.routers, hosted_ports(topology)
    count = inside.num_vertices
    check_starts(topology, 2 * count * count)
    rank = router_ranks(topology)
    links, net = two_way(inside)
    up = rank[net.channel_target] < rank[net.channel_source]
    starts = np.zeros(2 * count * count, np.int32)
    lengths = np.full(2 * count * count, -1, np.int16)
    ports, size = fill_legal_ports(
        up, (net.channel_source, net.channel_target), net.incoming(), net.outgoing(),
        wired.out_port[links], wired.lanes[links],
        starts, lengths, np.empty(wired.num_ports + 1, np.int16),
    )  # fmt: skip
    kind = (rank[inside.channel_target] > rank[inside.channel_source]).astype(np.int8)
    own, half = ports[:size].copy(), count * count
    first = NextPorts(count, starts[:half], own, lengths[:half])
    return kind, first, NextPorts(count, starts[half:], own, lengths[half:])


def escape_automaton(kind: NDArray[np.int8], num_vcs: int) -> Automaton:
    """Return the states of packets that may go any shortest way in all VCs but VC 0.

    In VC 0 they go up and then down, and never leave it again.
    """
    zeros, own = np.zeros(3, np.int8), np.arange(3, dtype=np.int16)
    return Automaton(
        kind, np.array([[ADAPTIVE] * 2, [UP, DOWN], [DOWN] * 2], np.int16),
        np.array([bits(num_vcs) & ~1, 1, 1], np.int64), np.full(3, bits(num_vcs), np.int64),
        own.astype(np.int8), zeros, zeros, own, own, own,
    )  # fmt: skip
