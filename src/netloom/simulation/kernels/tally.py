"""Sums over delivered packets.

Twin: ``tests/reference/packets.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import kernel
from netloom.simulation.kernels.records import unsigned


@kernel
def add_packets(packets, group, window, sums, flits_of, latency_counts):
    """Add the packets that arrive within a window.

    ``window``: its first cycle, the one after its last, and the cycles of a batch. The counts have
    a place for each latency.
    """
    birth, entry, arrival, source, hops, flits = packets
    begin, until, batch_cycles = window
    batch, batch_begin = np.int64(0), begin
    for place in range(len(birth)):
        index = unsigned(place)
        at = np.int64(arrival[index])
        if begin <= at < until:
            latency = at - birth[index]
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
