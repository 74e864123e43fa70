"""VC and switch allocation of one router, and what a flit that won changes.

VC allocation says which output slots the packets at the front of buffers get. Switch allocation
says which input slots send a flit, and by which output port. A flit that won changes the router,
the one before and the next one. If a packet comes to the front of a buffer, it is found where it
may go from there.

A router sees the state that the cycle began with, and changes of other routers only what they will
see later: so routers may be taken in any order. ``setup``, ``state`` and its records are those of
``layout``.

Attempts of allocation may take several cycles. Those of a slot follow one another: a slot that
fails, or has no credit, begins its next attempt when the last one ends.

Twin: ``tests/reference/network_router.py``. That of places, moves and attempts:
``tests/reference/network.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, overloaded
from netloom.routing.by_hop.tables import HopTables
from netloom.routing.kernels.by_hop import next_hop
from netloom.routing.kernels.virtual_channels import allowed, arrived
from netloom.simulation.kernels.records import (
    lowest,
    mixed,
    next_from,
    post,
    record,
    single,
    soon,
    unsigned,
)
from netloom.simulation.network.layout import PER_STRIDE

# -- places of slots and ports ---------------------------------------------------------------------

EMPTY = np.int64(0)
ONE = np.int64(1)
PARTS = np.int64(PER_STRIDE)
LAST = np.int64(63)  # an input slot that is no port's between routers


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
def port_of(setup, slot):
    """Return the port of a slot."""
    return np.int64(slot) * setup.per_stride >> PARTS


@inlined
def up_of(setup, state, node, slot, port):
    """Return the place of the output slot (or source's VC) at the other end of an input slot."""
    up = record(state.ports, port_at(setup, node, port)).up
    return np.int64(up + slot - port * setup.vc_stride)


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


@inlined
def follow(setup, state, node, out, packet):
    """Append a packet to those that come to the other end of an output slot."""
    port = port_of(setup, out)
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
        depth = record(state.lines, port_at(setup, node, port_of(setup, out))).depth
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
    if setup.several and setup.words > 1:
        return choices_of_many(setup, state, node, place)
    at, asked = EMPTY, askable(setup, state, node, place, 0)
    while setup.words > 1 and asked == 0 and at + 1 < setup.words:
        at += 1
        asked = askable(setup, state, node, place, at)
    asked = asked & setup.preferred if asked & setup.preferred else asked
    if setup.several and asked:
        port = port_of(setup, lowest(asked))
        beyond = asked & ~(setup.all_vcs << (port * setup.vc_stride))
        if beyond and port < setup.network_ports:
            asked = of_one_port(setup, state, place, asked)
    return at, asked


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
        left &= ~(setup.all_vcs << (port_of(setup, lowest(left)) * setup.vc_stride))
        ports += 1
    port = port_of(setup, lowest(slots))
    for _ in range(drawn(setup, state, place, ports)):
        slots &= ~(setup.all_vcs << (port * setup.vc_stride))
        port = port_of(setup, lowest(slots))
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
            port = port_of(setup, word << 6 | lowest(left))
            left &= ~(setup.all_vcs << ((port * setup.vc_stride) & 63))
            ports += 1
    if ports == 0:
        return EMPTY, EMPTY
    skipped = drawn(setup, state, place, ports) if ports > 1 else 0
    for word in range(setup.words):
        left = state.offered[word]
        while left:
            port = port_of(setup, word << 6 | lowest(left))
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
    port = port_of(setup, out)
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
        # the head gets it when its attempt ends
        record(state.inputs, place_of(setup, node, slot)).out = out
        now = record(state.clock, 0).cycle % setup.vc_cycles
        begun = (node * setup.words + (slot >> 6)) * setup.vc_cycles + now
        state.claims[unsigned(begun)] |= bit_of(slot)
    else:
        own(setup, state, node, slot, out)


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


# -- a flit that won, and a packet at the front ----------------------------------------------------


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
        packet = record(state.packets, front_packet(setup, state, place))
        if left == packet.flits:  # the channel by which a probe came is of its answer's way
            packet.back += record(state.lines, port_at(setup, node, port_of(setup, slot))).credit
    at = port_at(setup, node, port)
    sink = record(state.ports, at)
    if sink.down >= 0:
        sink.crossed += 1
        delay = record(state.lines, at).flit if setup.uneven else setup.flit_delay
        there = sink.down + out - port * setup.vc_stride
        bucket = (cycle + delay) & setup.wheel
        post(state.arrivals, state.arrivals_due, bucket, there)
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
    post(state.wakes, state.wakes_due, again & setup.wheel, at)
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
    port = port_of(setup, slot)
    at = port_at(setup, node, port)
    up = up_of(setup, state, node, slot, port)
    output = record(state.outputs, up)
    early = output.credits >= setup.lazy
    output.credits += early
    if setup.uneven:
        delay = np.int64(record(state.lines, at).credit)
    else:
        delay = setup.credit_delay if up < setup.source_slots else setup.entry_credit_delay
    bucket = unsigned((cycle + delay) & setup.wheel)
    due = state.credits_due[bucket]
    state.credits[bucket, unsigned(due)] = up
    state.credits_due[bucket] = due + (not early)


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
    record(state.hosts, packet.source).delivered += 1
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
    port = port_of(setup, slot)
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
            first = place_of(setup, node, port_of(setup, lowest(slots)) * setup.vc_stride)
            for place in range(first, first + setup.num_vcs):
                left += record(state.outputs, place).credits
        if left > most:
            best, most, kept = slots, left, coin ^ way
    packet.coin = kept
    first = place_of(setup, node, slot) * setup.words
    for word in range(setup.words):
        state.allowed[unsigned(first + word)] = 0
    state.allowed[unsigned(first)] = best
    if hung and best == EMPTY:
        for lane in range(tables.exit_lanes[packet.target]):
            out = (np.int64(tables.exit_port[packet.target]) + lane) * setup.vc_stride
            state.allowed[unsigned(first + (out >> 6))] |= setup.all_vcs << (out & 63)


@inlined
def begin_packets(setup, tables, state, cycle):
    """Make packets that came to the front of a slot its current ones: their routes are computed.

    They arrived, or the tail before them left. In store-and-forward, nothing happens until all of a
    packet is there.
    """
    fronts = record(state.clock, 0).fronts
    for number in range(fronts):
        if setup.far:
            ahead = np.int64(state.fronts[unsigned(min(number + 6, fronts - 1))])
            soon(state.packets, np.int64(front_packet(setup, state, place_at(setup, ahead))))
        front = np.int64(state.fronts[unsigned(number)])
        node, slot = node_of(setup, front), slot_of(setup, front)
        place = place_of(setup, node, slot)
        here = record(state.inputs, place)
        if here.left != 0:  # it may be noted twice
            continue
        wake(state.active, node)
        index = front_packet(setup, state, place)
        packet = record(state.packets, index)
        flits = packet.flits + setup.circuit
        if setup.whole_first and here.count < flits:
            continue
        here.left = flits
        hops = packet.routers
        packet.routers = hops + 1
        masks = masks_of(setup, state, node, slot)
        if setup.reserved and masks.active & bit_of(slot):  # its connection owns an output for good
            follow(setup, state, node, np.int64(here.out), index)
            continue
        route(setup, tables, state, node, slot, packet, hops)
        if setup.head_wait == 0:
            masks.waiting |= bit_of(slot)
        else:
            bucket = (cycle + setup.head_wait) & setup.wheel
            post(state.heads, state.heads_due, bucket, front)
    record(state.clock, 0).fronts = 0


# -- switch allocation -----------------------------------------------------------------------------


@inlined
def request(setup, state, node, ready, out, word, left):
    """Let all ready slots whose packets own a slot of an output port ask for it.

    Return those of ``left``, slots of a word, that have not asked. Of later words, they stay in
    ``state.left``.
    """
    for each in range(setup.words):
        mine = bound_to(setup, state, node, out, each)
        state.requests[out * setup.words + each] = one_of(setup, state.ready, ready, each) & mine
        if setup.speculative:
            state.guesses[out * setup.words + each] = 0
        if each == word:
            left &= ~mine
        elif each > word:
            state.left[each] &= ~mine
    return left


@inlined
def name(state, port, asked):
    """Put an output port on the list of those asked for. Return how many are."""
    state.named[port] = 1
    state.outs[asked] = port
    return asked + 1


@inlined
def granted_slot(setup, state, node, port):
    """Return the input slot for which an output port that is asked for decides."""
    first = port * setup.words
    pointer = np.int64(record(state.ports, port_at(setup, node, port)).grant)
    if setup.words == 1 and not setup.oldest_first:
        asking = state.requests[first]
        if setup.speculative:
            asking |= state.guesses[first]
        return next_from(asking, pointer)
    found = -1
    for word in range(setup.words):
        asking = state.requests[first + word]
        if setup.speculative:
            asking |= state.guesses[first + word]
        if asking and not setup.oldest_first:  # the lowest of a word, and the first from a pointer
            found = better(setup, state, node, found, word << 6 | lowest(asking), pointer)
            start = min(max(pointer - (word << 6), 0), 63)
            slot = word << 6 | next_from(asking, start)
            found = better(setup, state, node, found, slot, pointer)
            asking = EMPTY
        while asking:
            slot = word << 6 | lowest(asking)
            asking &= asking - 1
            found = better(setup, state, node, found, slot, pointer)
    return found


@inlined
def accepted(setup, state, node, port, first, second):
    """Return which of two output ports that are granted to it an input port takes."""
    if setup.oldest_first:
        slot = granted_slot(setup, state, node, first)
        other = granted_slot(setup, state, node, second)
        if slot == other:
            return min(first, second)
        older = oldest(setup, state, node, min(slot, other), max(slot, other))
        return first if older == slot else second
    pointer = record(state.ports, port_at(setup, node, port)).accept
    if (first < pointer) == (second < pointer):
        return min(first, second)
    return max(first, second)


@inlined
def offer(setup, state, node, out):
    """Let an output port grant itself to an input port, which takes it or keeps what it has.

    ``taken`` holds the output port that each input port has; -1: none. Return the input port as a
    bit, of a small router.
    """
    port = port_of(setup, granted_slot(setup, state, node, out))
    has = state.taken[port]
    state.taken[port] = accepted(setup, state, node, port, has, out) if has >= 0 else out
    return ONE << port if setup.words == 1 else EMPTY


@inlined
def chosen_slot(setup, state, node, port, out, word):
    """Return the slot of an input port that sends to an output port.

    Those that own a VC already go before heads that only speculate.
    """
    at, shift = out * setup.words + word, port * setup.vc_stride
    asking = vcs_in(setup, state.requests[at], port)
    if setup.speculative and asking == 0:
        asking = vcs_in(setup, state.guesses[at], port)
    if setup.oldest_first:
        found = -1
        while asking:
            found = better(setup, state, node, found, shift + lowest(asking), 0)
            asking &= asking - 1
        return found
    return shift + next_from(asking, record(state.ports, port_at(setup, node, port)).turn)


@inlined
def win(setup, state, node, port, out, slot):
    """Note that a slot of an input port has won an output port. Turn the pointers behind it."""
    source = record(state.ports, port_at(setup, node, port))
    sink = record(state.ports, port_at(setup, node, out))
    vc = slot - port * setup.vc_stride + 1
    after = slot + 1 if setup.reserved else (port + 1) * setup.vc_stride
    sink.grant = after if after < setup.num_slots else 0
    source.accept = out + 1 if out + 1 < setup.num_ports else 0
    source.turn = vc if vc < setup.num_vcs else 0
    clock = record(state.clock, 0)
    state.winners[unsigned(clock.winners)] = address(setup, node, slot)
    clock.winners += 1


@inlined
def allocate_switch(setup, state, node, ready, heads):
    """One iteration of separable, output-first switch allocation. The slots that win are noted.

    Return whether there are any.
    """
    if setup.words == 1 and heads == 0 and single(ready):
        slot = lowest(ready)
        out = np.int64(record(state.inputs, place_of(setup, node, slot)).out_port)
        win(setup, state, node, port_of(setup, slot), out, slot)
        return True
    asked, taking = ask(setup, state, node, ready, heads)
    if setup.reserved:
        return take_turns(setup, state, node, asked)
    if setup.speculative:
        for index in range(asked):
            taking |= offer(setup, state, node, state.outs[index])
            state.named[state.outs[index]] = 0
    if setup.words == 1:
        while taking:
            port = lowest(taking)
            taking &= taking - 1
            send_from(setup, state, node, port, 0, heads)
    for word in range(setup.words if setup.words > 1 else 0):
        left = state.ready[word] | (state.early[word] if setup.speculative else EMPTY)
        while left:
            port = port_of(setup, word << 6 | lowest(left))
            left &= ~(setup.all_vcs << ((port * setup.vc_stride) & 63))
            if state.taken[port] >= 0:
                send_from(setup, state, node, port, word, state.early[word])
    return ready != 0 or asked > 0


@inlined
def send_from(setup, state, node, port, word, heads):
    """Let the slot of an input port that is chosen send to the output port that was taken."""
    out = state.taken[port]
    state.taken[port] = -1
    slot = chosen_slot(setup, state, node, port, out, word)
    if setup.speculative and heads & bit_of(slot):
        guess_right(setup, state, node, slot, out)
    win(setup, state, node, port, out, slot)


@inlined
def ask(setup, state, node, ready, early):
    """Let all slots that are ready, and early heads, ask for output ports.

    Return how many ports are, and, of a small router, the input ports to which one is offered.
    If nobody speculates and a port has one crossbar input, each port is offered at once.
    """
    asked, taking = 0, EMPTY
    for word in range(setup.words if setup.words > 1 else 0):
        state.left[word] = state.ready[word]
    for word in range(setup.words):
        left = one_of(setup, state.left, ready, word)
        while left:
            place = place_of(setup, node, word << 6 | lowest(left))
            out = np.int64(record(state.inputs, place).out_port)
            left = request(setup, state, node, ready, out, word, left)
            if setup.speculative or setup.reserved:
                asked = name(state, out, asked)
            else:
                taking |= offer(setup, state, node, out)
    if setup.speculative:
        asked = guess_all(setup, state, node, early, asked)
    return asked, taking


@inlined
def guess_all(setup, state, node, early, asked):
    """Let the early heads of a speculative router ask for output ports too. Return how many are.

    Each asks for every port at which it could take a VC, which goes to ``wanted``.
    """
    for place in range(setup.words):
        heads = one_of(setup, state.early, early, place)
        while heads:
            slot = place << 6 | lowest(heads)
            heads &= heads - 1
            word, slots = choices(setup, state, node, slot)
            state.wanted[slot] = slots
            while slots:
                port = port_of(setup, word << 6 | lowest(slots))
                slots &= ~(setup.all_vcs << ((port * setup.vc_stride) & 63))
                if state.named[port] == 0:
                    asked = name(state, port, asked)
                    for each in range(setup.words):
                        state.requests[port * setup.words + each] = 0
                        state.guesses[port * setup.words + each] = 0
                state.guesses[port * setup.words + (slot >> 6)] |= bit_of(slot)
    return asked


@inlined
def take_turns(setup, state, node, asked):
    """As ``allocate_switch``, where VCs are reserved: each has a crossbar input of its own.

    So those of one input port do not keep each other from output ports that are free.
    """
    for out in range(setup.num_ports if asked else 0):
        if state.named[out]:
            state.named[out] = 0
            slot = granted_slot(setup, state, node, out)
            if setup.speculative and state.early[slot >> 6] & bit_of(slot):
                guess_right(setup, state, node, slot, out)
            win(setup, state, node, port_of(setup, slot), out, slot)
    return asked > 0


@inlined
def guess_right(setup, state, node, slot, out):
    """Give a speculative head that won the switch a VC of the output port, once it has won."""
    if setup.staged:
        record(state.inputs, place_of(setup, node, slot)).out_port = out
    else:
        take_vc(setup, state, node, slot, out, vcs_in(setup, state.wanted[slot], out))


@inlined
def take_vc(setup, state, node, slot, port, vcs):
    """Give a speculative head that won the switch one of some VCs of that port."""
    here = record(state.ports, port_at(setup, node, port))
    vc = next_from(vcs, here.next_vc)
    here.next_vc = vc + 1 if vc + 1 < setup.num_vcs else 0
    own(setup, state, node, slot, port * setup.vc_stride + vc)


@inlined
def begin_attempts(setup, state, node, word):
    """Let the slots of a word that are in no attempt begin one, if they have something to ask for.

    Return those that ask for the switch now, and the heads that ask for VCs (or speculate).
    """
    here, cycle = node * setup.words + word, record(state.clock, 0).cycle
    masks = record(state.masks, here)
    now = unsigned(here * setup.switch_cycles + cycle % setup.switch_cycles)
    masks.trying &= ~state.tries[now]
    asking = masks.flits & masks.active & ~masks.trying
    ready = asking & masks.credit
    if setup.speculative:
        heads = masks.waiting & ~masks.trying
        asking |= heads
    else:
        begun = unsigned(here * setup.vc_cycles + cycle % setup.vc_cycles)
        masks.bidding &= ~state.bids[begun]
        heads = masks.waiting & ~masks.bidding
        masks.bidding |= heads
        state.bids[begun] = heads
    masks.trying |= asking
    state.tries[now] = asking
    return ready, heads


@inlined
def end_attempts(setup, state, node):
    """Give heads whose attempt ends the VC that they were granted, unless it was taken meanwhile.

    Return whether any slot of the router is in an attempt.
    """
    busy, after = EMPTY, (record(state.clock, 0).cycle + 1) % setup.vc_cycles
    for word in range(setup.words):
        here = node * setup.words + word
        ended = unsigned(here * setup.vc_cycles + after)
        heads = state.claims[ended]
        state.claims[ended] = 0
        while heads:
            slot = word << 6 | lowest(heads)
            heads &= heads - 1
            out = np.int64(record(state.inputs, place_of(setup, node, slot)).out)
            if may_own(setup, state, node, slot, out):
                own(setup, state, node, slot, out)
        busy |= record(state.masks, here).trying | record(state.masks, here).bidding
    return busy != 0


@inlined
def may_own(setup, state, node, slot, out):
    """Whether the head of an input slot may have an output slot, whatever its port may send."""
    if masks_of(setup, state, node, out).free & bit_of(out) == 0:
        return False
    need = np.int64(setup.speculative)
    if setup.roomy & bit_of(out):
        front = front_packet(setup, state, place_of(setup, node, slot))
        need = np.int64(record(state.packets, front).flits + setup.circuit)
    return has_room(setup, state, node, out, need)


@inlined
def let_wait(setup, state, cycle):
    """Replace the winners of this cycle by those whose attempt ends in it.

    Ports that need rest count from the cycle in which an attempt begins.
    """
    clock = record(state.clock, 0)
    bucket = (cycle + setup.switch_cycles - 1) & setup.wheel
    for index in range(clock.winners):
        winner = np.int64(state.winners[unsigned(index)])
        post(state.moving, state.moving_due, bucket, winner)
        if setup.uneven:
            node = node_of(setup, winner)
            place = place_of(setup, node, slot_of(setup, winner))
            rest(setup, state, node, np.int64(record(state.inputs, place).out_port), cycle)
    bucket, ready = unsigned(cycle & setup.wheel), 0
    for due in range(state.moving_due[bucket]):
        winner = np.int64(state.moving[bucket, unsigned(due)])
        if setup.speculative and not take_late(setup, state, winner):
            continue
        state.winners[unsigned(ready)] = winner
        ready += 1
    state.moving_due[bucket] = 0
    clock.winners = ready


@inlined
def take_late(setup, state, winner):
    """Give a speculative head that has won the switch a VC of its port, if one is left.

    Return whether the slot can send.
    """
    node, slot = node_of(setup, winner), slot_of(setup, winner)
    if masks_of(setup, state, node, slot).waiting & bit_of(slot) == 0:
        return True
    place = place_of(setup, node, slot)
    port = np.int64(record(state.inputs, place).out_port)
    first = port * setup.vc_stride
    allowed = state.allowed[unsigned(place * setup.words + (first >> 6))]
    some = EMPTY
    for out in range(first, first + setup.num_vcs):
        if allowed & bit_of(out) and may_own(setup, state, node, slot, out):
            some |= bit_of(out)
    some = some & setup.preferred if some & setup.preferred else some
    if some == 0:
        return False
    take_vc(setup, state, node, slot, port, vcs_in(setup, some, port))
    return True
