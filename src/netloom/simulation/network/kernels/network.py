"""The network, cycle by cycle: what is due, the sources, the routers.

The work is proportional to what moves. Flits and credits on their way are kept in wheels, by the
cycle in which they are due. Only routers and sources that may have something to do are visited.

Processors that run regions of one network tell each other how far they are, once a cycle. Each
region writes only its own numbers of ``State.signs``, and reads those of the others once all have
reached the cycle. No region is more than a cycle ahead, so whatever is sent is there when it is
due.

Twin: ``tests/reference/network.py``.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from netloom.base.compilation import inlined, kernel
from netloom.base.held import held
from netloom.simulation.kernels.records import lowest, record, unsigned
from netloom.simulation.network.kernels.sources import queue_packet, run_sources
from netloom.simulation.network.kernels.switch import (
    allocate_switch,
    begin_attempts,
    begin_packets,
    end_attempts,
    let_wait,
    move,
)
from netloom.simulation.network.kernels.vc_allocation import (
    allocate_vcs,
    bit_of,
    bucket_of,
    masks_of,
    node_of,
    place_of,
    port_at,
    region_of,
    slot_of,
    wake,
)
from netloom.simulation.network.layout import (
    DONE,
    KINDS,
    LOG_FULL,
    PACKETS_FULL,
    SIGN,
    STUCK,
    RegionSetup,
    known_of,
)

EMPTY = np.int64(0)
ONE = np.int64(1)


@inlined
def born_at(born, first, cycle):
    """Return how many packets are created in this cycle."""
    after = first
    while after < len(born) and born[after, 0] == cycle:
        after += 1
    return after - first


@inlined
def deliver_credits(setup, state, cycle):
    """Credits that come back in this cycle."""
    for sender in range(setup.regions if setup.divided else 1):
        deliver_credits_of(setup, state, sender, cycle)


@inlined
def deliver_credits_of(setup, state, sender, cycle):
    """Credits that come back in this cycle from one region."""
    bucket = bucket_of(setup, sender, setup.region, cycle)
    first = bucket * setup.credits_each
    for due in range(first, first + state.credits_due[unsigned(bucket)]):
        place = np.int64(state.credits[unsigned(due)])
        output = record(state.outputs, place)
        output.credits += 1
        if place < setup.source_slots:
            if setup.counted:
                count_credit(setup, state, place)
            if output.credits == 1 or setup.roomy:
                open_slot(setup, state, place, output, cycle)
    state.credits_due[unsigned(bucket)] = 0


@inlined
def count_credit(setup, state, place):
    """Count a credit that has come back to an output port."""
    node = place // setup.num_slots
    port = state.port_of[place - node * setup.num_slots]
    state.used[unsigned(node << setup.port_bits | port)] -= 1


@inlined
def open_slot(setup, state, place, output, cycle):
    """Let flits go to an output slot that has credit, once its port may send.

    The router looks again before that: a head may wait for room to be given a VC.
    """
    node = place // setup.num_slots
    slot = place - node * setup.num_slots
    wake(state.active, node)
    if setup.uneven:
        line = record(state.lines, port_at(setup, node, state.port_of[slot]))
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
    bucket = cycle & setup.wheel
    first = bucket * setup.wakes_each
    for due in range(first, first + state.wakes_due[unsigned(bucket)]):
        at = np.int64(state.wakes[unsigned(due)])
        node = at // setup.num_ports
        port = at - node * setup.num_ports
        place = place_of(setup, node, port * setup.vc_stride)
        for here in range(place, place + setup.num_vcs):
            output = record(state.outputs, here)
            if output.credits > 0:
                open_slot(setup, state, here, output, cycle)
    state.wakes_due[unsigned(bucket)] = 0


@inlined
def deliver_heads(setup, state, cycle):
    """Heads whose route is known from this cycle on."""
    bucket = cycle & setup.wheel
    first = bucket * setup.heads_each
    for due in range(first, first + state.heads_due[unsigned(bucket)]):
        head = np.int64(state.heads[unsigned(due)])
        node, slot = node_of(setup, head), slot_of(setup, head)
        masks_of(setup, state, node, slot).waiting |= bit_of(slot)
        wake(state.active, node)
    state.heads_due[unsigned(bucket)] = 0


@inlined
def deliver_flits(setup, state, cycle):
    """Flits that reach a buffer in this cycle."""
    for sender in range(setup.regions if setup.divided else 1):
        deliver_flits_of(setup, state, sender, cycle)


@inlined
def deliver_flits_of(setup, state, sender, cycle):
    """Flits that reach a buffer in this cycle from one region."""
    bucket = bucket_of(setup, sender, setup.region, cycle)
    first = bucket * setup.arrivals_each
    fronts = record(state.clock, 0).fronts
    for due in range(first, first + state.arrivals_due[unsigned(bucket)]):
        arrival = np.int64(state.arrivals[unsigned(due)])
        node, slot = node_of(setup, arrival), slot_of(setup, arrival)
        here = record(state.inputs, place_of(setup, node, slot))
        here.count += 1
        masks_of(setup, state, node, slot).flits |= bit_of(slot)
        wake(state.active, node)
        state.fronts[unsigned(fronts)] = arrival
        fronts += here.left == 0
    state.arrivals_due[unsigned(bucket)] = 0
    record(state.clock, 0).fronts = fronts


@inlined
def create(setup, tables, state, born, cycle):
    """Take the packets created in this cycle from the table of those to come."""
    clock = record(state.clock, 0)
    while clock.taken < len(born) and born[clock.taken, 0] == cycle:
        given = clock.taken
        clock.taken += 1
        if setup.divided and not starts_here(setup, state, born[given, 1]):
            clock.created += 1
            continue
        packet = queue_packet(
            setup, tables, state, born[given, 1], born[given, 2], born[given, 4], born[given, 5],
            cycle,
        )  # fmt: skip
        packet.flits = born[given, 3]


@inlined
def starts_here(setup, state, source):
    """Whether the one source of a node or host is in this region."""
    entry = record(state.entries, source * setup.entry_channels)
    return region_of(setup, state, node_of(setup, np.int64(entry.first))) == setup.region


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
def move_winners(setup, state, cycle):
    """Let every flit that has won a switch move."""
    clock = record(state.clock, 0)
    if setup.staged:
        let_wait(setup, state, cycle)
    winners, ejected = clock.winners, clock.ejected
    for index in range(winners):
        move(setup, state, np.int64(state.winners[unsigned(index)]), cycle)
    clock.winners = 0
    clock.link_hops += winners - (clock.ejected - ejected)
    if winners:
        clock.last_move = cycle


@inlined
def deliver(setup, tables, state, cycle):
    """Bring everything that is due in this cycle where it belongs."""
    if setup.uneven:
        deliver_wakes(setup, state, cycle)
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


@inlined
def is_stuck(setup, state, cycle):
    """Whether packets are in the network and nothing has moved for too long."""
    clock = record(state.clock, 0)
    last, free = clock.last_move, clock.free_packets
    if setup.divided:
        last, free = meet(setup, state, cycle)
    return cycle - last > setup.patience and free < len(state.packets)


def compiled(kind):
    """Return the kernel that runs a network of a kind of ``layout.KINDS``.

    What is known when it is compiled makes it smaller and faster.
    ``run(given, table_arrays, arrays, born, until)`` runs the cycles from ``clock.cycle`` to
    ``until`` and returns why it came back. ``given`` are the fields of ``Setup`` that the kind does
    not tell, ``table_arrays`` the routing's tables and ``arrays`` the ``State``. ``born`` holds the
    packets to come, one row each, by birth. It comes back early, before a cycle, when packets or
    log have no room for that cycle, or when nothing moves any more.
    """
    frozen = known_of(kind)

    @kernel
    def run(given, table_arrays, arrays, born, until):
        setup, tables, state = held(kind(*(given + frozen))), held(table_arrays), held(arrays)
        clock = record(state.clock, 0)
        while clock.cycle < until:
            cycle = clock.cycle
            if clock.free_packets < born_at(born, clock.taken, cycle):
                return PACKETS_FULL
            if clock.logged + setup.num_nodes * setup.num_ports > len(state.log):
                return LOG_FULL
            if is_stuck(setup, state, cycle):
                return STUCK
            deliver(setup, tables, state, cycle)
            create(setup, tables, state, born, cycle)
            go_on(setup, state, cycle)
            clock.cycle = cycle + 1
        return DONE

    return run


runs = {kind: compiled(kind) for kind in KINDS}
run_region = compiled(RegionSetup)


PATIENT = 2_000
"""Looks at another's sign before others are let run: about ten microseconds."""

let_others_run: Any = types.ExternalFunction("sched_yield", types.int32())


@intrinsic
def intrinsic_load(_, numbers, place):  # noqa: ARG001
    """Read a number that another thread writes, and see all that it wrote before."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(builder.gep(data, [arguments[1]]), "acquire", 8)

    return types.int64(numbers, types.uint64), generate


@intrinsic
def intrinsic_store(_, numbers, place, number):  # noqa: ARG001
    """Write a number that others read, and with it let them see all that was written before."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.store_atomic(arguments[2], builder.gep(data, [arguments[1]]), "release", 8)
        return context.get_dummy_value()

    return types.none(numbers, types.uint64, types.int64), generate


load: Any = intrinsic_load
store: Any = intrinsic_store


@inlined
def meet(setup, state, cycle):
    """Wait until all regions have come to a cycle.

    Return the last one in which a flit moved anywhere, and the free records of packets of all.
    What is told of two cycles lies apart: it may still be read when the next is written.
    """
    clock, told = record(state.clock, 0), 1 + 2 * (cycle & 1)
    own = setup.region * SIGN
    state.signs[unsigned(own + told)] = clock.last_move
    state.signs[unsigned(own + told + 1)] = clock.free_packets
    store(state.signs, unsigned(own), cycle)
    last, free = clock.last_move, 0
    for region in range(setup.regions):
        first = region * SIGN
        looks = 0
        while load(state.signs, unsigned(first)) < cycle:
            looks += 1
            if looks > PATIENT:
                let_others_run()
        last = max(last, state.signs[unsigned(first + told)])
        free += state.signs[unsigned(first + told + 1)]
    return last, free
