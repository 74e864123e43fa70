"""Circles of channels in layers, written for the reader: every path, every two hops in a row."""

import networkx as nx


def has_circle(parts):
    """Whether packets can wait in a circle.

    ``parts`` are the parts of packets' ways one after the other: (paths, rises, layers), paths as
    lists of channels. The second part's layers are above those of the first.
    """
    waits, base = nx.DiGraph(), 0
    for paths, rises, layers in parts:
        for path in paths:
            layer, before = base, None
            for channel in path:
                assert layer < base + layers
                if before is not None:
                    waits.add_edge(before, (channel, layer))
                before = channel, layer
                layer += bool(rises[channel])
        base += layers
    return not nx.is_directed_acyclic_graph(waits)
