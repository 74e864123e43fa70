"""Paths of a forwarding table over flat arrays: all of them, and those of permutations.

Permutations of hosts come straight from a table. All paths are followed destination by destination,
whether they arrive or not.

Twin: ``tests/reference/permutations.py`` and ``tests/reference/figures_of_tables.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import njit


@njit(error_model="numpy")
def permuted(table, firsts, entry, row, alone, channel_target, bandwidth, enough):
    """Return the longest time on a channel between routers, and the mean share, of permutations.

    Permutation g has the pairs ``firsts[g]`` … ``firsts[g + 1]`` - 1: packets enter at router
    ``entry[p]`` and follow row ``row[p]`` of the table. ``alone[p]`` is what the pair could send
    where nobody else does. A pair without a way gets nothing. It stops where the table does. After
    the first permutation that takes ``enough`` or longer, the others are not looked at: 0.
    """
    count, most = len(firsts) - 1, table.shape[1]
    longest, shares = np.zeros(count), np.zeros(count)
    load = np.zeros(len(channel_target), np.int32)
    after = np.empty(np.diff(firsts).max() if count else 0, np.int64)
    passed = np.empty(8 * len(after), np.int32)  # the channels of all pairs, and where each ends
    for group in range(count):
        first, pairs, known = firsts[group], firsts[group + 1] - firsts[group], 0
        for pair in range(pairs):
            if known + most > len(passed):
                larger = np.empty(2 * len(passed) + most, np.int32)
                larger[:known] = passed[:known]
                passed = larger
            ways, at = np.uint64(row[first + pair]), entry[first + pair]
            for _ in range(most):
                channel = table[ways, np.uint64(at)]  # unsigned: not counted from the end
                if channel < 0:
                    break
                passed[np.uint64(known)] = channel
                load[np.uint64(channel)] += 1
                known += 1
                at = channel_target[np.uint64(channel)]
            after[pair] = known
        hop, most_time, shared = 0, 0.0, 0.0
        for pair in range(pairs):
            least = alone[first + pair]
            while hop < after[pair]:
                channel = np.uint64(passed[np.uint64(hop)])
                least = min(least, bandwidth[channel] / load[channel])
                most_time = max(most_time, load[channel] / bandwidth[channel])
                hop += 1
            shared += least / alone[first + pair]
        for hop in range(known):
            load[np.uint64(passed[np.uint64(hop)])] = 0
        longest[group], shares[group] = most_time, shared / max(pairs, 1)
        if most_time >= enough:
            break
    return longest, shares


@njit
def all_to_all(next_channel, wanted, exits, sent, own, channel_target):
    """Follow the paths of all senders to all destinations that are wanted.

    ``sent[router, destination]`` is how many hosts send from a router, with one column if that is
    the same for all destinations. It excludes the destination itself, which is one host of router
    ``own[destination]`` (-1: of none). ``exits[destination]`` is the router where packets leave.

    Returns five things: the paths on each channel, bool[destinations, routers] whether packets from
    a router arrive, the number of pairs with and without a path, and the most hops.
    """
    num_routers = next_channel.shape[1]
    load = np.zeros(len(channel_target), np.int64)
    arrives = np.zeros(next_channel.shape, np.bool_)
    seen = np.full(num_routers, -1, np.int64)
    stamp, routed, unrouted, longest = 0, 0, 0, 0
    for destination in range(len(next_channel)):
        if not wanted[destination]:
            continue
        row = next_channel[destination]
        for start in range(num_routers):
            pairs = sent[start, destination % sent.shape[1]] - (own[destination] == start)
            if pairs <= 0:
                continue
            stamp += 1
            router, hops = start, 0
            while row[router] >= 0 and seen[router] != stamp:
                seen[router] = stamp
                router = channel_target[row[router]]
                hops += 1
            if row[router] >= 0 or router != exits[destination]:
                unrouted += pairs
                continue
            arrives[destination, start] = True
            routed += pairs
            longest = max(longest, hops)
            router = start
            for _ in range(hops):
                load[row[router]] += pairs
                router = channel_target[row[router]]
    return load, arrives, routed, unrouted, longest
