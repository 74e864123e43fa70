"""Dependencies of channels that never close a circle, lane by lane, over flat arrays.

``graph`` is the ``DependencyGraph`` of ``netloom.routing.forwarding.lanes``. A dependency is held
channel and slot: the place of the channel that is asked for among those that leave the router that
the held one enters. Channel c in a lane is vertex ``lane * channels + c``. ``rank`` orders the
vertices of a lane such that each dependency that is used leads from a lower to a higher rank.

The order is maintained by the algorithm of Pearce & Kelly, *A dynamic topological sort algorithm
for directed acyclic graphs*, 2006. An insertion moves only vertices whose ranks lie between its two
ends.

Twin: ``tests/reference/lanes.py``.
"""

from netloom.base.compilation import kernel


@kernel
def insert(graph, lane, held, slot):
    """Use a dependency once more, or return False, where that would close a circle."""
    first = lane * len(graph.channel_target)
    if graph.uses[first + held, slot] == 0:
        asked = graph.out_channels[graph.out_offsets[graph.channel_target[held]] + slot]
        if not put_in_order(graph, first, held, asked):
            return False
    graph.uses[first + held, slot] += 1
    return True


@kernel
def closes(graph, lane, held, slot):
    """Whether a dependency would close a circle."""
    first = lane * len(graph.channel_target)
    asked = graph.out_channels[graph.out_offsets[graph.channel_target[held]] + slot]
    high = graph.rank[first + held]
    return graph.rank[first + asked] <= high and follow_ahead(graph, first, asked, high) < 0


@kernel
def remove(graph, lane, held, slot):
    """Use a dependency once less."""
    graph.uses[lane * len(graph.channel_target) + held, slot] -= 1


@kernel
def insert_path(graph, lane, path, hops):
    """Use all dependencies of ``path[:hops]`` once more, or none and return False."""
    for hop in range(hops - 1):
        if not insert(graph, lane, path[hop], graph.slot[path[hop + 1]]):
            remove_path(graph, lane, path, hop + 1)
            return False
    return True


@kernel
def remove_path(graph, lane, path, hops):
    """Use all dependencies of ``path[:hops]`` once less."""
    for hop in range(hops - 1):
        remove(graph, lane, path[hop], graph.slot[path[hop + 1]])


@kernel
def put_in_order(graph, first, held, asked):
    """Give ranks such that ``held`` comes before ``asked``. False if no order has that."""
    low, high = graph.rank[first + asked], graph.rank[first + held]
    if high < low:
        return True
    ahead = follow_ahead(graph, first, asked, high)
    if ahead < 0:
        return False
    both = follow_behind(graph, first, held, low, ahead)
    sort_by_rank(graph, first, 0, ahead)
    sort_by_rank(graph, first, ahead, both)
    one, other = 0, ahead
    for place in range(both):  # the ranks of all that moves, ascending
        take = other == both or (
            one < ahead
            and graph.rank[first + graph.found[one]] < graph.rank[first + graph.found[other]]
        )
        at = one if take else other
        graph.pool[place] = graph.rank[first + graph.found[at]]
        one, other = one + take, other + (not take)
    for place in range(both):  # what leads to ``held`` first, then what ``asked`` leads to
        at = ahead + place if place < both - ahead else place - (both - ahead)
        graph.rank[first + graph.found[at]] = graph.pool[place]
    return True


@kernel
def follow_ahead(graph, first, start, high):
    """Find what ``start`` leads to, up to a rank. Return how many, -1 if one has that rank."""
    graph.stamp[0] += 1
    stamp = graph.stamp[0]
    if graph.rank[first + start] == high:
        return -1
    graph.found[0], graph.seen[start] = start, stamp
    count, place = 1, 0
    while place < count:
        held = graph.found[place]
        place += 1
        router = graph.channel_target[held]
        begin = graph.out_offsets[router]
        for slot in range(graph.out_offsets[router + 1] - begin):
            if graph.uses[first + held, slot] == 0:
                continue
            asked = graph.out_channels[begin + slot]
            if graph.rank[first + asked] == high:
                return -1
            if graph.rank[first + asked] < high and graph.seen[asked] != stamp:
                graph.seen[asked] = stamp
                graph.found[count] = asked
                count += 1
    return count


@kernel
def follow_behind(graph, first, start, low, place):
    """Find what leads to ``start`` from a rank on, put it behind what is found. Return the end."""
    stamp = graph.stamp[0]
    graph.found[place], graph.seen[start] = start, stamp
    count = place + 1
    while place < count:
        asked = graph.found[place]
        place += 1
        router, slot = graph.channel_source[asked], graph.slot[asked]
        for at in range(graph.in_offsets[router], graph.in_offsets[router + 1]):
            held = graph.in_channels[at]
            if graph.uses[first + held, slot] == 0 or graph.rank[first + held] < low:
                continue
            if graph.seen[held] != stamp:
                graph.seen[held] = stamp
                graph.found[count] = held
                count += 1
    return count


@kernel
def sort_by_rank(graph, first, begin, end):
    """Sort ``found[begin:end]`` by rank, by Shell's method."""
    gap = 1
    while 3 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(begin + gap, end):
            channel, at = graph.found[place], place
            rank = graph.rank[first + channel]
            while at - gap >= begin and graph.rank[first + graph.found[at - gap]] > rank:
                graph.found[at] = graph.found[at - gap]
                at -= gap
            graph.found[at] = channel
        gap //= 3
