"""What routings by hop load, followed stage by stage, against what all their paths do."""

import numpy as np
import pytest

from netloom.bounds.demand import demand_of
from netloom.contention import expected_loads
from netloom.contention.decisions import alike_states, can_follow, chooses, drawn_loads
from netloom.routing import parse_routing, virtual_channel_routing
from netloom.simulation.network.idle import followed
from netloom.topology import topology
from netloom.workload import parse_traffic

SPREAD = [
    ("fat-tree:2x3", "nca", "nca"), ("xgft:2x2x3/1x2x2", "nca", "nca"),
    ("leaf-spine:3x2x2/2", "minimal", "minimal"), ("dragonfly:2x4x2", "minimal", "minimal"),
    ("dragonfly:2x4x2", "valiant", "valiant"),
    ("dragonfly:2x4x2", "valiant-group", "valiant-group"),
    ("dragonfly+:2x2x2x2", "valiant-group", "valiant-group"),
    ("dragonfly:1x2x1", "ecmp:7", "ecmp:7"), ("jellyfish:10x3x2/1", "ecmp", "ecmp"),
    ("slim-fly:5/1", "valiant", "valiant"), ("hyperx:3x2/2", "valiant", "valiant"),
    ("torus:4x3/2", "valiant", "valiant"), ("omega:4", "minimal", "minimal"),
    ("butterfly:2x3", "minimal", "minimal"), ("rail:2x2x2x2", "minimal", "minimal"),
]  # fmt: skip


def loads(net, name, traffic, *, idle=False):
    routing = virtual_channel_routing(net, name, num_vcs=12)
    assert can_follow(routing.tables)
    stages, begin, entries = followed(net, routing.tables, demand_of(traffic), idle=idle)
    return drawn_loads(stages, begin, entries.weight, net.num_network_channels)


@pytest.mark.parametrize(("spec", "name", "plain"), SPREAD)
@pytest.mark.parametrize("pattern", ["uniform", "hot-spot:0.3:0,1:pairs:0-3,2-1,1-0"])
def test_packets_that_draw_load_what_all_their_paths_do(spec, name, plain, pattern):
    net = topology(spec)
    traffic = parse_traffic(pattern, net)
    pairs = traffic.matrix()
    weight = pairs.weight * traffic.rate.sum()
    plain = parse_routing(plain, net)
    expected = expected_loads(net, plain, pairs.source, pairs.target, weight)
    assert loads(net, name, traffic) == pytest.approx(expected[: net.num_network_channels])


def test_states_that_differ_in_their_vcs_only_are_one():
    net = topology("dragonfly:2x4x2")
    for name, states in (("minimal", 1), ("minimal-group", 1), ("nca", 1)):
        spec = "fat-tree:2x3" if name == "nca" else net.name
        routing = virtual_channel_routing(topology(spec), name, num_vcs=12)
        assert len(np.unique(alike_states(routing.tables))) <= states
    # to the goal that was drawn, and from there; and where it is drawn
    routing = virtual_channel_routing(net, "valiant", num_vcs=12)
    assert len(np.unique(alike_states(routing.tables))) <= 4


def test_what_looks_at_credits_goes_the_short_way_through_an_idle_network():
    net = topology("dragonfly:2x4x2")
    traffic = parse_traffic("next-group", net)
    direct = loads(net, "minimal-group", traffic)
    for name in ("ugal-l", "ugal-g", "par"):
        assert chooses(virtual_channel_routing(net, name, num_vcs=12).tables)
        assert loads(net, name, traffic, idle=True) == pytest.approx(direct)
    tree = topology("fat-tree:2x3")
    spread = loads(tree, "nca", parse_traffic("uniform", tree))
    for name in ("nca-adaptive", "nca-adaptive:all", "nca-adaptive:every"):
        found = loads(tree, name, parse_traffic("uniform", tree), idle=True)
        assert found == pytest.approx(spread)
