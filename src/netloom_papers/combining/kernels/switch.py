"""What a switch does in a step: requests meet, combine and part. Replies do so backwards.

Twin: ``tests/reference/combining.py``.
"""

import numpy as np

from netloom.base.compilation import inlined
from netloom.simulation.kernels.records import lowest, record, unsigned
from netloom.workload.kernels.counter_random import bits_at
from netloom_papers.combining.kernels.queue import append, composed, line_at, shuffle, take
from netloom_papers.combining.layout import ENTERING, NONE, SLOT


@inlined
def absorb(setup, state, stage, line, first, second):
    """Let a packet wait in a pool, and another go on for both."""
    pool = record(state.pools, stage * setup.lines + line)
    pool.length += 1
    pool.longest = max(pool.longest, pool.length)
    one, other = record(state.packets, first), record(state.packets, second)
    before = one.value
    one.value = composed(setup.operation, before, other.value)
    other.value = before
    other.moved = stage
    other.next = one.partner
    one.partner = second
    state.waits[unsigned(stage)] += 1
    state.combined[unsigned(stage)] += 1


@inlined
def partner_in(setup, state, step, stage, queue, cell):
    """Return the first packet of a queue that may absorb a request to this word; -1: none.

    In a forward simulation not the one at the head that leaves in this very step: the request
    would gain a stage.
    """
    index = queue.head
    if setup.forward and index >= 0 and record(state.packets, index).moved < step:
        index = record(state.packets, index).next
    while index >= 0:
        packet = record(state.packets, index)
        if packet.cell == cell and (
            setup.unlimited
            or packet.partner < 0
            or record(state.packets, packet.partner).moved != stage
        ):
            return index
        index = packet.next
    return np.int32(-1)


@inlined
def pass_port(setup, state, step, stage, line, count):
    """Let the requests at the heads of ``rivals``, all for one output line, enter its queue."""
    queue = record(state.queues, (stage + 1) * setup.lines + line)
    pool = record(state.pools, stage * setup.lines + line)
    pairs = setup.rule == ENTERING or not setup.unlimited  # else all may meet in the queue
    if count > 1 and pairs and queue.length >= setup.queue:
        return
    for place in range(count):
        source = state.rivals[unsigned(place)]
        if source < 0:
            continue
        index = record(state.queues, stage * setup.lines + source).head
        cell = record(state.packets, index).cell
        combines = cell < setup.lines and setup.rule != NONE
        partner, room = np.int32(-1), queue.length < setup.queue
        met = False
        if combines and pairs and room:
            for later in range(place + 1, count):
                other = state.rivals[unsigned(later)]
                if other < 0 or pool.length >= setup.pool:
                    continue
                second = record(state.queues, stage * setup.lines + other).head
                if record(state.packets, second).cell == cell and (setup.unlimited or not met):
                    take(setup, state, stage, other)
                    absorb(setup, state, stage, line, index, second)
                    state.rivals[unsigned(later)] = -1
                    met = True
        queued = setup.rule != ENTERING and (room or setup.rule != SLOT)
        if combines and not met and queued and pool.length < setup.pool:
            partner = partner_in(setup, state, step, stage, queue, cell)
        if partner >= 0:
            take(setup, state, stage, source)
            absorb(setup, state, stage, line, partner, index)
        elif room:
            take(setup, state, stage, source)
            append(setup, state, stage + 1, line, index, step)


@inlined
def pass_requests(setup, state, step, key, stage, switch, mask):
    """Let the requests that wait before a switch enter its queues."""
    shift = setup.line_bits - setup.radix_bits
    ahead = (setup.stages - 1 - stage) * setup.radix_bits
    count, ports = 0, 0
    while mask:
        source = switch | lowest(mask) << shift
        mask &= mask - 1
        packet = record(state.packets, record(state.queues, stage * setup.lines + source).head)
        if packet.moved < step:
            port = packet.cell >> ahead & (setup.radix - 1)
            state.heads[unsigned(count)] = source
            state.ports[unsigned(count)] = port
            ports |= 1 << port
            count += 1
    while ports:
        port = lowest(ports)
        ports &= ports - 1
        rivals = 0
        for place in range(count):
            if state.ports[unsigned(place)] == port:
                state.rivals[unsigned(rivals)] = state.heads[unsigned(place)]
                rivals += 1
        line = switch << setup.radix_bits | port
        if rivals > 1:
            shuffle(state.rivals, rivals, bits_at(key, stage * setup.lines + line))
        pass_port(setup, state, step, stage, line, rivals)


@inlined
def part(setup, state, step, stage, line, index):
    """Let the last partner of a packet go its own way, with what it has fetched."""
    packet = record(state.packets, index)
    second = packet.partner
    other = record(state.packets, second)
    packet.partner = other.next
    other.value = composed(setup.operation, packet.value, other.value)
    record(state.pools, stage * setup.lines + line).length -= 1
    state.waits[unsigned(stage)] -= 1
    own = line_at(setup, stage, other.origin, other.cell & (setup.lines - 1))
    append(setup, state, 2 * setup.stages + 1 - stage, own, second, step)


@inlined
def pass_reply(setup, state, step, stage, line):
    """Let the reply at the head of a line pass a stage, with the partners that wait for it."""
    level = 2 * setup.stages + 1 - stage
    index = record(state.queues, (level - 1) * setup.lines + line).head
    packet = record(state.packets, index)
    target = packet.cell & (setup.lines - 1)
    own = line_at(setup, stage, packet.origin, target)
    queue = record(state.queues, level * setup.lines + own)
    goes = queue.length < setup.queue
    while packet.partner >= 0:
        other = record(state.packets, packet.partner)
        if other.moved != stage:
            break
        its = line_at(setup, stage, other.origin, target)
        if record(state.queues, level * setup.lines + its).length >= setup.queue:
            goes = False
            break
        if not setup.unlimited:
            apart = its != own or queue.length + 2 <= setup.queue
            if goes and apart:
                take(setup, state, level - 1, line)
                append(setup, state, level, own, index, step)
            if goes and (apart or setup.queue == 1):
                part(setup, state, step, stage, line, index)
            goes = False
            break
        part(setup, state, step, stage, line, index)
        goes = queue.length < setup.queue
    if goes:
        take(setup, state, level - 1, line)
        append(setup, state, level, own, index, step)


@inlined
def pass_replies(setup, state, step, key, stage, switch, mask):
    """Let the replies that wait before a switch pass it, in random order."""
    level = 2 * setup.stages - stage
    count = 0
    while mask:
        line = switch << setup.radix_bits | lowest(mask)
        mask &= mask - 1
        queue = record(state.queues, level * setup.lines + line)
        if record(state.packets, queue.head).moved < step:
            state.heads[unsigned(count)] = line
            count += 1
    if count > 1:
        shuffle(state.heads, count, bits_at(key, stage * setup.lines + switch))
    for place in range(count):
        pass_reply(setup, state, step, stage, state.heads[unsigned(place)])
