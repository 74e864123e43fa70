"""What happens when a packet comes to the front of a buffer: where it may go from there.

Twin: ``tests/reference/network.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, overloaded
from netloom.routing.by_hop.tables import HopTables
from netloom.routing.kernels.by_hop import next_hop
from netloom.routing.kernels.virtual_channels import allowed, arrived
from netloom.simulation.kernels.bits import lowest, post
from netloom.simulation.kernels.records import record, unsigned
from netloom.simulation.network.kernels.slots import (
    bit_of,
    front_packet,
    masks_of,
    node_of,
    place_at,
    place_of,
    slot_of,
    wake,
)
from netloom.simulation.network.kernels.vc_allocation import follow

EMPTY = np.int64(0)
LAST = np.int64(63)  # an input slot that is no port's between routers


@inlined
def begin(setup, tables, state, front, cycle):
    """Make the packet at the front of a slot its current one: its route is computed.

    In store-and-forward, nothing happens until all of the packet is there.
    """
    node, slot = node_of(setup, front), slot_of(setup, front)
    place = place_of(setup, node, slot)
    here = record(state.inputs, place)
    index = front_packet(setup, state, place)
    packet = record(state.packets, index)
    flits = packet.flits + setup.circuit
    if setup.whole_first and here.count < flits:
        return
    here.left = flits
    hops = packet.routers
    packet.routers = hops + 1
    masks = masks_of(setup, state, node, slot)
    if setup.reserved and masks.active & bit_of(slot):  # its connection owns an output for good
        follow(setup, state, node, np.int64(here.out), index)
        return
    route(setup, tables, state, node, slot, packet, hops)
    if setup.head_wait == 0:
        masks.waiting |= bit_of(slot)
    else:
        bucket = (cycle + setup.head_wait) & setup.wheel
        post(state.heads, state.heads_due, setup.heads_each, bucket, front)


def route(setup, tables, state, node, slot, packet, hops):
    """Note the output slots that a packet may take, as the tables' kind of routing says."""
    raise NotImplementedError  # compiled code takes one of those below, by the type of its tables


@overloaded(route)
def _route(setup, tables, state, node, slot, packet, hops):  # noqa: ARG001 (as ``route``)
    return by_hop if tables.instance_class is HopTables else by_rule


def by_hop(setup, tables, state, node, slot, packet, hops):
    """Ask the tables of a network whose hosts hang on routers."""
    place = place_of(setup, node, slot)
    first = place * setup.words
    for word in range(setup.words):
        state.allowed[unsigned(first + word)] = 0
    port = state.port_of[slot]
    vc = slot - port * setup.vc_stride
    next_hop(tables, state.used, state.allowed, first, node, port, vc, packet, hops)


def by_rule(setup, tables, state, node, slot, packet, hops):
    """Ask a rule, or a table or path of a direct network.

    If its source chooses between two ways, a packet takes the one on whose first channel more
    credits are left, and as its coin fell where both have as many. The coin then says which it was.
    If hosts hang on routers, a packet that goes no further leaves by the port of its host.
    """
    packet.aux = arrived(tables, node, packet.aux)
    coin, hung = np.int64(packet.coin), len(tables.host_router) > 0
    source, target, came_by = packet.source, packet.target, slot
    if hung:
        source, target = tables.host_router[source], tables.host_router[target]
        came_by = min(slot, LAST)
    choosing = setup.choose_order and hops == 0 and not (hung and source == target)
    best, most, kept = EMPTY, -1, coin
    for way in range(2 if choosing else 1):
        slots = allowed(tables, node, came_by, source, target, packet.aux, coin ^ way, hops)
        left = 0
        if choosing:
            first = place_of(setup, node, state.port_of[lowest(slots)] * setup.vc_stride)
            for place in range(first, first + setup.num_vcs):
                left += record(state.outputs, place).credits
        if left > most:
            best, most, kept = slots, left, coin ^ way
    packet.coin = kept
    if hung:
        ask_of_host(setup, tables, state, node, slot, packet, best)
    else:
        state.allowed[unsigned(place_of(setup, node, slot))] = best


@inlined
def ask_of_host(setup, tables, state, node, slot, packet, slots):
    """Note the slots of a set, or where that is empty, those of the port of a packet's host."""
    first = place_of(setup, node, slot) * setup.words
    for word in range(setup.words):
        state.allowed[unsigned(first + word)] = 0
    state.allowed[unsigned(first)] = slots
    if slots == EMPTY:
        for lane in range(tables.exit_lanes[packet.target]):
            out = (np.int64(tables.exit_port[packet.target]) + lane) * setup.vc_stride
            state.allowed[unsigned(first + (out >> 6))] |= setup.all_vcs << (out & 63)


@inlined
def begin_packets(setup, tables, state, cycle):
    """Packets that came to the front of a buffer: they arrived, or the tail before them left."""
    for index in range(record(state.clock, 0).fronts):
        front = np.int64(state.fronts[unsigned(index)])
        if record(state.inputs, place_at(setup, front)).left == 0:  # it may be noted twice
            wake(state.active, node_of(setup, front))
            begin(setup, tables, state, front, cycle)
    record(state.clock, 0).fronts = 0
