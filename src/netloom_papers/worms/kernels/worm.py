"""Lockstep worms, event by event: requests of heads, and channels that are free again.

A worm's flits move together or not at all, so the times at which its head took its channels
determine everything. Once the head has its last channel, it is known when each channel of the path
becomes free. Each channel of each message is processed twice, whatever the length of messages.
Cycles without a request are skipped.

Twin: ``tests/reference/worm.py``.
"""

from netloom.base.compilation import inlined, kernel
from netloom.base.kernels.heap import pop, push
from netloom.simulation.agenda import LAST_CYCLE
from netloom.simulation.kernels.agenda import ARRIVED, due, first_time, plan
from netloom.simulation.kernels.records import record, unsigned
from netloom_papers.worms import layout


@inlined
def incoming(setup, state, worm):
    """Return the channel that a worm's head has come by, or what stands for its node."""
    if worm.moves == 0:
        return setup.all_channels
    return state.path_channels[unsigned(worm.first + worm.moves - 1)]


@inlined
def ask(setup, state, worm, channel, cycle):
    """Note what arbitration will need of a head that begins to ask for a channel."""
    worm.since = cycle
    if setup.policy == layout.BIASED:
        worm.priority = layout.TRANSIT_PRIORITY if worm.moves else layout.LOCAL_PRIORITY
    if setup.policy == layout.FIFO_LRU:
        port = setup.ports - 1
        if worm.moves:
            port = state.port_of[unsigned(incoming(setup, state, worm))]
        place = unsigned(channel * setup.ports + port)
        if state.lasts[place] != cycle:
            state.befores[place] = state.lasts[place]
            state.lasts[place] = cycle
        worm.asked_before = state.befores[place]


@inlined
def before(setup, state, one, other, last_source):
    """Whether a worm is granted a channel rather than another. Ties go to the lower row."""
    earlier = one.row < other.row
    if setup.policy == layout.TIMESTAMP:
        return one.birth < other.birth or (one.birth == other.birth and earlier)
    if setup.policy == layout.BIASED:
        return one.priority < other.priority or (one.priority == other.priority and earlier)
    if setup.policy == layout.SOURCE:
        hand = last_source + 1
        a = (one.source - hand) % setup.num_nodes
        b = (other.source - hand) % setup.num_nodes
        return a < b or (a == b and earlier)
    if one.since != other.since:
        return one.since < other.since
    if setup.policy == layout.FIFO_LRU and one.asked_before != other.asked_before:
        return one.asked_before < other.asked_before
    a, b = incoming(setup, state, one), incoming(setup, state, other)
    return a < b or (a == b and earlier)


@inlined
def wait(setup, state, here, index):
    """Put a worm into a channel's queue: a pairing heap, or a list in any order."""
    worm = record(state.worms, index)
    worm.child = -1
    if setup.heaps and here.queue >= 0:
        here.queue = meld(setup, state, here.queue, index)
    else:
        worm.next = here.queue
        here.queue = index


@inlined
def meld(setup, state, one, other):
    """Make one heap of two. Return its first."""
    if before(setup, state, record(state.worms, other), record(state.worms, one), 0):
        one, other = other, one
    record(state.worms, other).next = record(state.worms, one).child
    record(state.worms, one).child = other
    record(state.worms, one).next = -1
    return one


@inlined
def winner(setup, state, channel):
    """Return the worm of a channel's queue that is granted it, and take it out of the queue."""
    here = record(state.channels, channel)
    if setup.heaps:
        best = here.queue
        here.queue = without_first(setup, state, best)
        return best
    return best_of_list(setup, state, here)


@inlined
def without_first(setup, state, first):
    """Return what a heap comes to without its first: melded in pairs, then all together."""
    left, pairs, rest = record(state.worms, first).child, -1, -1
    while left >= 0:
        one = left
        other = record(state.worms, one).next
        left = -1
        if other >= 0:
            left = record(state.worms, other).next
            one = meld(setup, state, one, other)
        record(state.worms, one).next = pairs
        pairs = one
    while pairs >= 0:
        one = pairs
        pairs = record(state.worms, one).next
        record(state.worms, one).next = -1
        rest = one if rest < 0 else meld(setup, state, rest, one)
    return rest


@inlined
def best_of_list(setup, state, here):
    """Take the worm that goes first out of a queue whose order changes. The others have lost."""
    best, before_best, back = here.queue, -1, here.queue
    index = record(state.worms, best).next
    while index >= 0:
        if before(
            setup, state, record(state.worms, index), record(state.worms, best), here.last_source
        ):
            best, before_best = index, back
        back = index
        index = record(state.worms, index).next
    if before_best < 0:
        here.queue = record(state.worms, best).next
    else:
        record(state.worms, before_best).next = record(state.worms, best).next
    if setup.policy == layout.BIASED:
        index = here.queue
        while index >= 0:
            record(state.worms, index).priority -= 1
            index = record(state.worms, index).next
    return best


@inlined
def enter(agenda, state, row, cycle):
    """Let a message enter the network: its head asks for its first channel in this cycle."""
    counts, here = record(state.counts, 0), record(agenda.rows, row)
    index = counts.free_worm
    worm = record(state.worms, index)
    counts.free_worm = worm.next
    counts.free_worms -= 1
    worm.birth = cycle
    worm.first = state.path_offsets[unsigned(here.path)]
    worm.row = row
    worm.length = state.path_offsets[unsigned(here.path + 1)] - worm.first
    worm.moves = 0
    worm.released = 0
    worm.flits = here.flits
    worm.source = here.source
    here.entered = cycle
    state.asking[unsigned(counts.asking)] = index
    counts.asking += 1


@inlined
def wake(state, channel, free):
    """Note that a channel for which heads wait is idle from a cycle on."""
    counts = record(state.counts, 0)
    counts.wakes = push(state.wakes, counts.wakes, min(free, LAST_CYCLE), channel)


@inlined
def contest(state, channel, contested, cycle):
    """Note that an idle channel is asked for in this cycle. Return how many are."""
    here = record(state.channels, channel)
    if here.contested != cycle:
        here.contested = cycle
        state.contested[unsigned(contested)] = channel
        contested += 1
    return contested


@inlined
def request(setup, state, cycle):
    """Let heads ask for their next channels. Return how many idle ones are asked for."""
    counts, contested = record(state.counts, 0), 0
    while counts.wakes > 0 and record(state.wakes, 0).key == cycle:
        channel = record(state.wakes, 0).item
        counts.wakes = pop(state.wakes, counts.wakes)
        contested = contest(state, channel, contested, cycle)
    for place in range(counts.asking):
        index = state.asking[unsigned(place)]
        worm = record(state.worms, index)
        channel = state.path_channels[unsigned(worm.first + worm.moves)]
        here = record(state.channels, channel)
        ask(setup, state, worm, channel, cycle)
        if here.free <= cycle:
            contested = contest(state, channel, contested, cycle)
        elif here.queue < 0 and here.free < layout.NEVER:
            wake(state, channel, here.free)
        wait(setup, state, here, index)
    counts.asking = 0
    return contested


@inlined
def release(state, worm, until, free):
    """Foresee when channels before the ``until``-th of a path are free, one per cycle."""
    for hop in range(worm.released, until):
        channel = state.path_channels[unsigned(worm.first + hop)]
        here = record(state.channels, channel)
        here.free = free + hop - worm.released
        if here.queue >= 0:
            wake(state, channel, here.free)
    worm.released = until


@inlined
def grant(setup, agenda, state, channel, cycle):
    """Give an idle channel to one of those that ask for it, whose worm moves."""
    counts, here = record(state.counts, 0), record(state.channels, channel)
    index = winner(setup, state, channel)
    worm = record(state.worms, index)
    here.free = layout.NEVER
    here.last_source = worm.source
    here.last_flits = worm.flits
    here.flits += worm.flits
    worm.moves += 1
    if channel >= setup.num_channels and worm.moves == 1:  # its node's channel into the network
        record(agenda.rows, worm.row).entered = cycle
    hold = worm.flits + setup.slack
    if worm.moves < worm.length:
        if worm.moves >= hold and not setup.circuit:
            release(state, worm, worm.moves - hold + 1, cycle + 1)
        state.asking[unsigned(counts.asking)] = index
        counts.asking += 1
        return
    base = cycle + 1 + worm.length if setup.circuit else cycle + 1 - worm.length
    release(state, worm, worm.length, base + hold + worm.released)
    plan(agenda, base + worm.length + hold, worm.row, ARRIVED)
    counts.flit_hops += worm.flits * record(agenda.rows, worm.row).hops
    worm.next = counts.free_worm
    counts.free_worm = index
    counts.free_worms += 1


@inlined
def next_event(agenda, state, cycle, until):
    """Return the first cycle from ``cycle`` on in which something happens, at most ``until``."""
    counts = record(state.counts, 0)
    if counts.asking > 0:
        return cycle
    if record(agenda.clock, 0).events > 0:
        until = min(until, first_time(agenda))
    if counts.wakes > 0:
        until = min(until, record(state.wakes, 0).key)
    return until


@kernel
def run(setup, agenda, state, num_rows, until):
    """Run the cycles up to ``until``, or until all rows are complete. Return why it came back."""
    clock, counts = record(agenda.clock, 0), record(state.counts, 0)
    while clock.completed < num_rows and clock.time < until:
        if clock.sent == 0:
            if counts.asking == 0 and clock.events == 0 and counts.wakes == 0:
                return layout.STUCK
            clock.time = next_event(agenda, state, clock.time, until)
            if clock.time == until:
                break
            clock.sent = due(agenda, clock.time)
        if counts.free_worms < clock.sent:
            return layout.FULL
        cycle = clock.time
        for place in range(clock.sent):
            enter(agenda, state, agenda.sent[unsigned(place)], cycle)
        clock.sent = 0
        contested = request(setup, state, cycle)
        for place in range(contested):
            grant(setup, agenda, state, state.contested[unsigned(place)], cycle)
        clock.time = cycle + 1
    return layout.DONE
