"""The network, cycle by cycle: what is due, the sources, the routers.

Work goes with what moves: flits and credits on their way lie in wheels of the cycles in which they
are due, and only routers and sources that may have something to do are visited.
"""

import numpy as np

from netloom.compilation import inlined, kernel
from netloom.simulation.kernels.bits import lowest, next_from, post
from netloom.simulation.kernels.records import record, unsigned
from netloom.simulation.network.kernels.router import allocate_switch, allocate_vcs, begin, move
from netloom.simulation.network.layout import DONE, LOG_FULL, PACKETS_FULL, PLAIN, STUCK, Setup

ONE = np.int64(1)
NEVER = np.int32(2**31 - 1)


@inlined
def born_at(born, first, cycle):
    """Return how many packets are created in this cycle."""
    after = first
    while after < len(born) and born[after, 0] == cycle:
        after += 1
    return after - first


@inlined
def wake(awake, node):
    """Note that a router or source may have something to do."""
    awake[unsigned(node >> 6)] |= ONE << (node & 63)


@inlined
def deliver_credits(setup, state, cycle):
    """Credits that come back in this cycle."""
    bucket = cycle & setup.wheel
    first = bucket * setup.credits_each
    for due in range(first, first + state.credits_due[unsigned(bucket)]):
        place = state.credits[unsigned(due)]
        output = record(state.outputs, place)
        output.credits += 1
        if place < setup.source_slots and (output.credits == 1 or setup.roomy):
            node = place // setup.num_slots
            masks, bit = record(state.masks, node), ONE << (place - node * setup.num_slots)
            masks.open |= bit
            if masks.free & bit == 0:
                masks.credit |= ONE << output.owner
            wake(state.active, node)
    state.credits_due[unsigned(bucket)] = 0


@inlined
def deliver_heads(setup, state, cycle):
    """Heads whose route is known from this cycle on."""
    bucket = cycle & setup.wheel
    first = bucket * setup.heads_each
    for due in range(first, first + state.heads_due[unsigned(bucket)]):
        head = np.int64(state.heads[unsigned(due)])
        node, slot = head >> 6, head & 63
        record(state.masks, node).waiting |= ONE << slot
        wake(state.active, node)
    state.heads_due[unsigned(bucket)] = 0


@inlined
def deliver_flits(setup, state, cycle):
    """Flits that reach a buffer in this cycle."""
    bucket = cycle & setup.wheel
    first = bucket * setup.arrivals_each
    fronts = record(state.clock, 0).fronts
    for due in range(first, first + state.arrivals_due[unsigned(bucket)]):
        arrival = np.int64(state.arrivals[unsigned(due)])
        node, slot = arrival >> 6, arrival & 63
        here = record(state.inputs, node * setup.num_slots + slot)
        here.count += 1
        record(state.masks, node).flits |= ONE << slot
        wake(state.active, node)
        state.fronts[unsigned(fronts)] = arrival
        fronts += here.left == 0
    state.arrivals_due[unsigned(bucket)] = 0
    record(state.clock, 0).fronts = fronts


@inlined
def begin_packets(setup, tables, state, cycle):
    """Packets that came to the front of a buffer: they arrived, or the tail before them left."""
    for index in range(record(state.clock, 0).fronts):
        front = np.int64(state.fronts[unsigned(index)])
        node, slot = front >> 6, front & 63
        if record(state.inputs, node * setup.num_slots + slot).left == 0:  # it may be noted twice
            wake(state.active, node)
            begin(setup, tables, state, node, slot, cycle)
    record(state.clock, 0).fronts = 0


@inlined
def create(setup, state, born, cycle):
    """Take the packets created in this cycle from the table of those to come."""
    clock = record(state.clock, 0)
    while clock.taken < len(born) and born[clock.taken, 0] == cycle:
        given = clock.taken
        packet = queue_packet(setup, state, born[given, 1], born[given, 5], cycle)
        packet.target = born[given, 2]
        packet.flits = born[given, 3]
        packet.coin = born[given, 4]
        clock.taken += 1


@inlined
def queue_packet(setup, state, source, aux, cycle):
    """Append a new packet to the queue of its source (or connection); return its record."""
    clock = record(state.clock, 0)
    index = clock.free_packet
    packet = record(state.packets, index)
    clock.free_packet = packet.next
    clock.free_packets -= 1
    packet.birth = cycle
    packet.source = source
    packet.aux = aux
    packet.next = -1
    packet.routers = 0
    packet.number = clock.created
    queue = aux if setup.reserved else source
    if state.queue_front[unsigned(queue)] < 0:
        state.queue_front[unsigned(queue)] = index
    else:
        record(state.packets, state.queue_back[unsigned(queue)]).next = index
    state.queue_back[unsigned(queue)] = index
    wake(state.sources, source)
    clock.created += 1
    return packet


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
    """Send a flit of the packet on one injection channel; return whether there is more to send."""
    index = node * setup.entry_channels + channel
    entry = record(state.entries, index)
    if entry.packet < 0:
        if state.queue_front[unsigned(node)] < 0:
            return False
        if not start(setup, state, node, channel, cycle):
            return True
    output = record(state.outputs, setup.source_slots + index * setup.num_vcs + entry.vc)
    if output.credits == 0 or cycle < entry.resume:
        return True
    send_flit(setup, state, node, channel, entry.vc, cycle)
    output.credits -= 1
    entry.unsent -= 1
    if setup.circuit and entry.unsent == record(state.packets, entry.packet).flits:
        entry.resume = NEVER  # until the probe is answered
    if entry.unsent == 0:
        entry.packet = -1
        return state.queue_front[unsigned(node)] >= 0
    return True


@inlined
def start(setup, state, node, channel, cycle):
    """Give the packet at the head of the queue a VC of an injection channel, if one has room."""
    index = node * setup.entry_channels + channel
    entry, first = record(state.entries, index), state.queue_front[unsigned(node)]
    packet = record(state.packets, first)
    need = packet.flits if setup.whole_packets else 1
    vc = entry.vc
    for _ in range(setup.num_vcs):
        vc = vc + 1 if vc + 1 < setup.num_vcs else 0
        place = setup.source_slots + index * setup.num_vcs + vc
        if record(state.outputs, place).credits >= need:
            break
    else:
        return False
    state.queue_front[unsigned(node)] = packet.next
    packet.channel = channel
    packet.entry = cycle
    entry.packet = first
    entry.unsent = packet.flits + setup.circuit
    entry.vc = vc
    entry.resume = 0
    enqueue(setup, state, node, channel, vc, first)
    return True


@inlined
def enqueue(setup, state, node, channel, vc, packet):
    """Append a packet to those that come to an injection slot."""
    slot = (setup.network_ports + channel) * setup.num_vcs + vc
    index = (node * setup.entry_channels + channel) * setup.num_vcs + vc
    output = record(state.outputs, setup.source_slots + index)
    state.rings[unsigned((node * setup.num_slots + slot) * setup.ring + output.back)] = packet
    output.back = output.back + 1 if output.back + 1 < setup.ring else 0


@inlined
def send_flit(setup, state, node, channel, vc, cycle):
    """Put a flit on an injection channel."""
    slot = (setup.network_ports + channel) * setup.num_vcs + vc
    bucket = (cycle + setup.entry_delay) & setup.wheel
    post(state.arrivals, state.arrivals_due, setup.arrivals_each, bucket, node << 6 | slot)
    record(state.clock, 0).injected += 1
    record(state.clock, 0).last_move = cycle


@inlined
def send_reserved(setup, state, node, channel, cycle):
    """As ``send``, where every VC of the channel is a connection's own: they take turns."""
    first = (node * setup.entry_channels + channel) * setup.num_vcs
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
            enqueue(setup, state, node, channel, vc, entry.packet)
        if entry.packet >= 0:
            busy = True
            if record(state.outputs, setup.source_slots + first + vc).credits > 0:
                ready |= ONE << vc
    if ready:
        vc = next_from(ready, record(state.entries, first).resume)
        record(state.entries, first).resume = vc + 1 if vc + 1 < setup.num_vcs else 0
        entry = record(state.entries, first + vc)
        if record(state.packets, entry.packet).entry < 0:
            record(state.packets, entry.packet).entry = cycle
        send_flit(setup, state, node, channel, vc, cycle)
        record(state.outputs, setup.source_slots + first + vc).credits -= 1
        entry.unsent -= 1
        if entry.unsent == 0:
            entry.packet = -1
    return busy


@inlined
def run_routers(setup, state):
    """Let every router that may have something to do allocate VCs and its switch."""
    for word in range(len(state.active)):
        nodes = state.active[unsigned(word)]
        while nodes:
            node = (word << 6) + lowest(nodes)
            nodes &= nodes - 1
            masks = record(state.masks, node)
            ready, waiting = masks.flits & masks.active & masks.credit, masks.waiting
            heads, changed = ONE - ONE, False
            if waiting:
                if setup.speculative:
                    heads = waiting
                else:
                    changed = allocate_vcs(setup, state, node, waiting)
            if ready | heads:
                changed |= allocate_switch(setup, state, node, ready, heads)
            if not changed:  # nothing more can happen before something arrives
                state.active[unsigned(word)] &= ~(ONE << (node & 63))


@inlined
def move_winners(setup, state, cycle):
    """Let every flit that won a switch move."""
    clock = record(state.clock, 0)
    winners, ejected = clock.winners, clock.ejected
    for index in range(winners):
        winner = np.int64(state.winners[unsigned(index)])
        move(setup, state, winner >> 12, winner >> 6 & 63, winner & 63, cycle)
    clock.winners = 0
    clock.link_hops += winners - (clock.ejected - ejected)
    if winners:
        clock.last_move = cycle


@inlined
def deliver(setup, tables, state, cycle):
    """Bring everything that is due in this cycle where it belongs."""
    deliver_credits(setup, state, cycle)
    deliver_heads(setup, state, cycle)
    deliver_flits(setup, state, cycle)
    begin_packets(setup, tables, state, cycle)


@inlined
def go_on(setup, state, cycle):
    """Let sources send, routers allocate and flits move."""
    run_sources(setup, state, cycle)
    run_routers(setup, state)
    move_winners(setup, state, cycle)


def compiled(plain):
    """Return the kernel that runs a network; a ``plain`` one does what plain routers need only.

    ``run(given, tables, state, born, until)`` runs the cycles from ``clock.cycle`` to ``until`` and
    returns why it came back. ``given`` are the fields of ``Setup``, those of ``PLAIN`` left out for
    a plain kernel; ``born`` holds the packets to come, one row each, by birth. It comes back early,
    before a cycle, when packets or log have no room for that cycle, or when nothing moves any more.
    """

    @kernel
    def run(given, tables, state, born, until):
        setup = Setup(*(given + PLAIN)) if plain else Setup(*given)
        clock = record(state.clock, 0)
        while clock.cycle < until:
            cycle = clock.cycle
            if clock.free_packets < born_at(born, clock.taken, cycle):
                return PACKETS_FULL
            if clock.logged + setup.num_nodes * setup.num_ports > len(state.log):
                return LOG_FULL
            if cycle - clock.last_move > setup.patience and clock.free_packets < len(state.packets):
                return STUCK
            deliver(setup, tables, state, cycle)
            create(setup, state, born, cycle)
            go_on(setup, state, cycle)
            clock.cycle = cycle + 1
        return DONE

    return run


run = compiled(plain=False)
run_plain = compiled(plain=True)
