"""Ways up and then down, and destinations re-routed one after the other, written for the reader."""

from collections import Counter

import networkx as nx


def ways_to(end, ends, height):
    """Return {router: hops to the end} and {router: channels that it may take}.

    ``ends`` lists (source, target) of every channel. Without heights all shortest ways will do.
    """
    falling = nx.DiGraph()
    falling.add_node(end)
    falling.add_edges_from(
        (b, a) for a, b in ends if height is None or height[a] > height[b]
    )  # backwards
    down = nx.single_source_shortest_path_length(falling, end)
    hops = dict(down)
    if height is not None:
        for router in sorted(height, key=height.__getitem__, reverse=True):
            above = [
                hops[b] for a, b in ends if a == router and height[b] > height[a] and b in hops
            ]
            if router not in hops and above:
                hops[router] = 1 + min(above)
    channels = {}
    for router, far in hops.items():
        channels[router] = [
            channel
            for channel, (a, b) in enumerate(ends)
            if a == router
            and hops.get(b) == far - 1
            and (b in down if router in down else height[a] < height[b])
            and (height is None or (height[a] > height[b]) == (router in down))
        ]
    return hops, channels


def paths_of(row, sent, end, ends):
    """Yield (router, its hosts, channels) of the paths to one destination."""
    for router, many in sent.items():
        at, path = router, []
        while at != end and at in row:
            path.append(row[at])
            at = ends[row[at]][1]
        if at == end and many:
            yield router, many, path


class Network:
    """Channels, bandwidths, exits of destinations, hosts of routers, heights of routers."""

    def __init__(self, ends, bandwidth, exits, sent, height):
        """Find the ways to each destination."""
        self.ends, self.bandwidth, self.exits, self.sent = ends, bandwidth, exits, sent
        self.ways = [ways_to(end, ends, height) for end in exits]

    def loads(self, table, without):
        """Return paths on each channel, and by (channel, router) those of one of its hosts."""
        load, of_host = Counter(), Counter()
        for destination, row in enumerate(table):
            if destination == without:
                continue
            for router, many, path in paths_of(row, self.sent, self.exits[destination], self.ends):
                for channel in path:
                    load[channel] += many
                    of_host[channel, router] += 1
        return load, of_host

    def reroute(self, table, order, own_share, strength, aim, *, few):
        """Give every destination new paths, those of the table's routers in this order.

        Hosts choose among few ways or all.
        """
        for destination, end in enumerate(self.exits):
            kind = TurnOfFew if few else Turn
            turn = kind(self, table, destination, (own_share, strength, aim))
            hops = self.ways[destination][0]
            first = destination % len(order) if strength or few else 0
            for router in order[first:] + order[:first]:
                if router in hops:
                    turn.lay(router, self.sent[router])
            for router in sorted(hops, key=lambda each: (hops[each], each)):
                if router != end and router not in turn.chosen:
                    turn.chosen[router] = turn.rest(router)
            table[destination] = turn.chosen
        return table


class Turn:
    """One destination whose paths are laid anew, all others as they are."""

    def __init__(self, network, table, destination, rules):
        """Count what is there without it."""
        self.network, self.rules = network, rules
        self.before, self.end = table[destination], network.exits[destination]
        self.allowed = network.ways[destination][1]
        self.load, self.of_host = network.loads(table, destination)
        self.own, self.chosen = Counter(), {}

    def price(self, channel, weight, source):
        """Return what a channel costs a router's paths."""
        own_share, strength, aim = self.rules
        rate = self.network.bandwidth[channel]
        paid = self.load[channel] - own_share * self.of_host[channel, source]
        over = (self.load[channel] + self.own[channel]) / rate - aim
        more = over + weight / rate
        return paid * weight / rate + strength * (max(more, 0) ** 2 - max(over, 0) ** 2)

    def cheapest(self, router, weight, source):
        """Return the cost of the best way on, and its first channel; at ties that of before."""
        if router == self.end:
            return 0.0, None
        options = [self.chosen[router]] if router in self.chosen else self.allowed[router]
        costs = []
        for each in options:
            behind = self.cheapest(self.network.ends[each][1], weight, source)[0]
            paid = self.price(each, weight, source) + behind
            costs.append((paid, each != self.before.get(router), each))
        least = min(costs)
        return least[0], least[2]

    def lay(self, router, weight):
        """Lay the paths of a router's hosts."""
        picks, at = {}, router
        while at != self.end:
            picks[at] = self.cheapest(at, weight, router)[1]
            at = self.network.ends[picks[at]][1]
        self.chosen |= picks
        for channel in picks.values():
            self.own[channel] += weight

    def rest(self, router):
        """Return the channel of a router that no path touched."""
        return self.cheapest(router, 1, None)[1]


class TurnOfFew(Turn):
    """The same where routers note a way each beforehand, and hosts choose the first channel."""

    def __init__(self, network, table, destination, rules):
        """Note the cheapest way of each router while nothing goes to the destination."""
        super().__init__(network, table, destination, rules)
        self.rules = (0.0, 0.0, 0.0)
        priced = {each: self.cheapest(each, 1, None) for each in self.allowed}
        self.rules = rules
        self.cost = {router: cost for router, (cost, _) in priced.items()}
        self.noted = {router: channel for router, (_, channel) in priced.items()}

    def onward(self, channel):
        """Return a channel and those that the routers behind it noted."""
        path, at = [channel], self.network.ends[channel][1]
        while at != self.end:
            path.append(self.noted[at])
            at = self.network.ends[path[-1]][1]
        return path

    def first_price(self, channel, weight):
        """Return what a router pays that begins with a channel of its own."""
        own_share, strength, aim = self.rules
        rate, now = self.network.bandwidth, self.load + self.own
        paid = now[channel] * (weight - own_share) / rate[channel]
        paid += weight * self.cost[self.network.ends[channel][1]]
        for each in self.onward(channel):
            over = now[each] / rate[each] - aim
            more = over + weight / rate[each]
            paid += strength * (max(more, 0) ** 2 - max(over, 0) ** 2)
        return paid

    def lay(self, router, weight):
        """Lay the paths of a router's hosts. It chooses unless a path leads through it."""
        if router == self.end:
            return
        if router not in self.chosen:
            self.noted[router] = min(
                (self.first_price(each, weight), each != self.before.get(router), each)
                for each in self.allowed[router]
            )[2]
        for channel in self.onward(self.noted[router]):
            self.chosen[self.network.ends[channel][0]] = channel
            self.own[channel] += weight

    def rest(self, router):
        """Return the channel of a router that no path touched."""
        return self.noted[router]
