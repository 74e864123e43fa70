"""One cycle of one router: VC allocation, switch allocation, and what a winning flit changes.

``setup``, ``state`` and its records are those of ``layout``, ``tables`` is the routing's. A router
sees the state that the cycle began with, and changes of other routers only what they will see
later: so routers may be taken in any order.
"""

import numpy as np

from netloom.compilation import inlined
from netloom.routing.kernels.virtual_channels import allowed, arrived
from netloom.simulation.kernels.bits import lowest, mixed, next_from, post, single
from netloom.simulation.kernels.records import record, unsigned

EMPTY = np.int64(0)
ONE = np.int64(1)


@inlined
def front_packet(setup, state, place):
    """Return the packet at the front of an input slot."""
    return state.rings[unsigned(place * setup.ring + record(state.inputs, place).front)]


@inlined
def begin(setup, tables, state, node, slot, cycle):
    """Make the packet at the front of a slot its current one: its route is computed.

    In store-and-forward, nothing happens until all of the packet is there.
    """
    place = node * setup.num_slots + slot
    here = record(state.inputs, place)
    index = front_packet(setup, state, place)
    packet = record(state.packets, index)
    flits = packet.flits + setup.circuit
    if setup.whole_first and here.count < flits:
        return
    here.left = flits
    hops = packet.routers
    packet.routers = hops + 1
    masks = record(state.masks, node)
    if setup.reserved and masks.active >> slot & 1:  # its connection owns an output slot for good
        follow(setup, state, node, here.out, index)
        return
    packet.aux = arrived(tables, node, packet.aux)
    state.allowed[unsigned(place)] = route(setup, tables, state, node, slot, packet, hops)
    if setup.head_wait == 0:
        masks.waiting |= ONE << slot
    else:
        bucket = (cycle + setup.head_wait) & setup.wheel
        post(state.heads, state.heads_due, setup.heads_each, bucket, node << 6 | slot)


@inlined
def route(setup, tables, state, node, slot, packet, hops):
    """Return the output slots that a packet may take.

    Where its source chooses between two ways, it takes the one on whose first channel more credits
    are left, and as its coin fell where both have as many; the coin then says which it was.
    """
    coin = np.int64(packet.coin)
    choosing = setup.choose_order and hops == 0
    best, most, kept = EMPTY, -1, coin
    for way in range(2 if choosing else 1):
        slots = allowed(
            tables, node, slot, packet.source, packet.target, packet.aux, coin ^ way, hops
        )
        left = 0
        if choosing:
            first = node * setup.num_slots + state.port_of[lowest(slots)] * setup.num_vcs
            for place in range(first, first + setup.num_vcs):
                left += record(state.outputs, place).credits
        if left > most:
            best, most, kept = slots, left, coin ^ way
    packet.coin = kept
    return best


@inlined
def follow(setup, state, node, out, packet):
    """Append a packet to those that come to the other end of an output slot."""
    port = state.port_of[out]
    if port < setup.network_ports:
        down = record(state.ports, node * setup.num_ports + port).down + out - port * setup.num_vcs
        ring = ((down >> 6) * setup.num_slots + (down & 63)) * setup.ring
        output = record(state.outputs, node * setup.num_slots + out)
        state.rings[unsigned(ring + output.back)] = packet
        output.back = output.back + 1 if output.back + 1 < setup.ring else 0


@inlined
def oldest(setup, state, node, slots):
    """Return the slot of a set whose packet was created first."""
    best, best_birth, best_number = -1, 0, 0
    while slots:
        slot = lowest(slots)
        slots &= slots - 1
        packet = record(state.packets, front_packet(setup, state, node * setup.num_slots + slot))
        older = packet.birth < best_birth
        if best < 0 or older or (packet.birth == best_birth and packet.number < best_number):
            best, best_birth, best_number = slot, packet.birth, packet.number
    return best


@inlined
def choices(setup, state, node, slot, free):
    """Return the output slots of ``free`` that a waiting head asks for.

    Those in ``roomy`` are asked for only where all of the packet fits, or nothing is in the way.
    Of several network ports it asks for one, drawn anew every cycle: pointers that go round them
    would favour some, by their numbers.
    """
    place = node * setup.num_slots + slot
    asked = state.allowed[unsigned(place)] & free
    tight = asked & setup.roomy
    if tight:
        flits = record(state.packets, front_packet(setup, state, place)).flits + setup.circuit
        need = min(flits, setup.buffer_flits)
        while tight:
            out = lowest(tight)
            tight &= tight - 1
            if record(state.outputs, node * setup.num_slots + out).credits < need:
                asked &= ~(ONE << out)
    asked = asked & setup.preferred if asked & setup.preferred else asked
    if asked:
        port = state.port_of[lowest(asked)]
        beyond = asked >> ((port + 1) * setup.num_vcs)
        if beyond and port < setup.network_ports:
            return of_one_port(setup, state, place, asked)
    return asked


@inlined
def of_one_port(setup, state, place, slots):
    """Return those of a set of output slots that are of one port, each as likely as any other."""
    packet = record(state.packets, front_packet(setup, state, place))
    ports, left = 0, slots
    while left:
        left &= ~(setup.all_vcs << (state.port_of[lowest(left)] * setup.num_vcs))
        ports += 1
    port = state.port_of[lowest(slots)]
    for _ in range(mixed(packet.coin, packet.number, record(state.clock, 0).cycle) % ports):
        slots &= ~(setup.all_vcs << (port * setup.num_vcs))
        port = state.port_of[lowest(slots)]
    return slots & setup.all_vcs << (port * setup.num_vcs)


@inlined
def own(setup, state, node, slot, out):
    """Give an output slot to the packet of an input slot."""
    masks, place = record(state.masks, node), node * setup.num_slots
    bit, out_bit = ONE << slot, ONE << out
    masks.active |= bit
    masks.waiting &= ~bit
    masks.free &= ~out_bit
    masks.credit = masks.credit | bit if masks.open & out_bit else masks.credit & ~bit
    port = state.port_of[out]
    record(state.ports, node * setup.num_ports + port).bound |= bit
    here = record(state.inputs, place + slot)
    here.out, here.out_port = out, port
    record(state.outputs, place + out).owner = slot
    follow(setup, state, node, out, front_packet(setup, state, place + slot))


@inlined
def accept_vc(setup, state, node, slot, offers):
    """Let an input slot take one of the output slots that were granted to it."""
    if setup.oldest_first:
        out = lowest(offers)
    else:
        place = node * setup.num_slots
        out = next_from(offers, record(state.inputs, place + slot).accept)
        record(state.inputs, place + slot).accept = out + 1 if out + 1 < setup.num_slots else 0
        record(state.outputs, place + out).grant = slot + 1 if slot + 1 < setup.num_slots else 0
    own(setup, state, node, slot, out)


@inlined
def allocate_vcs(setup, state, node, waiting):
    """One iteration of separable, output-first VC allocation; whether any VC was given.

    Output slots that one head alone asks for are granted to it; a contested one goes to one of its
    askers. Then every head takes one of those granted to it.
    """
    free = record(state.masks, node).free
    asked, contested = EMPTY, EMPTY
    heads = waiting
    while heads:
        slot = lowest(heads)
        heads &= heads - 1
        offers = choices(setup, state, node, slot, free)
        state.wanted[slot] = offers
        state.granted[slot] = 0
        contested |= asked & offers
        asked |= offers
    left = contested
    while left:
        out = lowest(left)
        left &= left - 1
        slot = vc_winner(setup, state, node, waiting, out)
        state.granted[slot] |= ONE << out
    heads = waiting if asked else EMPTY
    while heads:
        slot = lowest(heads)
        heads &= heads - 1
        offers = state.wanted[slot] & ~contested | state.granted[slot]
        if offers:
            accept_vc(setup, state, node, slot, offers)
    return asked != 0


@inlined
def vc_winner(setup, state, node, waiting, out):
    """Return the waiting slot to which a contested output slot is granted."""
    askers = EMPTY
    while waiting:
        slot = lowest(waiting)
        waiting &= waiting - 1
        askers |= (state.wanted[slot] >> out & 1) << slot
    if setup.oldest_first:
        return oldest(setup, state, node, askers)
    return next_from(askers, record(state.outputs, node * setup.num_slots + out).grant)


@inlined
def ask_early(setup, state, node, heads, asked):
    """Let the waiting heads of a speculative router ask for output ports, as ``early`` requests.

    A head asks for every port at which it could take a VC, which goes to ``wanted``. ``asked`` are
    the ports that have requests; return them with those of the heads.
    """
    free = record(state.masks, node).free & record(state.masks, node).open
    while heads:
        slot = lowest(heads)
        heads &= heads - 1
        slots = choices(setup, state, node, slot, free)
        state.wanted[slot] = slots
        while slots:
            port = state.port_of[lowest(slots)]
            slots &= ~(setup.all_vcs << (port * setup.num_vcs))
            if asked >> port & 1 == 0:
                asked |= ONE << port
                state.requests[port] = 0
                state.early[port] = 0
            state.early[port] |= ONE << slot
    return asked


@inlined
def granted_slot(setup, state, node, port):
    """Return the input slot for which an output port that is asked for decides."""
    asking = state.requests[port]
    if setup.speculative:
        asking |= state.early[port]
    if setup.oldest_first:
        return oldest(setup, state, node, asking)
    return next_from(asking, record(state.ports, node * setup.num_ports + port).grant)


@inlined
def accepted(setup, state, node, port, first, second):
    """Return which of two output ports that are granted to it an input port takes."""
    if setup.oldest_first:
        slot = granted_slot(setup, state, node, first)
        other = granted_slot(setup, state, node, second)
        older = oldest(setup, state, node, ONE << slot | ONE << other)
        return first if older == slot else second
    both = ONE << first | ONE << second
    return next_from(both, record(state.ports, node * setup.num_ports + port).accept)


@inlined
def chosen_slot(setup, state, node, port, out):
    """Return the slot of an input port that sends to an output port."""
    shift = port * setup.num_vcs
    asking = state.requests[out] >> shift & setup.all_vcs
    if setup.speculative and asking == 0:
        asking = state.early[out] >> shift & setup.all_vcs
    if setup.oldest_first:
        return oldest(setup, state, node, asking << shift)
    return shift + next_from(asking, record(state.ports, node * setup.num_ports + port).turn)


@inlined
def win(setup, state, node, port, out, slot):
    """Note that a slot of an input port has won an output port; turn the pointers behind it."""
    source, sink = record(state.ports, node * setup.num_ports + port), node * setup.num_ports + out
    vc = slot - port * setup.num_vcs + 1
    after = slot + 1 if setup.reserved else (port + 1) * setup.num_vcs
    record(state.ports, sink).grant = after if after < setup.num_slots else 0
    source.accept = out + 1 if out + 1 < setup.num_ports else 0
    source.turn = vc if vc < setup.num_vcs else 0
    clock = record(state.clock, 0)
    state.winners[unsigned(clock.winners)] = node << 12 | port << 6 | slot
    clock.winners += 1


@inlined
def offer(setup, state, node, out, taking):
    """Let an output port grant itself to an input port, which takes it or keeps what it has.

    ``taken`` holds the output port that each of the input ports in ``taking`` has.
    """
    port = state.port_of[granted_slot(setup, state, node, out)]
    if taking >> port & 1:
        out = accepted(setup, state, node, port, state.taken[port], out)
    state.taken[port] = out
    return taking | ONE << port


@inlined
def allocate_switch(setup, state, node, ready, heads):
    """One iteration of separable, output-first switch allocation; the slots that win are noted.

    Return whether there are any.
    """
    if setup.reserved:
        return take_turns(setup, state, node, ready, heads)
    if heads == 0 and single(ready):
        slot = lowest(ready)
        out = record(state.inputs, node * setup.num_slots + slot).out_port
        win(setup, state, node, state.port_of[slot], out, slot)
        return True
    asked, taking = EMPTY, EMPTY
    left = ready
    while left:
        out = record(state.inputs, node * setup.num_slots + lowest(left)).out_port
        bound = record(state.ports, node * setup.num_ports + out).bound
        left &= ~bound
        state.requests[out] = ready & bound
        if setup.speculative:
            state.early[out] = 0
            asked |= ONE << out
        else:
            taking = offer(setup, state, node, out, taking)
    if heads:
        asked = ask_early(setup, state, node, heads, asked)
    while asked:
        taking = offer(setup, state, node, lowest(asked), taking)
        asked &= asked - 1
    won = taking != 0
    while taking:
        port = lowest(taking)
        taking &= taking - 1
        out = state.taken[port]
        slot = chosen_slot(setup, state, node, port, out)
        if heads >> slot & 1:
            take_vc(setup, state, node, slot, out)
        win(setup, state, node, port, out, slot)
    return won


@inlined
def take_turns(setup, state, node, ready, heads):
    """As ``allocate_switch``, where VCs are reserved: each has a crossbar input of its own.

    So those of one input port do not keep each other from output ports that are free.
    """
    asked, left = EMPTY, ready
    while left:
        out = record(state.inputs, node * setup.num_slots + lowest(left)).out_port
        bound = record(state.ports, node * setup.num_ports + out).bound
        left &= ~bound
        state.requests[out] = ready & bound
        state.early[out] = 0
        asked |= ONE << out
    if heads:
        asked = ask_early(setup, state, node, heads, asked)
    won = asked != 0
    while asked:
        out = lowest(asked)
        asked &= asked - 1
        slot = granted_slot(setup, state, node, out)
        if heads >> slot & 1:
            take_vc(setup, state, node, slot, out)
        win(setup, state, node, state.port_of[slot], out, slot)
    return won


@inlined
def take_vc(setup, state, node, slot, port):
    """Give a speculative head that won the switch an output slot of that port."""
    shift = port * setup.num_vcs
    here = record(state.ports, node * setup.num_ports + port)
    vc = next_from(state.wanted[slot] >> shift & setup.all_vcs, here.next_vc)
    here.next_vc = vc + 1 if vc + 1 < setup.num_vcs else 0
    own(setup, state, node, slot, shift + vc)


@inlined
def move(setup, state, node, port_in, slot, cycle):
    """Send the flit at the front of a slot on: to the next router, or out of the network."""
    place = node * setup.num_slots
    here, masks = record(state.inputs, place + slot), record(state.masks, node)
    out, port, left = here.out, here.out_port, here.left - 1
    here.left = left
    here.count -= 1
    masks.flits &= ~(np.int64(here.count == 0) << slot)
    return_credit(setup, state, node, port_in, slot, cycle)
    if port < setup.network_ports:
        sink = record(state.ports, node * setup.num_ports + port)
        sink.crossed += 1
        bucket = (cycle + setup.flit_delay) & setup.wheel
        there = sink.down + out - port * setup.num_vcs
        post(state.arrivals, state.arrivals_due, setup.arrivals_each, bucket, there)
        output = record(state.outputs, place + out)
        output.credits -= 1
        spent = np.int64(output.credits == 0)
        masks.open &= ~(spent << out)
        masks.credit &= ~(spent << slot)
    else:
        leave(setup, state, front_packet(setup, state, place + slot), left, cycle)
    if left == 0:
        end(setup, state, node, slot, out)


@inlined
def return_credit(setup, state, node, port, slot, cycle):
    """Tell the router or source before that a place of a slot's buffer is free again.

    A count so high that it cannot reach zero before the credit's time is raised at once. Nothing
    here branches: what a processor cannot foretell costs more than what it does in vain.
    """
    up = record(state.ports, node * setup.num_ports + port).up + slot - port * setup.num_vcs
    output = record(state.outputs, up)
    early = output.credits >= setup.lazy
    output.credits += early
    delay = setup.credit_delay if up < setup.source_slots else setup.entry_credit_delay
    bucket = unsigned((cycle + delay) & setup.wheel)
    due = state.credits_due[bucket]
    state.credits[unsigned(bucket * setup.credits_each + due)] = up
    state.credits_due[bucket] = due + (not early)


@inlined
def leave(setup, state, index, left, cycle):
    """Take a flit out of the network: log the packet at its tail, answer a circuit's probe."""
    packet, clock = record(state.packets, index), record(state.clock, 0)
    arrival, hops = cycle + setup.exit_delay, packet.routers - 1
    clock.ejected += 1
    if setup.circuit and left == packet.flits:
        back = 2 * setup.entry_credit_delay + hops * setup.credit_delay
        record(state.entries, packet.source * setup.entry_channels + packet.channel).resume = (
            arrival + back
        )
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
    here, masks = record(state.inputs, node * setup.num_slots + slot), record(state.masks, node)
    if not setup.reserved:
        masks.active &= ~(ONE << slot)
        masks.free |= ONE << out
        record(state.ports, node * setup.num_ports + state.port_of[out]).bound &= ~(ONE << slot)
    here.front = here.front + 1 if here.front + 1 < setup.ring else 0
    if here.count > 0:
        clock = record(state.clock, 0)
        state.fronts[unsigned(clock.fronts)] = node << 6 | slot
        clock.fronts += 1
