"""Partitions into phases by definition: what places cost and hold, counted one by one.

A path is a list of channels; a place is what has virtual channels, a node or a channel.
"""

from heapq import heappop, heappush
from itertools import product
from math import inf


def places_of(topology, capacity, source, channels):
    """Return the places of a path: both ends count, where nodes have the virtual channels."""
    if capacity.per == "channel":
        return list(channels)
    return [int(source), *(int(topology.target_end[channel]) for channel in channels)]


def use_of(plan):
    """Return how many connections each place holds in each phase."""
    used = [[0] * plan.capacity.places(plan.topology) for _ in range(plan.num_phases)]
    for one, phase in enumerate(plan.phase.tolist()):
        path = plan.routes[one].tolist()
        for place in places_of(plan.topology, plan.capacity, plan.connections.source[one], path):
            used[phase][place] += 1
    return used


def heights_of(plan, costs):
    """Return the clocks of the busiest processor or channel of each phase."""
    busy = [{} for _ in range(plan.num_phases)]
    given = plan.connections
    for one, phase in enumerate(plan.phase.tolist()):
        words = int(given.words[one])
        sides = ("send", "receive") if costs.both_ways else ("both", "both")
        ends = int(given.source[one]), int(given.target[one])
        work = [(where, words * costs.clocks_per_word) for where in zip(sides, ends, strict=True)]
        passing = words * costs.channel_clocks_per_word
        work += [(("channel", channel), passing) for channel in plan.routes[one].tolist()]
        for where, clocks in work:
            busy[phase][where] = busy[phase].get(where, 0) + clocks
    return [max(each.values(), default=0) for each in busy]


def neighbours(topology):
    """Return, for each node, the channels that leave it and where they lead."""
    leaving = [[] for _ in range(topology.num_nodes)]
    ends = zip(topology.source_end.tolist(), topology.target_end.tolist(), strict=True)
    for channel, (start, end) in enumerate(ends):
        leaving[start].append((channel, end))
    return leaving


def cheapest(topology, capacity, price, source, target):
    """Return the price of the cheapest path: Dijkstra's algorithm, a price for each place."""
    leaving, per_node = neighbours(topology), capacity.per == "node"
    heap, settled = [(price[source] if per_node else 0.0, source)], set()
    while heap:
        paid, node = heappop(heap)
        if node == target:
            return paid
        if node in settled:
            continue
        settled.add(node)
        for channel, other in leaving[node]:
            cost = price[other] if per_node else price[channel]
            if cost < inf:
                heappush(heap, (paid + cost, other))
    return inf


def sequential_price(used, limit):
    """Return what a place costs the paper's router: closed where it is full."""
    return 1.0 + used if used < limit else inf


def cheapest_of_phases(topology, capacity, used, source, target):
    """Return the price of the cheapest path in each copy of the network that a phase is."""
    limit = capacity.virtual_channels
    return [
        cheapest(topology, capacity, [sequential_price(u, limit) for u in row], source, target)
        for row in used
    ]


def simple_paths(topology, source, target):
    """Yield all paths that visit no node twice."""
    leaving = neighbours(topology)
    stack = [(source, [], {source})]
    while stack:
        node, path, seen = stack.pop()
        if node == target:
            yield path
            continue
        stack.extend(
            (other, [*path, channel], seen | {other})
            for channel, other in leaving[node]
            if other not in seen
        )


def fits(topology, given, capacity, num_phases):
    """Whether so many phases will do: all phases and paths of all connections are tried."""
    order = list(zip(given.before.tolist(), given.after.tolist(), strict=True))
    ends = list(zip(given.source.tolist(), given.target.tolist(), strict=True))
    paths = [
        [places_of(topology, capacity, pair[0], path) for path in simple_paths(topology, *pair)]
        for pair in ends
    ]
    used = [[0] * capacity.places(topology) for _ in range(num_phases)]
    phase = [0] * len(given)

    def rest(one):
        if one == len(given):
            return all(phase[first] <= phase[second] for first, second in order)
        first_new = num_phases if order else max(phase[:one], default=-1) + 1
        for number, path in product(range(min(num_phases, first_new + 1)), paths[one]):
            if all(used[number][place] < capacity.virtual_channels for place in path):
                phase[one] = number
                for place in path:
                    used[number][place] += 1
                if rest(one + 1):
                    return True
                for place in path:
                    used[number][place] -= 1
        return False

    return rest(0)


def fewest_phases(topology, given, capacity):
    """Return the fewest phases that will do."""
    phases = 0
    while not fits(topology, given, capacity, phases):
        phases += 1
    return phases
