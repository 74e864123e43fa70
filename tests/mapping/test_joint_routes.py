"""Joint routing on cases known by hand, against brute force, and through the simulator."""

import sys
from contextlib import contextmanager
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.mapping import joint_routes
from netloom.mapping.kernels.joint_routes import forced
from netloom.mapping.search.objectives import Measure, objective_of
from netloom.routing import (
    ShortestPath,
    UpDown,
    dependency_cycle,
    parse_routing,
    paths,
    read_routes,
    write_routes,
)
from netloom.topology import graph_topology, hypercube, mesh, to_networkx, topology, torus, without
from netloom.workload import process_graph


def sending(source, target, weights=None, nodes=None):
    """Return a program of one task a node, without what stays at home."""
    source, target = np.asarray(source), np.asarray(target)
    apart = source != target
    carried = None if weights is None else np.asarray(weights, float)[apart]
    nodes = nodes or 1 + int(max(source.max(), target.max()))
    return process_graph(nodes, source[apart], target[apart], bytes=carried)


def routed(app, net, **options):
    return chosen(app, net, np.arange(app.num_tasks), **options)


def chosen(app, net, node_of, *, routing="default", weights=None, **options):
    """Return routes chosen for a mapping, perhaps by another routing or with other weights."""
    by = parse_routing(routing, net) if isinstance(routing, str) else routing
    carried, asked = app.bytes if weights is None else weights, objective_of("max-channel-load")
    value_of = Measure(app, net, by, carried, asked, np.arange(net.num_hosts))
    return joint_routes(value_of, node_of, **options)


def transpose(side):
    row, column = np.divmod(np.arange(side * side), side)
    return sending(np.arange(side * side), side * column + row)


def at_random(nodes, each, seed):
    rng = np.random.default_rng(seed)
    pairs = np.unique(
        np.repeat(np.arange(nodes), each) * nodes + rng.integers(0, nodes, nodes * each)
    )
    weights = rng.integers(1, 100, len(pairs)).astype(float)
    return sending(*np.divmod(pairs, nodes), weights, nodes)


def test_transpose_is_far_below_dimension_order():
    found = routed(transpose(8), mesh(8, 8), seed=1)
    assert (found.before, found.bound) == (7.0, 2.0)
    assert found.after <= 3
    assert found.virtual_channels == 1
    assert dependency_cycle(found.routes.routes, mesh(8, 8).num_channels) == ()


def test_what_meets_the_bound_is_left_alone():
    nodes = np.arange(64)
    found = routed(sending(nodes, 63 - nodes), mesh(8, 8))
    assert (found.before, found.after, found.bound) == (4.0, 4.0, 4.0)
    assert found.moved == 0


def test_random_permutations_need_a_third_less():
    shares = []
    for net in (mesh(8, 8), torus(8, 8), hypercube(6)):
        for seed in range(4):
            target = np.random.default_rng(seed).permutation(64)
            found = routed(sending(np.arange(64), target), net, rounds=20)
            assert found.bound <= found.after <= found.before
            shares.append(found.after / found.before)
    assert np.exp(np.mean(np.log(shares))) < 0.67


def test_all_to_all_on_a_torus_comes_close_to_its_bound_on_two_virtual_channels():
    source, target = np.divmod(np.arange(64 * 64), 64)
    found = routed(sending(source, target), torus(8, 8), rounds=3)
    assert (found.before, found.bound, found.virtual_channels) == (80.0, 64.0, 2)
    assert found.after <= 66


def test_more_virtual_channels_leave_more_choice():
    app = at_random(64, 6, seed=3)
    one = routed(app, mesh(8, 8), rounds=20)
    more = routed(app, mesh(8, 8), virtual_channels=4, rounds=20)
    assert one.virtual_channels == 1 < more.virtual_channels <= 4
    assert more.after < one.after


def choices(net, source, target):
    """All minimal paths of a pair, as channels."""
    number = {(a, b): c for c, (a, b) in enumerate(ends(net))}
    ways = nx.all_shortest_paths(to_networkx(net), source, target)
    return [[number[step] for step in pairwise(way)] for way in ways]


def ends(net):
    return list(zip(net.source_end.tolist(), net.target_end.tolist(), strict=True))


def waits_in_a_circle(ways):
    waits = nx.DiGraph([step for way in ways for step in pairwise(way)])
    return not nx.is_directed_acyclic_graph(waits)


def brute_force(net, app):
    """The lowest maximum load over all minimal paths, and over those free of deadlock on one VC."""
    options = [choices(net, *pair) for pair in zip(app.source, app.target, strict=True)]
    least, safe = np.inf, np.inf
    for ways in product(*options):
        load = np.zeros(net.num_channels)
        for way, weight in zip(ways, app.bytes, strict=True):
            load[way] += weight
        least = min(least, load.max())
        if load.max() < safe and not waits_in_a_circle(ways):
            safe = load.max()
    return least, safe


@pytest.mark.parametrize("seed", range(12))
def test_against_all_minimal_paths(seed):
    net = [mesh(3, 3), torus(4, 2), hypercube(3)][seed % 3]
    rng = np.random.default_rng(seed)
    pairs = rng.choice(net.num_nodes**2, 8, replace=False)
    source, target = np.divmod(pairs, net.num_nodes)
    app = sending(source, target, rng.integers(1, 5, 8), net.num_nodes)
    least, safe = brute_force(net, app)
    found = routed(app, net)
    assert found.bound <= least <= found.after
    assert found.after <= safe


@pytest.mark.parametrize("seed", range(6))
def test_what_is_forced_is_on_every_minimal_path(seed):
    net = [mesh(3, 4), torus(4, 3), hypercube(4)][seed % 3]
    rng = np.random.default_rng(seed)
    pairs = rng.choice(net.num_nodes**2, 8, replace=False)
    source, target = (ends.astype(np.int32) for ends in np.divmod(pairs, net.num_nodes))
    source, target = source[source != target], target[source != target]
    weights = rng.random(len(source))
    offsets, leaving = net.outgoing()
    hops = dict(nx.all_pairs_shortest_path_length(to_networkx(net)))
    distance = np.array([[hops[a][b] for a in hops] for b in hops], np.int16)
    nothing = np.zeros(0, np.int64)
    wiring = (net.source_end, net.target_end, offsets, leaving, nothing, nothing, distance)
    load, *found = forced(wiring, source, target, weights)
    expected, sets = np.zeros(net.num_channels), (set(), set(), set())
    for start, end, weight in zip(source.tolist(), target.tolist(), weights, strict=True):
        ways = choices(net, start, end)
        expected[list(set.intersection(*map(set, ways)))] += weight
        for way in ways:
            for known, channels in zip(sets, (way, way[:1], way[-1:]), strict=True):
                known.update(channels)
    assert load == pytest.approx(expected)
    assert [np.flatnonzero(each).tolist() for each in found] == [sorted(each) for each in sets]


def test_bounds_by_hand():
    line = routed(sending([0, 1, 0], [2, 3, 1], [5, 7, 0]), mesh(4))
    assert line.bound == 12  # both have to go from 1 to 2
    star = graph_topology(nx.star_graph(4))
    assert routed(sending([1, 2, 3], [0, 0, 0], [3, 4, 5], 5), star).bound == 5
    assert routed(sending([1, 2, 3], [4, 4, 4], [3, 4, 5], 5), star).bound == 12
    corner = routed(sending([0, 0, 0], [8, 5, 7], [3, 4, 5], 9), mesh(3, 3))
    assert corner.bound == 6  # 12 leave by two channels
    halves = routed(sending([0, 1, 4, 5], [6, 7, 2, 3]), mesh(2, 4))
    assert halves.bound == 2  # 4 paths of equal weight cross 2 channels
    ring = routed(sending([0, 1, 2, 3, 4], [2, 3, 4, 0, 1]), torus(5))
    assert ring.bound == ring.after == 2


def test_edges_between_the_same_nodes_are_one_route():
    app = process_graph(4, [0, 1, 2, 0], [2, 3, 0, 1], bytes=[1, 2, 4, 8])
    found = chosen(app, mesh(2, 2), [0, 0, 3, 3])
    assert found.routes.pairs.tolist() == [3, 12]
    assert (found.before, found.bound) == (4.0, 4.0)  # 1 + 2 one way, 4 the other, 8 at home
    assert found.after == 4.0


def test_a_seed_decides():
    app = at_random(36, 4, seed=1)
    first, again, other = (routed(app, torus(6, 6), rounds=12, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.routes.routes.channels, again.routes.routes.channels)
    assert not np.array_equal(first.routes.routes.channels, other.routes.routes.channels)


def test_no_rounds_are_the_routing_itself():
    app, net = at_random(16, 3, seed=1), mesh(4, 4)
    found = routed(app, net, rounds=0)
    assert (found.moved, found.rounds, found.after) == (0, 0, found.before)


def test_ctrl_c_keeps_the_best(monkeypatch):
    @contextmanager
    def pressed(stop):
        stop.set()
        yield

    monkeypatch.setattr(sys.modules[joint_routes.__module__], "ctrl_c_sets", pressed)
    found = routed(transpose(8), mesh(8, 8))
    assert (found.interrupted, found.rounds) == (True, 1)
    assert found.after < found.before


def test_no_time_is_enough_for_one_round():
    assert routed(transpose(8), mesh(8, 8), seconds=0.0).rounds == 1


def test_round_broken_parts_and_beside_other_routings():
    net = without(mesh(5, 5), nodes=[12])
    app = sending([7, 11, 0, 4, 10], [17, 13, 24, 20, 14])
    found = routed(app, net)
    assert found.after <= found.before
    assert 12 not in net.target_end[found.routes.routes.channels]
    shortest = routed(at_random(16, 3, seed=2), mesh(4, 4), routing="shortest-path")
    assert shortest.after < shortest.before
    tree = routed(at_random(16, 3, seed=2), mesh(4, 4), routing=UpDown())
    assert tree.after < tree.before


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"virtual_channels": 1}, "virtual_channels: found 1; expected from the 2"),
        ({"virtual_channels": 63}, "to 62"),
        ({"rounds": -1}, "rounds: found -1"),
        ({"weights": np.zeros(5)}, "no traffic"),
    ],
)
def test_a_mistake_is_one_clear_line(options, wrong):
    ring = sending([0, 1, 2, 3, 4], [2, 3, 4, 0, 1])
    with pytest.raises(InputError, match=wrong):
        routed(ring, torus(5), **options)


def test_networks_too_large_are_refused():
    pair = sending([0], [1])
    with pytest.raises(InputError, match="at most 8192"):
        routed(pair, mesh(128, 128))


def test_routers_may_have_any_number_of_channels():
    star = graph_topology(nx.star_graph(70))
    assert routed(sending([1, 2], [2, 70]), star).routes.routes.lengths.tolist() == [2, 2]


def test_hosts_keep_their_ports_and_routers_get_routes(tmp_path):
    """Each of four hosts of a leaf sends to the one opposite, over two spines and four cables."""
    tree = topology("leaf-spine:2x2x4/2")
    app = sending(np.arange(8), (np.arange(8) + 4) % 8)
    found = routed(app, tree, routing="shortest-path", seed=1)
    assert (found.before, found.after, found.bound) == (4.0, 1.0, 1.0)
    assert found.virtual_channels == 1
    own = paths(tree, ShortestPath(), app.source, app.target)
    assert np.array_equal(found.routes.routes.ports, own.ports)
    assert len(found.layer) == len(found.routes.routes.channels) == 8 * 2
    assert dependency_cycle(found.routes.routes, tree.num_channels) == ()
    file = tmp_path / "routes.txt"
    write_routes(tree, found.routes, file)
    again = paths(tree, read_routes(tree, file), app.source, app.target)
    assert np.array_equal(again.ports, own.ports)
    assert np.array_equal(again.channels, found.routes.routes.channels)
    inside = routed(sending([0, 1], [1, 0]), topology("leaf-spine:2x1x2"))
    assert (inside.before, inside.after, inside.moved, inside.rounds) == (0.0, 0.0, 0, 0)
    assert inside.routes.routes.lengths.tolist() == [0, 0]


@pytest.mark.parametrize("routing", ["nca", "minimal"])
def test_several_paths_a_pair_are_refused(routing):
    with pytest.raises(InputError, match="a routing with one path per pair, to choose routes"):
        routed(sending([0], [3]), topology("leaf-spine:2x2x2"), routing=routing)
