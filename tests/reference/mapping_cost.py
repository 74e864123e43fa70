"""What a mapping costs in the search's own terms, path by path and channel by channel."""

from collections import Counter

from netloom.routing import paths


def channel_loads(app, topology, routing, weights, node_of):
    """Return the weight on each channel that has any."""
    loads = Counter()
    for source, target, weight in zip(app.source, app.target, weights, strict=True):
        start, end = node_of[source], node_of[target]
        if start != end:
            for channel in paths(topology, routing, [start], [end]).whole(topology)[0]:
                loads[int(channel)] += weight
    return loads


def cost(loads, linear, steep, unit):
    """Return the sum over channels of linear × load + steep × (load / unit)¹²."""
    return sum(linear * load + steep * (load / unit) ** 12 for load in loads.values())


def hop_bytes(app, topology, routing, weights, node_of):
    """Return weight times hops: the sum of all loads."""
    return sum(channel_loads(app, topology, routing, weights, node_of).values())


def busy_tasks(app, topology, routing, weights, node_of, level):
    """Return the tasks with a path, with some weight, over a channel of at least this load."""
    loads = channel_loads(app, topology, routing, weights, node_of)
    busy = set()
    for source, target, weight in zip(app.source, app.target, weights, strict=True):
        start, end = node_of[source], node_of[target]
        if weight and start != end:
            path = paths(topology, routing, [start], [end]).whole(topology)[0]
            if any(loads[int(channel)] >= level for channel in path):
                busy |= {int(source), int(target)}
    return sorted(busy)


def crowding(loads):
    """Return the highest load, the number of channels with it, and the sum of squares."""
    highest = max(loads.values(), default=0.0)
    return (
        highest,
        sum(load == highest for load in loads.values()),
        sum(load**2 for load in loads.values()),
    )


def after_each_swap(node_of, items):
    """Yield the mappings after one of some items has changed places with any other."""
    for one in items:
        for other in range(len(node_of)):
            if node_of[one] != node_of[other]:
                swapped = node_of.copy()
                swapped[[one, other]] = swapped[[other, one]]
                yield swapped
