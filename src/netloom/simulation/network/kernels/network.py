"""The network, cycle by cycle: what is due, the sources, the routers.

The work is proportional to what moves. Flits and credits on their way are kept in wheels, by the
cycle in which they are due. Only routers and sources that may have something to do are visited.

Packets come from a table of those born, or from a program: its messages enter as they are sent, and
what waits goes on.

Twin: ``tests/reference/network.py``.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from netloom.base.compilation import inlined, kernel
from netloom.base.held import held
from netloom.simulation.kernels.agenda import ARRIVED, due, first_time, plan
from netloom.simulation.kernels.records import lowest, record, soon, unsigned
from netloom.simulation.network.kernels.router import (
    allocate_switch,
    allocate_vcs,
    begin_attempts,
    begin_packets,
    bit_of,
    end_attempts,
    let_wait,
    masks_of,
    move,
    node_of,
    place_of,
    port_at,
    port_of,
    slot_of,
    up_of,
    wake,
)
from netloom.simulation.network.kernels.sources import queue_packet, run_sources
from netloom.simulation.network.layout import DONE, LOG_FULL, PACKETS_FULL, STUCK

EMPTY = np.int64(0)
ONE = np.int64(1)


@inlined
def deliver_credits(setup, state, cycle):
    """Credits that come back in this cycle."""
    bucket = unsigned(cycle & setup.wheel)
    for index in range(state.credits_due[bucket]):
        place = np.int64(state.credits[bucket, unsigned(index)])
        output = record(state.outputs, place)
        output.credits += 1
        if place < setup.source_slots:
            if setup.counted:
                node = place // setup.num_slots
                port = port_of(setup, place - node * setup.num_slots)
                state.used[unsigned(node << setup.port_bits | port)] -= 1
            if output.credits == 1 or setup.roomy:
                open_slot(setup, state, place, output, cycle)
    state.credits_due[bucket] = 0


@inlined
def open_slot(setup, state, place, output, cycle):
    """Let flits go to an output slot that has credit, once its port may send.

    The router looks again before that: a head may wait for room to be given a VC.
    """
    node = place // setup.num_slots
    slot = place - node * setup.num_slots
    wake(state.active, node)
    if setup.uneven:
        line = record(state.lines, port_at(setup, node, port_of(setup, slot)))
        if line.ready > cycle * line.share:
            return
    masks, bit = masks_of(setup, state, node, slot), bit_of(slot)
    masks.open |= bit
    if masks.free & bit == 0:
        owner = np.int64(output.owner)
        masks_of(setup, state, node, owner).credit |= bit_of(owner)


@inlined
def deliver_wakes(setup, state, cycle):
    """Output ports that may send from this cycle on."""
    bucket = unsigned(cycle & setup.wheel)
    for index in range(state.wakes_due[bucket]):
        at = np.int64(state.wakes[bucket, unsigned(index)])
        node = at // setup.num_ports
        port = at - node * setup.num_ports
        place = place_of(setup, node, port * setup.vc_stride)
        for here in range(place, place + setup.num_vcs):
            output = record(state.outputs, here)
            if output.credits > 0:
                open_slot(setup, state, here, output, cycle)
    state.wakes_due[bucket] = 0


@inlined
def deliver_heads(setup, state, cycle):
    """Heads whose route is known from this cycle on."""
    bucket = unsigned(cycle & setup.wheel)
    for index in range(state.heads_due[bucket]):
        head = np.int64(state.heads[bucket, unsigned(index)])
        node, slot = node_of(setup, head), slot_of(setup, head)
        masks_of(setup, state, node, slot).waiting |= bit_of(slot)
        wake(state.active, node)
    state.heads_due[bucket] = 0


@inlined
def deliver_flits(setup, state, cycle):
    """Flits that reach a buffer in this cycle."""
    bucket = unsigned(cycle & setup.wheel)
    fronts, many = record(state.clock, 0).fronts, state.arrivals_due[bucket]
    for index in range(many):
        if setup.far:
            ahead = np.int64(state.arrivals[bucket, unsigned(min(index + 8, many - 1))])
            node, slot = node_of(setup, ahead), slot_of(setup, ahead)
            soon(state.inputs, place_of(setup, node, slot))
            soon(state.masks, node * setup.words)
        arrival = np.int64(state.arrivals[bucket, unsigned(index)])
        node, slot = node_of(setup, arrival), slot_of(setup, arrival)
        here = record(state.inputs, place_of(setup, node, slot))
        here.count += 1
        masks_of(setup, state, node, slot).flits |= bit_of(slot)
        wake(state.active, node)
        state.fronts[unsigned(fronts)] = arrival
        fronts += here.left == 0
    state.arrivals_due[bucket] = 0
    record(state.clock, 0).fronts = fronts


@inlined
def run_routers(setup, state):
    """Let every router that may have something to do allocate VCs and its switch."""
    for word in range(len(state.active)):
        nodes = state.active[unsigned(word)]
        while nodes:
            node = (word << 6) + lowest(nodes)
            nodes &= nodes - 1
            if not run_router(setup, state, node):  # nothing can happen before something arrives
                state.active[unsigned(word)] &= ~(ONE << (node & 63))


@inlined
def run_router(setup, state, node):
    """Let a router allocate VCs and its switch. Return whether anything changed."""
    ready, heads, changed = EMPTY, EMPTY, False
    for word in range(setup.words):  # before VC allocation: who wins there asks next cycle
        masks = record(state.masks, node * setup.words + word)
        here, early = masks.flits & masks.active & masks.credit, masks.waiting
        if setup.staged:
            here, early = begin_attempts(setup, state, node, word)
        if setup.words > 1 or setup.speculative:  # else they are at hand
            state.ready[word] = here
            state.early[word] = early
        ready |= here
        heads |= early
    if heads and not setup.speculative:
        changed = allocate_vcs(setup, state, node, heads)
        heads = EMPTY
    if ready | heads:
        changed |= allocate_switch(setup, state, node, ready, heads)
    if setup.staged:
        changed |= end_attempts(setup, state, node)
    return changed


@inlined
def deliver(setup, tables, state, cycle):
    """Bring everything that is due in this cycle where it belongs."""
    if setup.uneven:
        deliver_wakes(setup, state, cycle)
    deliver_credits(setup, state, cycle)
    if setup.head_wait:
        deliver_heads(setup, state, cycle)
    deliver_flits(setup, state, cycle)
    begin_packets(setup, tables, state, cycle)


@inlined
def go_on(setup, state, cycle):
    """Let sources send, routers allocate and flits move."""
    run_sources(setup, state, cycle)
    run_routers(setup, state)
    clock = record(state.clock, 0)
    if setup.staged:
        let_wait(setup, state, cycle)
    winners, ejected = clock.winners, clock.ejected
    for index in range(winners):
        if setup.far:
            ahead = np.int64(state.winners[unsigned(min(index + 8, winners - 1))])
            node, slot = node_of(setup, ahead), slot_of(setup, ahead)
            soon(state.outputs, up_of(setup, state, node, slot, port_of(setup, slot)))
        move(setup, state, np.int64(state.winners[unsigned(index)]), cycle)
    clock.winners = 0
    clock.link_hops += winners - (clock.ejected - ejected)
    if winners:
        clock.last_move = cycle


@cache
def compiled(known):
    """Return the kernel that runs a network of which some fields are known. See ``known_of``.

    What is known when it is compiled makes it smaller and faster.
    ``run(setup, tables, state, born, until)`` runs the cycles from ``clock.cycle`` to ``until`` and
    returns why it came back. ``setup`` and ``state`` are those of ``layout``, ``tables`` are the
    routing's. ``born`` holds the packets to come, one row each, by birth. It comes back early,
    before a cycle, when packets or log have no room for that cycle, or when nothing moves any more.
    """

    @kernel
    def run(numbers, table_arrays, arrays, born, until):
        setup, tables, state = held(numbers, known), held(table_arrays, known), held(arrays, "")
        clock = record(state.clock, 0)
        while clock.cycle < until:
            cycle, after = clock.cycle, clock.taken
            while after < len(born) and born[after, 0] == cycle:
                after += 1
            if clock.free_packets < after - clock.taken:
                return PACKETS_FULL
            if clock.logged + setup.num_nodes * setup.num_ports > len(state.log):
                return LOG_FULL
            stopped = cycle - clock.last_move > setup.patience
            if stopped and clock.free_packets < len(state.packets):
                return STUCK
            deliver(setup, tables, state, cycle)
            for given in range(clock.taken, after):
                source, target = born[given, 1], born[given, 2]
                coin, aux = born[given, 4], born[given, 5]
                packet = queue_packet(setup, tables, state, source, target, coin, aux, cycle)
                packet.flits = born[given, 3]
                host = record(state.hosts, source)
                host.born += 1
                host.born_flits += packet.flits
            clock.taken = after
            go_on(setup, state, cycle)
            clock.cycle = cycle + 1
        return DONE

    return run


# -- driven by a program ---------------------------------------------------------------------------


@inlined
def enter(setup, tables, state, agenda, cycle, packet_flits):
    """Cut the rows sent in this cycle into packets. Return whether there is room for all."""
    clock, counts = record(agenda.clock, 0), record(state.clock, 0)
    while clock.entered < clock.sent:
        index = agenda.sent[unsigned(clock.entered)]
        row = record(agenda.rows, index)
        packets = (row.flits + packet_flits - 1) // packet_flits
        if counts.free_packets < packets:
            return False
        row.packets = packets
        left = row.flits
        for _ in range(packets):
            packet = queue_packet(
                setup, tables, state, row.source, row.target, row.coin, row.path - 1, cycle
            )
            packet.flits = min(left, packet_flits)
            packet.row = index
            left -= packet_flits
        clock.entered += 1
    clock.entered = 0
    clock.sent = 0
    return True


@inlined
def note_arrivals(state, agenda):
    """Note when the tails of messages arrive whose last packet leaves the network."""
    clock = record(state.clock, 0)
    for place in range(clock.logged):
        entry = record(state.log, place)
        row = record(agenda.rows, entry.row)
        row.packets -= 1
        row.hops = entry.hops
        if row.entered < 0 or entry.entry < row.entered:
            row.entered = entry.entry
        if row.packets == 0:
            plan(agenda, entry.arrival, entry.row, ARRIVED)
    clock.logged = 0


@inlined
def skip(setup, state, agenda, until):
    """Go on to the next event where the network has long been empty. Return the cycle."""
    clock = record(state.clock, 0)
    empty = clock.free_packets == len(state.packets)
    if empty and clock.cycle - clock.last_move > setup.wheel:
        after = until
        if record(agenda.clock, 0).events > 0:
            after = min(until, first_time(agenda))
        clock.cycle = max(clock.cycle, after)
    return clock.cycle


@cache
def compiled_program(known):
    """Return the kernel that runs a network with a program. See ``compiled``.

    ``run(setup, tables, state, agenda, packet_flits, num_rows, until)`` ends early once all rows
    are complete.
    """

    @kernel
    def run(numbers, table_arrays, arrays, agenda, packet_flits, num_rows, until):
        setup, tables, state = held(numbers, known), held(table_arrays, known), held(arrays, "")
        clock, counts = record(agenda.clock, 0), record(state.clock, 0)
        while clock.completed < num_rows and counts.cycle < until:
            if clock.sent == 0:
                cycle = skip(setup, state, agenda, until)
                clock.time = cycle
                if cycle == until:
                    break
                clock.sent = due(agenda, cycle)
            cycle = counts.cycle
            stopped = cycle - counts.last_move > setup.patience
            if stopped and counts.free_packets < len(state.packets):
                return STUCK
            if clock.sent > 0 and not enter(setup, tables, state, agenda, cycle, packet_flits):
                return PACKETS_FULL
            deliver(setup, tables, state, cycle)
            go_on(setup, state, cycle)
            note_arrivals(state, agenda)
            counts.cycle = cycle + 1
            clock.time = cycle + 1
        return DONE

    return run
