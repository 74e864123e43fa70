"""Ways with choices over flat arrays: the ports that lead on, and what packets on them wait for.

At each router, all channels that lead one hop nearer are as good. ``ways`` is the ``Ways`` of
``routing.rules``. A goal is a router, or all routers of a group. Of the ports that lead on, equal
lists are kept once.

Twin: ``tests/reference/several.py``. By hash: ``tests/reference/spread.py``. Up*/down*:
``tests/reference/round_failures.py``. Of waits: ``tests/reference/several_waits.py``. Of ports:
``tests/reference/by_hop.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import INLINED, kernel, njit
from netloom.routing.kernels.shortest_path import mixed
from netloom.routing.ragged import DIGITS, DRAWN, HASHED, WHOLE

# -- paths -----------------------------------------------------------------------------------------


@njit(**INLINED)
def allowed(start, end, goal_group):
    """Whether packets may go from group to group: they stay in one, or enter that of the goal."""
    return start == end or end == 0 or end == goal_group


@kernel
def search(ways, goal, distance, queue):
    """Fill every router's hops to a goal, -1 where there is no way.

    ``queue`` then lists the routers that have one, nearest first. Returns their number and the
    goal's group.
    """
    distance[:] = -1
    head, tail, goal_group = 0, 0, 0
    for router in range(len(distance)):
        if ways.goal[router] == goal:
            goal_group, distance[router] = ways.group[router], 0
            queue[tail] = router
            tail += 1
    while head < tail:
        router = queue[head]
        head, end = head + 1, ways.group[router]
        for slot in range(ways.in_offsets[router], ways.in_offsets[router + 1]):
            nearer = ways.source[ways.in_channels[slot]]
            if distance[nearer] < 0 and allowed(ways.group[nearer], end, goal_group):
                distance[nearer] = distance[router] + 1
                queue[tail] = nearer
                tail += 1
    return tail, goal_group


@njit(**INLINED)
def next_channels(ways, router, goal_group, distance, found):
    """Fill ``found`` with the channels that a packet may take next, ascending. Return how many.

    They lead one hop nearer. Of those that do, they have the lowest rank.
    """
    count, best, start, hops = 0, 0, ways.group[router], distance[router] - 1
    for slot in range(ways.out_offsets[router], ways.out_offsets[router + 1]):
        channel = ways.out_channels[slot]
        after = ways.target[channel]
        if distance[after] != hops or not allowed(start, ways.group[after], goal_group):
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


@njit
def measure_ways(ways, by_goal, sources, goals, counted):
    """Hops of every pair, -1 where there is no way, and the number of its paths if ``counted``.

    ``by_goal`` visits pairs goal by goal.
    """
    num_routers = len(ways.group)
    hops, many = np.empty(len(sources), np.int32), np.empty(len(sources) if counted else 0)
    distance, queue = np.empty((2, num_routers), np.int32)
    counts, found = np.zeros(num_routers), np.empty(most_choices(ways), np.int32)
    known = -1
    for pair in by_goal:
        if goals[pair] != known:
            known = goals[pair]
            reached, group = search(ways, known, distance, queue)
            if counted:
                count_paths(ways, queue[:reached], group, distance, counts, found)
        hops[pair] = distance[sources[pair]]
        if counted:
            many[pair] = counts[sources[pair]]
    return hops, many


@njit
def count_paths(ways, nearest_first, goal_group, distance, counts, found):
    """Fill how many paths lead from each router to the goal."""
    for router in nearest_first:
        counts[router] = 1.0 if distance[router] == 0 else 0.0
        if distance[router] > 0:
            for choice in range(next_channels(ways, router, goal_group, distance, found)):
                counts[router] += counts[ways.target[found[choice]]]


@njit
def list_paths(ways, by_goal, sources, goals, first_path, offsets):
    """Walk all paths of every pair: their channels, and how likely each path is.

    Pair i has paths first_path[i] … first_path[i + 1] - 1, whose channels have these offsets. Path
    number k is found by its choices. At each router, the first choice has all numbers below its
    count of paths, the second one the next numbers, and so on.
    """
    num_routers = len(ways.group)
    channels, chance = np.empty(offsets[-1], np.int32), np.ones(len(offsets) - 1)
    distance, queue = np.empty((2, num_routers), np.int32)
    counts, found = np.zeros(num_routers), np.empty(most_choices(ways), np.int32)
    known, group = -1, 0
    for pair in by_goal:
        if goals[pair] != known:
            known = goals[pair]
            reached, group = search(ways, known, distance, queue)
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


@njit
def walk_paths(ways, by_goal, sources, goals, numbers, pick, salts, offsets):
    """Walk one path of every pair. At each router, the pair's number picks one of the channels.

    ``pick`` is WHOLE for the number modulo the choices, the same at each hop. DIGITS for its
    digits, the lowest first. DRAWN for a number that is scattered anew at each hop. HASHED and
    SALTED for one that is scattered by the salt of each router.
    """
    num_routers = len(ways.group)
    channels = np.empty(offsets[-1], np.int32)
    distance, queue = np.empty((2, num_routers), np.int32)
    found, first = np.empty(most_choices(ways), np.int32), np.empty(num_routers, np.int32)
    known, group = -1, 0
    for pair in by_goal:
        if goals[pair] != known:
            known = goals[pair]
            _, group = search(ways, known, distance, queue)
            first[:] = -1  # what number 0 takes at each router, once known
        router, left = sources[pair], numbers[pair]
        for free in range(offsets[pair], offsets[pair + 1]):
            plain = left == 0 and pick in (WHOLE, DIGITS)
            if plain and first[router] >= 0:
                channels[free] = first[router]
                router = ways.target[first[router]]
                continue
            choices = next_channels(ways, router, group, distance, found)
            first[router] = found[0] if plain else first[router]
            if pick in (WHOLE, DIGITS):
                channels[free] = found[left % choices]
            else:
                salt = np.uint64(free - offsets[pair]) if pick == DRAWN else salts[router]
                channels[free] = found[scattered(left, salt, pick) % np.uint64(choices)]
            left = left // choices if pick == DIGITS else left
            router = ways.target[channels[free]]
    return channels


@njit
def scattered(number, salt, pick):
    """A number that looks random, by ``mixed``."""
    golden, bits = np.uint64(0x9E3779B97F4A7C15), np.uint64(number)
    if pick == DRAWN:
        bits += salt * golden
    elif pick == HASHED:
        bits ^= salt
    else:
        bits += salt - golden
    bits = mixed(bits)  # which adds the golden one
    return bits if pick == HASHED else bits >> np.uint64(2 if pick == DRAWN else 33)


# -- waits -----------------------------------------------------------------------------------------


@njit
def several_waits(ways, slot, entries, goals):
    """Follow all packets from routers to each of the goals.

    ``entries[goal, router]``, of one row where it is the same for all goals, says whether packets
    begin there. ``slot[channel]`` is its place among those that leave its router.

    Returns
    -------
    waits
        ``waits[c, k]`` is whether a packet may hold channel c while it asks for the k-th channel
        that leaves the router c enters.
    arrived
        Whether packets arrive at each router.
    joined
        Whether all entries have a way to their goals.
    """
    num_routers, most = len(ways.group), most_choices(ways)
    waits = np.zeros((len(ways.source), most), np.bool_)
    distance, queue = np.empty((2, num_routers), np.int32)
    found, choices = np.empty((num_routers, most), np.int32), np.zeros(num_routers, np.int64)
    arrived, joined = np.zeros(num_routers, np.bool_), True
    for row in range(len(goals)):
        reached, group = search(ways, goals[row], distance, queue)
        present = entries[row % len(entries)].copy()
        joined &= not np.any(present & (distance < 0))
        for router in queue[:reached]:
            choices[router] = 0
            if distance[router] > 0:
                choices[router] = next_channels(ways, router, group, distance, found[router])
        for place in range(reached - 1, -1, -1):  # farthest first
            router = queue[place]
            if not present[router]:
                continue
            arrived[router] |= distance[router] == 0
            for held in found[router, : choices[router]]:
                there = ways.target[held]
                present[there] = True
                for asked in found[there, : choices[there]]:
                    waits[held, slot[asked]] = True
    return waits, arrived, joined


# -- next ports ------------------------------------------------------------------------------------


@njit
def fill_next_ports(ways, out_port, lanes, num_goals, starts, lengths, found):
    """Fill where each list is, and the hops, by router * num_goals + goal. Return the lists.

    ``ways`` is the ``Ways`` of ``routing.rules``. ``out_port`` and ``lanes`` are of its channels.
    ``found`` is scratch for all lanes that leave a router. Also returns the lists' size in all.
    """
    num_routers = len(ways.group)
    distance, queue = np.empty((2, num_routers), np.int32)
    channels = np.empty(len(found), np.int32)
    # lists, where each is by its hash, their size, their number: none but the empty one
    lists = np.zeros(64, np.int16), np.zeros(64, np.int32), np.int64(1), np.int64(0)
    for goal in range(num_goals):
        count, goal_group = search(ways, goal, distance, queue)
        for rank in range(count):
            router = queue[rank]
            lengths[router * num_goals + goal] = distance[router]
            if distance[router] > 0:
                many = next_channels(ways, router, goal_group, distance, channels)
                length = np.int64(0)
                for channel in channels[:many]:
                    for lane in range(lanes[channel]):
                        found[length] = out_port[channel] + lane
                        length += 1
                lists, place = kept(lists, found, length)
                starts[router * num_goals + goal] = place
    return lists[0], lists[2]


@njit
def kept(lists, found, length):
    """Return the lists with one more, unless it is among them, and where it is."""
    ports, places, size, known = lists
    if size + length + 1 > len(ports):
        more = np.zeros(2 * (size + length + 1), np.int16)
        for place in range(size):
            more[place] = ports[place]
        ports = more
    if 2 * (known + 1) > len(places):
        wider, start = np.zeros(2 * len(places), np.int32), np.int64(1)
        while start < size:
            wider[place_of(wider, ports, ports, start + 1, np.int64(ports[start]))] = start
            start += ports[start] + 1
        places = wider
    slot = place_of(places, ports, found, np.int64(0), length)
    if places[slot] == 0:
        ports[size] = length
        for each in range(length):
            ports[size + 1 + each] = found[each]
        places[slot] = size
        size += length + 1
        known += 1
    return (ports, places, size, known), np.int64(places[slot])


@njit
def place_of(places, ports, wanted, first, length):
    """The slot of a table of lists where a list is, or where it would go."""
    number = np.uint64(length)
    for each in range(first, first + length):
        number = (number ^ np.uint64(wanted[each])) * np.uint64(0x9E3779B97F4A7C15)
        number ^= number >> np.uint64(29)
    slot = np.int64(number & np.uint64(len(places) - 1))
    while places[slot]:
        start = places[slot]
        same = ports[start] == length
        for each in range(length):
            if not same or ports[start + 1 + each] != wanted[first + each]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & (len(places) - 1)
    return slot
