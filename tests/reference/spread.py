"""Spread shortest paths and hashed ones, written for the reader."""

from collections import deque

from tests.reference.random_bits import mixed


def distances(target, ends):
    """Return {router: hops to target}; ``ends`` lists (source, target) of every channel."""
    found, waiting = {target: 0}, deque([target])
    while waiting:
        router = waiting.popleft()
        for a, b in ends:
            if b == router and a not in found:
                found[a] = found[router] + 1
                waiting.append(a)
    return found


def spread_table(ends, bandwidth, exits, sent, rounds):
    """Return table[destination] = {router: channel}; ``sent[destination]`` = {router: sources}."""
    load = [0] * len(ends)
    table = [{} for _ in exits]
    for _ in range(rounds):
        for destination, leave in enumerate(exits):
            hops = distances(leave, ends)
            for channel, flow in flows(table[destination], sent[destination], hops, ends).items():
                load[channel] -= flow
            cost, chosen = {leave: 0.0}, {}
            for router in sorted(hops, key=hops.__getitem__):
                choices = []
                for channel, (a, b) in enumerate(ends):
                    if a == router and hops.get(b, -1) == hops[router] - 1:
                        share = load[channel] / bandwidth[channel]
                        choices.append((cost[b] + share * share * share * share, channel))
                if choices:
                    cost[router], chosen[router] = min(choices)
            table[destination] = chosen
            for channel, flow in flows(chosen, sent[destination], hops, ends).items():
                load[channel] += flow
    return table


def flows(chosen, sent, hops, ends):
    """Return {channel: paths}, by walking from every router that sends."""
    found = {}
    for start, many in sent.items():
        router = start
        while chosen and start in hops and hops[router] > 0:
            channel = chosen[router]
            found[channel] = found.get(channel, 0) + many
            router = ends[channel][1]
    return found


def hashed_path(ends, enter, leave, source, target, seed, polarised):
    """Return the channels between two routers that the hash of two hosts picks."""
    hops, path, router = distances(leave, ends), [], enter
    while router != leave:
        salt = mixed(seed) if polarised else mixed(mixed(seed) ^ router)
        equal = [
            channel
            for channel, (a, b) in enumerate(ends)
            if a == router and hops.get(b, -1) == hops[router] - 1
        ]
        path.append(equal[mixed(mixed(mixed(source) ^ target) ^ salt) % len(equal)])
        router = ends[path[-1]][1]
    return path
