"""Loads that are known from the literature, or by counting: networks that treat all pairs alike."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError, NoRouteError
from netloom.contention import expected_loads
from netloom.routing import (
    DimensionOrder,
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
from netloom.topology import Topology, topology, without, working_nodes
from netloom.topology.core import attach_hosts


def all_pairs(hosts):
    source, target = np.repeat(np.arange(hosts), hosts), np.tile(np.arange(hosts), hosts)
    return source[source != target], target[source != target]


def by_paths(net, routing, source, target, weight):
    """Return the loads of all channels by listing all paths of all pairs."""
    found = paths(net, routing, source, target).whole(net)
    chance = 1.0 if found.probability is None else found.probability
    carried = weight if found.pair is None else weight[found.pair]
    return np.bincount(
        found.channels, np.repeat(chance * carried, found.lengths), minlength=net.num_channels
    )


def all_to_all(network, routing):
    """Return the loads of channels between routers, if each host sends 1 to each other one."""
    load = expected_loads(network, routing, *all_pairs(network.num_hosts))
    ports = load[network.num_network_channels :]
    assert (ports == network.num_hosts - 1).all()
    return load[: network.num_network_channels]


@pytest.mark.parametrize("routing", [Minimal(), ShortestPath()])
def test_slim_fly_of_q_5_has_208_paths_on_every_channel(routing):
    """Any minimal routing: the shortest path of two routers is the only one."""
    assert all_to_all(topology("slim-fly:5/4"), routing) == pytest.approx(208)


@pytest.mark.parametrize(
    ("shape", "plain", "twisted"),
    [("4x4x8", (128, 256 / 3), 220 / 3), ("4x8x8", (256, 640 / 3), 184), ("8x4", (32, 24), 21)],
)
def test_twisted_tori_carry_an_all_to_all_evenly(shape, plain, twisted):
    """Gains of 1.745 and 1.391: Jouppi et al. 2023 measured 1.63 and 1.31 of these."""
    load = all_to_all(topology(f"torus:{shape}"), Minimal())
    assert (load.max(), load.mean()) == pytest.approx(plain)
    load = all_to_all(topology(f"twisted-torus:{shape}"), Minimal())
    assert (load.max(), load.mean()) == pytest.approx((twisted, twisted))


@pytest.mark.parametrize("spec", ["dragonfly:2x4x2", "dragonfly:3x6x3"])
def test_all_of_a_group_shares_one_link_to_the_next(spec):
    """Kim et al. 2008, the worst case of minimal routing: 1 / (a·p) flits a host.

    By way of any group, each global link carries 2 · a·p / g instead, 2 / g of it its own.
    """
    net = topology(spec)
    shape = net.routers.family
    hosts = net.num_hosts // shape.groups  # a·p
    source = np.arange(net.num_hosts)
    target = (source + hosts) % net.num_hosts
    group = np.arange(net.num_routers) // shape.routers
    ends = net.source_end - net.num_hosts, net.target_end - net.num_hosts
    inside = slice(net.num_network_channels)
    between = group[ends[0][inside]] != group[ends[1][inside]]
    load = expected_loads(net, MinimalGroup(), source, target)[inside]
    assert load.max() == hosts
    assert load[between].max() == hosts
    load = expected_loads(net, Valiant("groups"), source, target)[inside]
    assert load[between] == pytest.approx(2 * hosts / shape.groups)


@given(st.permutations(range(72)))
@settings(max_examples=15)
def test_by_any_group_no_permutation_loads_a_global_link_more(target):
    """So a balanced dragonfly carries half of what it may: 2 · a·p / (a·h + 1) < 2 flits."""
    net = topology("dragonfly:2x4x2")
    load = expected_loads(net, Valiant("groups"), np.arange(72), target)
    inside = slice(net.num_network_channels)
    group = (net.source_end[inside] - 72) // 4, (net.target_end[inside] - 72) // 4
    assert load[inside][group[0] != group[1]].max() <= 2 * 8 / 9 + 1e-9


@given(st.data(), st.sampled_from(["hyperx:4x4/4", "hyperx:3x5/2", "mesh:4x4/2", "torus:5x5"]))
@settings(max_examples=20)
def test_valiant_loads_no_permutation_more_than_twice_the_even_load(data, spec):
    """Valiant & Brebner 1981: either part of the way looks like even traffic to any router."""
    net = topology(spec)
    hosts, routers = net.num_hosts, net.num_routers
    target = data.draw(st.permutations(range(hosts)))
    load = expected_loads(net, Valiant(), np.arange(hosts), target)[: net.num_network_channels]
    one, other = np.repeat(np.arange(routers), routers), np.tile(np.arange(routers), routers)
    even = expected_loads(net.routers, DimensionOrder(), one, other, np.full(len(one), 1 / routers))
    assert (load <= 2 * even * hosts / routers + 1e-9).all()


@pytest.mark.parametrize("spec", ["hyperx:4x4/4", "hyperx:3x4x2/2/2"])
def test_hyperx_carries_an_all_to_all_evenly_in_each_dimension(spec):
    """T² pairs of hosts for each pair of routers that the channels of one line part."""
    net = topology(spec)
    shape = net.routers.family
    each = (net.num_hosts // net.num_routers) ** 2
    routers = np.prod(shape.sides)
    expected = {each * routers / side / shape.lanes for side in shape.sides}
    for routing in (DimensionOrder(), Minimal()):
        assert set(np.round(all_to_all(net, routing), 9)) == expected


@pytest.mark.parametrize(
    "routing", [DModK(), SModK(), Spread(), Ecmp(), UpDown(), ShortestPath(), RandomUp()]
)
@pytest.mark.parametrize("spec", ["fat-tree:2x3", "leaf-spine:3x2x4/2", "xgft:2x3/2x2/1x2"])
def test_trees_are_loaded_as_the_paths_do(spec, routing):
    net = topology(spec)
    source, target = all_pairs(net.num_hosts)
    sent = source, target, np.arange(len(source)) % 5.0
    assert expected_loads(net, routing, *sent) == pytest.approx(by_paths(net, routing, *sent))


@pytest.mark.parametrize("routing", [Minimal(), MinimalGroup(), Valiant("groups"), Valiant()])
def test_a_pair_of_hosts_without_a_way_is_named_by_its_hosts(routing):
    net = topology("dragonfly:2x2x1")
    inside = net.routers
    lost = np.flatnonzero((inside.channel_source // 2 == 0) != (inside.channel_target // 2 == 0))
    kept = np.setdiff1d(np.arange(inside.num_channels), lost)
    ends = inside.channel_source[kept], inside.channel_target[kept]
    routers = Topology("cut", inside.num_routers, *ends, family=inside.family)
    cut = attach_hosts(routers, np.arange(inside.num_routers).repeat(2), name="cut")
    for asked in (paths, expected_loads):
        with pytest.raises(NoRouteError) as caught:
            asked(cut, routing, [1, 4], [2, 3])
        assert caught.value.source in (1, 4, 5)
        assert caught.value.target < cut.num_hosts


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
    pairs = np.repeat(hosts, len(hosts)), np.tile(hosts, len(hosts)), np.ones(len(hosts) ** 2)
    assert expected_loads(net, routing, *pairs) == pytest.approx(by_paths(net, routing, *pairs))
