"""VC allocation of one router: which output slots the packets at the front of buffers get.

With the places of a router's slots, ports and sets of slots.

A router sees the state that the cycle began with, and changes of other routers only what they will
see later: so routers may be taken in any order. ``setup``, ``state`` and its records are those of
``layout``.

Twin: ``tests/reference/network_router.py``. That of places: ``tests/reference/network.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined
from netloom.simulation.kernels.records import lowest, mixed, next_from, record, unsigned

# -- places of slots and ports ---------------------------------------------------------------------

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


# -- VC allocation ---------------------------------------------------------------------------------

EMPTY = np.int64(0)


@inlined
def follow(setup, state, node, out, packet):
    """Append a packet to those that come to the other end of an output slot."""
    port = state.port_of[out]
    down = record(state.ports, port_at(setup, node, port)).down
    if down >= 0:
        ring = place_at(setup, down + out - port * setup.vc_stride) * setup.ring
        output = record(state.outputs, place_of(setup, node, out))
        state.rings[unsigned(ring + output.back)] = packet
        output.back = output.back + 1 if output.back + 1 < setup.ring else 0


@inlined
def has_room(setup, state, node, out, flits):
    """Whether so many flits fit behind an output slot, or nothing is there."""
    depth = setup.buffer_flits
    if setup.uneven:
        depth = record(state.lines, port_at(setup, node, state.port_of[out])).depth
    return record(state.outputs, place_of(setup, node, out)).credits >= min(flits, depth)


@inlined
def askable(setup, state, node, place, word):
    """Return the slots of a word of ``state.asked`` for which a waiting head may ask.

    Those in ``roomy`` are asked for only where all of the packet fits, or nothing is in the way.
    """
    asked = state.allowed[unsigned(place * setup.words + word)]
    asked &= record(state.masks, node * setup.words + word).free
    if setup.speculative:
        asked &= record(state.masks, node * setup.words + word).open
    tight = asked & setup.roomy
    if tight:
        flits = record(state.packets, front_packet(setup, state, place)).flits + setup.circuit
        while tight:
            bit = lowest(tight)
            tight &= tight - 1
            if not has_room(setup, state, node, word << 6 | bit, flits):
                asked &= ~(ONE << bit)
    return asked


@inlined
def choices(setup, state, node, slot):
    """Return the word and the output slots in it that a waiting head asks for.

    Of several network ports it asks for one, drawn anew every cycle: pointers that go round them
    would favor some, by their numbers.
    """
    place = place_of(setup, node, slot)
    if setup.words > 1:
        return choices_of_many(setup, state, node, place)
    asked = askable(setup, state, node, place, 0)
    asked = asked & setup.preferred if asked & setup.preferred else asked
    if asked:
        port = state.port_of[lowest(asked)]
        beyond = asked & ~(setup.all_vcs << (port * setup.vc_stride))
        if beyond and port < setup.network_ports:
            asked = of_one_port(setup, state, place, asked)
    return EMPTY, asked


@inlined
def drawn(setup, state, place, many):
    """Return a number below ``many``, drawn for the packet at a place in this cycle."""
    packet = record(state.packets, front_packet(setup, state, place))
    return mixed(packet.coin, packet.number, record(state.clock, 0).cycle) % many


@inlined
def of_one_port(setup, state, place, slots):
    """Return those of a set of output slots that are of one port, each as likely as any other."""
    ports, left = 0, slots
    while left:
        left &= ~(setup.all_vcs << (state.port_of[lowest(left)] * setup.vc_stride))
        ports += 1
    port = state.port_of[lowest(slots)]
    for _ in range(drawn(setup, state, place, ports)):
        slots &= ~(setup.all_vcs << (port * setup.vc_stride))
        port = state.port_of[lowest(slots)]
    return slots & setup.all_vcs << (port * setup.vc_stride)


@inlined
def choices_of_many(setup, state, node, place):
    """As ``choices``, where a router has several words of slots."""
    preferred, ports = EMPTY, 0
    for word in range(setup.words):
        state.offered[word] = askable(setup, state, node, place, word)
        preferred |= state.offered[word] & setup.preferred
    for word in range(setup.words):
        if preferred:
            state.offered[word] &= setup.preferred
        left = state.offered[word]
        while left:
            port = state.port_of[word << 6 | lowest(left)]
            left &= ~(setup.all_vcs << ((port * setup.vc_stride) & 63))
            ports += 1
    if ports == 0:
        return EMPTY, EMPTY
    skipped = drawn(setup, state, place, ports) if ports > 1 else 0
    for word in range(setup.words):
        left = state.offered[word]
        while left:
            port = state.port_of[word << 6 | lowest(left)]
            here = setup.all_vcs << ((port * setup.vc_stride) & 63)
            if skipped == 0:
                return np.int64(word), left & here
            left &= ~here
            skipped -= 1
    return EMPTY, EMPTY


@inlined
def bound_to(setup, state, node, port, word):
    """Return the input slots of a word whose packets own a slot of an output port."""
    at = port_at(setup, node, port)
    if setup.words == 1:
        return record(state.ports, at).bound
    return state.bound[unsigned(at * setup.words + word)]


@inlined
def bind(setup, state, node, port, slot):
    """Put an input slot into the set of those bound to an output port, or take it out."""
    at = port_at(setup, node, port)
    if setup.words == 1:
        record(state.ports, at).bound ^= bit_of(slot)
    else:
        state.bound[unsigned(at * setup.words + (slot >> 6))] ^= bit_of(slot)


@inlined
def own(setup, state, node, slot, out):
    """Give an output slot to the packet of an input slot."""
    place, masks = place_of(setup, node, slot), masks_of(setup, state, node, slot)
    bit, out_bit = bit_of(slot), bit_of(out)
    masks.active |= bit
    masks.waiting &= ~bit
    there = masks_of(setup, state, node, out)
    there.free &= ~out_bit
    masks.credit = masks.credit | bit if there.open & out_bit else masks.credit & ~bit
    here = record(state.inputs, place)
    port = state.port_of[out]
    here.out = out
    here.out_port = port
    bind(setup, state, node, port, slot)
    record(state.outputs, place_of(setup, node, out)).owner = slot
    follow(setup, state, node, out, front_packet(setup, state, place))


@inlined
def accept_vc(setup, state, node, slot, word, offers):
    """Let an input slot take one of the output slots of a word that were granted to it."""
    if setup.oldest_first:
        out = word << 6 | lowest(offers)
    else:
        here = record(state.inputs, place_of(setup, node, slot))
        start = np.int64(here.accept)
        if setup.words > 1:  # of another word, the pointer stands before or behind all slots
            start = start & 63 if start >> 6 == word else EMPTY
        out = word << 6 | next_from(offers, start)
        here.accept = out + 1 if out + 1 < setup.num_slots else 0
        output = record(state.outputs, place_of(setup, node, out))
        output.grant = slot + 1 if slot + 1 < setup.num_slots else 0
    if setup.staged:
        claim(setup, state, node, slot, out)
    else:
        own(setup, state, node, slot, out)


@inlined
def claim(setup, state, node, slot, out):
    """Note that an output slot is granted to a head that gets it when its attempt ends."""
    record(state.inputs, place_of(setup, node, slot)).out = out
    now = record(state.clock, 0).cycle % setup.vc_cycles
    begun = (node * setup.words + (slot >> 6)) * setup.vc_cycles + now
    state.claims[unsigned(begun)] |= bit_of(slot)


@inlined
def allocate_vcs(setup, state, node, waiting):
    """One iteration of separable, output-first VC allocation. Whether any VC was given.

    Output slots that one head alone asks for are granted to it. A contested one goes to one of its
    askers. Then every head takes one of those granted to it.
    """
    some, doubt = EMPTY, EMPTY
    for word in range(setup.words if setup.words > 1 else 0):
        state.asked[word] = 0
        state.contested[word] = 0
    for word in range(setup.words):
        heads = one_of(setup, state.early, waiting, word)
        while heads:
            slot = word << 6 | lowest(heads)
            heads &= heads - 1
            at, offers = choices(setup, state, node, slot)
            state.wanted[slot] = offers
            if setup.words > 1:
                state.wanted_at[slot] = at
                doubt |= state.asked[at] & offers
                state.contested[at] |= state.asked[at] & offers
                state.asked[at] |= offers
            else:
                doubt |= some & offers
            some |= offers
    if doubt:
        grant_contested(setup, state, node, waiting, doubt)
    for word in range(setup.words):
        heads = one_of(setup, state.early, waiting, word) if some else EMPTY
        while heads:
            slot = word << 6 | lowest(heads)
            heads &= heads - 1
            at = state.wanted_at[slot] if setup.words > 1 else EMPTY
            offers = state.wanted[slot]
            if doubt:
                offers &= ~one_of(setup, state.contested, doubt, at) | state.granted[slot]
            if offers:
                accept_vc(setup, state, node, slot, at, offers)
    return some != 0


@inlined
def grant_contested(setup, state, node, waiting, contested):
    """Grant each contested output slot to one of the heads that ask for it, as ``granted``."""
    for word in range(setup.words):
        heads = one_of(setup, state.early, waiting, word)
        while heads:
            slot = word << 6 | lowest(heads)
            heads &= heads - 1
            state.granted[slot] = 0
            at = state.wanted_at[slot] if setup.words > 1 else EMPTY
            bids = state.wanted[slot] & one_of(setup, state.contested, contested, at)
            while bids:
                out = at << 6 | lowest(bids)
                bids &= bids - 1
                pointer = record(state.outputs, place_of(setup, node, out)).grant
                state.best[out] = better(setup, state, node, state.best[out], slot, pointer)
    for word in range(setup.words):
        left = one_of(setup, state.contested, contested, word)
        while left:
            out = word << 6 | lowest(left)
            left &= left - 1
            state.granted[state.best[out]] |= bit_of(out)
            state.best[out] = -1
