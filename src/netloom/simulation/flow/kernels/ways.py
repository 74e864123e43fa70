"""Passes over the ways of flows.

Twin: ``tests/reference/flow.py``.
"""

import numpy as np

from netloom.base.compilation import kernel
from netloom.simulation.kernels.records import record


@kernel
def repeats(offsets, links):
    """Return whether a link is twice on one way."""
    for way in range(len(offsets) - 1):
        for place in range(offsets[way], offsets[way + 1]):
            for other in range(offsets[way], place):
                if links[np.uint64(place)] == links[np.uint64(other)]:
                    return True
    return False


@kernel
def add_latencies(offsets, links, latency, found):
    """Add up the latencies of the links of each way, in their order."""
    for way in range(len(offsets) - 1):
        for place in range(offsets[way], offsets[way + 1]):
            found[way] += latency[np.uint64(links[np.uint64(place)])]


@kernel
def add_sizes(state, first, last, whole, crossed):
    """Add what rows that have arrived moved over each link."""
    for row in range(first, last):
        here = record(state.rows, row)
        if here.arrived >= 0.0 and here.path >= 0:
            owner = record(state.classes, here.path)
            for hop in range(owner.first, owner.first + owner.hops):
                share = state.hop_share[np.uint64(hop)] / whole
                crossed[np.uint64(state.hop_link[np.uint64(hop)])] += here.size * share


@kernel
def move_lists(state, entries, first):
    """Move the lists of links to other places."""
    for number in range(len(state.links)):
        link = record(state.links, number)
        for place in range(link.count):
            here = record(entries, first[np.uint64(number)] + place)
            there = record(state.entries, link.first + place)
            here.others, here.weight = there.others, there.weight
            here.owner, here.hop = there.owner, there.hop
        link.first = first[np.uint64(number)]
