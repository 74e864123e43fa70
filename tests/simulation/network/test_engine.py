"""One network at a time: what can be said of it by hand."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import DeadlockError
from netloom.routing import DimensionOrder, virtual_channel_routing
from netloom.routing.source_routing import shortest_path_table, source_routes
from netloom.routing.virtual_channel_tables import path_routing, rule_routing, table_routing
from netloom.simulation.network.engine import Engine
from netloom.simulation.network.layout import PATIENCE
from netloom.simulation.network.routers import SWITCHINGS, Router
from netloom.topology import graph_topology, mesh, torus
from tests.engine_state import bytes_per_node

LINE = mesh(7)


def packets(*rows):
    """Packets of (birth, source, target, flits)."""
    return np.array([(*row, 0, -1) for row in rows], np.int32).reshape(-1, 6)


def random_packets(num_nodes, *, load, cycles, flits, seed=1):
    rng = np.random.default_rng(seed)
    birth, source = np.nonzero(rng.random((cycles, num_nodes)) < load / flits)
    target = (source + rng.integers(1, num_nodes, len(source))) % num_nodes
    length, coin = np.full_like(birth, flits), rng.integers(0, 2**31, len(birth))
    columns = [birth, source, target, length, coin, np.full_like(birth, -1)]
    return np.stack(columns, axis=1).astype(np.int32)


def engine(topology, parts, **options):
    routing = virtual_channel_routing(topology, "default", num_vcs=parts.vcs)
    return Engine(topology, routing, parts, **options)


def rows(delivered):
    """Return (number, birth, entry, arrival, source, target, hops, flits) of each packet."""
    return sorted(zip(*(column.tolist() for column in delivered), strict=True))


def one_connection(hops, parts):
    """Return an engine with a connection from node 0, on VC 0 of each of its channels."""
    routes = source_routes(LINE, [list(range(hops + 1))]) if hops else source_routes(LINE, [])
    routing = path_routing(LINE, routes, 1, 1)
    connections = np.full((LINE.num_nodes, 1, parts.vcs), -1, np.int32)
    connections[0, 0, 0] = 0
    return Engine(LINE, routing, parts, connections=connections)


@st.composite
def pipelines(draw):
    return Router(
        vcs=1,
        buffer_flits=draw(st.integers(1, 12)),
        switching=draw(st.sampled_from(SWITCHINGS)),
        oldest_first=draw(st.booleans()),
        route_cycles=draw(st.integers(0, 2)),
        vc_allocation_cycles=draw(st.integers(1, 2)),
        switch_allocation_cycles=draw(st.integers(1, 5)),
        traversal_cycles=draw(st.integers(0, 2)),
        speculative=draw(st.booleans()),
        channel_cycles=draw(st.integers(0, 4)),
        credit_cycles=draw(st.integers(0, 2)),
    )


@settings(max_examples=150, deadline=None)
@given(pipelines(), st.integers(0, 6), st.integers(1, 40))
def test_a_lone_packet_takes_the_zero_load_latency(parts, hops, flits):
    if parts.whole_packets:
        parts = replace(parts, buffer_flits=max(parts.buffer_flits, flits))
    first, second = 5, 2005  # the second packet of a connection finds its VCs owned
    born = packets((first, 0, hops, flits), (second, 0, hops, flits))
    if parts.switching == "reserved":
        born[:, 5] = 0
        network = one_connection(hops, parts)
    else:
        network = engine(LINE, parts)
    _, (_, birth, entry, arrival, *_, crossed, _) = rows(network.advance(born, 5000))
    assert (birth, entry, crossed) == (second, second, hops)
    assert arrival - birth == parts.zero_load_cycles(hops, flits)


def test_two_packets_for_one_channel():
    """The second waits for the first one's tail, for its credits, and for its place downstream.

    Packet 1 is in router 1 in cycle 2, allocates, wins the switch in 3 to 6, and in router 2,
    where it comes in 6 to 9, in 7 to 10: delivered in 13. Packet 0 is in router 1 in cycle 6,
    allocates in 7, when the VC is free, has credit in 9 to 12, comes to router 2 in 12 to 15,
    wins in 13 to 16: 19.
    """
    parts = Router(vcs=1, buffer_flits=4)
    found = rows(engine(mesh(3), parts).advance(packets((0, 0, 2, 4), (0, 1, 2, 4)), 30))
    assert found == [(0, 0, 0, 19, 0, 2, 2, 4), (1, 0, 0, 13, 1, 2, 1, 4)]


def test_an_answer_of_a_circuit_may_take_longer_than_the_patience():
    parts = Router(switching="circuit", channel_cycles=64, credit_cycles=64)
    line = mesh(20)
    [row] = rows(engine(line, parts).advance(packets((0, 0, 19, 2)), 10_000))
    assert row[3] == parts.zero_load_cycles(hops=19, flits=2)
    assert 19 * parts.timing().credit > PATIENCE


def turn(names):
    """Turn a circle of names so that it begins with the lowest one."""
    first = names.index(min(names))
    return names[first:] + names[:first]


@pytest.mark.parametrize("switching", SWITCHINGS[:4])
def test_a_deadlock_is_found_and_its_channels_named(switching):
    """Every node of a ring sends a packet half-way: each holds a channel and wants the next."""
    ring = torus(8)
    parts = Router(vcs=1, buffer_flits=4, switching=switching)
    unsafe = rule_routing(ring, "dimension-order", DimensionOrder(), 1, 1)
    rows_of = [(0, node, (node + 3) % 8, 4) for node in range(8)] * 3
    network = Engine(ring, unsafe, parts)
    with pytest.raises(DeadlockError) as caught:
        network.advance(packets(*sorted(rows_of)), 10 * PATIENCE)
    expected = tuple(f"{node} -> {(node + 1) % 8} (VC 0)" for node in range(8))
    assert turn(caught.value.cycle) == expected
    assert network.cycle < 2 * PATIENCE
    assert network.flits()["ejected"] == 0


def test_packets_that_wait_for_a_deadlock_are_not_in_it():
    """From node 0 a packet wants to enter the ring of the nodes 1 to 4, which is stuck."""
    graph = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 1)])
    topology = graph_topology(graph)
    unsafe = table_routing(topology, shortest_path_table(topology), 2, 1)
    around = {1: 3, 2: 4, 3: 1, 4: 2}
    born = [(0, node, target, 9) for node, target in around.items() for _ in range(3)]
    network = Engine(topology, unsafe, Router(vcs=2, buffer_flits=2, injection_channels=2))
    network.advance(packets(*born), 100)
    with pytest.raises(DeadlockError) as caught:
        network.advance(packets((100, 0, 3, 9)), 10 * PATIENCE)
    channels = {name.split(" (")[0] for name in caught.value.cycle}
    assert channels == {"1 -> 2", "2 -> 3", "3 -> 4", "4 -> 1"}
    assert network.cycle < 2 * PATIENCE


def test_the_largest_buffer_of_the_shortest_packets_fills_and_empties():
    """254 packets of one flit are behind each other while the sink takes one a cycle."""
    parts = Router(vcs=1, buffer_flits=254, credit_cycles=60)
    star = graph_topology(nx.star_graph(5))
    born = packets(*((cycle, node, 5, 1) for cycle in range(2000) for node in range(1, 5)))
    network = engine(star, parts)
    network.advance(born, 2000)
    assert network.buffered().max() == 254
    found = rows(network.advance(born[:0], 20_000))
    assert network.count("delivered") == len(born)
    for node in range(1, 5):
        numbers = [row[0] for row in sorted(found, key=lambda row: row[3]) if row[4] == node]
        assert numbers == sorted(numbers)


def test_a_node_takes_little_memory():
    network = engine(mesh(32, 32), Router(vcs=4, buffer_flits=8), shortest_packet=5)
    assert bytes_per_node(network) <= 1700


def test_overload_makes_the_table_and_the_log_grow():
    """One call, many calls, and the numbers of the packets: nothing is lost or delivered twice."""
    topology = mesh(8, 8)
    born = random_packets(64, load=1.0, cycles=1500, flits=2)
    network = engine(topology, Router(), shortest_packet=2)
    first_packets, log = len(network.state.packets), len(network.state.log)
    whole = rows(network.advance(born, 1500))
    inside = network.count("created") - network.count("delivered")
    assert len(born) == network.count("created") > 10 * first_packets
    assert len(whole) == network.count("delivered") > 2 * log
    assert len({row[0] for row in whole}) == len(whole)
    assert inside > 2 * first_packets
    assert len(network.state.packets) - network.count("free_packets") == inside
    parts, again = [], engine(topology, Router(), shortest_packet=2)
    for cycle in range(0, 1500, 60):
        now = (born[:, 0] >= cycle) & (born[:, 0] < cycle + 60)
        parts += rows(again.advance(born[now], cycle + 60))
    assert sorted(parts) == whole
    for number, birth, entry, arrival, source, target, hops, flits in whole:
        assert born[number, :4].tolist() == [birth, source, target, flits]
        assert birth <= entry < arrival
        assert hops >= 1
