"""Ways to further ends that close no circle, step by step, with sets and dictionaries."""

from collections import Counter

import networkx as nx


class Waits:
    """What is held while what is asked for, how often; never a circle."""

    def __init__(self):
        self.uses = Counter()

    def insert(self, held, asked):
        if not self.uses[held, asked]:
            graph = nx.DiGraph([pair for pair, count in self.uses.items() if count])
            if asked in graph and held in graph and nx.has_path(graph, asked, held):
                return False
        self.uses[held, asked] += 1
        return True


def crossed(row, sends, target):
    found = set()
    for start, enters in enumerate(sends):
        router = start
        while enters and row[router] >= 0 and router not in found:
            found.add(router)
            router = target[row[router]]
    return found


def use_ways(table, sends, target, waits):
    for row, enters in zip(table, sends, strict=True):
        for router in sorted(crossed(row, enters, target)):
            asked = row[target[row[router]]]
            if asked >= 0:
                waits.insert(row[router], asked)


def keep_crossed(table, sends, target):
    for row in table:
        kept = crossed(row, sends, target)
        row[:] = [entry if router in kept else -1 for router, entry in enumerate(row)]


def fill_ways(table, exits, sends, order, leaving, target, waits):
    """``leaving`` are the channels of each router, in order of number."""
    used = Counter()
    for row, end in zip(table, exits, strict=True):
        hops = {start: length(row, start, end, target) for start in range(len(row))}
        hops = {start: count for start, count in hops.items() if count is not None}
        old = set(hops)
        grow(row, hops, sends, order, used, leaving, target, waits, free=True)
        met = crossed(row, sends, target)
        for router, channel in enumerate(row):
            if channel >= 0 and router not in met | old and row[target[channel]] >= 0:
                waits.uses[channel, row[target[channel]]] -= 1
        grow(row, hops, sends, order, used, leaving, target, waits, free=False)


def length(row, start, end, target):
    """Hops from a router to the end; None where the entries do not lead there."""
    router, hops = start, 0
    while row[router] >= 0 and hops < len(row):
        router, hops = target[row[router]], hops + 1
    return hops if router == end else None


def grow(row, hops, sends, order, used, leaving, target, waits, *, free):
    turn = 0
    while turn <= max(hops.values()):
        for senders in (True, False):
            for router in range(len(row)):
                if router in hops or sends[router] != senders:
                    continue
                near = [channel for channel in leaving[router]
                        if hops.get(target[channel], turn + 1) <= turn]  # fmt: skip

                def known(channel):
                    asked = row[target[channel]]
                    return asked < 0 or waits.uses[channel, asked] > 0

                def rank(channel):
                    if not free or known(channel):
                        return 0, 0, used[channel]
                    return 1, order[target[channel]], used[channel]

                for channel in sorted(near, key=rank):
                    asked = row[target[channel]]
                    if not free or asked < 0 or waits.insert(channel, asked):
                        row[router], hops[router] = channel, turn + 1
                        used[channel] += 1
                        break
        turn += 1
