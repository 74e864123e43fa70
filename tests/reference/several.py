"""Ways with choices, written for the reader: walk on to any neighbour that is nearer."""

from collections import deque
from fractions import Fraction


def hops_to(goal, ends):
    """Return the hops from every router that has a way; ``ends`` lists channels' two ends."""
    hops, waiting = {goal: 0}, deque([goal])
    while waiting:
        router = waiting.popleft()
        for a, b in ends:
            if b == router and a not in hops:
                hops[a] = hops[router] + 1
                waiting.append(a)
    return hops


def shortest_paths(source, goal, ends):
    """Return all shortest paths as {channels: probability}; each next channel is as likely."""
    hops = hops_to(goal, ends)
    paths = {}
    begun = [((), source, Fraction(1))]
    while begun:
        path, router, chance = begun.pop()
        if router == goal:
            paths[path] = chance
            continue
        following = [
            c for c, (a, b) in enumerate(ends) if a == router and hops.get(b) == hops[a] - 1
        ]
        share = chance / len(following)
        begun += [((*path, channel), ends[channel][1], share) for channel in following]
    return paths
