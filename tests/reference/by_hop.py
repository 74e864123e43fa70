"""Routing by hop, written for the reader: lists of ports, sets of (port, vc), one packet at a time.

A packet is anything with ``source``, ``target``, ``sink``, ``coin``, ``aux`` and ``way``.
"""

from netloom.routing.by_hop import tables as kinds
from tests.reference import spread
from tests.reference.random_bits import GOLDEN, drawn_bits, mixed


def drawn(coin, number, count):
    return drawn_bits(coin * GOLDEN + (number + 1) * 0xC2B2AE3D27D4EB4F) * count >> 31


def vcs_in(bits):
    return [vc for vc in range(64) if int(bits) >> vc & 1]


class Twin:
    """The routing of some ``HopTables``; ``used[router][port]`` are flits."""

    def __init__(self, tables, own=None):
        self.tables, self.own = tables, own
        self.num_routers = len(tables.detour_class)

    def listed(self, table, router, goal):
        tables = self.tables
        row = tables.table_start[table] + router * tables.table_goals[table] + goal
        start = tables.starts[row]
        return tables.ports[start + 1 :][: tables.ports[start]].tolist()

    def hops(self, table, router, goal):
        tables = self.tables
        row = tables.table_start[table] + router * tables.table_goals[table] + goal
        return int(tables.lengths[row])

    def kind(self, kinds_at, router, port):
        return kinds_at[router << self.tables.port_shift | port]

    def behind(self, state, kind):
        return self.tables.delta[state * self.tables.num_kinds + kind]

    def exit(self, packet):
        return self.tables.exit_router[packet.sink], self.tables.sink_goal[packet.sink]

    def detours(self, router, exit_router):
        tables = self.tables
        row = tables.detour_class[router] * tables.detour_classes + tables.detour_class[exit_router]
        start = tables.detour_start[row]
        return tables.detours[start + 1 :][: tables.detours[start]].tolist()

    def next_hop(self, used, router, in_port, in_vc, packet, hops):
        """Return the (port, vc) that a packet may ask for; changes its ``aux`` and ``way``."""
        tables = self.tables
        if tables.choice == kinds.GIVEN:
            return self.given(packet, hops)
        if hops > 0:
            if packet.way < tables.escape_state and tables.escape_vcs >> in_vc & 1:
                packet.way = tables.escape_state
            packet.way = self.behind(packet.way, self.kind(tables.in_kind, router, in_port))
        elif len(tables.level):
            packet.way = tables.level[packet.sink * self.num_routers + router]
        exit_router, goal = self.exit(packet)
        if tables.decides[packet.way]:
            goals = self.detours(router, exit_router) if router != exit_router else []
            found = self.decided(used, router, packet, hops, goals) if goals else -1
            if found >= 0:
                packet.aux, packet.way = found, tables.leave[packet.way]
            else:
                packet.way = (tables.keep if goals else tables.none)[packet.way]
        if tables.to_aux[packet.way]:
            if self.listed(tables.table[packet.way], router, packet.aux):
                goal = packet.aux
            else:
                packet.way = tables.turn[packet.way]
        if router == exit_router and tables.eject_vcs[packet.way]:
            return self.to_host(packet)
        return self.asked(used, router, goal, packet, hops)

    def to_host(self, packet):
        first = self.tables.exit_port[packet.sink]
        lanes = range(first, first + self.tables.exit_lanes[packet.sink])
        return {(port, vc) for port in lanes for vc in vcs_in(self.tables.eject_vcs[packet.way])}

    def given(self, packet, hops):
        """Return what a packet of a given path may ask for: the ports of its next channel."""
        tables = self.tables
        at = tables.path_offsets[packet.aux] + hops
        if at == tables.path_offsets[packet.aux + 1]:
            return self.to_host(packet)
        start, vcs = tables.path_starts[at], vcs_in(tables.vcs[tables.path_layer[at]])
        ports = tables.ports[start + 1 :][: tables.ports[start]].tolist()
        return {(port, vc) for port in ports for vc in vcs}

    def asked(self, used, router, goal, packet, hops):
        tables, state = self.tables, packet.way
        ports = self.listed(tables.table[state], router, goal)
        if tables.choice != kinds.EVERY and state < tables.escape_state:
            ports = [self.chosen(used[router], router, goal, ports, packet, hops)]
        found = set()
        for port in ports:
            bits = tables.vcs[self.behind(state, self.kind(tables.out_kind, router, port))]
            found |= {(port, vc) for vc in vcs_in(bits)}
        if tables.escape_vcs and state < tables.escape_state:
            escape = self.listed(tables.table[tables.escape_state], router, goal)
            found |= {(port, vc) for port in escape for vc in vcs_in(tables.escape_vcs)}
        return found

    def chosen(self, used, router, goal, ports, packet, hops):
        """Return the one port that a packet takes of several."""
        tables = self.tables
        if tables.choice == kinds.OWN:
            index = self.own(router, goal, ports, used, packet.coin)
            return ports[min(max(index, 0), len(ports) - 1)]
        if tables.choice == kinds.HASHED:
            pair = mixed(mixed(packet.source) ^ packet.target)
            return ports[mixed(pair ^ int(tables.salts[router])) % len(ports)]
        return self.picked(used, ports, packet.coin, hops)

    def picked(self, used, ports, coin, hops):
        choice = self.tables.choice
        first = ports[drawn(coin, 4 * hops, len(ports))]
        if choice == kinds.DRAWN:
            return first
        if choice == kinds.TWO:
            second = ports[drawn(coin, 4 * hops + 1, len(ports))]
            return second if used[second] < used[first] else first
        least = min(used[port] for port in ports)
        equal = [port for port in ports if used[port] == least]
        return equal[drawn(coin, 4 * hops, len(equal))]

    def decided(self, used, router, packet, hops, goals):
        """Return the goal of the detour that a packet makes, or -1."""
        tables = self.tables
        _, exit_goal = self.exit(packet)
        goal = goals[drawn(packet.coin, 4 * hops + 2, len(goals))]
        if goal < 0 or tables.detour == kinds.ALWAYS:
            return goal
        out = tables.table[tables.leave[packet.way]]
        straight = tables.table[tables.keep[packet.way]]
        there = self.hops(out, router, goal)
        if there <= 0:
            return -1
        if tables.detour == kinds.ALONG:
            near = sum(self.queues(used, straight, router, exit_goal, packet.coin, hops))
            far = sum(self.queues(used, out, router, goal, packet.coin, hops))
            far += sum(self.queues(used, straight, goal, exit_goal, packet.coin, hops + there))
        else:
            near = self.queues(used, straight, router, exit_goal, packet.coin, hops)[0]
            far = self.queues(used, out, router, goal, packet.coin, hops)[0]
            near *= tables.weight or self.hops(straight, router, exit_goal)
            far *= tables.detour_weight or there + self.hops(straight, goal, exit_goal)
        far += tables.threshold
        if near == far and tables.even_by_coin:
            return goal if drawn(packet.coin, 4 * hops + 3, 2) else -1
        return goal if near > far else -1

    def queues(self, used, table, router, goal, coin, hops):
        """Return what is used of each port on the way that a packet would take now."""
        found = []
        while ports := self.listed(table, router, goal):
            port = self.picked(used[router], ports, coin, hops + len(found))
            found.append(used[router][port])
            router = self.tables.next_router[router << self.tables.port_shift | port]
        return found


def port_lists(topology, first_port, lanes, distance, router, goal):
    """Return the ports of all channels that lead one hop nearer, by channel number."""
    found = []
    inside = topology.routers
    for channel in range(inside.num_channels):
        if inside.channel_source[channel] == router:
            after = inside.channel_target[channel]
            if distance[after][goal] >= 0 and distance[after][goal] == distance[router][goal] - 1:
                found += range(first_port[channel], first_port[channel] + lanes[channel])
    return found


def distances(topology):
    """Return the hops from each router to each; -1 where there is no way."""
    inside = topology.routers
    ends = list(zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True))
    far = [spread.distances(goal, ends) for goal in range(inside.num_routers)]
    return [[hops.get(router, -1) for hops in far] for router in range(inside.num_routers)]


def every_wait(topology, tables, channel_at):
    """Return {((channel, vc), (channel, vc))}: what packets may hold while they ask for the next.

    Every packet is followed through every choice and every detour.
    """
    twin, waits = Twin(tables), set()
    for sink in range(topology.num_ports):
        todo = [(int(router), None, 0, None, None) for router in topology.injection_router]
        seen = set(todo)
        while todo:
            place = todo.pop()
            router, channel, _, _, vc = place
            for after, middle, port, bits in every_way(twin, place, sink):
                behind = channel_at[router][port]
                for next_vc in vcs_in(bits):
                    if channel is not None:
                        waits.add(((channel, vc), (behind, next_vc)))
                    enters = int(topology.routers.channel_target[behind])
                    following = (enters, behind, after, middle, next_vc)
                    if following not in seen:
                        seen.add(following)
                        todo.append(following)
    return waits


def every_way(twin, place, sink):
    """Yield all that a packet may do at a router: next state, goal of the detour, port, VCs."""
    tables, (router, _, state, aux, _) = twin.tables, place
    exit_router, exit_goal = tables.exit_router[sink], tables.sink_goal[sink]
    options = [(state, aux)]
    if tables.decides[state]:
        goals = twin.detours(router, exit_router) if router != exit_router else []
        options = [(tables.leave[state], goal) for goal in goals if goal >= 0]
        if not goals:
            options = [(tables.none[state], aux)]
        elif tables.detour != kinds.ALWAYS or -1 in goals:
            options.append((tables.keep[state], aux))
    for chosen, middle in options:
        after, goal = chosen, exit_goal
        if tables.to_aux[after]:
            goal = middle
            if not twin.listed(tables.table[after], router, goal):
                after, goal = tables.turn[after], exit_goal
        if router == exit_router and tables.eject_vcs[after]:
            continue
        starts = [after]
        if tables.escape_vcs and after < tables.escape_state:
            starts.append(tables.escape_state)
        for before in starts:
            for port in twin.listed(tables.table[before], router, goal):
                behind = twin.behind(before, twin.kind(tables.out_kind, router, port))
                yield behind, middle, port, tables.vcs[behind]
