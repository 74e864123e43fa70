"""Attempts of allocation that take several cycles: those of a slot follow one another.

A slot that fails, or has no credit, begins its next attempt when the last one ends.

Twin: ``tests/reference/network.py``.
"""

import numpy as np

from netloom.base.compilation import inlined
from netloom.simulation.kernels.bits import lowest, post
from netloom.simulation.kernels.records import record, unsigned
from netloom.simulation.network.kernels.moves import rest
from netloom.simulation.network.kernels.slots import (
    bit_of,
    front_packet,
    masks_of,
    node_of,
    place_of,
    slot_of,
    vcs_in,
)
from netloom.simulation.network.kernels.switch_allocation import take_vc
from netloom.simulation.network.kernels.vc_allocation import has_room, own

EMPTY = np.int64(0)


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
    moves = setup.num_nodes * setup.num_ports
    bucket = (cycle + setup.switch_cycles - 1) & setup.wheel
    for index in range(clock.winners):
        winner = np.int64(state.winners[unsigned(index)])
        post(state.moving, state.moving_due, moves, bucket, winner)
        if setup.uneven:
            node = node_of(setup, winner)
            place = place_of(setup, node, slot_of(setup, winner))
            rest(setup, state, node, np.int64(record(state.inputs, place).out_port), cycle)
    bucket = cycle & setup.wheel
    first, ready = bucket * moves, 0
    for due in range(first, first + state.moving_due[unsigned(bucket)]):
        winner = np.int64(state.moving[unsigned(due)])
        if setup.speculative and not take_late(setup, state, winner):
            continue
        state.winners[unsigned(ready)] = winner
        ready += 1
    state.moving_due[unsigned(bucket)] = 0
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
