"""The router through which most shortest ways between some routers lead, over flat arrays.

``links`` is (ends, offsets, channels): the channels of each router in the order in which they are
tried, and the router at the other end of each. ``nodes`` is the order of routers.

Twin: ``tests/reference/cheapest_ways.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.shortest_path import distances_to


@njit(nogil=True)
def convex_hull(hull, nodes, links):
    """Add to the flags ``hull`` all routers on shortest ways between those that are in."""
    ends, offsets, channels = links
    distance, queue = np.empty(len(hull), np.int32), np.empty(len(hull), np.int32)
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


@njit(nogil=True)
def most_central(hull, terminals, nodes, links):
    """Return the router of the hull that most shortest ways between end points cross.

    After Brandes, *A faster algorithm for betweenness centrality*, 2001. ``terminals`` are the end
    points at each router, each as good as a router behind it. ``links`` join routers of the hull.
    """
    ends, offsets, channels = links
    num_routers = len(hull)
    centrality, ways = np.zeros(num_routers), np.empty(num_routers)
    delta = np.empty(num_routers)
    distance, queue = np.empty(num_routers, np.int32), np.empty(num_routers, np.int32)
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


@njit(nogil=True)
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
