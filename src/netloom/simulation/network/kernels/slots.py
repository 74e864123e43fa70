"""Places of a router's slots, ports and sets of slots. See ``layout``.

Twin: ``tests/reference/network.py``.
"""

import numpy as np

from netloom.base.compilation import inlined
from netloom.simulation.kernels.records import record, unsigned

ONE = np.int64(1)


@inlined
def place_of(setup, node, slot):
    """Return the place of a slot in the arrays of all slots."""
    return node * setup.num_slots + slot


@inlined
def address(setup, node, slot):
    """Return the one number that a router and a slot of it are kept as."""
    return node << setup.slot_bits | slot


@inlined
def node_of(setup, address):
    """Return the router of an address."""
    return address >> setup.slot_bits


@inlined
def slot_of(setup, address):
    """Return the slot of an address."""
    return address & ((ONE << setup.slot_bits) - 1)


@inlined
def place_at(setup, address):
    """Return the place of the slot of an address."""
    return place_of(setup, node_of(setup, address), slot_of(setup, address))


@inlined
def port_at(setup, node, port):
    """Return the place of a port in the arrays of all ports."""
    return node * setup.num_ports + port


@inlined
def masks_of(setup, state, node, slot):
    """Return the record of sets that has a slot of a router."""
    if setup.words == 1:
        return record(state.masks, node)
    return record(state.masks, node * setup.words + (slot >> 6))


@inlined
def bit_of(slot):
    """Return the set that has one slot alone, in its word."""
    return ONE << (slot & 63)


@inlined
def vcs_in(setup, word, port):
    """Return the VCs of a port that are in a word of slots, as bits from 0 on."""
    return word >> ((port * setup.vc_stride) & 63) & setup.all_vcs


@inlined
def front_packet(setup, state, place):
    """Return the packet at the front of an input slot."""
    return state.rings[unsigned(place * setup.ring + record(state.inputs, place).front)]


@inlined
def region_of(setup, state, node):
    """Return the region that a router is in."""
    region = 0
    if setup.divided:
        while state.borders[unsigned(region + 1)] <= node:
            region += 1
    return region


@inlined
def bucket_of(setup, sender, taker, cycle):
    """Return the bucket of what one region sends to another, or to itself, for a cycle."""
    if not setup.divided:
        return cycle & setup.wheel
    between = sender * setup.regions + taker
    return between * (setup.wheel + 1) + (cycle & setup.wheel)


@inlined
def wake(awake, node):
    """Note that a router or source may have something to do."""
    awake[unsigned(node >> 6)] |= ONE << (node & 63)


@inlined
def oldest(setup, state, node, one, other):
    """Return that of two slots of a router whose packet was created first. ``one`` of a tie."""
    first = record(state.packets, front_packet(setup, state, place_of(setup, node, one)))
    second = record(state.packets, front_packet(setup, state, place_of(setup, node, other)))
    if second.birth < first.birth:
        return other
    if second.birth == first.birth and second.number < first.number:
        return other
    return one


@inlined
def one_of(setup, words, only, word):
    """Return a word of a set: ``only``, where small routers have no other."""
    return only if setup.words == 1 else words[word]


@inlined
def better(setup, state, node, best, slot, pointer):
    """Return which of two slots is granted: ``best``, if there is one yet, or a higher ``slot``.

    It is the first at or after the pointer, and else the lowest, or the one of the oldest packet.
    """
    if best < 0:
        return slot
    if setup.oldest_first:
        return oldest(setup, state, node, best, slot)
    return slot if best < pointer <= slot else best
