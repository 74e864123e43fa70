"""OpenSM's nue over flat arrays: cheapest ways that never close a circle of dependencies.

It begins at the router through which most shortest ways between some routers lead. To find that,
``links`` is (ends, offsets, channels): the channels of each router in the order in which they are
tried, and the router at the other end of each. ``nodes`` is the order of routers.

``search`` is the ``Search`` of ``netloom.routing.forwarding.engines``. Paths are searched from the
router of an end point outward. Packets go the other way, so link c leads from the router that
channel c enters to the one that it leaves. A step from link a to link b stands for a packet that
holds b and requests a. A search begins at link -1.

Twin: ``tests/reference/cheapest_ways.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import kernel, njit
from netloom.routing.kernels.layers import insert, remove
from netloom.routing.kernels.priced_paths import drop, empty_heap, pop, push
from netloom.routing.kernels.shortest_path import distances_to

# -- where it begins -------------------------------------------------------------------------------


@njit
def convex_hull(hull, nodes, links):
    """Add to the flags ``hull`` all routers on shortest ways between those that are in."""
    ends, offsets, channels = links
    distance, queue = np.empty((2, len(hull)), np.int32)
    for start in nodes:
        if not hull[start]:
            continue
        distances_to(start, ends, offsets, channels, distance, queue)
        seen = np.zeros(len(hull), np.bool_)
        seen[start] = True
        for end in nodes:
            if not hull[end] or seen[end]:
                continue
            seen[end], queue[0] = True, end
            count, place = 1, 0
            while place < count:
                router = queue[place]
                place += 1
                for at in range(offsets[router], offsets[router + 1]):
                    nearer = ends[channels[at]]
                    if not seen[nearer] and distance[nearer] + 1 == distance[router]:
                        hull[nearer] = seen[nearer] = True
                        queue[count] = nearer
                        count += 1


@njit
def most_central(hull, terminals, nodes, links):
    """Return the router of the hull that most shortest ways between end points cross.

    After Brandes, *A faster algorithm for betweenness centrality*, 2001. ``terminals`` are the end
    points at each router, each as good as a router behind it. ``links`` join routers of the hull.
    """
    ends, offsets, channels = links
    num_routers = len(hull)
    centrality, ways = np.zeros(num_routers), np.empty(num_routers)
    delta = np.empty(num_routers)
    distance, queue = np.empty((2, num_routers), np.int32)
    for start in nodes:
        if not hull[start]:
            continue
        count = distances_to(start, ends, offsets, channels, distance, queue)
        ways[:] = 0
        ways[start] = 1
        for router in queue[:count]:
            for at in range(offsets[router], offsets[router + 1]):
                after = ends[channels[at]]
                if distance[after] == distance[router] + 1:
                    ways[after] += ways[router]
        for turn in range(terminals[start] + 1):
            add_shares(start, turn, terminals, links, distance, queue[:count], ways, delta)
            for router in queue[:count]:
                if turn > 0 or router != start:
                    centrality[router] += delta[router]
    best = -1
    for router in nodes:
        if hull[router] and (best < 0 or centrality[router] > centrality[best]):
            best = router
    return best


@njit
def add_shares(start, turn, terminals, links, distance, queue, ways, delta):
    """Set ``delta`` to the ways from an end point at ``start`` that cross each router.

    Turn 0 is the router itself, the others its terminals.
    """
    ends, offsets, channels = links
    delta[:] = 0
    for router in queue[::-1]:
        for _ in range(terminals[router] - (router == start and turn > 0)):
            delta[router] += 1
        for at in range(offsets[router], offsets[router + 1]):
            nearer = ends[channels[at]]
            if distance[nearer] + 1 == distance[router]:
                delta[nearer] += ways[nearer] / ways[router] * (1 + delta[router])


# -- cheapest ways ---------------------------------------------------------------------------------


FAR = np.int64(2**62)
NONE = np.int32(-1)


@kernel
def reserve(search, nodes, used):
    """Use the steps of a tree outward, and those of the ways back from routers with end points.

    ``search.escape[router]`` is the link of the tree into a router, ``used`` says which routers
    have end points.
    """
    graph, escape, back = search.graph, search.escape, search.back
    for start in nodes:
        link = escape[start]
        while link >= 0:
            before = escape[graph.channel_target[link]]
            if before >= 0:
                use(search, before, link)
            if used[start]:
                middle = graph.channel_target[link]
                if before >= 0:
                    use(search, back[link], back[before])
                for at in range(graph.in_offsets[middle], graph.in_offsets[middle + 1]):
                    other = search.links[at]
                    if other != link and escape[graph.channel_source[other]] == other:
                        use(search, back[link], other)
            link = before
    for at in range(search.num_listed[0]):  # keep all steps that are used as they are
        held, slot = search.listed_held[at], search.listed_slot[at]
        search.fresh[held, slot] = search.listed[held, slot] = False
    search.num_listed[0] = 0


@kernel
def is_used(search, link, following):
    """Whether a step is used."""
    if link < 0:
        return search.begun[following]
    return search.graph.uses[following, search.graph.slot[link]] > 0


@kernel
def use(search, link, following):
    """Use a step, or return False and block it for good, if it would close a circle."""
    if is_used(search, link, following):
        return True
    if link < 0:
        search.begun[following] = True
        return True
    slot = search.graph.slot[link]
    if not insert(search.graph, 0, following, slot):
        search.blocked[following, slot] = True
        return False
    search.fresh[following, slot] = True
    if not search.listed[following, slot]:
        search.listed[following, slot] = True
        search.listed_held[search.num_listed[0]] = following
        search.listed_slot[search.num_listed[0]] = slot
        search.num_listed[0] += 1
    return True


@kernel
def give_up(search, link, following):
    """Take a step back, if it was not used before this search."""
    slot = search.graph.slot[link]
    if search.fresh[following, slot]:
        remove(search.graph, 0, following, slot)
        search.fresh[following, slot] = False


@kernel
def is_blocked(search, link, following):
    """Whether a step is blocked, or leads back over the same cable."""
    if link < 0:
        return False
    return search.back[link] == following or search.blocked[following, search.graph.slot[link]]


@njit
def seek(search, nodes, goal, total, heap, taken, weight):
    """Find ways to a router from all others. ``taken[router]`` gets the channel from each.

    ``total`` routers are to be reached, by ``weight[channel]``. If a search comes to an end
    before, it backtracks by a hop. If that does not help, all ways are those of the tree.
    """
    search.near[:] = FAR
    taken[:] = NONE
    search.stacked[:] = 0
    search.found[:] = -1
    search.near[goal] = 0
    link, reached, step = NONE, 1, 0
    while True:
        for turn in range(2):  # by steps that are used first, then by others
            reached += spread(search, link, goal, turn == 0, step, heap, taken, weight)
        if heap[3][0] > 0:
            link = pop(heap)
        elif reached == total:
            break
        else:
            link = backtrack(search, nodes, goal, taken, weight)
            if link < 0:
                follow_tree(search, goal, taken)
                break
            reached, step = reached + 1, step + 1
    keep(search, taken, goal)


@kernel
def spread(search, link, goal, again, step, heap, taken, weight):
    """Go on from a link, by steps that are used or by others. Return how many routers are new.

    ``step`` is how often was backtracked.
    """
    graph, new = search.graph, 0
    router = goal if link < 0 else graph.channel_source[link]
    cost = np.int64(0) if link < 0 else search.reach[link]
    for at in range(graph.in_offsets[router], graph.in_offsets[router + 1]):
        following = search.links[at]
        if is_used(search, link, following) != again or is_blocked(search, link, following):
            continue
        node, away = graph.channel_source[following], cost + weight[following]
        if away >= search.near[node]:
            if again and not (step > 0 and taken[node] >= 0):
                search.reach[following] = away
                remember(search, node, following)
            continue
        if not use(search, link, following):
            continue
        if step > 0 and taken[node] >= 0 and search.found[node] != step:
            if not short_cut(search, node, following, taken):
                continue
        else:
            old = taken[node]
            if old >= 0:  # a link back for which a cheaper one is found, before it was followed
                if heap[1][old] >= 0:
                    drop(heap, old)
                if taken[graph.channel_target[old]] >= 0:
                    give_up(search, taken[graph.channel_target[old]], old)
            else:
                new += 1
                search.found[node] = step
            search.reach[following] = away
            push(heap, following, away)
        search.near[node], taken[node] = away, following
    return new


@kernel
def remember(search, node, link):
    """Note another link into a router."""
    for place in range(search.stacked[node]):
        if search.stack[node, place] == link:
            return
    search.stack[node, search.stacked[node]] = link
    search.stacked[node] += 1


@kernel
def keep(search, taken, goal):
    """Keep the steps that the ways take, and take back others that are fresh."""
    graph = search.graph
    for router in range(len(taken)):
        link = taken[router]
        if link >= 0 and graph.channel_target[link] != goal:
            before = taken[graph.channel_target[link]]
            search.fresh[link, graph.slot[before]] = False
    for at in range(search.num_listed[0]):
        held, slot = search.listed_held[at], search.listed_slot[at]
        if search.fresh[held, slot]:
            remove(graph, 0, held, slot)
            search.fresh[held, slot] = False
        search.listed[held, slot] = False
    search.num_listed[0] = 0
    for at in range(graph.in_offsets[goal], graph.in_offsets[goal + 1]):
        link = search.links[at]
        if taken[graph.channel_source[link]] != link:
            search.begun[link] = search.begun[link] and search.began[link]
        search.began[link] = search.begun[link]


@kernel
def follow_tree(search, goal, taken):
    """Take the ways of the tree: towards its root, then outward."""
    for router in range(len(taken)):
        taken[router] = search.escape[router]
    link = taken[goal]
    taken[goal] = NONE
    while link >= 0:
        above = search.graph.channel_target[link]
        following = taken[above]
        taken[above] = search.back[link]
        link = following


@njit
def backtrack(search, nodes, goal, taken, weight):
    """Reach one router more by another link into a neighbor. Return the link into it, or -1."""
    graph = search.graph
    by, over = np.empty((2, len(weight)), np.int32)
    for node in nodes:
        if search.near[node] < FAR:
            continue
        count = 0
        for at in range(graph.in_offsets[node], graph.in_offsets[node + 1]):
            link = search.back[search.links[at]]
            middle = graph.channel_target[link]
            if search.near[middle] == FAR:
                continue
            for place in range(search.stacked[middle]):
                before = search.stack[middle, place]
                if serves(search, middle, before, taken):
                    free = count  # cheapest first
                    while free > 0 and search.reach[by[free - 1]] > search.reach[before]:
                        by[free], over[free] = by[free - 1], over[free - 1]
                        free -= 1
                    by[free], over[free] = before, link
                    count += 1
        first = NONE
        for candidate in range(count):
            before, link = by[candidate], over[candidate]
            if not can_pass(search, before, link, goal, taken):
                continue
            search.reach[link] = search.reach[before] + weight[link]
            if first < 0:
                middle = graph.channel_source[before]
                search.near[node], taken[node] = search.reach[link], link
                search.near[middle], taken[middle] = search.reach[before], before
                first = link
            else:
                remember(search, node, link)
        if first >= 0:
            return first
    return NONE


@kernel
def serves(search, middle, link, taken):
    """Whether all ways over a router may come by another link."""
    graph = search.graph
    for at in range(graph.in_offsets[middle], graph.in_offsets[middle + 1]):
        other = graph.channel_source[search.links[at]]
        onward = taken[other]
        if onward < 0 or graph.channel_target[onward] != middle:
            continue
        if graph.channel_target[link] == other or not is_used(search, link, onward):
            return False
    return True


@kernel
def can_pass(search, before, link, goal, taken):
    """Use the two steps to ``before`` and from there to ``link``, if neither closes a circle."""
    start = search.graph.channel_target[before]
    if start == goal or is_blocked(search, before, link):
        return False
    first = taken[start]
    if first < 0 or search.graph.channel_target[first] == search.graph.channel_source[before]:
        return False
    if is_blocked(search, first, before):
        return False
    was_fresh = search.fresh[before, search.graph.slot[first]]
    if not use(search, first, before):
        return False
    if not use(search, before, link):
        if not was_fresh:
            give_up(search, first, before)
        return False
    return True


@kernel
def short_cut(search, node, link, taken):
    """Let a router that others are reached by be reached by a cheaper link, if that can be."""
    graph, old = search.graph, taken[node]
    before = taken[graph.channel_target[old]]
    for onward in taken:
        if onward >= 0 and graph.channel_target[onward] == node:
            if is_blocked(search, link, onward):
                return False
            if not use(search, link, onward):
                return False
    if before >= 0:
        give_up(search, before, old)
    for onward in taken:
        if onward >= 0 and graph.channel_target[onward] == node:
            give_up(search, old, onward)
    return True


@njit
def nue_ways(search, nodes, exits, copies, sources, total, weight):
    """Return int32[end points, routers], the channel from each router towards each end point.

    End points take their turns. ``weight[channel]`` grows by the paths that take it, of which
    ``sources[router]`` begin at a router.
    """
    graph = search.graph
    heap = empty_heap(len(weight))
    table = np.full((len(exits), len(sources)), -1, np.int32)
    taken = np.empty(len(sources), np.int32)
    for end in range(len(exits)):
        for copy in range(copies[end]):
            seek(search, nodes, exits[end], total, heap, taken, weight)
            if copy == 0:
                table[end] = taken
            for start in range(len(sources)):
                router = np.int32(start)
                while taken[router] >= 0:
                    weight[taken[router]] += sources[start]
                    router = graph.channel_target[taken[router]]
    return table
