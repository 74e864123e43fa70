"""Sums over delivered packets."""

from netloom.compilation import kernel


@kernel
def add_packets(packets, group, first, window, sums, flits_of, latency_counts):
    """Add the packets that arrive within a part of a window, from the ``first`` on.

    ``window``: the first cycle of all, that of the part, that after it, and the cycles of a batch.
    Return how many packets were dealt with, all or those before one whose latency has no place in
    the counts, and the place of the first of them that arrives later, or their number.
    """
    birth, entry, arrival, source, hops, flits = packets
    begin, since, until, batch_cycles = window
    later = len(birth)
    for index in range(first, len(birth)):
        if arrival[index] >= until:
            later = min(later, index)
        elif arrival[index] >= since:
            latency = arrival[index] - birth[index]
            if latency >= len(latency_counts):
                return index, later
            batch = (arrival[index] - begin) // batch_cycles
            column = sums[:, group[index] if len(group) else 0, batch]
            column[0] += 1
            column[1] += latency
            column[2] += arrival[index] - entry[index]
            column[3] += entry[index] - birth[index]
            column[4] += hops[index]
            column[5] += flits[index]
            flits_of[source[index]] += flits[index]
            latency_counts[latency] += 1
    return len(birth), later
