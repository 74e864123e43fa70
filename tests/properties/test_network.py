"""The fast network and the readable one must agree, flit by flit."""

from collections import defaultdict
from dataclasses import dataclass

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import DeadlockError
from netloom.routing import DimensionOrder, paths
from netloom.routing.by_hop.tables import ports
from netloom.routing.kernels.virtual_channels import allowed, arrived
from netloom.routing.source_routing import source_routes
from netloom.routing.virtual_channel_tables import (
    PATHS,
    RULES,
    VirtualChannelRouting,
    datelines,
    empty_tables,
)
from netloom.routing.virtual_channels import draw_aux, virtual_channel_routing
from netloom.simulation.network.routers import Router
from netloom.topology import Topology, cube, graph_topology
from tests.engine_state import credits_of, owned_of
from tests.properties.network_runs import run
from tests.reference.network import simulate

WHOLE = ("virtual-cut-through", "store-and-forward")


@dataclass(frozen=True)
class Case:
    """A network, its packets (int32[n, 6], as ``Engine.advance`` takes them), and how long to run.

    Credits are ``exact`` where the engine returns none early. ``connections`` are the VCs that the
    sources send on, int32[nodes, injection channels, VCs], where VCs are reserved.
    """

    topology: Topology
    routing: VirtualChannelRouting
    router: Router
    packets: np.ndarray
    cycles: int
    exact: bool
    connections: np.ndarray | None = None

    def __repr__(self):
        given = f"{self.topology.name}, {self.routing.name}, {self.router}"
        return f"{given}, {self.cycles} cycles, exact={self.exact}, {self.packets.tolist()}"


@st.composite
def graphs(draw):
    """Networks of any shape: a tree, and channels one way that leave it free of deadlock."""
    nodes = draw(st.integers(2, 8))
    graph = nx.DiGraph()
    for node in range(1, nodes):
        other = draw(st.integers(0, node - 1))
        graph.add_edges_from([(node, other), (other, node)])
    node = st.integers(0, nodes - 1)
    for source, target in draw(st.lists(st.tuples(node, node), max_size=8)):
        more = graph.copy()
        more.add_edge(source, target)
        if source != target and not deadlocks(graph_topology(more)):
            graph = more
    return graph_topology(graph)


def deadlocks(topology):
    try:
        virtual_channel_routing(topology, "shortest-path", num_vcs=1)
    except DeadlockError:
        return True
    return False


def routers(switchings, *, vcs):
    cycles = st.integers(1, 3)
    return st.builds(
        Router,
        vcs=st.just(vcs),
        buffer_flits=st.integers(1, 8),
        switching=st.sampled_from(switchings),
        route_cycles=st.integers(0, 2),
        vc_allocation_cycles=cycles,
        switch_allocation_cycles=cycles,
        traversal_cycles=st.integers(0, 2),
        speculative=st.booleans(),
        channel_cycles=st.integers(0, 3),
        credit_cycles=st.integers(0, 3),
        injection_channels=st.integers(0, 3),
        ejection_channels=st.integers(0, 3),
        oldest_first=st.booleans(),
    )


def entry_channels(topology, router):
    """Return the channels of every node into its router, and out of it."""
    unlimited = max(ports(topology).num_network_ports, 1)
    return router.injection_channels or unlimited, router.ejection_channels or unlimited


@st.composite
def small_cubes(draw, *, dimensions=(1, 3), wraps=True):
    """Cubes of at most 27 nodes, with sides of 1 (rare), 2, 3 and more, open or closed."""
    number = draw(st.integers(*dimensions))
    most = {1: 9, 2: 5, 3: 3}[number]
    side = st.one_of(st.integers(2, most), st.integers(1, most))
    sides = draw(st.lists(side, min_size=number, max_size=number))
    closed = st.booleans() if wraps else st.just(False)
    return cube(sides, draw(st.lists(closed, min_size=number, max_size=number)))


@st.composite
def routed_networks(draw):
    """Return a network, the name of a routing, and a number of VCs on which it cannot deadlock."""
    name = draw(st.sampled_from([*RULES, "shortest-path", "routes"]))
    if name == "shortest-path":
        return draw(graphs()), name, draw(st.integers(1, 4))
    if name == "routes":
        return draw(small_cubes(wraps=False)), name, draw(st.integers(1, 4))
    rule = RULES[name]
    dimensions = (2, 2) if rule.two_dimensions else (1, 3)
    topology = draw(small_cubes(dimensions=dimensions, wraps=rule.ring_vcs > 0))
    rings = datelines(topology).any()
    vcs = draw(st.integers(rule.ring_vcs if rings else rule.vcs, 4))
    if rings and name == "dimension-order-static-dateline":
        vcs -= vcs % 2  # its two classes are halves
    return topology, name, vcs


def all_routes(topology):
    """Return dimension order, written out as given routes."""
    source, target = np.nonzero(~np.eye(topology.num_nodes, dtype=bool))
    ways = paths(topology, DimensionOrder(), source, target)
    heads = zip(source.tolist(), ways, strict=True)
    return source_routes(
        topology, [[start, *topology.target_end[way].tolist()] for start, way in heads]
    )


@st.composite
def births(draw, num_nodes, router):
    """Return a source of chance, how long to run, and the packets: birth, source, target, flits."""
    cycles = draw(st.one_of(st.integers(50, 100), st.integers(50, 400)))
    most = router.buffer_flits if router.switching in WHOLE else 10
    lengths = draw(st.lists(st.integers(1, most), min_size=1, max_size=4))
    load = draw(st.sampled_from([0.02, 0.1, 0.3, 0.6, 1.5]))
    last = draw(st.sampled_from([cycles, cycles // 2]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng, cycles, born(rng, num_nodes, load, lengths, last)


def born(rng, num_nodes, load, lengths, last):
    """Return packets born before cycle ``last``, at a load of so many flits a node and cycle."""
    number = rng.poisson(load / np.mean(lengths), (last, num_nodes))
    birth, source = np.nonzero(number)
    birth, source = np.repeat([birth, source], number[birth, source], axis=1)
    target = rng.integers(0, num_nodes, len(birth))
    return [birth, source, target, rng.choice(lengths, len(birth))]


def table_of(columns):
    return np.stack(columns, axis=1).astype(np.int32).reshape(-1, 6)


@st.composite
def cases(draw):
    topology, name, vcs = draw(routed_networks())
    router = draw(routers(("wormhole", *WHOLE, "circuit"), vcs=vcs))
    entry, leave = entry_channels(topology, router)
    way = all_routes(topology) if name == "routes" else name
    routing = virtual_channel_routing(
        topology, way, num_vcs=vcs, injection_channels=entry, ejection_channels=leave
    )
    rng, cycles, packets = draw(births(topology.num_nodes, router))
    packets += draw_aux(routing, rng, packets[1], packets[2])
    return Case(topology, routing, router, table_of(packets), cycles, draw(st.booleans()))


@st.composite
def reserved_cases(draw):
    """Connections, each with a VC of its own on every channel of its path."""
    topology = draw(small_cubes())
    router = draw(routers(("reserved",), vcs=draw(st.integers(1, 4))))
    entry, leave = entry_channels(topology, router)
    node = st.integers(0, topology.num_nodes - 1)
    asked = draw(st.lists(st.tuples(node, node), min_size=4, max_size=40))
    taken = defaultdict(int)  # VCs of each channel
    network_slots = ports(topology).num_network_ports * router.vcs
    connections = np.full((topology.num_nodes, entry, router.vcs), -1, np.int32)
    pairs, rows = [], []
    for source, target in asked:
        [way] = paths(topology, DimensionOrder(), [source], [target])
        into, out_of = ("into", source), ("out of", target)
        full = any(taken[channel] == router.vcs for channel in way.tolist())
        if full or taken[into] == entry * router.vcs or taken[out_of] == leave * router.vcs:
            continue
        out_port = ports(topology).out_port[way].tolist()
        slots = [at * router.vcs + taken[on] for at, on in zip(out_port, way.tolist(), strict=True)]
        rows.append([*slots, network_slots + taken[out_of]])
        connections[source].flat[taken[into]] = len(pairs)
        pairs.append((source, target))
        for channel in (*way.tolist(), into, out_of):
            taken[channel] += 1
    _, cycles, (birth, owner, _, flits) = draw(births(len(pairs), router))
    source, target = np.array(pairs)[owner].T
    columns = [birth, source, target, flits, np.zeros_like(owner), owner]
    packets = table_of(columns)[np.lexsort((owner, source, birth))]
    routing = reserved_routing(topology, router.vcs, leave, rows)
    return Case(topology, routing, router, packets, cycles, draw(st.booleans()), connections)


def reserved_routing(topology, vcs, leave, rows):
    """Return the routing of connections that own the given output slots."""
    tables = empty_tables(topology, PATHS, vcs, leave)._replace(
        path_offsets=np.cumsum([0, *map(len, rows)]),
        path_slots=np.array([1 << slot for row in rows for slot in row], np.int64),
    )
    return VirtualChannelRouting("reserved", topology, tables, needs_aux=True)


def members(bits):
    return {slot for slot in range(62) if bits >> slot & 1}


def by_the_reference(case):
    """Return what the readable network makes of a case."""
    tables, router = case.routing.tables, case.router

    def way(at, slot, packet, coin):
        port, vc = slot
        ends = (packet.source, packet.target)
        found = allowed(tables, at, port * router.vcs + vc, *ends, packet.aux, coin, packet.hops)
        return {divmod(out, router.vcs) for out in members(found)}

    def route(at, slot, packet, used):
        packet.aux = arrived(tables, at, packet.aux)
        if case.routing.uses_credits and packet.hops == 0:
            ways = (packet.coin, packet.coin ^ 1)  # of as many credits, as the coin fell
            packet.coin = min(ways, key=lambda coin: used(at, min(way(at, slot, packet, coin))[0]))
        return way(at, slot, packet, packet.coin)

    def entry_of(connection):
        [[_, *place]] = np.argwhere(case.connections == connection).tolist()
        return tuple(place)

    return simulate(
        case.topology,
        router,
        route,
        packets=case.packets.tolist(),
        cycles=case.cycles,
        preferred_vcs=members(tables.adaptive_vcs),
        injection_slot_of=entry_of,
    )


def queued(engine):
    """Return how many packets are born, but not yet sent."""
    state, count = engine.state, 0
    for packet in state.queue_front.tolist():
        while packet >= 0:
            count += 1
            packet = int(state.packets["next"][packet])
    begun = state.entries["packet"][state.entries["packet"] >= 0]
    return count + int((state.packets["entry"][begun] < 0).sum())


def check(case, split):
    expected = by_the_reference(case)
    engine, delivered = run(case)
    assert delivered == expected.delivered
    assert engine.channel_flits().tolist() == expected.channel_flits
    assert engine.count("link_hops") == expected.link_hops
    assert engine.count("injected") == expected.injected_flits
    assert engine.flits()["buffered"] == expected.buffered_flits
    assert queued(engine) == expected.queued_packets
    buffered, owned, places = engine.buffered(), owned_of(engine), credits_of(engine)
    assert {place: buffered[place] for place in expected.buffers} == expected.buffers
    assert {place: owned[place] for place in expected.owned} == expected.owned
    for place, left in expected.credits.items():
        found = int(places[place])
        early = 0 if case.exact else engine.setup.credit_delay
        assert left <= found <= min(left + early, case.router.buffer_flits)
    again, same = run(case, split)
    assert same == delivered
    assert again.state.masks.tobytes() == engine.state.masks.tobytes()
    assert again.state.inputs.tobytes() == engine.state.inputs.tobytes()
    assert again.state.outputs.tobytes() == engine.state.outputs.tobytes()


@settings(max_examples=300)
@given(cases(), st.floats(0, 1))
def test_the_kernel_equals_the_readable_network(case, split):
    check(case, int(split * case.cycles))


@settings(max_examples=100)
@given(reserved_cases(), st.floats(0, 1))
def test_reserved_channels_equal_the_readable_network(case, split):
    check(case, int(split * case.cycles))


@pytest.mark.parametrize(
    ("topology", "name", "vcs"),
    [
        (cube([9, 8], [True, False]), "adaptive", 4),
        (graph_topology(nx.star_graph(30)), "shortest-path", 2),  # 31 ports x 2: 62 slots
    ],
)
def test_sets_of_nodes_longer_than_a_word_and_of_slots_as_long(topology, name, vcs):
    rng, parts = np.random.default_rng(1), Router(vcs=vcs, buffer_flits=3)
    routing = virtual_channel_routing(topology, name, num_vcs=vcs)
    packets = born(rng, topology.num_nodes, 0.3, [1, 2, 7], 60)
    packets += draw_aux(routing, rng, packets[1], packets[2])
    check(Case(topology, routing, parts, table_of(packets), 80, exact=True), 40)
