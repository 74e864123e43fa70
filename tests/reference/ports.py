"""Circles of waiting between all ports, each an end point with a LID of its own."""

from itertools import pairwise

import networkx as nx


def waits_of_ports(net, table):
    """The graph of (channel, lane) after (channel, lane) on the ways of all pairs of ports.

    Of tables whose lanes are service levels. Fails if a port does not reach another.
    """
    waits = nx.DiGraph()
    into = net.routers.channel_target
    for source, start in enumerate(net.injection_router.tolist()):
        for target, leave in enumerate(net.ejection_router.tolist()):
            if source == target:
                continue
            router, way = start, []
            level = 0 if table.lanes is None else int(table.lanes.level[target, start])
            while table.next_channel[target, router] >= 0:
                channel = int(table.next_channel[target, router])
                way.append((channel, level))
                router = int(into[channel])
                assert len(way) <= net.num_routers
            assert router == leave, (source, target)
            waits.add_edges_from(pairwise(way))
    return waits


def has_circle(net, table):
    """Whether packets between any two ports can wait for each other in a circle."""
    return not nx.is_directed_acyclic_graph(waits_of_ports(net, table))
