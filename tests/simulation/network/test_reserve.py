"""Reserved VCs: who owns what, and how connections share a channel, run in the engine."""

from collections import Counter

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from netloom.base.errors import InputError, NoRouteError
from netloom.routing import parse_routing, paths, ports, source_routes
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.engine import Engine, reserve
from netloom.simulation.network.routers import Router
from netloom.topology import cube, graph_topology, mesh, torus
from netloom.workload import parse_traffic
from netloom.workload.traffic import pairs, uniform

PIPELINES = [
    {},
    {"route_cycles": 2, "vc_allocation_cycles": 2, "switch_allocation_cycles": 2},
    {"traversal_cycles": 0, "channel_cycles": 4, "credit_cycles": 1},
    {"speculative": True},
]


def reserved(vcs=4, **fields):
    return Router(vcs=vcs, switching="reserved", **fields)


def packets(reservation, births, connections, flits):
    """The engine's table of packets of the given connections."""
    table = np.zeros((len(births), 6), np.int32)
    table[:, 0], table[:, 3] = births, flits
    table[:, 1], table[:, 2] = (
        ends[np.asarray(connections)] for ends in (reservation.sources, reservation.targets)
    )
    table[:, 5] = reservation.aux_of(table[:, 1], table[:, 2])
    assert table[:, 5].tolist() == list(connections)
    return table


def engine_of(network, reservation, router):
    return Engine(network, reservation.routing, router, connections=reservation.connections)


def owned(reservation, network, router):
    """Each connection's channels and VCs in order, and the port and VC of its ejection."""
    tables, out_port = reservation.routing.tables, ports(network).out_port
    leaving = {
        (int(network.source_end[c]), int(out_port[c])): c for c in range(network.num_channels)
    }
    found = []
    for connection, source in enumerate(reservation.sources.tolist()):
        first, after = tables.path_offsets[connection : connection + 2]
        node, hops = source, []
        for at in range(first, after):
            mask = int(tables.path_slots[at])
            assert mask.bit_count() == 1
            port, vc = divmod(mask.bit_length() - 1, router.vcs)
            if at + 1 < after:
                channel = leaving[node, port]
                hops.append((channel, vc))
                node = int(network.target_end[channel])
        assert node == reservation.targets[connection]
        found.append((hops, (port - ports(network).num_network_ports, vc)))
    return found


@st.composite
def reservations(draw):
    sides = draw(
        st.lists(st.integers(1, 5), min_size=1, max_size=2).filter(lambda s: np.prod(s) > 1)
    )
    network = cube(sides, draw(st.lists(st.booleans(), min_size=len(sides), max_size=len(sides))))
    node = st.integers(0, network.num_nodes - 1)
    ends = draw(
        st.lists(st.tuples(node, node).filter(lambda p: p[0] != p[1]), min_size=1, max_size=12)
    )
    name = draw(st.sampled_from(["dimension-order", "shortest-path"]))
    counts = draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    vcs = draw(st.integers(1, 7))
    router = reserved(vcs, injection_channels=counts[0], ejection_channels=counts[1])
    return network, name, pairs(network.num_nodes, *np.array(ends).T), router


@given(reservations())
def test_every_vc_has_one_owner_or_there_are_too_few(asked):
    network, name, traffic, router = asked
    source, target, _ = traffic.matrix()
    routed = paths(network, parse_routing(name, network), source, target)
    ends = max(ports(network).num_network_ports, 1)
    entries = (router.injection_channels or ends) * router.vcs
    exits = (router.ejection_channels or ends) * router.vcs
    most = [
        Counter(routed.channels.tolist()).most_common(1)[0][1] <= router.vcs,
        Counter(source.tolist()).most_common(1)[0][1] <= entries,
        Counter(target.tolist()).most_common(1)[0][1] <= exits,
    ]
    if not all(most):
        with pytest.raises(InputError, match=r"^reserved VCs: found [0-9]+ connections"):
            reserve(network, name, traffic, router)
        return
    found = reserve(network, name, traffic, router)
    ways = owned(found, network, router)
    for path, (hops, _) in enumerate(ways):
        assert [channel for channel, _ in hops] == routed[path].tolist()
    taken = Counter(hop for hops, _ in ways for hop in hops)
    assert set(taken.values()) == {1}
    on_channel = Counter(channel for channel, _ in taken)
    assert all(vc < on_channel[channel] for channel, vc in taken)  # the lowest are taken
    leaving = Counter((int(t), end) for t, (_, end) in zip(found.targets, ways, strict=True))
    assert set(leaving.values()) == {1}
    node, _, _ = np.nonzero(found.connections >= 0)
    numbers = found.connections[found.connections >= 0]
    assert sorted(numbers.tolist()) == list(range(len(source)))
    assert (found.sources[numbers] == node).all()
    assert found.aux_of(source, target).tolist() == list(range(len(source)))


def test_given_routes_and_graphs():
    ring = torus(5)
    routes = source_routes(ring, [[0, 1, 2, 3], [1, 2]])
    found = reserve(ring, routes, pairs(5, [0, 1], [3, 2]), reserved(2))
    assert [len(hops) for hops, _ in owned(found, ring, reserved(2))] == [3, 1]
    assert not found.routing.minimal
    with pytest.raises(NoRouteError, match="from host 2 to host 4"):
        reserve(ring, routes, pairs(5, [2], [4]), reserved(2))
    star = graph_topology(nx.star_graph(4))
    assert len(reserve(star, "default", uniform(5), reserved(4)).sources) == 20


def test_what_cannot_be_reserved_is_refused():
    grid = mesh(8, 8)
    row = parse_traffic("pairs:" + ",".join(f"{a}-4" for a in range(4)), grid)
    with pytest.raises(InputError) as error:
        reserve(grid, "default", row, reserved(3, ejection_channels=2))
    assert str(error.value) == (
        "reserved VCs: found 4 connections on channel (0,3) -> (0,4); expected at most 3, one a VC"
    )
    with pytest.raises(InputError, match=r"4 connections at the ejection of node \(0,4\); .* 3,"):
        reserve(grid, "default", row, reserved(3))
    with pytest.raises(InputError, match=r"63 connections at the injection of node \(0,0\); .* 8,"):
        reserve(grid, "default", uniform(64), reserved(4, injection_channels=2))
    for name in ("adaptive", "valiant", "dimension-order-static-dateline"):
        with pytest.raises(InputError, match="one path for each pair"):
            reserve(grid, name, row, reserved())
    with pytest.raises(InputError, match="of 13 VCs; expected at most 62"):
        reserve(grid, "default", row, reserved(13))
    large = mesh(2000)
    with pytest.raises(InputError, match=r"3998000 pairs of nodes in uniform; .* 1048576"):
        reserve(large, "default", uniform(2000), reserved())
    few = reserve(grid, "default", row, reserved(4))
    with pytest.raises(NoRouteError, match="from host 4 to host 0"):
        few.aux_of([0, 4], [4, 0])
    with pytest.raises(NoRouteError, match="from host 1 to host 3"):
        few.aux_of([1], [3])


def test_reserved_paths_bound_the_throughput():
    grid, router = mesh(2, 4), reserved(ejection_channels=0)
    traffic = pairs(8, [0, 1, 2], [3, 3, 3])
    routing = reserve(grid, "default", traffic, router).routing
    found = throughput_bound(grid, routing, traffic, router)
    assert (found.load, found.what) == (pytest.approx(1 / 3), "channel (0,2) -> (0,3)")


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize(("target", "hops"), [(1, 1), (3, 3), (15, 6)])
def test_only_the_first_packet_of_a_connection_sets_up(pipeline, target, hops):
    grid, router = mesh(4, 4), reserved(**pipeline)
    found = reserve(grid, "default", pairs(16, [0], [target]), router)
    engine = engine_of(grid, found, router)
    log = engine.advance(packets(found, [0, 200, 400], [0, 0, 0], [3, 3, 7]), 600)
    times = router.timing()
    assert log.hops.tolist() == [hops] * 3
    latency = (log.arrival - log.birth).tolist()
    assert latency[1:] == [router.zero_load_cycles(hops, 3), router.zero_load_cycles(hops, 7)]
    set_up = (hops + 1) * (times.head_wait + (not router.speculative))
    assert latency[0] == latency[1] + set_up


def backlogged_shares(network, routing, traffic, router, flits=5, cycles=3000):
    """Flits a cycle of each connection, when all have packets waiting."""
    found = reserve(network, routing, traffic, router)
    each = len(found.sources)
    count = cycles // flits
    born = packets(found, [0] * (each * count), np.tile(np.arange(each), count), flits)
    log = engine_of(network, found, router).advance(born, cycles)
    key = found.aux_of(log.source, log.target)
    return np.bincount(key, log.flits, each) / cycles


def test_connections_from_one_port_share_as_those_from_several():
    # at router 2, two connections come in by one port and one from the node: a third each, where
    # turns of ports would give a quarter, a quarter and a half
    shares = backlogged_shares(mesh(4), "default", pairs(4, [0, 1, 2], [3, 3, 3]), reserved())
    assert shares == pytest.approx([1 / 3] * 3, abs=0.01)


def test_connections_of_one_port_do_not_keep_each_other_from_other_channels():
    # from every node to the ones 2 rows and 2 columns on, and 2 and 1: each channel to the south
    # has four, and is never idle; with one crossbar input a port, a fifth of its time would be lost
    node = np.arange(25)
    rows, columns = (node // 5 + 2) % 5 * 5, node % 5
    target = np.concatenate([rows + (columns + 2) % 5, rows + (columns + 1) % 5])
    traffic = pairs(25, np.tile(node, 2), target)
    shares = backlogged_shares(torus(5, 5), "default", traffic, reserved())
    assert shares == pytest.approx([1 / 4] * 50, abs=0.005)


def test_what_a_slow_connection_leaves_goes_to_others():
    # three connections share the ejection of node 3; that from node 0 holds a VC of channel 1 -> 2,
    # but not its bandwidth: the one from 1 to 2 takes the two thirds that are left
    traffic = pairs(5, [0, 1, 2, 4], [3, 2, 3, 3])
    shares = backlogged_shares(mesh(5), "default", traffic, reserved())
    assert shares == pytest.approx([1 / 3, 2 / 3, 1 / 3, 1 / 3], abs=0.01)
