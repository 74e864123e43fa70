"""Routings that are listed, as routers of virtual channels follow them."""

from itertools import pairwise, product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import DeadlockError, NoRouteError
from netloom.routing import (
    ForwardingTable,
    Lanes,
    draw_aux,
    hosted_ports,
    lane_circle,
    parse_routing,
    paths,
    source_routes,
    table,
    virtual_channel_routing,
)
from netloom.routing.by_hop.listed import listed_routing
from netloom.topology import Topology, mesh, topology
from netloom.topology.core import attach_hosts, port_numbers
from netloom.topology.faults import without
from tests.reference.walks import Walker

EXAMPLES = Path(__file__).parents[3] / "examples"


def listed(spec, name, num_vcs=4):
    network = topology(spec) if isinstance(spec, str) else spec
    routing = parse_routing(name, network) if isinstance(name, str) else name
    return network, routing, listed_routing(network, routing, num_vcs)


def some_pairs(network, count=60, seed=3):
    hosts = np.unique(network.port_host)
    rng = np.random.default_rng(seed)
    return rng.choice(hosts, (2, count)).astype(np.int32)


ONE_PATH = [
    ("fat-tree:4x3", "d-mod-k"),
    ("fat-tree:4x3", "s-mod-k"),
    ("fat-tree:4x3", "minhop"),
    ("fat-tree:4x3", "ftree"),
    ("xgft:4x4/2x2", "d-mod-k"),  # hosts of two ports
    ("xgft:4x4/2x2", "minhop"),
    ("xgft:4x4/1x2/1x3", "d-mod-k"),  # parallel cables
    ("dragonfly:2x4x2", "dfsssp"),
    ("dragonfly:2x4x2", "nue:2"),
    ("torus:4x4/2", "torus-2qos"),
]


@pytest.mark.parametrize(("spec", "name"), ONE_PATH)
def test_a_packet_takes_the_path_of_its_pair(spec, name):
    network, routing, found = listed(spec, name)
    walker, (sources, targets) = Walker(found), some_pairs(topology(spec))
    moving = sources != targets
    sources, targets = sources[moving], targets[moving]
    wanted = paths(network, routing, sources, targets).whole(network)
    coin, aux = draw_aux(found, np.random.default_rng(1), sources, targets)
    for pair, (source, target) in enumerate(zip(sources, targets, strict=True)):
        crossed, _ = walker.walk(source, target, coin[pair], aux[pair])
        assert crossed == wanted[pair].tolist()


def test_a_lane_is_a_share_of_the_virtual_channels():
    network, routing, found = listed("torus:5x5/2", "nue:2", num_vcs=5)
    walker, (sources, targets) = Walker(found), some_pairs(network)
    lanes = sorted(set(routing.lanes.level.ravel().tolist()))
    shares = {lane: {vc for vc in range(5) if vc * len(lanes) // 5 == lane} for lane in lanes}
    used = set()
    for source, target in zip(sources, targets, strict=True):
        lane = int(routing.lanes.level[target, network.injection_router[source]])
        _, choices = walker.walk(source, target, 0, -1)
        for slots in choices[:-1]:
            assert {vc for _, vc in slots} == shares[lane]
            used.add(lane)
        assert {vc for _, vc in choices[-1]} == set(range(5))
    assert used == set(lanes)
    assert len(lanes) > 1


def test_lanes_that_change_on_the_way_are_followed_hop_by_hop():
    network, routing, found = listed("torus:4x4/2", "torus-2qos", num_vcs=8)
    assert routing.lanes.lane_of is not None
    walker, (sources, targets) = Walker(found), some_pairs(network)
    out_port, in_port = port_numbers(network)
    coin, aux = draw_aux(found, np.random.default_rng(1), sources, targets)
    seen = {}
    for pair, (source, target) in enumerate(zip(sources, targets, strict=True)):
        crossed, choices = walker.walk(source, target, coin[pair], aux[pair])
        level = routing.lanes.level[target, network.injection_router[source]]
        for (held, channel), slots in zip(pairwise(crossed[:-1]), choices, strict=False):
            router = network.source_end[channel] - network.num_hosts
            lane = routing.lanes.lane_of[router, in_port[held], out_port[channel], level]
            vcs = frozenset(vc for _, vc in slots)
            assert seen.setdefault(int(lane), vcs) == vcs
    assert len(seen) > 1
    assert len(set().union(*seen.values())) == sum(map(len, seen.values()))  # none has two lanes


@pytest.mark.parametrize(
    ("spec", "name", "needed"),
    [("ring:5/2", "shortest-path", 2), ("ring:5/2", "layered", 2), ("fat-tree:4x2", "s-mod-k", 1)],
)
def test_paths_with_a_circle_take_layers_or_are_refused_with_the_number(spec, name, needed):
    network, _, found = listed(spec, name, num_vcs=needed)
    layers = found.tables.path_layer
    assert layers.max() == needed - 1
    assert no_circle(network, found)
    if needed > 1:
        with pytest.raises(DeadlockError, match=rf"at least {needed} VCs"):
            listed(spec, name, num_vcs=needed - 1)


def no_circle(network, found):
    """Whether no packets on listed paths can wait for each other in a circle, by networkx."""
    waits, routed, layer = nx.DiGraph(), found.births.routed, found.tables.path_layer
    for path in range(len(routed)):
        begin, end = routed.offsets[path : path + 2]
        hops = zip(routed.channels[begin:end].tolist(), layer[begin:end].tolist(), strict=True)
        nx.add_path(waits, hops)
    return nx.is_directed_acyclic_graph(waits)


def test_spread_takes_lanes_of_its_own_where_one_is_not_free_of_circles():
    network, _, found = listed("torus:5x5/1", "spread", num_vcs=4)
    assert found.tables.level.max() >= 1
    walker, (sources, targets) = Walker(found), some_pairs(network)
    waits = set()
    for source, target in zip(sources, targets, strict=True):
        crossed, choices = walker.walk(source, target, 0, -1)
        lanes = [min(vc for _, vc in slots) for slots in choices]
        waits |= set(pairwise(zip(crossed[1:-1], lanes, strict=False)))
    assert nx.is_directed_acyclic_graph(nx.DiGraph(list(waits)))


def test_all_lanes_of_a_bundle_may_be_asked_for():
    routers = with_bandwidth(mesh(2), 3.0)
    network = attach_hosts(routers, [0, 0, 1], name="two", bandwidth=2.0)
    _, _, found = listed(network, "minhop", num_vcs=2)
    _, choices = Walker(found).walk(0, 2, 0, -1)
    assert [sorted({port for port, _ in slots}) for slots in choices] == [[0, 1, 2], [3, 4]]
    assert hosted_ports(network).lanes.tolist() == [3, 3, 2, 2, 2, 2, 2, 2]


def with_bandwidth(routers, bandwidth):
    """Return routers as a direct network whose channels have a bandwidth."""
    many = np.full(routers.num_channels, bandwidth)
    ends = routers.channel_source, routers.channel_target
    return Topology("fast", routers.num_routers, *ends, channel_bandwidth=many)


def test_a_function_of_ones_own_may_leave_choices():
    network = topology("leaf-spine:3x2x2")
    inside = network.routers
    shorter = {}
    for router, host in product(range(5), range(6)):
        leaf = network.ejection_router[host]
        out = np.flatnonzero(inside.channel_source == router)
        ahead = [int(c) for c in out if inside.channel_target[c] == leaf or router < 3]
        shorter[router + 6, host] = ahead
    up = table(network, lambda node, target: shorter[node, target], name="own")
    found = virtual_channel_routing(network, up, num_vcs=2)
    _, choices = Walker(found).walk(0, 5, 0, -1)
    assert [len({port for port, _ in slots}) for slots in choices] == [2, 1, 1]
    round_and_round = topology("ring:4/1")
    one_way = table(round_and_round, lambda node, _: node - 4, name="one way")
    with pytest.raises(DeadlockError, match="one way"):
        virtual_channel_routing(round_and_round, one_way, num_vcs=2)


def test_given_routes_are_followed_and_others_have_none():
    network = topology("leaf-spine:2x2x1")
    routes = source_routes(network, [["h0", "leaf0", "spine1", "leaf1", "h1"]])
    found = virtual_channel_routing(network, routes, num_vcs=1)
    rng, one = np.random.default_rng(1), np.ones(1, np.int32)
    _, aux = draw_aux(found, rng, 0 * one, one)
    crossed, _ = Walker(found).walk(0, 1, 0, aux[0])
    assert [network.channel_name(channel) for channel in crossed] == [
        "h0 -> leaf0", "leaf0 -> spine1", "spine1 -> leaf1", "leaf1 -> h1",
    ]  # fmt: skip
    with pytest.raises(NoRouteError):
        draw_aux(found, rng, one, 0 * one)


@pytest.mark.parametrize("name", ["minhop", "spread", "up-down", "layered"])
def test_what_is_broken_is_gone_round(name):
    whole = topology("leaf-spine:3x2x2")
    network = without(whole, channels="leaf0-spine1", nodes="h3")
    routing = parse_routing(name, network)
    found = listed_routing(network, routing, 2)
    walker = Walker(found)
    for source, target in product([0, 1, 2, 4, 5], repeat=2):
        if source != target:
            ends = np.array([source], np.int32), np.array([target], np.int32)
            _, aux = draw_aux(found, np.random.default_rng(1), *ends)
            crossed, _ = walker.walk(source, target, 0, aux[0])
            assert crossed == paths(network, routing, *ends).whole(network)[0].tolist()


def test_a_table_that_does_not_lead_to_a_host_says_so_when_it_is_asked():
    network = topology("leaf-spine:2x1x1")
    next_channel = parse_routing("minhop", network).next_channel.copy()
    next_channel[1] = -1
    lost = ForwardingTable("lost", next_channel)
    found = listed_routing(network, lost, 1)
    zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
    assert draw_aux(found, np.random.default_rng(1), one, zero)[1].tolist() == [-1]
    with pytest.raises(NoRouteError):
        draw_aux(found, np.random.default_rng(1), zero, one)


def test_lanes_of_pairs_that_send_nothing_take_no_virtual_channels():
    network = topology("leaf-spine:2x1x1")
    next_channel = parse_routing("minhop", network).next_channel
    level = np.full(next_channel.shape, 7, np.uint8)
    level[:, 2] = 9  # the spine has no hosts
    laned = ForwardingTable("laned", next_channel, lanes=Lanes(level))
    found = listed_routing(network, laned, 1)
    assert not len(found.tables.level) or found.tables.level.max() == 0


def test_only_packets_between_hosts_are_asked_about_circles():
    """Under the example's tables, packets of aggregation nodes too would wait in a circle."""
    network = topology(f"fabric:{EXAMPLES / 'dgx-40.ibnetdiscover'}")
    tables = parse_routing(f"lfts:{EXAMPLES / 'dgx-40-minhop.lfts'}", network)
    assert lane_circle(network, tables, everyone=True)
    found = virtual_channel_routing(network, tables, num_vcs=1)
    crossed, _ = Walker(found).walk(7, 500, 0, -1)
    assert crossed == paths(network, tables, [7], [500]).whole(network)[0].tolist()
