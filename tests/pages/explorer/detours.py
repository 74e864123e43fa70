"""How a page walks around cables that are out, in Python: the twin of walks.js."""

from collections import Counter, deque


def hops_to(network, end, out):
    """Return the hops from each router to one of them, without channels that are out."""
    hops, waiting = {end: 0}, deque([end])
    while waiting:
        here = waiting.popleft()
        for channel in network.entering[here]:
            before = network.source[channel]
            if channel not in out and before not in hops:
                hops[before] = hops[here] + 1
                waiting.append(before)
    return hops


def onward(network, router, hops, out, used):
    """Return the least used channel on a shortest way, the first of several. None if none is."""
    nearer = [
        channel
        for channel in network.leaving[router]
        if channel not in out and hops.get(network.target[channel], -1) == hops.get(router, -5) - 1
    ]
    return min(nearer, key=lambda channel: used[channel], default=None)


def leads(network, table, router, host, out):
    """Return whether a table leads from a router to a host: None if it has no way to begin with."""
    end, seen = network.router_of[host], set()
    while router != end:
        if not table[router, host]:
            return None
        channel = network.leaving[router][table[router, host] - 1]
        if channel in out or router in seen:
            return False
        seen.add(router)
        router = network.target[channel]
    return True


def detoured(network, table, out):
    """Return the table when cables are out: entries stay if their way still leads to the host."""
    used = [0] * network.channels
    for router in range(network.routers):
        for port in table[router]:
            if port:
                used[network.leaving[router][port - 1]] += 1
    found = table.copy()
    for host in range(network.hosts):
        kept = [leads(network, table, router, host, out) for router in range(network.routers)]
        if False not in kept:
            continue
        hops = hops_to(network, network.router_of[host], out)
        for state in (False, None):
            for router in (each for each, is_kept in enumerate(kept) if is_kept is state):
                channel = onward(network, router, hops, out, used)
                found[router, host] = 0
                if channel is not None:
                    found[router, host] = network.leaving[router].index(channel) + 1
                    used[channel] += state is False
    return found


def ends_of(network, channels):
    """Return the routers that channels begin and end at, in whatever order they stand."""
    more = Counter(network.source[each] for each in channels)
    more.subtract(network.target[each] for each in channels)
    begins = [router for router, many in more.items() if many > 0]
    ends = [router for router, many in more.items() if many < 0]
    assert len(begins) == len(ends) == 1
    return begins[0], ends[0]


def around(view, out):
    """Return walks where paths are given: those over channels that are out take a shortest way."""
    network, walks = view.network, view.walks
    load, found, lost = view.loads(walks).tolist(), [], 0
    for flow, share, channels in walks:
        if not out & set(channels):
            found.append((flow, share, channels))
            continue
        router, end = ends_of(network, channels)
        hops = hops_to(network, end, out)
        lost += router not in hops
        taken = []
        while router != end and router in hops:
            channel = onward(network, router, hops, out, load)
            load[channel] += view.flows[flow][2] * share
            taken.append(channel)
            router = network.target[channel]
        found.append((flow, share, taken))
    return found, lost


def without(view, out):
    """Return the walks of a view when channels are out, and how many find no way."""
    if view.table is None:
        return around(view, out)
    return view.walked(detoured(view.network, view.table, out))
