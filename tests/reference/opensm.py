"""OpenSM's engines in plain Python, for small networks: the definitions that the kernels follow."""

from collections import defaultdict, deque


def hops_by_channel(end, channels, entering, step, barred):
    """Hops to a router by each channel, as found by a search from there, port by port.

    ``channels[c]`` is (source, target); ``step(c)`` the direction of going from target to source.
    """
    by_channel, least = {}, {end: 0}
    facing, waiting, queue = {end: 1 - barred}, set(), deque([end])
    while queue:
        router = queue.popleft()
        waiting.discard(router)
        for channel in entering[router]:
            if (facing[router], step(channel)) == (barred, 1 - barred):
                continue
            before, hops = channels[channel][0], least[router] + 1
            if hops < by_channel.get(channel, hops + 1):
                by_channel[channel] = hops
                least[before] = min(least.get(before, hops), hops)
                if before not in waiting:
                    waiting.add(before)
                    facing[before] = step(channel)
                    queue.append(before)
    return by_channel, least


def least_used(order, exits, counted, channels, leaving, entering, step, barred, same_neighbour):
    """The channel of each router to each end point: of the shortest permitted, the least used."""
    table, used = {}, defaultdict(int)
    for end in order:
        by_channel, least = hops_by_channel(exits[end], channels, entering, step, barred)
        for router, out in enumerate(leaving):
            choices = [c for c in out if c in by_channel and by_channel[c] == least[router]]
            if router == exits[end] or not choices:
                continue
            if same_neighbour:
                choices = [c for c in choices if channels[c][1] == channels[choices[0]][1]]
            table[end, router] = min(choices, key=lambda channel: used[channel])
            used[table[end, router]] += end < counted
    return table


class FatTree:
    """OpenSM's ftree: recursion down and up a tree whose routers stand in order.

    ``groups[kind][router]`` lists (neighbour, cables), kinds 0 to the level above, 1 to the one
    below, 2 to the same.
    """

    def __init__(self, groups, place, level, adapters):
        self.groups, self.place, self.level, self.adapters = groups, place, level, adapters
        self.ups, self.downs = defaultdict(int), defaultdict(int)

    def ways_to(self, router, *, main, real):
        self.entry, self.reach = ({router: None} if real else {}), {router: int(main)}
        self.go_up(router, None, int(main), main=main, real=real)
        return self.entry

    def in_order(self, kind, router, used):
        key = lambda group: (used[router, group[0]], self.place[group[0]])  # noqa: E731
        return sorted(self.groups[kind][router], key=key)

    def go_down(self, router, before, hops, *, real):
        if not self.groups[1][router] and not self.adapters[router]:
            return False
        leads = bool(self.adapters[router])
        beside = self.in_order(2, router, self.ups) if real else []
        for other, cables in self.in_order(1, router, self.ups) + beside:
            if other == before or hops + 1 >= self.reach.get(other, hops + 2):
                continue
            cable = min(cables, key=lambda each: self.ups[each])
            self.entry[other], self.reach[other] = cable, hops + 1
            if self.go_down(other, None, hops + 1, real=real):
                leads = True
                self.ups[cable] += 1
                self.ups[router, other] += 1
        return leads

    def go_up(self, router, before, hops, *, main, real):
        leads = self.go_down(router, before, hops, real=real)
        if self.level[router] == 0:
            return leads
        above = self.in_order(0, router, self.downs)
        best = above[0][0]
        if main:
            cable = min(above[0][1], key=lambda each: self.downs[each])
            self.downs[router, best] += 1
            self.downs[cable] += 1
            if best not in self.entry or hops + 1 < self.reach[best]:
                self.entry[best], self.reach[best] = cable, hops + 1
            leads |= self.go_up(best, router, hops + 1, main=True, real=real)
        for other, cables in above[1:] if main else above:
            leads |= self.go_on(router, other, cables, hops, real=real)[0]
        for other, cables in self.in_order(2, router, self.downs):
            led, cable = self.go_on(router, other, cables, hops, real=real)
            leads |= led
            if led:
                self.downs[router, best] += 1
                self.downs[cable] += 1
        return leads

    def go_on(self, router, other, cables, hops, *, real):
        if other in self.entry and hops + 1 >= self.reach[other]:
            return False, None
        cable = min(cables, key=lambda each: self.downs[each])
        self.entry[other], self.reach[other] = cable, hops + 1
        return self.go_up(other, router, hops + 1, main=False, real=real), cable


def tree_ways(order, channels, leaving):
    """OpenSM's lash: (destination, router) -> channel, by the first tree that says it."""
    ways = {}
    for root in order:
        above, queue = {root: None}, deque([root])
        while queue:
            router = queue.popleft()
            for channel in leaving[router]:
                other = channels[channel][1]
                if other not in above:
                    above[other] = channel
                    queue.append(other)
        for end in above:
            router = end
            while above[router] is not None:
                channel = above[router]
                router = channels[channel][0]
                ways.setdefault((end, router), channel)
    return ways
