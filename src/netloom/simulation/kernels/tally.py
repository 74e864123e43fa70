"""Sums over delivered packets.

Twin: ``tests/reference/packets.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import kernel
from netloom.simulation.kernels.records import unsigned

CLOSED = -1
"""A packet arrives in a part of the window that was counted before."""


@kernel
def add_packets(packets, group, first, window, sums, flits_of, latency_counts):
    """Add the packets that arrive within a part of a window, from the ``first`` on.

    ``window``: the first cycle of the window, the first cycle of the part and the one after its
    last, the cycles of a batch, and ``closed``. No packet may arrive from ``closed`` on before the
    part begins. Return two places. The first is that of a packet whose latency has no place in the
    counts. The second is that of the first packet that arrives after the part. If there is no such
    packet, the place is the number of packets.
    """
    birth, entry, arrival, source, hops, flits = packets
    begin, since, until, batch_cycles, closed = window
    later = len(birth)
    batch, batch_begin = np.int64(0), begin
    for place in range(first, len(birth)):
        index = unsigned(place)
        at = np.int64(arrival[index])
        if at >= until:
            later = min(later, place)
        elif at >= since:
            latency = at - birth[index]
            if latency >= len(latency_counts):
                return place, later
            if at < batch_begin or at >= batch_begin + batch_cycles:  # mostly it is that before
                batch = (at - begin) // batch_cycles
                batch_begin = begin + batch * batch_cycles
            column = unsigned(batch)
            row = unsigned(group[index] if len(group) else 0)
            sums[0, row, column] += 1
            sums[1, row, column] += latency
            sums[2, row, column] += at - entry[index]
            sums[3, row, column] += entry[index] - birth[index]
            sums[4, row, column] += hops[index]
            sums[5, row, column] += flits[index]
            flits_of[unsigned(source[index])] += flits[index]
            latency_counts[unsigned(latency)] += 1
        elif at >= closed:
            return CLOSED, later
    return len(birth), later
