"""Ways that may lead to a router, also such as close no circle, over flat arrays.

Shortest ways are all of them or up*down*. ``wiring`` is (channel_source, channel_target,
in_offsets, in_channels, out_offsets, out_channels). Ways to other end points close no circle with
those that are there: ``graph`` is the ``DependencyGraph`` of ``netloom.routing.forwarding.tables``,
of one lane.

Twin: ``tests/reference/rerouting.py`` and ``tests/reference/other_ends.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.layers import insert, remove

# -- ways that lead to a router --------------------------------------------------------------------


@njit(nogil=True)
def nearness(exits, height, wiring):
    """Return hops from every router to each exit, and whether they all lead down.

    int16[num_exits, num_routers], -1 without a way. Bool of the same shape. A channel leads down if
    the height of its source is greater. A router that has ways down takes the shortest of them. Any
    other goes up, to where fewest hops remain. If no two heights differ, any channel is allowed.
    """
    source, target, in_offsets, in_channels, out_offsets, out_channels = wiring
    num_routers = len(height)
    near = np.full((len(exits), num_routers), -1, np.int16)
    falls = np.zeros((len(exits), num_routers), np.bool_)
    queue = np.empty(num_routers, np.int32)
    plain = height.min() == height.max()
    from_top = np.argsort(-height)
    for place in range(len(exits)):
        hops, down = near[place], falls[place]
        queue[0], known, done = exits[place], 1, 0
        hops[exits[place]], down[exits[place]] = 0, True
        while done < known:
            router = queue[done]
            done += 1
            for slot in range(in_offsets[router], in_offsets[router + 1]):
                before = source[in_channels[slot]]
                if hops[before] < 0 and (plain or height[before] > height[router]):
                    hops[before], down[before] = hops[router] + 1, True
                    queue[known] = before
                    known += 1
        if plain:
            continue
        for router in from_top:
            if hops[router] >= 0:
                continue
            for slot in range(out_offsets[router], out_offsets[router + 1]):
                after = target[out_channels[slot]]
                if height[after] > height[router] and hops[after] >= 0:
                    through = hops[after] + 1
                    hops[router] = min(hops[router], through) if hops[router] > 0 else through
    return near, falls


@njit(nogil=True)
def list_ways(hops, down, height, wiring, order, offsets, channels):
    """Fill in the routers that reach one exit, nearest first, and the channels that each may take.

    ``hops`` and ``down`` are rows of ``nearness``. The channels of router r are
    ``channels[offsets[r]:offsets[r + 1]]``, as its outgoing ones are ordered. Return how many
    routers there are in ``order``.
    """
    _, target, _, _, out_offsets, out_channels = wiring
    used, known, far = 0, 0, 0
    plain = height.min() == height.max()
    for router in range(len(hops)):
        offsets[router] = used
        if hops[router] < 0:
            continue
        known += 1
        far = max(far, hops[router])
        for slot in range(out_offsets[router], out_offsets[router + 1]):
            channel = out_channels[slot]
            after = target[channel]
            nearer = hops[after] == hops[router] - 1 and hops[after] >= 0
            falling = height[router] > height[after]
            stays = falling == down[router] and (down[after] or not falling)
            if nearer and (plain or stays):
                channels[used] = channel
                used += 1
    offsets[len(hops)] = used
    starts = np.zeros(far + 2, np.int64)
    for router in range(len(hops)):
        if hops[router] >= 0:
            starts[hops[router] + 1] += 1
    for hop in range(1, far + 2):
        starts[hop] += starts[hop - 1]
    for router in range(len(hops)):
        if hops[router] >= 0:
            order[starts[hops[router]]] = router
            starts[hops[router]] += 1
    return known


# -- ways that close no circle ---------------------------------------------------------------------


@njit(nogil=True)
def crossed(row, sends, channel_target, found):
    """Mark the routers that packets cross which enter where ``sends``, but for the last one."""
    found[:] = False
    for start in range(len(row)):
        router = start
        while sends[start] and row[router] >= 0 and not found[router]:
            found[router] = True
            router = channel_target[row[router]]


@njit(nogil=True)
def keep_crossed(table, sends, channel_target):
    """Take out the entries that no packet meets which enters where ``sends``."""
    found = np.empty(table.shape[1], np.bool_)
    for row in range(len(table)):
        crossed(table[row], sends, channel_target, found)
        for router in range(table.shape[1]):
            if not found[router]:
                table[row, router] = -1


@njit(nogil=True)
def use_ways(table, sends, graph):
    """Use what packets of a table wait for, but for dependencies that would close a circle.

    ``sends[row, router]`` says where packets to a row enter.
    """
    found = np.empty(table.shape[1], np.bool_)
    for row in range(len(table)):
        crossed(table[row], sends[row], graph.channel_target, found)
        for router in range(table.shape[1]):
            if found[router]:
                held = table[row, router]
                asked = table[row, graph.channel_target[held]]
                if asked >= 0:
                    insert(graph, 0, held, graph.slot[asked])


@njit(nogil=True)
def fill_ways(table, exits, sends, order, graph):
    """Give every router an entry for every row, on ways as short as closes no circle.

    Packets enter where ``sends``. Hop by hop from the end, each router takes a channel of a
    shortest way that is left: see ``least_used``. If all of these close a circle, one of them is
    taken nevertheless.
    """
    routers = len(sends)
    used = np.zeros(len(graph.channel_target), np.int64)
    hops = np.empty(routers, np.int64)
    found = np.empty(routers, np.bool_)
    old = np.empty(routers, np.bool_)
    for row in range(len(exits)):
        for start in range(routers):
            router, hops[start] = start, 0
            while table[row, router] >= 0 and hops[start] < routers:
                router = graph.channel_target[table[row, router]]
                hops[start] += 1
            if router != exits[row]:
                hops[start] = -1
            old[start] = hops[start] >= 0
        grow(table[row], hops, sends, order, used, graph, free=True)
        crossed(table[row], sends, graph.channel_target, found)
        for router in range(routers):  # nothing waits where nothing comes by
            channel = table[row, router]
            if channel >= 0 and not found[router] and not old[router]:
                asked = table[row, graph.channel_target[channel]]
                if asked >= 0:
                    remove(graph, 0, channel, graph.slot[asked])
        grow(table[row], hops, sends, order, used, graph, free=False)


@njit(nogil=True)
def grow(row, hops, sends, order, used, graph, free):
    """Give a channel to every router that can have one, senders first, from near to far."""
    turn, longest, routers = 0, np.max(hops), len(row)
    while turn <= longest:
        for second in range(2):
            for router in range(routers):
                if hops[router] >= 0 or sends[router] == second:
                    continue
                channel = least_used(router, row, hops, turn, order, used, graph, free)
                if channel >= 0:
                    row[router], hops[router] = channel, turn + 1
                    used[channel] += 1
                    longest = max(longest, turn + 1)
        turn += 1


@njit(nogil=True)
def least_used(router, row, hops, turn, order, used, graph, free):
    """Return the least used channel to a router of at most so many hops, -1 if there is none.

    Those by which packets wait for nothing new come first. What is new bars later ways: the less
    the more of it leads over the same router, hence those come before others by their ``order``.
    """
    begin, end = graph.out_offsets[router], graph.out_offsets[router + 1]
    for new in range(2):
        tried = np.zeros(end - begin, np.bool_)
        while True:
            least, asked = -1, np.int32(-1)
            for place in range(end - begin):
                channel = graph.out_channels[begin + place]
                after = hops[graph.channel_target[channel]]
                if tried[place] or after < 0 or after > turn:
                    continue
                next_one = row[graph.channel_target[channel]]
                known = next_one < 0 or graph.uses[channel, graph.slot[next_one]] > 0
                if known == (new == 1) and free:
                    continue
                best = graph.out_channels[begin + least]
                mine, other = graph.channel_target[channel], graph.channel_target[best]
                if (
                    least < 0
                    or (new and order[mine] < order[other])
                    or ((not new or mine == other) and used[channel] < used[best])
                ):
                    least, asked = place, next_one
            if least < 0:
                break
            channel = graph.out_channels[begin + least]
            if not free or asked < 0 or insert(graph, 0, channel, graph.slot[asked]):
                return channel
            tried[least] = True
    return -1
