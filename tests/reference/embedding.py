"""The order in which an embedding places tasks, and whether one is right, in plain Python."""


def place_order(neighbours, root, deep, first):
    """Return the tasks: each next one has the most placed neighbours, then the most neighbours.

    Of those that are alike, it is the one that has been so for longest (or, if deep, shortest).
    """
    placed, since = [root], {task: turn for turn, task in enumerate(first)}
    clock = len(first)
    for other in sorted(neighbours[root]):
        since[other], clock = clock, clock + 1
    while len(placed) < len(neighbours):
        waiting = [task for task in range(len(neighbours)) if task not in placed]

        def rank(task):
            beside = sum(other in placed for other in neighbours[task])
            return beside, len(neighbours[task]), since[task] if deep else -since[task]

        placed.append(max(waiting, key=rank))
        for other in sorted(neighbours[placed[-1]]):
            if other not in placed:
                since[other], clock = clock, clock + 1
    return placed


def is_embedding(edges, channels, node_of):
    """Whether tasks have nodes of their own, and edges a channel each way between their nodes."""
    joined = set(channels)
    pairs = [(node_of[source], node_of[target]) for source, target in edges]
    alone = len(set(node_of)) == len(node_of)
    return alone and all({(a, b), (b, a)} <= joined for a, b in pairs)
