from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.bounds import cut_bounds, tapers
from netloom.contention import measure_loads
from netloom.routing import parse_routing
from netloom.topology import mesh, topology
from netloom.topology.core import attach_hosts
from tests.networks import DIRECT, SWITCHED, TWO_WAY

SPECS = [
    "leaf-spine:3x2x2", "leaf-spine:2x2x3/2", "fat-tree:2x3", "xgft:2x2x2/1x2x1", "xgft:3x2/2x1",
    "slim-fly:5/1", "jellyfish:8x3x2/1", *TWO_WAY, *SWITCHED.values(),
]  # fmt: skip


def traffic(data, hosts):
    many = data.draw(st.integers(1, 12))
    size = {"min_size": many, "max_size": many}
    ends = [data.draw(st.lists(st.integers(0, hosts - 1), **size)) for _ in range(2)]
    weights = data.draw(st.lists(st.integers(0, 9), **size))
    return np.array(ends[0], np.int32), np.array(ends[1], np.int32), np.array(weights, float)


def by_hand(net, inside, pairs, *, out):
    """The weight that leaves a set of vertices, or enters it, over what leads out or in."""
    source, target, weight = pairs
    tail, head = inside[net.source_end], inside[net.target_end]
    begins, ends = inside[source], inside[target]
    if not out:
        tail, head, begins, ends = head, tail, ends, begins
    room = net.channel_bandwidth[tail & ~head].sum()
    return weight[begins & ~ends].sum() / room if room else 0.0


@settings(max_examples=60)
@given(st.data())
def test_no_routing_beats_a_cut(data):
    net = topology(data.draw(st.sampled_from(SPECS)))
    pairs = traffic(data, net.num_hosts)
    cuts = cut_bounds(net, *pairs)
    for name in ("default", "minimal"):
        routing = parse_routing(name, net)
        busiest = measure_loads(net, routing, *pairs).channel_time.max()
        assert all(cut.time <= busiest * (1 + 1e-9) for cut in cuts)


@given(st.data())
def test_cuts_of_hosts_and_routers_are_the_best_of_each(data):
    net = topology(data.draw(st.sampled_from(SPECS[:5])))
    if net.num_ports > net.num_hosts:
        return  # a host of several routers is on neither side
    pairs = traffic(data, net.num_hosts)
    found = {cut.kind: cut.time for cut in cut_bounds(net, *pairs)}
    vertices, router_of = np.arange(net.num_ends), net.injection_router + net.num_hosts
    best = {"host": 0.0, "router": 0.0}
    for host in range(net.num_hosts):
        for out in (True, False):
            best["host"] = max(best["host"], by_hand(net, vertices == host, pairs, out=out))
    for router in range(net.num_hosts, net.num_ends):
        inside = vertices == router
        inside[: net.num_hosts] = router_of == router
        for out in (True, False):
            best["router"] = max(best["router"], by_hand(net, inside, pairs, out=out))
    for kind, time in best.items():
        assert found.get(kind, 0.0) == pytest.approx(time)


def test_what_a_host_sends_itself_crosses_nothing():
    """In a butterfly, it sends by one router and receives by another."""
    net = topology("butterfly:2x2")
    own = np.arange(net.num_hosts)
    assert cut_bounds(net, own, own, np.ones(len(own))) == []
    ends = np.append(own, 0), np.append(own, 3)
    assert {cut.weight for cut in cut_bounds(net, *ends, np.ones(len(own) + 1))} == {1.0}


@settings(max_examples=60)
@given(st.data())
def test_routers_that_are_hosts_are_cut_as_those_with_one_host_each(data):
    spec = data.draw(st.sampled_from(list(DIRECT.values())))
    net, hosted = topology(spec), topology(f"{spec}/1")
    pairs = traffic(data, net.num_hosts)
    alone, with_hosts = (
        {cut.kind: cut for cut in cut_bounds(each, *pairs)} for each in (net, hosted)
    )
    with_hosts.pop("host", None)  # whose speeds are known there alone
    assert set(with_hosts) <= set(alone)
    for kind, cut in alone.items():
        if kind != "half":  # to which speeds of hosts matter, too
            alike = replace(cut, name=with_hosts[kind].name)
            assert with_hosts[kind].to_json() == alike.to_json()
    for name in ("default", "shortest-path"):
        busiest = measure_loads(net, parse_routing(name, net), *pairs).channel_time.max(initial=0)
        assert all(cut.time <= busiest * (1 + 1e-9) for cut in alone.values())


def test_a_subtree_is_what_its_uplinks_part():
    """A pod of a tree of three levels, all of whose hosts send to the other pod."""
    net = topology("xgft:2x2x2/1x2x1")  # each pod: 4 hosts, 2 leaves, 2 routers with 1 uplink each
    source, target = np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32)
    cuts = {cut.kind: cut for cut in cut_bounds(net, source, target, np.ones(4))}
    assert (cuts["subtree"].bandwidth, cuts["subtree"].time) == (2, 2.0)
    assert cuts["router"].time == 1.0
    assert cuts["subtree"].name == "subtree 0 of level 2"


@pytest.mark.parametrize("spec", ["jellyfish:10x3x2/1", "mesh:5x3", "torus:4x3/2", "torus:3x3/2"])
def test_halves_have_the_largest_flow_between_them(spec):
    net = topology(spec)
    half = net.num_hosts // 2
    graph = nx.DiGraph()
    ends = (net.source_end.tolist(), net.target_end.tolist())
    for tail, head in zip(*ends, strict=True):
        graph.add_edge(tail, head, capacity=1)
    for host in range(net.num_hosts):
        graph.add_edge(*(("s", host) if host < half else (host, "t")))
    source = np.arange(half, dtype=np.int32)
    cuts = cut_bounds(net, source, source + half, np.ones(half))
    found = next(cut for cut in cuts if cut.kind == "half")
    assert found.bandwidth == nx.maximum_flow_value(graph, "s", "t")


def test_ports_on_several_routers_are_on_neither_side():
    """A host with a port to each of two routers need not cross from one to the other."""
    net = attach_hosts(
        mesh(2), np.array([0, 1, 0, 1]), port_host=np.array([0, 0, 1, 2]), name="two ports"
    )
    cuts = cut_bounds(net, np.array([0, 0]), np.array([1, 2]), np.ones(2))
    assert [(cut.kind, cut.bandwidth) for cut in cuts if cut.kind != "half"] == [("host", 2.0)]


def test_oversubscription_of_each_level():
    assert [each.ratio for each in tapers(topology("fat-tree:4x3"))] == [1, 1]
    by_level = tapers(topology("xgft:4x4x2/1x2x1"))
    found = [(each.router, each.routers, each.ratio) for each in by_level]
    assert found == [("s1.0", 8, 2.0), ("s2.0", 4, 4.0)]
    slow = topology("leaf-spine:2x1x4/2").routers
    net = attach_hosts(slow, np.array([0, 0, 0, 1]), name="uneven", bandwidth=2.0)
    found = tapers(net)[0]
    assert (found.router, found.routers, found.below, found.above) == ("leaf0", 1, 6.0, 2.0)
    assert (found.channels_below, found.channels_above, found.ratio) == (3, 2, 3.0)
