"""Which of several heads that ask for a channel gets it.

Twin: ``tests/reference/worm.py``.
"""

from netloom.base.compilation import inlined
from netloom.simulation.kernels.records import record, unsigned
from netloom_papers.worms.layout import (
    BIASED,
    FIFO_LRU,
    LOCAL_PRIORITY,
    SOURCE,
    TIMESTAMP,
    TRANSIT_PRIORITY,
)


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
    if setup.policy == BIASED:
        worm.priority = TRANSIT_PRIORITY if worm.moves else LOCAL_PRIORITY
    if setup.policy == FIFO_LRU:
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
    if setup.policy == TIMESTAMP:
        return one.birth < other.birth or (one.birth == other.birth and earlier)
    if setup.policy == BIASED:
        return one.priority < other.priority or (one.priority == other.priority and earlier)
    if setup.policy == SOURCE:
        hand = last_source + 1
        a = (one.source - hand) % setup.num_nodes
        b = (other.source - hand) % setup.num_nodes
        return a < b or (a == b and earlier)
    if one.since != other.since:
        return one.since < other.since
    if setup.policy == FIFO_LRU and one.asked_before != other.asked_before:
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
    if setup.policy == BIASED:
        index = here.queue
        while index >= 0:
            record(state.worms, index).priority -= 1
            index = record(state.worms, index).next
    return best
