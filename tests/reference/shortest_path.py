"""The shortest-path table, written for the reader: one search back from the target."""

from collections import deque


def channels_of_path(source, target, ends):
    """Return the channels of the path; ``ends`` lists (source, target) of every channel."""
    distance, waiting = {target: 0}, deque([target])
    while waiting:
        node = waiting.popleft()
        for a, b in ends:
            if b == node and a not in distance:
                distance[a] = distance[node] + 1
                waiting.append(a)
    path, node = [], source
    while node != target:
        channel = min(
            c for c, (a, b) in enumerate(ends) if a == node and distance[b] == distance[node] - 1
        )
        path.append(channel)
        node = ends[channel][1]
    return path
