"""Forwarding tables walked hop by hop, as NetworkX and plain loops see them."""

import networkx as nx


def table_waits(topology, rows):
    """Return what packets hold and ask for, from every router by every row of a table."""
    target = topology.routers.channel_target
    waits = nx.DiGraph()
    for row in rows:
        for held in row[row >= 0].tolist():
            wanted = int(row[target[held]])
            if wanted >= 0:
                waits.add_edge(held, wanted)
    return waits


def walked(topology, row, router, end):
    """Return the channels from a router to where packets leave; None if the row leads elsewhere."""
    path = []
    while router != end:
        channel = int(row[router])
        if channel < 0 or len(path) > topology.num_routers:
            return None
        path.append(channel)
        router = int(topology.routers.channel_target[channel])
    return path


def colliding_pairs(topology, table, ends, sources):
    """Count pairs of paths that share a channel and differ in source and in destination.

    ``sources`` are (router, host) of each sender. Every channel that two paths share counts.
    """
    over = {}
    for destination, end in enumerate(ends):
        for router, host in sources:
            for channel in walked(topology, table[destination], router, end):
                over.setdefault(channel, []).append((host, destination))
    return sum(
        first[0] != second[0] and first[1] != second[1]
        for paths in over.values()
        for place, first in enumerate(paths)
        for second in paths[:place]
    )
