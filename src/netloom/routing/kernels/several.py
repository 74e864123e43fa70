"""Ways with choices: at each router, all channels that lead one hop nearer are as good.

``ways`` is the ``Ways`` of ``routing.ways``. A goal is a router, or with ``to_group`` all routers
of a group.

Twin: ``tests/reference/several.py``.
"""

import numpy as np

from netloom.base.compilation import INLINED, kernel, njit
from netloom.routing.ways import DIGITS, DRAWN


@njit(**INLINED)
def allowed(ways, channel, goal_group):
    """Whether packets to a group may take a channel: it stays in its group, or enters that one."""
    start, end = ways.group[ways.source[channel]], ways.group[ways.target[channel]]
    return start == end or end == 0 or end == goal_group


@kernel
def search(ways, goal, to_group, distance, queue):
    """Fill every router's hops to a goal, -1 where there is no way.

    ``queue`` then lists the routers that have one, nearest first. Returns their number and the
    goal's group.
    """
    distance[:] = -1
    head, tail, goal_group = 0, 0, goal if to_group else ways.group[goal]
    for router in range(len(distance)):
        if router == goal if not to_group else ways.group[router] == goal:
            distance[router] = 0
            queue[tail] = router
            tail += 1
    while head < tail:
        router = queue[head]
        head += 1
        for slot in range(ways.in_offsets[router], ways.in_offsets[router + 1]):
            channel = ways.in_channels[slot]
            nearer = ways.source[channel]
            if distance[nearer] < 0 and allowed(ways, channel, goal_group):
                distance[nearer] = distance[router] + 1
                queue[tail] = nearer
                tail += 1
    return tail, goal_group


@njit(**INLINED)
def next_channels(ways, router, goal_group, distance, found):
    """Fill ``found`` with the channels that a packet may take next, ascending. Return how many.

    They lead one hop nearer. Of those that do, they have the lowest rank.
    """
    count, best = 0, 0
    for slot in range(ways.out_offsets[router], ways.out_offsets[router + 1]):
        channel = ways.out_channels[slot]
        nearer = distance[ways.target[channel]] == distance[router] - 1
        if not nearer or not allowed(ways, channel, goal_group):
            continue
        rank = ways.rank[channel]
        if count == 0 or rank < best:
            count, best = 0, rank
        if rank == best:
            found[count] = channel
            count += 1
    return count


@kernel
def most_choices(ways):
    """The most channels that leave a router."""
    most = 0
    for router in range(len(ways.group)):
        most = max(most, ways.out_offsets[router + 1] - ways.out_offsets[router])
    return most


@njit(nogil=True)
def measure_ways(ways, by_goal, sources, goals, to_group, counted):
    """Hops of every pair, -1 where there is no way, and the number of its paths if ``counted``.

    ``by_goal`` visits pairs goal by goal.
    """
    num_routers = len(ways.group)
    hops, many = np.empty(len(sources), np.int32), np.empty(len(sources) if counted else 0)
    distance, queue = np.empty(num_routers, np.int32), np.empty(num_routers, np.int32)
    counts, found = np.zeros(num_routers), np.empty(most_choices(ways), np.int32)
    known = -1
    for pair in by_goal:
        if goals[pair] != known:
            known = goals[pair]
            reached, group = search(ways, known, to_group, distance, queue)
            if counted:
                count_paths(ways, queue[:reached], group, distance, counts, found)
        hops[pair] = distance[sources[pair]]
        if counted:
            many[pair] = counts[sources[pair]]
    return hops, many


@njit()
def count_paths(ways, nearest_first, goal_group, distance, counts, found):
    """Fill how many paths lead from each router to the goal."""
    for router in nearest_first:
        counts[router] = 1.0 if distance[router] == 0 else 0.0
        if distance[router] > 0:
            for choice in range(next_channels(ways, router, goal_group, distance, found)):
                counts[router] += counts[ways.target[found[choice]]]


@njit(nogil=True)
def list_paths(ways, by_goal, sources, goals, to_group, first_path, offsets):
    """Walk all paths of every pair: their channels, and how likely each path is.

    Pair i has paths first_path[i] … first_path[i + 1] - 1, whose channels have these offsets. Path
    number k is found by its choices. At each router, the first choice has all numbers below its
    count of paths, the second one the next numbers, and so on.
    """
    num_routers = len(ways.group)
    channels, chance = np.empty(offsets[-1], np.int32), np.ones(len(offsets) - 1)
    distance, queue = np.empty(num_routers, np.int32), np.empty(num_routers, np.int32)
    counts, found = np.zeros(num_routers), np.empty(most_choices(ways), np.int32)
    known, group = -1, 0
    for pair in by_goal:
        if goals[pair] != known:
            known = goals[pair]
            reached, group = search(ways, known, to_group, distance, queue)
            count_paths(ways, queue[:reached], group, distance, counts, found)
        for path in range(first_path[pair], first_path[pair + 1]):
            router, left = sources[pair], path - first_path[pair]
            for free in range(offsets[path], offsets[path + 1]):
                choices = next_channels(ways, router, group, distance, found)
                taken = 0
                while left >= counts[ways.target[found[taken]]]:
                    left -= np.int64(counts[ways.target[found[taken]]])
                    taken += 1
                channels[free] = found[taken]
                chance[path] /= choices
                router = ways.target[found[taken]]
    return channels, chance


@njit(nogil=True)
def walk_paths(ways, by_goal, sources, goals, to_group, numbers, pick, offsets):
    """Walk one path of every pair. At each router, the pair's number picks one of the channels.

    ``pick`` is WHOLE for the number modulo the choices, the same at each hop. DIGITS for its
    digits, the lowest first. DRAWN for a number that is scattered anew at each hop.
    """
    num_routers = len(ways.group)
    channels = np.empty(offsets[-1], np.int32)
    distance, queue = np.empty(num_routers, np.int32), np.empty(num_routers, np.int32)
    found = np.empty(most_choices(ways), np.int32)
    known, group = -1, 0
    for pair in by_goal:
        if goals[pair] != known:
            known = goals[pair]
            _, group = search(ways, known, to_group, distance, queue)
        router, left = sources[pair], numbers[pair]
        for free in range(offsets[pair], offsets[pair + 1]):
            choices = next_channels(ways, router, group, distance, found)
            digit = scattered(left, free - offsets[pair]) if pick == DRAWN else left
            channels[free] = found[digit % choices]
            left = left // choices if pick == DIGITS else left
            router = ways.target[channels[free]]
    return channels


@njit()
def scattered(number, hop):
    """A number below 2**62 that looks random: the finalizer of SplitMix64 (Steele et al. 2014)."""
    mixed = np.uint64(number) + np.uint64(hop + 1) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(2))
