"""One cycle of one router: VC allocation, switch allocation, and what a winning flit changes.

``setup``, ``state`` and its records are those of ``layout``, ``tables`` is the routing's. A router
sees the state that the cycle began with, and changes of other routers only what they will see
later: so routers may be taken in any order.
"""

import numpy as np

from netloom.compilation import inlined
from netloom.simulation.kernels.bits import lowest, mixed, next_from, post, single
from netloom.simulation.kernels.records import record, unsigned
from netloom.simulation.network.kernels.slots import (
    bit_of,
    front_packet,
    masks_of,
    node_of,
    oldest,
    place_of,
    port_at,
    slot_of,
    vcs_in,
)

EMPTY = np.int64(0)
ONE = np.int64(1)


@inlined
def follow(setup, state, node, out, packet):
    """Append a packet to those that come to the other end of an output slot."""
    port = state.port_of[out]
    down = record(state.ports, port_at(setup, node, port)).down
    if down >= 0:
        ring = (down + out - port * setup.vc_stride) * setup.ring
        output = record(state.outputs, place_of(setup, node, out))
        state.rings[unsigned(ring + output.back)] = packet
        output.back = output.back + 1 if output.back + 1 < setup.ring else 0


@inlined
def has_room(setup, state, node, out, need):
    """Whether so many flits fit behind an output slot."""
    return record(state.outputs, place_of(setup, node, out)).credits >= need


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
        need = min(flits, setup.buffer_flits)
        while tight:
            bit = lowest(tight)
            tight &= tight - 1
            if not has_room(setup, state, node, word << 6 | bit, need):
                asked &= ~(ONE << bit)
    return asked


@inlined
def choices(setup, state, node, slot):
    """Return the word and the output slots in it that a waiting head asks for.

    Of several network ports it asks for one, drawn anew every cycle: pointers that go round them
    would favour some, by their numbers.
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
            asked = of_one_port(setup, state, node, place, asked)
    return EMPTY, asked


@inlined
def drawn(state, setup, place, many):
    """Return a number below ``many``, drawn for the packet at a place in this cycle."""
    packet = record(state.packets, front_packet(setup, state, place))
    return mixed(packet.coin, packet.number, record(state.clock, 0).cycle) % many


@inlined
def of_one_port(setup, state, node, place, slots):
    """Return those of a set of output slots that are of one port, each as likely as any other."""
    ports, left = 0, slots
    while left:
        left &= ~(setup.all_vcs << (state.port_of[lowest(left)] * setup.vc_stride))
        ports += 1
    port = state.port_of[lowest(slots)]
    for _ in range(drawn(state, setup, place, ports)):
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
    skipped = drawn(state, setup, place, ports) if ports > 1 else 0
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
    here.out = out
    here.out_port = state.port_of[out]
    record(state.outputs, place_of(setup, node, out)).owner = slot
    follow(setup, state, node, out, front_packet(setup, state, place))


@inlined
def accept_vc(setup, state, node, slot, word, offers):
    """Let an input slot take one of the output slots of a word that were granted to it."""
    if setup.oldest_first:
        out = word << 6 | lowest(offers)
    else:
        here = record(state.inputs, place_of(setup, node, slot))
        # The pointer looks into one word: of another one it stands before or behind all slots.
        pointer = here.accept - (word << 6)
        start = pointer if 0 <= pointer < 64 else 0
        out = word << 6 | next_from(offers, start)
        here.accept = out + 1 if out + 1 < setup.num_slots else 0
        output = record(state.outputs, place_of(setup, node, out))
        output.grant = slot + 1 if slot + 1 < setup.num_slots else 0
    own(setup, state, node, slot, out)


@inlined
def allocate_vcs(setup, state, node):
    """One iteration of separable, output-first VC allocation; whether any VC was given.

    Output slots that one head alone asks for are granted to it; a contested one goes to one of its
    askers. Then every head takes one of those granted to it.
    """
    some, doubt = EMPTY, EMPTY
    for word in range(setup.words):
        state.asked[word] = 0
        state.contested[word] = 0
    for word in range(setup.words):
        heads = state.early[word]
        while heads:
            slot = word << 6 | lowest(heads)
            heads &= heads - 1
            at, offers = choices(setup, state, node, slot)
            state.wanted[slot] = offers
            state.wanted_at[slot] = at
            both = state.asked[at] & offers
            state.contested[at] |= both
            state.asked[at] |= offers
            some |= offers
            doubt |= both
    if doubt:
        grant_contested(setup, state, node)
    for word in range(setup.words):
        heads = state.early[word] if some else EMPTY
        while heads:
            slot = word << 6 | lowest(heads)
            heads &= heads - 1
            at = state.wanted_at[slot]
            offers = state.wanted[slot]
            if doubt:
                offers &= ~state.contested[at] | state.granted[slot]
            if offers:
                accept_vc(setup, state, node, slot, at, offers)
    return some != 0


@inlined
def grant_contested(setup, state, node):
    """Grant each contested output slot to one of the heads that ask for it, as ``granted``."""
    for word in range(setup.words):
        heads = state.early[word]
        while heads:
            slot = word << 6 | lowest(heads)
            heads &= heads - 1
            state.granted[slot] = 0
            at = state.wanted_at[slot]
            bids = state.wanted[slot] & state.contested[at]
            while bids:
                out = at << 6 | lowest(bids)
                bids &= bids - 1
                pointer = record(state.outputs, place_of(setup, node, out)).grant
                state.best[out] = better(setup, state, node, state.best[out], slot, pointer)
    for word in range(setup.words):
        left = state.contested[word]
        while left:
            out = word << 6 | lowest(left)
            left &= left - 1
            state.granted[state.best[out]] |= bit_of(out)
            state.best[out] = -1


@inlined
def better(setup, state, node, best, slot, pointer):
    """Return which of two slots is granted: ``best``, if there is one yet, or a higher ``slot``.

    It is the first at or after the pointer, and else the lowest; or the one of the oldest packet.
    """
    if best < 0:
        return slot
    if setup.oldest_first:
        return oldest(setup, state, node, best, slot)
    return slot if best < pointer <= slot else best


@inlined
def bid(setup, state, node, out, slot, asked):
    """Let an input slot ask for an output port, the ``asked``-th at most; return how many are."""
    best = state.best[out]
    if best < 0:
        state.outs[asked] = out
        state.best[out] = slot
        return asked + 1
    pointer = record(state.ports, port_at(setup, node, out)).grant
    state.best[out] = better(setup, state, node, best, slot, pointer)
    return asked


@inlined
def ask_early(setup, state, node, slot, asked):
    """Let a waiting head of a speculative router ask for output ports.

    It asks for every port at which it could take a VC, which goes to ``wanted``.
    """
    word, slots = choices(setup, state, node, slot)
    state.wanted[slot] = slots
    state.wanted_at[slot] = word
    while slots:
        port = state.port_of[word << 6 | lowest(slots)]
        slots &= ~(setup.all_vcs << ((port * setup.vc_stride) & 63))
        asked = bid(setup, state, node, port, slot, asked)
    return asked


@inlined
def bids(setup, state, node):
    """Let all slots that are ready, and early heads, ask for output ports; return how many are.

    The ports are ``outs``, and ``best`` has the slot that each is for.
    """
    asked = 0
    for word in range(setup.words):
        heads = state.early[word] if setup.speculative else EMPTY
        left = state.ready[word] | heads
        while left:
            at = lowest(left)
            slot = word << 6 | at
            left &= left - 1
            if heads >> at & 1:
                asked = ask_early(setup, state, node, slot, asked)
            else:
                out = np.int64(record(state.inputs, place_of(setup, node, slot)).out_port)
                asked = bid(setup, state, node, out, slot, asked)
    return asked


@inlined
def accepted(setup, state, node, port, first, second):
    """Return which of two output ports that are granted to it an input port takes."""
    if setup.oldest_first:
        slot, other = state.best[first], state.best[second]
        if slot == other:
            return min(first, second)
        older = oldest(setup, state, node, min(slot, other), max(slot, other))
        return first if older == slot else second
    pointer = record(state.ports, port_at(setup, node, port)).accept
    if (first < pointer) == (second < pointer):
        return min(first, second)
    return max(first, second)


@inlined
def wants(setup, state, node, slot, out):
    """Whether a slot that is ready or early asks for an output port."""
    if setup.speculative and state.early[slot >> 6] & bit_of(slot):
        return vcs_in(setup, state.wanted[slot], out) != 0 and state.wanted_at[slot] == (
            out * setup.vc_stride
        ) >> 6
    return record(state.inputs, place_of(setup, node, slot)).out_port == out


@inlined
def chosen_slot(setup, state, node, port, out, word, slots):
    """Return the slot of an input port that sends to an output port, of several that might.

    Those that own a VC already go before heads that only speculate.
    """
    start = port * setup.vc_stride + record(state.ports, port_at(setup, node, port)).turn
    found, left = -1, slots & ~state.early[word] if setup.speculative else slots
    for _ in range(2 if setup.speculative else 1):
        while left:
            slot = word << 6 | lowest(left)
            left &= left - 1
            if wants(setup, state, node, slot, out):
                found = better(setup, state, node, found, slot, start)
        left = slots if found < 0 else EMPTY
    return found


@inlined
def win(setup, state, node, port, out, slot):
    """Note that a slot of an input port has won an output port; turn the pointers behind it."""
    source = record(state.ports, port_at(setup, node, port))
    sink = record(state.ports, port_at(setup, node, out))
    vc = slot - port * setup.vc_stride + 1
    after = slot + 1 if setup.reserved else (port + 1) * setup.vc_stride
    sink.grant = after if after < setup.num_slots else 0
    source.accept = out + 1 if out + 1 < setup.num_ports else 0
    source.turn = vc if vc < setup.num_vcs else 0
    clock = record(state.clock, 0)
    state.winners[unsigned(clock.winners)] = place_of(setup, node, slot)
    clock.winners += 1


@inlined
def allocate_switch(setup, state, node):
    """One iteration of separable, output-first switch allocation; the slots that win are noted.

    Return whether there are any.
    """
    if setup.words == 1 and not setup.speculative and single(state.ready[0]):
        slot = lowest(state.ready[0])
        out = np.int64(record(state.inputs, place_of(setup, node, slot)).out_port)
        win(setup, state, node, state.port_of[slot], out, slot)
        return True
    asked = bids(setup, state, node)
    if setup.reserved:
        return take_turns(setup, state, node, asked)
    for index in range(asked):
        out = state.outs[index]
        port = state.port_of[state.best[out]]
        if state.taken[port] >= 0:
            out = accepted(setup, state, node, port, state.taken[port], out)
        state.taken[port] = out
    for index in range(asked):
        state.best[state.outs[index]] = -1
    for word in range(setup.words):
        left = state.ready[word] | (state.early[word] if setup.speculative else EMPTY)
        while left:
            slot = word << 6 | lowest(left)
            port = state.port_of[slot]
            vcs = setup.all_vcs << ((port * setup.vc_stride) & 63)
            out = state.taken[port]
            if out >= 0:
                state.taken[port] = -1
                if not single(left & vcs):
                    slot = chosen_slot(setup, state, node, port, out, word, left & vcs)
                if setup.speculative and state.early[word] & bit_of(slot):
                    take_vc(setup, state, node, slot, out)
                win(setup, state, node, port, out, slot)
            left &= ~vcs
    return asked > 0


@inlined
def take_turns(setup, state, node, asked):
    """As ``allocate_switch``, where VCs are reserved: each has a crossbar input of its own.

    So those of one input port do not keep each other from output ports that are free.
    """
    for out in range(setup.num_ports if asked else 0):
        slot = state.best[out]
        if slot >= 0:
            state.best[out] = -1
            if setup.speculative and state.early[slot >> 6] & bit_of(slot):
                take_vc(setup, state, node, slot, out)
            win(setup, state, node, state.port_of[slot], out, slot)
    return asked > 0


@inlined
def take_vc(setup, state, node, slot, port):
    """Give a speculative head that won the switch an output slot of that port."""
    here = record(state.ports, port_at(setup, node, port))
    vc = next_from(vcs_in(setup, state.wanted[slot], port), here.next_vc)
    here.next_vc = vc + 1 if vc + 1 < setup.num_vcs else 0
    own(setup, state, node, slot, port * setup.vc_stride + vc)


@inlined
def move(setup, state, place, cycle):
    """Send the flit at the front of a slot on: to the next router, or out of the network."""
    node, slot = node_of(setup, place), slot_of(setup, place)
    here, masks = record(state.inputs, place), masks_of(setup, state, node, slot)
    out, port, left = np.int64(here.out), np.int64(here.out_port), here.left - 1
    here.left = left
    here.count -= 1
    masks.flits &= ~(np.int64(here.count == 0) << (slot & 63))
    return_credit(setup, state, node, slot, cycle)
    at = port_at(setup, node, port)
    sink = record(state.ports, at)
    if sink.down >= 0:
        sink.crossed += 1
        delay = record(state.lines, at).flit if setup.uneven else setup.flit_delay
        there = sink.down + out - port * setup.vc_stride
        bucket = (cycle + delay) & setup.wheel
        post(state.arrivals, state.arrivals_due, setup.arrivals_each, bucket, there)
        output = record(state.outputs, place_of(setup, node, out))
        output.credits -= 1
        if setup.counted:
            state.used[unsigned(at)] += 1
        spent = np.int64(output.credits == 0)
        masks_of(setup, state, node, out).open &= ~(spent << (out & 63))
        masks.credit &= ~(spent << (slot & 63))
    else:
        delay = record(state.lines, at).flit if setup.uneven else setup.exit_delay
        leave(setup, state, front_packet(setup, state, place), left, cycle + delay)
    if left == 0:
        end(setup, state, node, slot, out)
    if setup.uneven:
        rest(setup, state, node, port, cycle)


@inlined
def spend(line, cycle):
    """Note that a flit is sent on a line; return the first cycle in which it can send again."""
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
    early = output.credits >= setup.lazy
    output.credits += early
    if setup.uneven:
        delay = np.int64(record(state.lines, at).credit)
    else:
        delay = setup.credit_delay if up < setup.source_slots else setup.entry_credit_delay
    bucket = unsigned((cycle + delay) & setup.wheel)
    due = state.credits_due[bucket]
    state.credits[unsigned(bucket * setup.credits_each + due)] = up
    state.credits_due[bucket] = due + (not early)


@inlined
def leave(setup, state, index, left, arrival):
    """Take a flit out of the network: log the packet at its tail, answer a circuit's probe."""
    packet, clock = record(state.packets, index), record(state.clock, 0)
    hops = packet.routers - 1
    clock.ejected += 1
    if setup.circuit and left == packet.flits:
        back = 2 * setup.entry_credit_delay + hops * setup.credit_delay
        record(state.entries, packet.channel).resume = arrival + back
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
    """After a tail: free what the packet owned; a packet behind it comes to the front."""
    place = place_of(setup, node, slot)
    here = record(state.inputs, place)
    if not setup.reserved:
        masks_of(setup, state, node, slot).active &= ~bit_of(slot)
        masks_of(setup, state, node, out).free |= bit_of(out)
    here.front = here.front + 1 if here.front + 1 < setup.ring else 0
    if here.count > 0:
        clock = record(state.clock, 0)
        state.fronts[unsigned(clock.fronts)] = place
        clock.fronts += 1
