"""Dependencies of channels, lane by lane, written for the reader: NetworkX looks for circles."""

from collections import Counter
from itertools import pairwise

import networkx as nx


class Dependencies:
    """How often each (held, asked) is used; what would close a circle is turned away."""

    def __init__(self):
        self.uses, self.graph = Counter(), nx.DiGraph()

    def insert(self, held, asked):
        """Use a dependency once more, unless that closes a circle; return whether it is in."""
        return self.insert_path([held, asked])

    def insert_path(self, path):
        """Use all dependencies of a path once more, or none."""
        steps = list(pairwise(path))
        new = [step for step in steps if not self.uses[step]]
        self.graph.add_edges_from(new)
        if new and not nx.is_directed_acyclic_graph(self.graph):
            self.graph.remove_edges_from(new)
            return False
        self.uses.update(steps)
        return True

    def remove_path(self, path):
        self.uses.subtract(pairwise(path))
        self.graph.remove_edges_from([step for step in pairwise(path) if not self.uses[step]])


def path_of(row, start, channel_target):
    """The channels by which a row of a table leads on from a router."""
    path = []
    while row[start] >= 0:
        path.append(int(row[start]))
        start = channel_target[row[start]]
    return path


def first_fit(table, sends, channel_target):
    """The lane of each (destination, router that sends to it): the first that stays acyclic."""
    lanes, level = [], {}
    for destination, row in enumerate(table):
        for router in range(len(row)):
            if not sends(router, destination) or row[router] < 0:
                continue
            path = path_of(row, router, channel_target)
            for lane in range(len(lanes) + 1):
                if lane == len(lanes):
                    lanes.append(Dependencies())
                if lanes[lane].insert_path(path):
                    level[destination, router] = lane
                    break
    return level


def waits_of_lanes(journeys):
    """The graph of (channel, lane) after (channel, lane) on journeys, lists of such pairs."""
    waits = nx.DiGraph()
    for journey in journeys:
        waits.add_edges_from(pairwise(journey))
    return waits
