"""The fast network and the readable one must agree, flit by flit."""

from collections import defaultdict

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import DeadlockError
from netloom.routing import DimensionOrder, paths
from netloom.routing.by_hop.tables import ports
from netloom.routing.source_routing import source_routes
from netloom.routing.virtual_channel_tables import (
    PATHS,
    RULES,
    VirtualChannelRouting,
    datelines,
    empty_tables,
)
from netloom.routing.virtual_channels import virtual_channel_routing
from netloom.simulation.network.routers import Router
from netloom.topology import cube, graph_topology
from tests.properties.hosted_networks import WHOLE, Case, births, born, led
from tests.properties.network_runs import check, led_by
from tests.reference.compiled_rules import allowed
from tests.reference.network import simulate


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
def cases(draw):
    topology, name, vcs = draw(routed_networks())
    router = draw(routers(("wormhole", *WHOLE, "circuit"), vcs=vcs))
    entry, leave = entry_channels(topology, router)
    way = all_routes(topology) if name == "routes" else name
    routing = virtual_channel_routing(
        topology, way, num_vcs=vcs, injection_channels=entry, ejection_channels=leave
    )
    cycles, packets = draw(births(topology.num_nodes, router))
    until, exact = draw(st.integers(0, cycles)), draw(st.booleans())
    return Case(topology, routing, router, led(routing, packets), cycles, until, exact)


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
    cycles, packets = draw(births(len(pairs), router))
    owner = packets[:, 1].copy()
    packets[:, 1:3] = np.array(pairs)[owner]
    packets = np.column_stack([packets, owner])[np.lexsort((owner, packets[:, 1], packets[:, 0]))]
    until, exact = draw(st.integers(0, cycles)), draw(st.booleans())
    routing = reserved_routing(topology, router.vcs, leave, rows)
    return Case(topology, routing, router, packets, cycles, until, exact, connections)


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

    def entry_of(connection):
        [[_, *place]] = np.argwhere(case.connections == connection).tolist()
        return tuple(place)

    return simulate(
        case.topology,
        router,
        led_by(way, case.routing, tables),
        packets=case.packets.tolist(),
        cycles=case.cycles,
        preferred_vcs=members(tables.adaptive_vcs),
        injection_slot_of=entry_of,
    )


@settings(max_examples=300)
@given(cases())
def test_the_kernel_equals_the_readable_network(case):
    check(case, by_the_reference(case))


@settings(max_examples=100)
@given(reserved_cases())
def test_reserved_channels_equal_the_readable_network(case):
    check(case, by_the_reference(case))


@pytest.mark.parametrize(
    ("topology", "name", "vcs"),
    [
        (cube([9, 8], [True, False]), "adaptive", 4),
        (graph_topology(nx.star_graph(30)), "shortest-path", 2),  # 31 ports x 2: 62 slots
    ],
)
def test_sets_of_nodes_longer_than_a_word_and_of_slots_as_long(topology, name, vcs):
    routing = virtual_channel_routing(topology, name, num_vcs=vcs)
    packets = born(np.random.default_rng(1), topology.num_nodes, 0.3, [1, 2, 7], 60)
    parts = Router(vcs=vcs, buffer_flits=3)
    case = Case(topology, routing, parts, led(routing, packets), 80, 40, exact=True)
    check(case, by_the_reference(case))
