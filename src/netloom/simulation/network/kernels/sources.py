"""The sources: packets wait in queues and go out on injection channels, flit by flit.

Twin: ``tests/reference/network.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, overloaded
from netloom.routing.by_hop.tables import HopTables
from netloom.routing.kernels.by_hop import ends_of
from netloom.simulation.kernels.records import lowest, mixed, next_from, post, record, unsigned
from netloom.simulation.network.kernels.router import place_at, spend, wake

ONE = np.int64(1)
NEVER = np.int32(2**31 - 1)


@inlined
def queue_packet(setup, tables, state, source, target, coin, aux, cycle):
    """Append a new packet to the queue of its source (or connection). Return its record."""
    clock = record(state.clock, 0)
    index = clock.free_packet
    packet = record(state.packets, index)
    clock.free_packet = packet.next
    clock.free_packets -= 1
    packet.birth = cycle
    packet.source = source
    packet.target = target
    packet.coin = coin
    packet.aux = aux
    packet.next = -1
    packet.routers = 0
    packet.way = 0
    packet.back = 0
    packet.number = clock.created
    sender = ends(tables, state, packet)
    queue = aux if setup.reserved else sender
    if state.queue_front[unsigned(queue)] < 0:
        state.queue_front[unsigned(queue)] = index
    else:
        record(state.packets, state.queue_back[unsigned(queue)]).next = index
    state.queue_back[unsigned(queue)] = index
    wake(state.sources, sender)
    clock.created += 1
    return packet


def ends(tables, state, packet):
    """Return the source in whose queue a packet waits. Note the host port that it goes to."""
    raise NotImplementedError  # compiled code takes one of those below, by the type of its tables


@overloaded(ends)
def _ends(tables, state, packet):  # noqa: ARG001 (as ``ends``)
    return at_ports if tables.instance_class is HopTables else at_nodes


def at_nodes(tables, state, packet):  # noqa: ARG001 (as ``ends``)
    """Let it wait at the only port of its host."""
    return np.int64(state.port_offsets[packet.source])


def at_ports(tables, state, packet):
    """Let it wait at a port of its host, each of which is a source of its own.

    Of several ports of a host, chance takes one, unless the routing says which.
    """
    if len(tables.path_sink) or len(tables.pair_sink):
        sender, sink = ends_of(tables, state.port_offsets, packet)
        packet.sink = sink
        return np.int64(sender)
    source, target = packet.source, packet.target
    first, sink = state.port_offsets[source], state.port_offsets[target]
    many, doors = state.port_offsets[source + 1] - first, state.port_offsets[target + 1] - sink
    packet.sink = sink + (mixed(packet.coin, 1, 0) % doors if doors > 1 else 0)
    return first + (mixed(packet.coin, 0, 0) % many if many > 1 else 0)


@inlined
def run_sources(setup, state, cycle):
    """Let every source send a flit on each of its injection channels."""
    for word in range(len(state.sources)):
        nodes = state.sources[unsigned(word)]
        while nodes:
            node = (word << 6) + lowest(nodes)
            nodes &= nodes - 1
            busy = False
            for channel in range(setup.entry_channels):
                if setup.reserved:
                    busy |= send_reserved(setup, state, node, channel, cycle)
                else:
                    busy |= send(setup, state, node, channel, cycle)
            if not busy:
                state.sources[unsigned(word)] &= ~(ONE << (node & 63))


@inlined
def send(setup, state, node, channel, cycle):
    """Send a flit of the packet on one injection channel. Return whether there is more to send.

    A packet at the head of the queue is given a VC of the channel, if one has room.
    """
    index = node * setup.entry_channels + channel
    entry = record(state.entries, index)
    if entry.packet < 0 and state.queue_front[unsigned(node)] < 0:
        return False
    if not may_send(setup, state, index, cycle):
        return True
    if entry.packet < 0:
        first = state.queue_front[unsigned(node)]
        packet = record(state.packets, first)
        need = packet.flits if setup.whole_packets else 1
        vc = entry.vc
        for _ in range(setup.num_vcs):
            vc = vc + 1 if vc + 1 < setup.num_vcs else 0
            place = setup.source_slots + index * setup.num_vcs + vc
            if record(state.outputs, place).credits >= need:
                break
        else:
            return True
        state.queue_front[unsigned(node)] = packet.next
        packet.channel = index
        packet.entry = cycle
        entry.packet = first
        entry.unsent = packet.flits + setup.circuit
        entry.vc = vc
        entry.resume = 0
        enqueue(setup, state, index, entry.first + vc, vc, first)
    output = record(state.outputs, setup.source_slots + index * setup.num_vcs + entry.vc)
    if output.credits == 0 or cycle < entry.resume:
        return True
    send_flit(setup, state, index, entry.first + entry.vc, cycle)
    output.credits -= 1
    entry.unsent -= 1
    if setup.circuit and entry.unsent == record(state.packets, entry.packet).flits:
        entry.resume = NEVER  # until the probe is answered
    if entry.unsent == 0:
        entry.packet = -1
        return state.queue_front[unsigned(node)] >= 0
    return True


@inlined
def may_send(setup, state, index, cycle):
    """Whether the rate of an injection channel lets a flit go in this cycle."""
    if not setup.uneven:
        return True
    line = record(state.lines, setup.num_nodes * setup.num_ports + index)
    return line.ready <= cycle * line.share


@inlined
def enqueue(setup, state, index, first, vc, packet):
    """Append a packet to those that come to the injection slot of an address."""
    output = record(state.outputs, setup.source_slots + index * setup.num_vcs + vc)
    ring = place_at(setup, first) * setup.ring
    state.rings[unsigned(ring + output.back)] = packet
    output.back = output.back + 1 if output.back + 1 < setup.ring else 0


@inlined
def send_flit(setup, state, index, there, cycle):
    """Put a flit on an injection channel."""
    delay = setup.entry_delay
    if setup.uneven:
        line = record(state.lines, setup.num_nodes * setup.num_ports + index)
        delay = np.int64(line.flit)
        spend(line, cycle)
    bucket = (cycle + delay) & setup.wheel
    post(state.arrivals, state.arrivals_due, bucket, there)
    record(state.clock, 0).injected += 1
    record(state.clock, 0).last_move = cycle


@inlined
def send_reserved(setup, state, node, channel, cycle):
    """As ``send``, where every VC of the channel is a connection's own: they take turns."""
    index = node * setup.entry_channels + channel
    first = index * setup.num_vcs
    ready, busy = ONE - ONE, False
    for vc in range(setup.num_vcs):
        connection = state.connections[unsigned(first + vc)]
        if connection < 0:
            continue
        entry = record(state.entries, first + vc)
        if entry.packet < 0 and state.queue_front[unsigned(connection)] >= 0:
            packet = record(state.packets, state.queue_front[unsigned(connection)])
            entry.packet = state.queue_front[unsigned(connection)]
            entry.unsent = packet.flits
            packet.entry = -1
            state.queue_front[unsigned(connection)] = packet.next
            enqueue(setup, state, index, entry.first + vc, vc, entry.packet)
        if entry.packet >= 0:
            busy = True
            if record(state.outputs, setup.source_slots + first + vc).credits > 0:
                ready |= ONE << vc
    if ready and may_send(setup, state, index, cycle):
        vc = next_from(ready, record(state.entries, first).resume)
        record(state.entries, first).resume = vc + 1 if vc + 1 < setup.num_vcs else 0
        entry = record(state.entries, first + vc)
        if record(state.packets, entry.packet).entry < 0:
            record(state.packets, entry.packet).entry = cycle
        send_flit(setup, state, index, entry.first + vc, cycle)
        record(state.outputs, setup.source_slots + first + vc).credits -= 1
        entry.unsent -= 1
        if entry.unsent == 0:
            entry.packet = -1
    return busy
