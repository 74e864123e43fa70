import numpy as np
import pytest

from netloom.base.errors import InputError, NoRouteError
from netloom.contention import expected_loads, measure
from netloom.routing import (
    DModK,
    Ecmp,
    Minimal,
    MinimalGroup,
    RandomUp,
    ShortestPath,
    SModK,
    Spread,
    UpDown,
    Valiant,
    paths,
)
from netloom.topology import Topology, mesh, topology, without, working_nodes
from netloom.topology.core import attach_hosts


def all_pairs(hosts):
    source, target = np.repeat(np.arange(hosts), hosts), np.tile(np.arange(hosts), hosts)
    return source[source != target], target[source != target]


def test_hosts_of_one_router_load_only_their_ports():
    net = attach_hosts(mesh(2), np.array([0, 0, 1]), name="mesh:2/…")
    load = expected_loads(net, ShortestPath(), [0, 0, 1], [1, 1, 1], [2, 3, 7])
    assert load.tolist() == [0, 0, 5, 0, 0, 0, 5, 0]


def test_every_channel_of_a_full_tree_carries_as_much_of_an_all_to_all():
    net = topology("fat-tree:4x3")
    load = expected_loads(net, Minimal(), *all_pairs(64))
    up = 60 * 16 / 16, 48 * 64 / 64  # from a leaf by each of its ports; from a level higher
    assert set(np.round(load[: net.num_network_channels], 9)) == set(map(float, up))
    assert (load[net.num_network_channels :] == 63).all()


@pytest.mark.parametrize("spec", ["fat-tree:2x3", "leaf-spine:3x2x2/2", "xgft:2x3/2x2/1x2"])
def test_random_up_loads_what_its_paths_do(spec):
    net = topology(spec)
    source, target = all_pairs(net.num_hosts)
    weight = np.arange(len(source)) % 5.0
    found = paths(net, RandomUp(), source, target).whole(net)
    each = np.repeat(found.probability * weight[found.pair], found.lengths)
    expected = np.bincount(found.channels, each, minlength=net.num_channels)
    assert expected_loads(net, RandomUp(), source, target, weight) == pytest.approx(expected)


@pytest.mark.parametrize("routing", [DModK(), SModK(), Spread(), Ecmp(), UpDown(), ShortestPath()])
@pytest.mark.parametrize("spec", ["fat-tree:2x3", "leaf-spine:3x2x4/2", "xgft:2x3/2x2/1x2"])
def test_one_path_a_pair_loads_what_the_paths_do(spec, routing):
    net = topology(spec)
    source, target = all_pairs(net.num_hosts)
    weight = np.arange(len(source)) % 5.0
    found = paths(net, routing, source, target).whole(net)
    each = np.repeat(weight, found.lengths)
    expected = np.bincount(found.channels, each, minlength=net.num_channels)
    assert expected_loads(net, routing, source, target, weight) == pytest.approx(expected)


def test_random_up_needs_a_tree():
    with pytest.raises(InputError, match="nca on mesh:4"):
        expected_loads(mesh(4), RandomUp(), [0], [1])


def test_a_pair_without_a_way_is_refused():
    one_way = Topology("one way", 2, np.array([0], np.int32), np.array([1], np.int32))
    assert expected_loads(one_way, Minimal(), [0], [1]).tolist() == [1]
    with pytest.raises(NoRouteError, match="from host 1 to host 0"):
        expected_loads(one_way, Minimal(), [1], [0])


@pytest.mark.parametrize("routing", [Minimal(), MinimalGroup(), Valiant("groups"), Valiant()])
def test_a_pair_of_hosts_without_a_way_is_named_by_its_hosts(routing):
    net = topology("dragonfly:2x2x1")
    inside = net.routers
    lost = np.flatnonzero((inside.channel_source // 2 == 0) != (inside.channel_target // 2 == 0))
    kept = np.setdiff1d(np.arange(net.num_channels), lost)
    routers = Topology(
        "cut", inside.num_routers, inside.channel_source[kept[: -2 * net.num_ports]],
        inside.channel_target[kept[: -2 * net.num_ports]], family=inside.family,
    )  # fmt: skip
    cut = attach_hosts(routers, np.arange(inside.num_routers).repeat(2), name="cut")
    for asked in (paths, expected_loads):
        with pytest.raises(NoRouteError) as caught:
            asked(cut, routing, [1, 4], [2, 3])
        assert caught.value.source in (1, 4, 5)
        assert caught.value.target < cut.num_hosts


@pytest.mark.parametrize("routing", [Minimal(), MinimalGroup(), Valiant(), ShortestPath()])
def test_a_host_without_a_port_is_named_by_its_number(routing):
    net = without(topology("dragonfly:2x2x1"), nodes=[5])
    with pytest.raises(NoRouteError, match="from host 2 to host 5"):
        expected_loads(net, routing, [1, 2], [3, 5])


def test_arrays_that_do_not_match_are_refused():
    with pytest.raises(InputError, match="3 targets, 2 weights"):
        expected_loads(mesh(4), Minimal(), [0, 1], [1, 2, 3], [1, 1])


def test_contention_of_several_paths_a_pair_is_refused():
    with pytest.raises(InputError, match="minimal"):
        measure(mesh(4), Minimal(), [0], [1])


@pytest.mark.parametrize(
    ("spec", "cables", "nodes"),
    [
        ("dragonfly:2x3x1", "g0r0-g0r1", "h2, h6, h7"),
        ("hyperx:3x3/2/2", "(0,0)->(0,2)#2", "h3"),
        ("torus:4x4", "0-1", "5"),
        ("leaf-spine:3x2x2/2", "leaf0-spine1#1", "h3"),
    ],
)
@pytest.mark.parametrize("routing", [Minimal(), Valiant(), MinimalGroup(), Spread()])
def test_loads_go_round_what_is_broken_as_the_paths_do(spec, cables, nodes, routing):
    net = without(topology(spec), channels=cables, nodes=nodes)
    if routing == MinimalGroup() and not spec.startswith("dragonfly"):
        with pytest.raises(InputError, match="a dragonfly"):
            expected_loads(net, routing, [0], [1])
        return
    hosts = working_nodes(net)
    source, target = np.repeat(hosts, len(hosts)), np.tile(hosts, len(hosts))
    found = paths(net, routing, source, target).whole(net)
    chance = np.ones(len(found)) if found.probability is None else found.probability
    each = np.repeat(chance, found.lengths)
    expected = np.bincount(found.channels, each, minlength=net.num_channels)
    assert expected_loads(net, routing, source, target) == pytest.approx(expected)
