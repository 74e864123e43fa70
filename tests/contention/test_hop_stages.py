"""What routings by hop load, followed stage by stage, against what all their paths do."""

import pytest

from netloom.bounds.demand import demand_of
from netloom.contention import expected_loads
from netloom.contention.decisions import can_follow, chooses, drawn_loads
from netloom.routing import parse_routing, virtual_channel_routing
from netloom.simulation.network.idle import followed
from netloom.topology import topology
from netloom.workload import parse_traffic

SPREAD = [
    *((spec, "nca") for spec in ("fat-tree:2x3", "xgft:2x2x3/1x2x2")),
    *((spec, "minimal") for spec in ("leaf-spine:3x2x2/2", "dragonfly:2x4x2", "omega:4")),
    *((spec, "minimal") for spec in ("butterfly:2x3", "rail:2x2x2x2")),
    *((spec, "valiant") for spec in ("dragonfly:2x4x2", "slim-fly:5/1", "hyperx:3x2/2")),
    *((spec, "valiant-group") for spec in ("dragonfly:2x4x2", "dragonfly+:2x2x2x2")),
    ("torus:4x3/2", "valiant"),
    ("dragonfly:1x2x1", "ecmp:7"),
    ("jellyfish:10x3x2/1", "ecmp"),
]


def loads(net, name, traffic, *, idle=False):
    routing = virtual_channel_routing(net, name, num_vcs=12)
    assert can_follow(routing.tables)
    stages, begin, entries = followed(net, routing.tables, demand_of(traffic), idle=idle)
    return drawn_loads(stages, begin, entries.weight, net.num_network_channels)


@pytest.mark.parametrize(("spec", "name"), SPREAD)
@pytest.mark.parametrize("pattern", ["uniform", "hot-spot:0.3:0,1:pairs:0-3,2-1,1-0"])
def test_packets_that_draw_load_what_all_their_paths_do(spec, name, pattern):
    net = topology(spec)
    traffic = parse_traffic(pattern, net)
    pairs = traffic.matrix()
    weight = pairs.weight * traffic.rate.sum()
    plain = parse_routing(name, net)
    expected = expected_loads(net, plain, pairs.source, pairs.target, weight)
    assert loads(net, name, traffic) == pytest.approx(expected[: net.num_network_channels])


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
