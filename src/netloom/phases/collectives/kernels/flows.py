"""Maximum flows in whole numbers, stopped at a limit: the one engine behind optima and trees.

A graph is four arrays that grow: arc a leads to ``head[a]`` with the capacity ``cap[a]``. Its
reverse is arc a ^ 1. ``first[v]`` is the last arc added at v, and ``following[a]`` the one before
it, −1 at the end. ``room`` is space for one flow: int32[4, num_vertices].

Judged by ``tests/phases/collectives/test_optimum.py``: what it finds is judged.
"""

from netloom.base.compilation import inlined, kernel, part

INFINITE = 1 << 61
"""More than any capacity or limit."""


@inlined
def add_arc(first, following, head, cap, count, source, target, capacity):
    """Add an arc and its reverse of capacity 0 as arcs ``count`` and ``count + 1``."""
    head[count], head[count + 1] = target, source
    cap[count], cap[count + 1] = capacity, 0
    following[count], following[count + 1] = first[source], first[target]
    first[source], first[target] = count, count + 1
    return count + 2


@inlined
def drop_arc(first, following, head, count):
    """Take the last arc that was added out again."""
    first[head[count - 1]] = following[count - 2]
    first[head[count - 2]] = following[count - 1]
    return count - 2


@inlined
def levels(first, following, head, cap, room, source, target):
    """Number vertices by their distance from the source, until the target has one."""
    level, queue = room[0], room[2]
    level[:] = -1
    level[source] = 0
    queue[0] = source
    done, known = 0, 1
    while done < known and level[target] < 0:
        here = queue[done]
        done += 1
        arc = first[here]
        while arc >= 0:
            there = head[arc]
            if cap[arc] > 0 and level[there] < 0:
                level[there] = level[here] + 1
                queue[known] = there
                known += 1
            arc = following[arc]
    return level[target] >= 0


@part
def max_flow(first, following, head, cap, room, source, target, limit):
    """Return the flow from source to target, at most ``limit``. ``cap`` is what remains (Dinic).

    If it is less, ``room[0]`` is −1 exactly beyond the minimum cut.
    """
    level, at, trail = room[0], room[1], room[3]
    total = limit - limit
    while total < limit and levels(first, following, head, cap, room, source, target):
        for vertex in range(len(first)):
            at[vertex] = first[vertex]
        here, depth = source, 0
        while True:
            if here == target:
                push, cut = limit - total, 0
                for place in range(depth):
                    push = min(push, cap[trail[place]])
                for place in range(depth - 1, -1, -1):
                    cap[trail[place]] -= push
                    cap[trail[place] ^ 1] += push
                    if cap[trail[place]] == 0:
                        cut = place
                total += push
                if total == limit:
                    break
                depth = cut
                here = head[trail[cut] ^ 1]
                continue
            arc = at[here]
            while arc >= 0 and (cap[arc] <= 0 or level[head[arc]] != level[here] + 1):
                arc = following[arc]
            at[here] = arc
            if arc >= 0:
                trail[depth] = arc
                depth += 1
                here = head[arc]
            elif depth == 0:
                break
            else:
                level[here] = -1
                depth -= 1
                here = head[trail[depth] ^ 1]
    return total


@kernel
def first_short(first, following, head, whole, cap, room, source, begin, own, limit):
    """Return the first vertex from ``begin`` on whose flow falls short of the limit; −1 if none.

    ``whole``: int64[arcs], the capacities. ``cap`` is room for as many. ``own``: int64[targets],
    the arc that leads from the source to each vertex. It becomes infinite once the vertex has
    passed: a cut below the limit has that vertex on the source's side. ``room[0]`` tells the cut.
    """
    for place in range(begin, len(own)):
        for arc in range(len(whole)):
            cap[arc] = whole[arc]
        if max_flow(first, following, head, cap, room, source, place, limit) < limit:
            return place
        whole[own[place]] = INFINITE
    return -1


@kernel
def fill_arcs(first, following, head, cap, sources, targets, capacities):
    """Add arcs to a graph that has none."""
    count = 0
    for place in range(len(sources)):
        count = add_arc(
            first, following, head, cap, count, sources[place], targets[place], capacities[place]
        )
    return count
