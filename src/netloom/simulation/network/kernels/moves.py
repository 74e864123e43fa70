"""What a flit that won the switch changes: here, at the router before, and at the next one.

Then what happens when a packet comes to the front of a buffer: where it may go from there.

Twin: ``tests/reference/network.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, overloaded
from netloom.routing.by_hop.tables import HopTables
from netloom.routing.kernels.by_hop import next_hop
from netloom.routing.kernels.virtual_channels import allowed, arrived
from netloom.simulation.kernels.records import lowest, post, record, unsigned
from netloom.simulation.network.kernels.slots import (
    address,
    bit_of,
    bucket_of,
    front_packet,
    masks_of,
    node_of,
    place_at,
    place_of,
    port_at,
    region_of,
    slot_of,
    wake,
)
from netloom.simulation.network.kernels.vc_allocation import bind, follow

EMPTY = np.int64(0)
LAST = np.int64(63)  # an input slot that is no port's between routers


@inlined
def move(setup, state, winner, cycle):
    """Send the flit at the front of a slot on: to the next router, or out of the network."""
    node, slot = node_of(setup, winner), slot_of(setup, winner)
    place = place_of(setup, node, slot)
    here, masks = record(state.inputs, place), masks_of(setup, state, node, slot)
    out, port, left = np.int64(here.out), np.int64(here.out_port), here.left - 1
    here.left = left
    here.count -= 1
    masks.flits &= ~(np.int64(here.count == 0) << (slot & 63))
    return_credit(setup, state, node, slot, cycle)
    if setup.circuit and setup.uneven:
        note_way_back(setup, state, node, slot, left)
    at = port_at(setup, node, port)
    sink = record(state.ports, at)
    if sink.down >= 0:
        sink.crossed += 1
        delay = record(state.lines, at).flit if setup.uneven else setup.flit_delay
        there = sink.down + out - port * setup.vc_stride
        taker = region_of(setup, state, node_of(setup, there))
        bucket = bucket_of(setup, setup.region, taker, cycle + delay)
        post(state.arrivals, state.arrivals_due, setup.arrivals_each, bucket, there)
        output = record(state.outputs, place_of(setup, node, out))
        output.credits -= 1
        if setup.counted:
            state.used[unsigned(node << setup.port_bits | port)] += 1
        spent = np.int64(output.credits == 0)
        masks_of(setup, state, node, out).open &= ~(spent << (out & 63))
        masks.credit &= ~(spent << (slot & 63))
    else:
        delay = record(state.lines, at).flit if setup.uneven else setup.exit_delay
        leave(setup, state, place, left, cycle, delay)
    if left == 0:
        end(setup, state, node, slot, out)
    if setup.uneven and not setup.staged:
        rest(setup, state, node, port, cycle)


@inlined
def spend(line, cycle):
    """Note that a flit is sent on a line. Return the first cycle in which it can send again."""
    line.ready = max(line.ready, cycle * line.share - (line.share - 1)) + line.whole
    return (line.ready + line.share - 1) // line.share


@inlined
def rest(setup, state, node, port, cycle):
    """Close an output port that has sent a flit, if it cannot send again in the next cycle."""
    at = port_at(setup, node, port)
    line = record(state.lines, at)
    if line.share == line.whole:
        return
    again = spend(line, cycle)
    if again <= cycle + 1:
        return
    post(state.wakes, state.wakes_due, setup.wakes_each, again & setup.wheel, at)
    first = port * setup.vc_stride
    there = masks_of(setup, state, node, first)
    there.open &= ~(setup.all_vcs << (first & 63))
    for out in range(first, first + setup.num_vcs):
        if there.free & bit_of(out) == 0:
            owner = np.int64(record(state.outputs, place_of(setup, node, out)).owner)
            masks_of(setup, state, node, owner).credit &= ~bit_of(owner)


@inlined
def return_credit(setup, state, node, slot, cycle):
    """Tell the router or source before that a place of a slot's buffer is free again.

    A count so high that it cannot reach zero before the credit's time is raised at once. Nothing
    here branches: what a processor cannot foretell costs more than what it does in vain.
    """
    port = state.port_of[slot]
    at = port_at(setup, node, port)
    up = record(state.ports, at).up + slot - port * setup.vc_stride
    output = record(state.outputs, up)
    taker, early = np.int64(setup.region), False
    if setup.divided and up < setup.source_slots:
        taker = region_of(setup, state, up // setup.num_slots)
    if taker == setup.region:  # another's count is none of this processor's business
        early = output.credits >= setup.lazy
        output.credits += early
    if setup.uneven:
        delay = np.int64(record(state.lines, at).credit)
    else:
        delay = setup.credit_delay if up < setup.source_slots else setup.entry_credit_delay
    bucket = unsigned(bucket_of(setup, setup.region, taker, cycle + delay))
    due = state.credits_due[bucket]
    state.credits[unsigned(bucket * setup.credits_each + due)] = up
    state.credits_due[bucket] = due + (not early)


@inlined
def note_way_back(setup, state, node, slot, left):
    """Add the channel by which a probe came to a router to the way of its answer."""
    packet = record(state.packets, front_packet(setup, state, place_of(setup, node, slot)))
    if left == packet.flits:
        packet.back += record(state.lines, port_at(setup, node, state.port_of[slot])).credit


@inlined
def leave(setup, state, place, left, cycle, delay):
    """Take a flit out of the network: log the packet at its tail, answer a circuit's probe."""
    index = front_packet(setup, state, place)
    packet, clock = record(state.packets, index), record(state.clock, 0)
    hops, arrival = packet.routers - 1, cycle + delay
    clock.ejected += 1
    if setup.circuit and left == packet.flits:
        exit_credit_delay = delay - setup.exit_delay + setup.entry_credit_delay
        back = setup.entry_credit_delay + hops * setup.credit_delay
        if setup.uneven:
            back = np.int64(packet.back)
        record(state.entries, packet.channel).resume = arrival + back + exit_credit_delay
    if left > 0:
        return
    entry = record(state.log, clock.logged)
    entry.number = packet.number
    entry.birth = packet.birth
    entry.entry = packet.entry
    entry.arrival = arrival
    entry.source = packet.source
    entry.target = packet.target
    entry.hops = hops
    entry.flits = packet.flits
    entry.row = packet.row
    clock.logged += 1
    clock.delivered += 1
    packet.next = clock.free_packet
    clock.free_packet = index
    clock.free_packets += 1


@inlined
def end(setup, state, node, slot, out):
    """After a tail: free what the packet owned. A packet behind it comes to the front."""
    place = place_of(setup, node, slot)
    here = record(state.inputs, place)
    if not setup.reserved:
        masks_of(setup, state, node, slot).active &= ~bit_of(slot)
        masks_of(setup, state, node, out).free |= bit_of(out)
        bind(setup, state, node, np.int64(here.out_port), slot)
    here.front = here.front + 1 if here.front + 1 < setup.ring else 0
    if here.count > 0:
        clock = record(state.clock, 0)
        state.fronts[unsigned(clock.fronts)] = address(setup, node, slot)
        clock.fronts += 1


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
