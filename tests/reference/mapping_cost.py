"""What a mapping costs in the search's own terms, path by path and channel by channel."""

from collections import Counter

from netloom.routing import paths


def channel_loads(app, topology, routing, weights, node_of):
    """Return the weight on each channel that has any."""
    loads = Counter()
    for source, target, weight in zip(app.source, app.target, weights, strict=True):
        start, end = node_of[source], node_of[target]
        if start != end:
            for channel in paths(topology, routing, [start], [end])[0]:
                loads[int(channel)] += weight
    return loads


def cost(loads, linear, steep, unit):
    """Return the sum over channels of linear × load + steep × (load / unit)¹²."""
    return sum(linear * load + steep * (load / unit) ** 12 for load in loads.values())
