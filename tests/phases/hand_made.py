"""Plans and timetables made without the compiler: dimension order, first fit, one after another."""

import hypothesis.strategies as st
import numpy as np

from netloom.contention.messages import ConSetCosts
from netloom.phases import Capacity, Connections, Plan, Timetable
from netloom.routing import DimensionOrder, Paths, paths
from netloom.topology import torus
from netloom.workload import read
from tests.properties.strategies import cubes


def joined(num_nodes, pairs, words, order=(), first_task=100):
    """Return connections between tasks that are called so many more than their nodes."""
    source, target = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
    before, after = np.array(order, np.int32).reshape(-1, 2).T
    amounts = np.array(words, np.int64)
    tasks = source + first_task, target + first_task
    return Connections(num_nodes, source, target, amounts, *tasks, before, after, "by hand")


def places_of(plan, connection):
    """Return the nodes, or channels, at which a connection takes a virtual channel."""
    channels = plan.routes[connection].tolist()
    if plan.capacity.per == "channel":
        return channels
    entered = plan.topology.target_end[channels].tolist()
    return [int(plan.connections.source[connection]), *entered]


def first_fit(topology, given, capacity):
    """Return a plan: every connection in the first phase that has room for its route."""
    routes = paths(topology, DimensionOrder(), given.source, given.target)
    phase = np.full(len(given), -1, np.int32)
    plan = Plan(topology, given, capacity, phase, routes, "by hand")
    used = []
    for connection in range(len(given)):
        taken = places_of(plan, connection)
        p = 0
        while p < len(used) and any(used[p][x] >= capacity.virtual_channels for x in taken):
            p += 1
        if p == len(used):
            used.append([0] * capacity.places(topology))
        for place in taken:
            used[p][place] += 1
        phase[connection] = p
    return plan


def one_at_a_time(plan, costs):
    """Return a timetable: each connection once both its processors have done all before it."""
    given, per_word = plan.connections, costs.clocks_per_word
    start, end = np.zeros(len(given)), np.zeros(len(given))
    free = {}
    for c in range(len(given)):
        sender, receiver = int(given.source[c]), int(given.target[c])
        roles = ("send", "receive") if costs.both_ways else ("both", "both")
        keys = [(int(plan.phase[c]), *each) for each in zip((sender, receiver), roles, strict=True)]
        start[c] = max(free.get(key, 0) for key in keys)
        end[c] = start[c] + per_word * int(given.words[c])
        free.update(dict.fromkeys(keys, end[c]))
    return Timetable(start, end, *2 * (last_end(plan, end),), "timetable")


def all_at_once(plan, costs):
    """Return a timetable of streaming: in each phase all go on until the busiest has done."""
    given, work = plan.connections, {}
    for c in range(len(given)):
        phase, words = int(plan.phase[c]), int(given.words[c])
        roles = ("send", "receive") if costs.both_ways else ("both", "both")
        for node, role in zip((given.source[c], given.target[c]), roles, strict=True):
            at = (phase, role, int(node))
            work[at] = work.get(at, 0) + words * costs.clocks_per_word
        for channel in plan.routes[c].tolist():
            at = (phase, "channel", channel)
            work[at] = work.get(at, 0) + words * costs.channel_clocks_per_word
    end = np.array([max(w for at, w in work.items() if at[0] == p) for p in plan.phase], float)
    return Timetable(np.zeros(len(given)), end, *2 * (last_end(plan, end),), "streaming")


def last_end(plan, end):
    return np.array([end[plan.phase == p].max() for p in range(plan.num_phases)])


@st.composite
def made(draw):
    """Return a plan, a timetable and costs that are right."""
    topology = draw(cubes(most_dimensions=3, most_nodes=16).filter(lambda t: t.num_nodes > 1))
    node = st.integers(0, topology.num_nodes - 1)
    pair = st.tuples(node, node).filter(lambda p: p[0] != p[1])
    pairs = draw(st.lists(pair, min_size=3, max_size=25))
    words = draw(st.lists(st.integers(1, 300), min_size=len(pairs), max_size=len(pairs)))
    capacity = Capacity(draw(st.integers(1, 5)), draw(st.sampled_from(["node", "channel"])))
    costs = ConSetCosts(
        clocks_per_word=draw(st.sampled_from([2, 2.5, 10])), both_ways=draw(st.booleans())
    )
    plan = first_fit(topology, joined(topology.num_nodes, pairs, words), capacity)
    make = draw(st.sampled_from([one_at_a_time, all_at_once]))
    return plan, make(plan, costs), costs


# -- patterns of the 8x8 torus in the order in which iWarp sent them


TORUS, WIDE = torus(8, 8), Capacity(62)


def connections_of(pairs, words, *, num_nodes=64, order=()):
    """Connections between pairs of nodes, in this order; ``order`` are pairs of their numbers."""
    carried = np.broadcast_to(words, len(pairs))
    return joined(num_nodes, pairs, carried, order, first_task=0)


def plan_of(pairs, words, phase=0, *, on=TORUS, routes=None, order=(), capacity=WIDE):
    given = connections_of(pairs, words, num_nodes=on.num_nodes, order=order)
    phases = np.broadcast_to(np.asarray(phase, np.int32), len(given)).copy()
    if routes is None:
        routed = paths(on, DimensionOrder(), given.source, given.target)
    else:
        offsets = np.cumsum([0, *map(len, routes)])
        routed = Paths(offsets, np.array([c for route in routes for c in route], np.int32))
    return Plan(on, given, capacity, phases, routed, "by hand")


def plan_of_rows(on, rows, **options):
    """Return a plan of connections (source, target, words)."""
    return plan_of([row[:2] for row in rows], [row[2] for row in rows], on=on, **options)


def plan_of_program(spec, on, words, phase=0):
    """Return a plan of a program whose tasks run on nodes of their own, in rank order."""
    graph = read(spec)
    return plan_of(list(zip(graph.source, graph.target, strict=True)), words, phase, on=on)


def listed(plan, kind="timetable"):
    """A timetable in which each node starts its connections of a phase as they are listed."""
    seen, start = {}, np.zeros(len(plan.connections))
    for number, source in enumerate(plan.connections.source.tolist()):
        place = (source, int(plan.phase[number]))
        start[number] = seen.get(place, 0)
        seen[place] = start[number] + 1
    most = np.ones(plan.num_phases)
    return Timetable(start, start + 1, most, most, kind)


def neighbours():
    """East, west, north, south, from every node."""
    return [
        (8 * y + x, 8 * ((y + down) % 8) + (x + right) % 8)
        for y in range(8)
        for x in range(8)
        for down, right in ((0, 1), (0, -1), (-1, 0), (1, 0))
    ]


def butterfly():
    """A hypercube of 64, mapped by Gray codes: bits of the column first, for every node."""
    place = {code ^ code >> 1: code for code in range(8)}

    def node(task):
        return 8 * place[task >> 3] + place[task & 7]

    return [(node(task), node(task ^ 1 << bit)) for task in range(64) for bit in range(6)]
