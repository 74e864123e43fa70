"""Routings by hop: what they need, where packets go, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import DeadlockError, InputError
from netloom.base.spec import split_spec
from netloom.routing import (
    Ecmp,
    hosted_ports,
    parse_routing,
    paths,
    virtual_channel_routing as routing_of,
)
from netloom.routing.by_hop.hosted import hop_circle, plan, planned
from netloom.routing.virtual_channels import virtual_channel_cycle
from netloom.topology import topology, without
from tests.routing.by_hop.walks import idle, walk

NEEDED = [
    ("fat-tree:4x3", "nca", 1),
    ("fat-tree:4x3", "nca-adaptive:all", 1),
    ("fat-tree:4x3", "valiant", 2),
    ("leaf-spine:4x2x3", "minimal", 1),
    ("dragonfly:2x4x2", "minimal-group", 2),
    ("dragonfly:2x4x2", "valiant-group", 3),
    ("dragonfly:2x4x2", "valiant", 4),
    ("dragonfly:2x4x2", "ugal-l", 4),
    ("dragonfly:2x4x2", "par", 5),
    ("dragonfly+:2x2x2x2", "minimal-group", 1),
    ("dragonfly+:2x2x2x2", "ugal-g", 2),
    ("dragonfly+:2x2x2x2", "par", 3),
    ("hyperx:4x4/4", "dimension-order", 1),
    ("hyperx:4x4/4", "minimal", 2),
    ("hyperx:3x3x3/2/2", "minimal", 3),
    ("hyperx:4x4/4", "ugal-l", 2),
    ("slim-fly:5/4", "minimal", 2),
    ("slim-fly:5/4", "valiant", 4),
    ("mesh:4x4/4", "dimension-order", 1),
    ("torus:5x5/2", "dimension-order", 2),
    ("torus:5x5/2", "valiant", 4),
    ("butterfly:2x3", "minimal", 1),
]


@pytest.mark.parametrize(("name", "routing", "needed"), NEEDED)
def test_so_many_vcs_are_needed_and_with_one_fewer_a_circle_is_named(name, routing, needed):
    net = topology(name)
    found = routing_of(net, routing, num_vcs=needed)
    if found.between is not None:  # a rule of the routers leads packets
        assert virtual_channel_cycle(found.between) == ()
    by_hop = planned(net, plan(net, *split_spec(routing)), needed)
    assert hop_circle(net, by_hop.tables) == ()
    if needed > 1:
        with pytest.raises(DeadlockError, match=f"expected at least {needed} VCs") as refused:
            routing_of(net, routing, num_vcs=needed - 1)
        assert len(refused.value.cycle) > 1


def test_ways_round_what_is_broken_are_followed():
    tree = without(topology("leaf-spine:4x3x2"), channels="leaf0-spine0,leaf1-spine1,leaf2-spine2")
    assert routing_of(tree, "nca", num_vcs=1).minimal
    dragonfly = without(topology("dragonfly:2x4x2"), channels=[0])
    for name in ("minimal", "min-adaptive"):
        assert hop_circle(dragonfly, routing_of(dragonfly, name, num_vcs=8).tables) == ()
    assert routing_of(dragonfly, "default", num_vcs=8).name == "minimal"
    inside = topology("dragonfly:2x4x2").routers
    between = (inside.channel_source // 4 == 0) & (inside.channel_target // 4 == 1)
    apart = without(topology("dragonfly:2x4x2"), channels=np.flatnonzero(between).tolist())
    with pytest.raises(InputError, match=r"no way from g0r. to g1r"):
        routing_of(apart, "minimal-group", num_vcs=8)
    with pytest.raises(InputError, match="which go round what is broken"):
        routing_of(without(topology("hyperx:3x3/1"), channels=[0]), "ugal-l", num_vcs=8)


@pytest.mark.parametrize("name", ["fat-tree:4x2", "jellyfish:12x4x3/1", "dragonfly:2x4x2"])
@pytest.mark.parametrize("routing", ["ecmp", "ecmp:5", "ecmp-polarised"])
def test_hashes_choose_as_they_do_for_analysis(name, routing):
    net = topology(name)
    found = routing_of(net, routing, num_vcs=4)
    pairs = np.random.default_rng(1).integers(0, net.num_hosts, (2, 40))
    pairs = pairs[:, pairs[0] != pairs[1]]
    known = parse_routing(routing, net)
    assert isinstance(known, Ecmp)
    for (source, target), wanted in zip(pairs.T, paths(net, known, *pairs).whole(net), strict=True):
        assert walk(net, found, source, target)[0] == wanted.tolist()


@pytest.mark.parametrize("routing", ["minimal-group", "dimension-order", "nca", "minimal"])
def test_packets_take_ways_that_analysis_lists(routing):
    name = {"minimal-group": "dragonfly:2x4x2", "dimension-order": "hyperx:3x4/2"}
    net = topology(name.get(routing, "fat-tree:3x2"))
    known = parse_routing("minimal" if routing == "nca" else routing, net)
    wanted = paths(net, known, [0], [8]).whole(net)
    lengths, found = {len(each) for each in wanted}, routing_of(net, routing, num_vcs=4)
    rng = np.random.default_rng(2)
    taken = {tuple(walk(net, found, 0, 8, coin=int(rng.integers(2**31)))[0]) for _ in range(60)}
    assert {len(each) for each in taken} == lengths
    if routing in ("nca", "minimal"):
        assert taken == {tuple(each.tolist()) for each in wanted}


def test_up_ports_are_drawn_evenly_and_anew_at_each_router():
    net = topology("fat-tree:4x3")
    found, count = routing_of(net, "nca", num_vcs=1), 4000
    rng = np.random.default_rng(3)
    ways = np.array(
        [walk(net, found, 0, 63, coin=int(rng.integers(2**31)))[0] for _ in range(count)]
    )
    _, times = np.unique(ways[:, 1:3], axis=0, return_counts=True)
    assert len(times) == 16
    chi2 = ((times - count / 16) ** 2 / (count / 16)).sum()
    assert chi2 < 37.7  # 15 degrees of freedom, 1 in 1,000


def test_two_choices_take_the_less_used_and_all_choices_the_least_used():
    net = topology("fat-tree:4x3")
    for name, share in (("nca-adaptive", 1 - (3 / 4) ** 2), ("nca-adaptive:all", 1)):
        found = routing_of(net, name, num_vcs=1)
        used = idle(net, found.tables)
        wired = hosted_ports(net)
        ups = np.flatnonzero(net.source_end == net.num_hosts)
        used[0] = 9
        used[0, wired.out_port[ups[2]]] = 1
        rng = np.random.default_rng(4)
        coins = rng.integers(2**31, size=2000)
        taken = [walk(net, found, 0, 63, coin=int(coin), used=used)[0][1] for coin in coins]
        assert abs(np.mean(np.array(taken) == ups[2]) - share) < 0.04


def test_a_detour_is_made_where_its_queues_are_shorter_by_the_threshold():
    net = topology("dragonfly:2x4x2")
    wired, source, target = hosted_ports(net), 0, 10
    for name, bound in (("ugal-l", 2), ("ugal-l:threshold=20", 20), ("ugal-g:threshold=0", 0)):
        found = routing_of(net, name, num_vcs=4)
        straight, _ = walk(net, found, source, target)
        used = idle(net, found.tables)
        router, port = net.source_end[straight[1]] - net.num_hosts, wired.out_port[straight[1]]
        coins = np.random.default_rng(5).integers(2**31, size=200)
        weight = 1 if "ugal-g" in name else len(straight) - 2
        for flits, detours in ((0, False), (bound // weight, False), (bound // weight + 1, True)):
            used[router, port] = flits
            lengths = [
                len(walk(net, found, source, target, coin=int(c), used=used)[0]) for c in coins
            ]
            assert (max(lengths) > len(straight)) == detours


def test_packets_within_a_group_stay_in_it():
    net = topology("dragonfly:2x4x2")
    rng = np.random.default_rng(6)
    for name in ("ugal-l:threshold=0", "par:threshold=0", "valiant-group"):
        found = routing_of(net, name, num_vcs=5)
        for _ in range(50):
            used = rng.integers(0, 9, idle(net, found.tables).shape).astype(np.int32)
            assert len(walk(net, found, 0, 7, coin=int(rng.integers(2**31)), used=used)[0]) == 3


def test_valiant_goes_by_way_of_any_router_each_as_likely():
    net = topology("hyperx:3x3/1")
    found, rng = routing_of(net, "valiant", num_vcs=2), np.random.default_rng(7)
    packets = [walk(net, found, 0, 8, coin=int(rng.integers(2**31)), rng=rng) for _ in range(900)]
    hops = np.array([len(channels) - 2 for channels, _ in packets])
    # dimension order from (0,0) by way of any router to (2,2): hops there and back
    assert sorted(set(hops.tolist())) == [2, 3, 4]
    shares = [np.mean(hops == each) for each in (2, 3, 4)]
    assert np.allclose(shares, [4 / 9, 4 / 9, 1 / 9], atol=0.06)


def test_in_the_escape_packets_stay():
    net, rng = topology("jellyfish:12x4x3/1"), np.random.default_rng(8)
    found = routing_of(net, "min-adaptive", num_vcs=3)
    escaped = 0
    for _ in range(200):
        source, target = rng.choice(net.num_hosts, 2, replace=False)
        _, vcs = walk(net, found, source, target, rng=rng)
        inside = [vc == 0 for vc in vcs[1:-1]]
        assert inside == sorted(inside)
        escaped += any(inside)
    assert escaped > 20


def test_ports_of_bundles_stand_in_a_row():
    net = topology("hyperx:2x2/2")
    wired = hosted_ports(net)
    assert wired.num_ports == 4
    assert (wired.lanes == 1).all()
    double = replace(net, channel_bandwidth=np.full(net.num_channels, 1.5))
    assert hosted_ports(double).num_ports == 8
    assert (hosted_ports(double).out_port == 2 * wired.out_port).all()
