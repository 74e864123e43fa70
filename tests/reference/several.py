"""Ways with choices, written for the reader: walk on to any neighbour that is nearer."""

from collections import Counter, deque
from fractions import Fraction


def hops_to(goals, ends, usable):
    """Return the hops to the nearest goal from every router that has a way to one.

    ``ends`` lists channels' two ends; ``usable(a, b)`` tells which of them packets may take.
    """
    hops, waiting = dict.fromkeys(goals, 0), deque(goals)
    while waiting:
        router = waiting.popleft()
        for a, b in ends:
            if b == router and a not in hops and usable(a, b):
                hops[a] = hops[router] + 1
                waiting.append(a)
    return hops


def next_channels(router, hops, ends, usable, dimension):
    """Return the equally good channels: nearer, and of the dimension that is corrected first."""
    found = [
        c
        for c, (a, b) in enumerate(ends)
        if a == router and usable(a, b) and hops.get(b) == hops[a] - 1
    ]
    first = min((dimension(*ends[c]) for c in found), default=0)
    return [c for c in found if dimension(*ends[c]) == first]


class Way:
    """How packets travel: anywhere, through no third group, or dimension after dimension."""

    def __init__(self, ends, group_of=None, coordinates=None):
        self.ends, self.group_of, self.coordinates = ends, group_of, coordinates

    def dimension(self, a, b):
        """Return 0 for the dimension that is corrected first: the last one."""
        if self.coordinates is None:
            return 0
        here, there = reversed(self.coordinates[a]), reversed(self.coordinates[b])
        return next(k for k, (x, y) in enumerate(zip(here, there, strict=True)) if x != y)

    def _rules(self, goals):
        def usable(a, b):
            groups = self.group_of
            return groups is None or groups[a] == groups[b] or groups[b] == groups[goals[0]]

        hops = hops_to(goals, self.ends, usable)
        return lambda router: next_channels(router, hops, self.ends, usable, self.dimension)

    def all_paths(self, source, goals):
        """Return all paths to the first of the goals as {channels: probability}."""
        following = self._rules(goals)
        paths, begun = Counter(), [((), source, Fraction(1))]
        while begun:
            path, router, chance = begun.pop()
            if router in goals:
                paths[path] += chance
                continue
            choices = following(router)
            share = chance / len(choices)
            begun += [((*path, channel), self.ends[channel][1], share) for channel in choices]
        return paths

    def path_by_choice(self, source, goal, chosen):
        """Return the one path that takes channel ``chosen(choices)`` of several choices."""
        following, path, router = self._rules([goal]), [], source
        while router != goal:
            choices = following(router)
            path.append(choices[chosen(len(choices))])
            router = self.ends[path[-1]][1]
        return path

    def all_detours(self, source, target, stops):
        """Return all paths by way of ``stops``, lists of routers, one of which is drawn."""
        found = Counter()
        for stop in stops:
            for first, chance in self.all_paths(source, stop).items():
                begin = self.ends[first[-1]][1] if first else source
                for second, more in self.all_paths(begin, [target]).items():
                    found[first + second] += chance * more / len(stops)
        return found


def valiant_paths(way, source, target, host_routers):
    if source == target:
        return {(): Fraction(1)}
    return way.all_detours(source, target, [[router] for router in host_routers])


def valiant_group_paths(way, source, target):
    groups = way.group_of
    if groups[source] == groups[target]:
        return way.all_paths(source, [target])
    stops = [[r for r, g in enumerate(groups) if g == group] for group in sorted(set(groups))]
    return way.all_detours(source, target, stops)


def with_ports(listed, ports, port_host, first):
    """Return each path with the channels of its ports, but those of a host to itself."""
    found = []
    for path, port, sink in zip(listed, *ports, strict=True):
        moves = port_host[port] != port_host[sink]
        behind = first + len(port_host)
        found.append([first + port, *path, behind + sink] if moves else list(path))
    return found
