from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError, NoRouteError
from netloom.routing import (
    Layered,
    ShortestPath,
    UpDown,
    all_routes,
    dependency_cycle,
    draw_aux,
    paths,
    virtual_channel_routing,
)
from netloom.routing.ragged import Paths
from netloom.routing.rules import layers, node_ranks, router_ranks
from netloom.topology import (
    Topology,
    graph_topology,
    mesh,
    topology as topology_of,
    torus,
    without,
    working_nodes,
)
from netloom.topology.core import attach_hosts
from tests.properties.strategies import cubes
from tests.reference.round_failures import detour, every_pair, layers_of, legal_hops


@st.composite
def broken_cubes(draw, most_nodes=16):
    """A cube with up to four failures, those that would cut it in two left out."""
    found = without(draw(cubes(most_dimensions=3, most_nodes=most_nodes).filter(_joined)))
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            broken = {"nodes": [draw(st.integers(0, found.num_nodes - 1))]}
        else:
            channel = draw(st.integers(0, found.num_channels - 1))
            a, b = found.source_end[channel], found.target_end[channel]
            broken = {"channels": f"{a}-{b}"}
        try:
            found = without(found, **broken)
        except InputError:
            continue
    return found


def _joined(topology):
    return topology.num_nodes > 1


def ends_of(topology):
    return list(zip(topology.source_end.tolist(), topology.target_end.tolist(), strict=True))


def nodes_of(topology, path, source):
    assert topology.source_end[path].tolist() == [source, *topology.target_end[path]][:-1]
    return [source, *topology.target_end[path].tolist()]


# --- up-down -----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(broken_cubes())
def test_up_down_paths_are_the_shortest_legal_ones(topology):
    ends, rank = ends_of(topology), node_ranks(topology, topology)
    up = [rank[b] < rank[a] for a, b in ends]
    routes = all_routes(topology, UpDown())
    pairs = every_pair(working_nodes(topology).tolist())
    for (source, target), path in zip(pairs, routes.routes, strict=True):
        assert nodes_of(topology, path, source)[-1] == target
        assert sorted(path.tolist(), key=lambda channel: not up[channel]) == path.tolist()
        assert len(path) == legal_hops(ends, up, source, target)
    assert dependency_cycle(routes.routes, topology.num_channels) == ()


def test_the_path_of_a_pair_does_not_depend_on_what_else_is_asked():
    topology = torus(5, 5)
    every = all_routes(topology, UpDown())
    asked = [(3, 17), (24, 0), (3, 17), (6, 6)]
    some = paths(topology, UpDown(), *zip(*asked, strict=True))
    for (source, target), path in zip(asked, some, strict=True):
        if source == target:
            assert not len(path)
        else:
            row = np.searchsorted(every.pairs, source * 25 + target)
            assert path.tolist() == every.routes[row].tolist()


def test_up_down_spreads_pairs_over_equal_paths():
    topology = mesh(8, 8)
    routes = all_routes(topology, UpDown()).routes
    assert len(routes.channels) == 4032 * 16 // 3  # on this mesh, all legal paths are shortest ones
    assert np.bincount(routes.channels, minlength=224).min() > 20
    to_the_corner = paths(topology, UpDown(), np.arange(8), np.full(8, 63))
    assert len({tuple(path[-7:].tolist()) for path in to_the_corner}) > 3


def test_up_down_leaves_out_links_that_work_one_way_only():
    topology = without(mesh(3, 3), channels="3->4")
    for path in all_routes(topology, UpDown()).routes:
        assert (4, 3) not in {ends_of(topology)[channel] for channel in path}
    one_way = graph_topology(nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 0)]))
    with pytest.raises(InputError, match="nodes 2 and 0 joined by one-way channels only"):
        paths(one_way, UpDown(), [0], [1])


# --- layered -----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(broken_cubes())
def test_layered_paths_are_dimension_order_or_go_round(topology):
    routes = all_routes(topology, Layered()).routes
    pairs = every_pair(working_nodes(topology).tolist())
    for (source, target), path in zip(pairs, routes, strict=True):
        assert nodes_of(topology, path, source) == detour(topology, source, target)


@settings(max_examples=40)
@given(broken_cubes(most_nodes=12))
def test_layers_are_those_of_the_readable_twin(topology):
    routes = all_routes(topology, Layered()).routes
    expected = layers_of([path.tolist() for path in routes])
    assert layers(topology, routes).tolist() == [layer for path in expected for layer in path]


@pytest.mark.parametrize(
    ("topology", "most"),
    [
        (mesh(8, 8), 1),
        (without(mesh(8, 8), channels="3-4"), 2),
        (without(mesh(16, 16), channels="3-4,100-116,201-202", nodes="77"), 3),
        (torus(8, 8), 2),
        (without(torus(8, 8), channels="3-4,12-20"), 3),
        (without(torus(16, 16), channels="3-4,100-116", nodes="77"), 4),
        (without(torus(4, 4, 4), channels="0-1", nodes="21"), 3),
        (graph_topology(nx.random_regular_graph(4, 40, seed=3)), 3),
    ],
)
def test_layers_cannot_deadlock_and_few_are_needed(topology, most):
    routes = all_routes(topology, Layered()).routes
    layer = layers(topology, routes)
    assert layer.max() + 1 <= most
    virtual = Paths(routes.offsets, (routes.channels * most + layer).astype(np.int32))
    assert dependency_cycle(virtual, topology.num_channels * most) == ()
    hops = np.bincount(layer)
    assert hops.max() < 2.5 * hops.min()


def test_too_few_vcs_are_refused_with_the_number_that_would_do():
    topology = without(torus(8, 8), channels="3-4")
    needed = int(layers(topology, all_routes(topology, Layered()).routes).max()) + 1
    assert needed > 1
    with pytest.raises(InputError, match=f"at least {needed} VCs, or routing up-down"):
        virtual_channel_routing(topology, "layered", num_vcs=needed - 1)
    assert virtual_channel_routing(topology, "default", num_vcs=needed).name == "layered"


def test_a_packet_may_use_every_vc_of_its_layer_and_no_other():
    topology = without(torus(5, 5), channels="3-4")
    layer = layers(topology, all_routes(topology, Layered()).routes)
    assert layer.max() == 1
    routing = virtual_channel_routing(topology, "layered", num_vcs=3)
    tables = routing.tables
    assert routing.minimal
    routes = routing.routes.routes
    for route in range(len(routes)):
        first, last = tables.path_offsets[route : route + 2]
        hops = layer[routes.offsets[route] : routes.offsets[route + 1]]
        for hop, slots in zip(hops, tables.path_slots[first : last - 1].tolist(), strict=True):
            port = (slots.bit_length() - 1) // 3
            assert slots == (0b011, 0b100)[hop] << 3 * port
        assert tables.path_slots[last - 1] == tables.ejection
    pair = routing.routes.pairs[7]
    _, aux = draw_aux(routing, np.random.default_rng(1), [pair // 25, 3], [pair % 25, 3])
    assert aux.tolist() == [7, len(routes)]


# --- hosts on routers ---------------------------------------------------------------------------


def test_each_of_several_planes_has_a_root():
    tree = topology_of("xgft:3x2/2x2/1x2")  # hosts of two ports, leaves and spines of two planes
    hosts = np.arange(6)
    found = paths(tree, UpDown(), hosts.repeat(6), np.tile(hosts, 6))
    assert dependency_cycle(found, tree.num_channels) == ()
    for path in range(len(found)):
        ends = [(tree.source_end[c], tree.target_end[c]) for c in found[path]]
        assert all(a[1] == b[0] for a, b in pairwise(ends))
        assert len(ends) in (0, 2, 4)


def test_links_of_one_direction_lose_hosts_behind_them():
    inside = Topology("line", 3, np.array([0, 1, 1], np.int32), np.array([1, 0, 2], np.int32))
    net = attach_hosts(inside, np.arange(3), name="one way")
    assert len(paths(net, UpDown(), [0], [1]).whole(net)[0]) == 3
    with pytest.raises(NoRouteError, match="from host 1 to host 2"):
        paths(net, UpDown(), [0, 1], [1, 2]).whole(net)


@pytest.mark.parametrize("spec", ["leaf-spine:8x4x8", "fat-tree:4x3", "xgft:4x4/1x2/1x2"])
def test_all_spines_of_a_tree_are_up(spec):
    tree = topology_of(spec)
    hosts = np.arange(tree.num_hosts)
    pairs = hosts.repeat(len(hosts)), np.tile(hosts, len(hosts))
    found, shortest = (paths(tree, routing, *pairs) for routing in (UpDown(), ShortestPath()))
    assert np.array_equal(found.lengths, shortest.lengths)
    assert dependency_cycle(found, tree.num_channels) == ()
    count = tree.num_network_channels
    load = np.bincount(found.channels, minlength=tree.num_channels)[:count]
    assert load.min() > 0
    assert load.max() < 2 * load.mean()


def test_trees_that_are_damaged_so_far_that_packets_must_turn_have_a_root():
    """Leaf 0 has spine 0 alone, leaf 1 spine 1: packets between them go down to a leaf, and up."""
    tree = without(topology_of("leaf-spine:4x2x2"), channels="leaf0-spine1, leaf1-spine0")
    rank = router_ranks(tree)
    assert rank[4:].max() > 1
    hosts = np.arange(8)
    found = paths(tree, UpDown(), hosts.repeat(8), np.tile(hosts, 8))
    assert dependency_cycle(found, tree.num_channels) == ()
    assert router_ranks(without(tree.whole, channels="leaf0-spine1"))[4:].max() == 1
