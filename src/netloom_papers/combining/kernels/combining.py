"""A combining network, step by step: requests are made, and all packets move by a stage at most.

Twin: ``tests/reference/combining.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel
from netloom.simulation.kernels.records import lowest, record, unsigned
from netloom.workload.kernels.packets import GOLDEN, bits_at, scrambled
from netloom_papers.combining import layout

NEVER = 2**62


@inlined
def chain_key(stream_key, chain):
    """Return the key of a chain of a stream, whose own key ``counter_random.stream_keys`` gives."""
    return scrambled(stream_key + np.uint64(chain) * GOLDEN)


@inlined
def uniform_at(key, index):
    """Return the number in [0, 1) at a place of a chain."""
    return np.float64(bits_at(key, index) >> np.uint64(11)) * 2.0**-53


@inlined
def group_of(setup, level, line):
    """Return the place of the word, and the bit in it, that tell of a queue with packets.

    One byte of it a switch that the packets of this level enter next: a request's switch has lines
    s + j N / r, a reply's r s + j. Levels on whose lines no switch follows are cut like a reply's.
    """
    shift = setup.line_bits - setup.radix_bits
    if level < setup.stages:
        group, bit = line & ((1 << shift) - 1), line >> shift
    else:
        group, bit = line >> setup.radix_bits, line & (setup.radix - 1)
    bit |= (group & 7) << 3
    return unsigned(level * setup.words + (group >> 3)), np.uint64(1) << unsigned(bit)


@inlined
def append(setup, state, level, line, index, moved):
    """Put a packet at the end of a queue."""
    queue, packet = record(state.queues, level * setup.lines + line), record(state.packets, index)
    packet.moved = moved
    packet.next = -1
    if queue.length == 0:
        queue.head = index
        place, bit = group_of(setup, level, line)
        state.groups[place] |= bit
    else:
        record(state.packets, queue.tail).next = index
    queue.tail = index
    queue.length += 1
    queue.longest = max(queue.longest, queue.length)
    record(state.levels, level).entered += 1


@inlined
def take(setup, state, level, line):
    """Take the first packet out of a queue."""
    queue = record(state.queues, level * setup.lines + line)
    queue.head = record(state.packets, queue.head).next
    queue.length -= 1
    if queue.length == 0:
        place, bit = group_of(setup, level, line)
        state.groups[place] ^= bit
    record(state.levels, level).left += 1


@inlined
def line_at(setup, stage, origin, target):
    """Return the line on which a request from ``origin`` to line ``target`` comes to a stage."""
    ahead = (setup.stages - stage) * setup.radix_bits
    return (origin << stage * setup.radix_bits | target >> ahead) & (setup.lines - 1)


@inlined
def shuffle(chosen, count, bits):
    """Put the first ``count`` numbers of an array in random order."""
    for last in range(count - 1, 0, -1):
        size = np.uint64(last + 1)
        other = unsigned(bits % size)
        bits //= size
        chosen[unsigned(last)], chosen[other] = chosen[other], chosen[unsigned(last)]


@inlined
def composed(operation, word, operand):  # one line per operation
    """Return what an operation makes of a word. Of operands, what one after the other does."""
    if operation == layout.ADD:
        return word + operand
    if operation == layout.OR:
        return word | operand
    if operation == layout.AND:
        return word & operand
    if operation == layout.XOR:
        return word ^ operand
    if operation == layout.MAX:
        return max(word, operand)
    if operation == layout.MIN:
        return min(word, operand)
    if operation == layout.SWAP:
        return operand
    assert operation == layout.LOAD
    return word


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
    record(state.stages, stage).waits += 1
    record(state.stages, stage).combined += 1


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
    pairs = setup.rule == layout.ENTERING or not setup.unlimited  # else all may meet in the queue
    if count > 1 and pairs and queue.length >= setup.queue:
        return
    for place in range(count):
        source = state.rivals[unsigned(place)]
        if source < 0:
            continue
        index = record(state.queues, stage * setup.lines + source).head
        cell = record(state.packets, index).cell
        combines = cell < setup.lines and setup.rule != layout.NONE
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
        queued = setup.rule != layout.ENTERING and (room or setup.rule != layout.SLOT)
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
    record(state.stages, stage).waits -= 1
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
    goes, parts = queue.length < setup.queue, False
    while packet.partner >= 0:
        other = record(state.packets, packet.partner)
        if other.moved != stage:
            break
        its = line_at(setup, stage, other.origin, target)
        if record(state.queues, level * setup.lines + its).length >= setup.queue:
            return
        if not setup.unlimited:
            apart = its != own or queue.length + 2 <= setup.queue
            goes, parts = goes and apart, goes and (apart or setup.queue == 1)
            break
        part(setup, state, step, stage, line, index)
        goes = queue.length < setup.queue
    if goes:
        take(setup, state, level - 1, line)
        append(setup, state, level, own, index, step)
    if parts:
        part(setup, state, step, stage, line, index)


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


@inlined
def gap(setup, key, number):
    """Return how many chances pass before one fires."""
    if setup.log_quiet == 0.0:
        return NEVER
    passed = np.log1p(-uniform_at(key, number)) / setup.log_quiet
    return np.int64(min(passed, float(NEVER)))


@inlined
def word_asked(setup, state, pe, number):
    """Return the word that a request is for and its place among the element's. -1, -1: none."""
    hot = uniform_at(chain_key(state.stream_keys[layout.HOT], 0), number) < setup.hot_fraction
    if not hot:
        bits = bits_at(chain_key(state.stream_keys[layout.MODULES], 0), number)
        return setup.lines + np.int64(bits & np.uint64(setup.lines - 1)), -1
    many = record(state.lines, pe).hot_spots
    if many == 0:
        return -1, -1
    chosen = uniform_at(chain_key(state.stream_keys[layout.CHOICES], 0), number)
    place = pe * setup.places + np.int64(chosen * many)
    return np.int64(state.assigned[unsigned(place)]), place


@inlined
def issue(setup, state, step, pe, number):
    """Make a request, unless there is no hot spot, or no room, or one to wait for."""
    counts = record(state.counts, 0)
    cell, place = word_asked(setup, state, pe, number)
    if cell < 0:
        return
    if setup.wait and place >= 0 and state.outstanding[unsigned(place)]:
        counts.waiting += 1
        return
    if record(state.queues, pe).length >= setup.queue:
        counts.full += 1
        return
    index = counts.free_packet
    if index < 0:  # all that were ever used are on their way
        index = counts.issued - counts.completed
    else:
        counts.free_packet = record(state.packets, index).next
    packet = record(state.packets, index)
    counts.issued += 1
    state.per_step[unsigned(3 * step)] += 1
    packet.partner = -1
    packet.cell = cell
    packet.origin = pe
    packet.birth = step - 1
    bits = bits_at(chain_key(state.stream_keys[layout.OPERANDS], 0), number)
    packet.value = np.int64(bits >> np.uint64(48))
    if place >= 0:
        state.outstanding[unsigned(place)] = 1
        record(state.lines, cell).issued_to += 1
    append(setup, state, 0, pe, np.int32(index), step - 1)


@inlined
def make_requests(setup, state, step):
    """Make the requests of a step."""
    counts = record(state.counts, 0)
    key = chain_key(state.stream_keys[layout.GAPS], 0)
    while counts.next_chance < (step + 1) * setup.lines:
        issue(setup, state, step, counts.next_chance - step * setup.lines, counts.fired)
        counts.fired += 1
        counts.next_chance += 1 + gap(setup, key, counts.fired)


@inlined
def serve(setup, state, step, line):
    """Let a memory module do what the request at the head of its line asks, if it is free."""
    level = setup.stages
    if record(state.lines, line).busy_until > step:
        return
    if record(state.queues, (level + 1) * setup.lines + line).length >= setup.queue:
        return
    index = record(state.queues, level * setup.lines + line).head
    packet = record(state.packets, index)
    fetched = state.memory[unsigned(packet.cell)]
    state.memory[unsigned(packet.cell)] = composed(setup.operation, fetched, packet.value)
    packet.value = fetched
    record(state.lines, line).accesses += 1
    record(state.lines, line).busy_until = step + setup.service_steps
    take(setup, state, level, line)
    append(setup, state, level + 1, line, index, step + setup.service_steps - 1)


@inlined
def deliver(setup, state, step, pe):
    """Give a reply to its processing element."""
    counts = record(state.counts, 0)
    level = 2 * setup.stages + 1
    index = record(state.queues, level * setup.lines + pe).head
    packet = record(state.packets, index)
    take(setup, state, level, pe)
    steps = step - packet.birth
    counts.completed += 1
    state.latency_counts[unsigned(steps)] += 1
    state.per_step[unsigned(3 * step + 1)] += 1
    state.per_step[unsigned(3 * step + 2)] += steps
    record(state.lines, pe).returned += packet.value
    if packet.cell < setup.lines:
        record(state.lines, packet.cell).answered_to += 1
        if setup.wait:
            for place in range(pe * setup.places, (pe + 1) * setup.places):
                if state.assigned[unsigned(place)] == packet.cell:
                    state.outstanding[unsigned(place)] = 0
    packet.next = counts.free_packet
    counts.free_packet = index


@inlined
def move_group(setup, state, step, level, group, mask, keys):
    """Move the packets of one switch, or of as many lines that no switch follows."""
    stages = setup.stages
    if level < stages:
        pass_requests(setup, state, step, keys[0], level, group, mask)
    elif stages < level <= 2 * stages:
        pass_replies(setup, state, step, keys[1], 2 * stages - level, group, mask)
    else:
        while mask:
            line = group << setup.radix_bits | lowest(mask)
            mask &= mask - 1
            head = record(state.queues, level * setup.lines + line).head
            if record(state.packets, head).moved < step:
                if level == stages:
                    serve(setup, state, step, line)
                else:
                    deliver(setup, state, step, line)


@inlined
def move(setup, state, step, level, keys):
    """Move the packets of a level that can."""
    for word in range(setup.words):
        switches = state.groups[unsigned(level * setup.words + word)]
        while switches:
            byte = lowest(switches) >> 3
            mask = np.int64(switches >> np.uint64(8 * byte) & np.uint64(255))
            switches &= ~(np.uint64(255) << np.uint64(8 * byte))
            move_group(setup, state, step, level, 8 * word + byte, mask, keys)


@inlined
def in_flight(state):
    """Return how many packets there are, counted where they are."""
    found = 0
    for level in state.levels:
        population = level.entered - level.left
        found += population
        level.population_sum += population
    for stage in state.stages:
        found += stage.waits
        stage.wait_sum += stage.waits
    return found


@kernel
def run(setup, state, until, generate):
    """Run to the step ``until``, or to where there is no room for all packets of one more.

    Without ``generate``, no requests are made, and it ends where none is left.
    """
    counts = record(state.counts, 0)
    levels = 2 * setup.stages + 2
    if counts.fired == 0 and counts.next_chance < 0:
        counts.next_chance = gap(setup, chain_key(state.stream_keys[layout.GAPS], 0), 0)
    while counts.step < until and (generate or counts.issued > counts.completed):
        if generate and len(state.packets) - counts.issued + counts.completed < setup.lines:
            return layout.FULL
        step = counts.step
        if generate:
            make_requests(setup, state, step)
        request_key = chain_key(state.stream_keys[layout.REQUEST_ORDER], step)
        reply_key = chain_key(state.stream_keys[layout.REPLY_ORDER], step)
        for turn in range(levels):
            level = turn if setup.forward else levels - 1 - turn
            if record(state.levels, level).entered > record(state.levels, level).left:
                move(setup, state, step, level, (request_key, reply_key))
        counts.step += 1
        if in_flight(state) != counts.issued - counts.completed:
            return layout.LOST
        moved = state.levels.left.sum()
        counts.still = counts.still + 1 if moved == counts.moved else 0
        counts.moved = moved
        if counts.still > setup.service_steps + 1 and counts.issued > counts.completed:
            return layout.STUCK
    return layout.DONE
