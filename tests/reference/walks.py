"""Packets that walk alone through a network of hosts on routers, by its routing by hop."""

from itertools import chain

import numpy as np

from netloom.base.compilation import kernel
from netloom.routing import hosted_ports
from netloom.routing.by_hop.tables import channels_at_ports
from netloom.routing.kernels.by_hop import ends_of, next_hop
from netloom.simulation.kernels.records import record

PACKET = np.dtype(
    [(name, "i4") for name in ("source", "target", "sink", "coin", "aux", "way", "entry")]
)


@kernel
def place_ends(tables, port_offsets, packets):
    packet = record(packets, 0)
    packet.entry, packet.sink = ends_of(tables, port_offsets, packet)


@kernel
def ask(tables, used, allowed, router, in_port, in_vc, packets, hops):
    next_hop(tables, used, allowed, 0, router, in_port, in_vc, record(packets, 0), hops)


class Walker:
    """One packet at a time on an idle network; where it has a choice, chance decides."""

    def __init__(self, routing, seed=1):
        self.routing, self.topology = routing, routing.topology
        self.ports = hosted_ports(self.topology)
        self.channel_at = channels_at_ports(self.topology)[0]
        self.rng = np.random.default_rng(seed)
        words = (self.ports.num_ports << routing.tables.lane_shift) // 64 + 1
        self.allowed = np.zeros(words, np.int64)
        self.used = np.zeros(self.topology.num_routers << routing.tables.port_shift, np.int32)

    def asked(self, router, in_port, packets, hops):
        """Return the (port, VC) that a packet may ask for."""
        self.allowed[:] = 0
        ask(self.routing.tables, self.used, self.allowed, router, in_port, 0, packets, hops)
        shift = self.routing.tables.lane_shift
        slots = chain.from_iterable(
            (64 * word + bit for bit in range(64) if int(bits) >> bit & 1)
            for word, bits in enumerate(self.allowed)
        )
        return [(slot >> shift, slot & (1 << shift) - 1) for slot in slots]

    def walk(self, source, target, coin, aux):
        """Return the channels that a packet crosses, and what it may ask for before each."""
        topology, packets = self.topology, np.zeros(1, PACKET)
        packets[0] = (source, target, 0, coin, aux, 0, 0)
        place_ends(self.routing.tables, topology.port_offsets, packets)
        channel = topology.num_network_channels + int(packets["entry"][0])
        lane = int(self.rng.integers(self.ports.lanes[channel]))
        crossed, choices = [channel], []
        while topology.target_end[channel] >= topology.num_hosts:
            router = int(topology.target_end[channel]) - topology.num_hosts
            in_port = int(self.ports.in_port[channel]) + lane
            slots = self.asked(router, in_port, packets, len(crossed) - 1)
            assert slots, f"nothing to ask for at router {router} from {source} to {target}"
            choices.append(slots)
            port, _ = slots[self.rng.integers(len(slots))]
            channel = int(self.channel_at[router, port])
            lane = port - int(self.ports.out_port[channel])
            crossed.append(channel)
            assert len(crossed) < 64, f"a packet from {source} to {target} goes on and on"
        assert topology.target_end[channel] == target
        return crossed, choices
