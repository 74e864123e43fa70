"""Bounds hold for every routing and table, and are reached where something is known to reach it."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.bounds import bisection_bound, busiest_bound, tables, traffic_bound
from netloom.contention import effective_bisection, shift_loads
from netloom.routing import DModK, parse_routing, paths
from netloom.topology import topology, without
from tests.fabrics.networks import uneven


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("torus:4x4x4", 32.0),
        ("mesh:4x4", 16.0),
        ("hypercube:5", 16.0),
        ("dragonfly:2x4x2", 66.42623),
        ("leaf-spine:8x4x8", 112.0),
        ("fat-tree:4x3", 60.0),
        ("ring:5", 3.0),
        ("line:6", 9.0),
    ],
)
def test_known_bounds(spec, value):
    """Closed forms: hops over channels, and traffic across the narrowest cut."""
    found = busiest_bound(topology(spec))
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.exact


def test_the_cut_is_named():
    net = topology("mesh:8x4")
    found = busiest_bound(net)
    assert found.why == "256 paths leave (0,0) and 15 other routers over 4 channels"
    full = list(found.channels)
    assert set((net.source_end[full] // 4).tolist()) == {3}
    assert set((net.target_end[full] // 4).tolist()) == {4}
    torn = without(topology("leaf-spine:4x3x6"), channels="leaf2-spine1")
    assert busiest_bound(torn).why == "108 paths leave leaf2 over 2 channels"


def test_rows_of_large_grids_are_cuts():
    """Too large for a linear program; dimension order attains what half of a mesh sends out."""
    net = topology("mesh:16x16")
    found = busiest_bound(net)
    assert (found.value, len(found.channels)) == (1024.0, 16)
    assert busiest_bound(topology("mesh:16x16/1")).value == 1024.0
    assert shift_loads(net, parse_routing("default", net)).total_load.max() == 1024


def test_pods_of_a_damaged_tree_are_cuts(monkeypatch):
    """A tree that nobody can name falls into what hangs together below each level."""
    monkeypatch.setattr(tables, "MOST_VALUES", 0)
    full = topology("xgft:4x4x4/1x4x1")
    found = busiest_bound(without(full, channels="s2.0-s3.0"))
    assert found.value == pytest.approx(16 * 48 / 3)
    assert not found.exact


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_routing_beats_the_bound(seed):
    rng = np.random.default_rng(seed)
    net = uneven(rng)
    bound = busiest_bound(net)
    between = net.num_network_channels
    for name in ("minhop", "up-down"):
        load = shift_loads(net, parse_routing(name, net)).total_load
        time = (load / net.channel_bandwidth)[:between].max(initial=0)
        assert time >= bound.value * (1 - 1e-9)
    some = np.sort(rng.choice(net.num_hosts, int(rng.integers(2, net.num_hosts + 1)), False))
    part = busiest_bound(net, hosts=some.astype(np.int32))
    assert part.value <= bound.value * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_table_beats_the_bound_of_traffic(seed):
    rng = np.random.default_rng(seed)
    net = uneven(rng)
    many = int(rng.integers(1, 20))
    source, target = rng.integers(0, net.num_hosts, (2, many)).astype(np.int32)
    weight = rng.random(many)
    bound = traffic_bound(net, source, target, weight)
    found = paths(net, parse_routing("minhop", net), source, target).whole(net)
    load = np.zeros(net.num_channels)
    np.add.at(load, found.channels, np.repeat(weight, np.diff(found.offsets)))
    between = net.num_network_channels
    assert (load / net.channel_bandwidth)[:between].max(initial=0) >= bound.value * (1 - 1e-9)


def test_flows_to_a_host_are_not_split():
    net = topology("leaf-spine:2x2x3")
    source, target = np.array([0, 1, 2, 0, 1, 2]), np.array([3, 3, 3, 4, 5, 5])
    assert traffic_bound(net, source, target, np.ones(6)).value == 3.0
    uneven_flows = traffic_bound(net, np.array([0, 1, 2]), np.array([3, 4, 5]), np.array([9, 4, 3]))
    assert uneven_flows.value == 9.0  # what one host gets; the other two together are 7
    assert (
        traffic_bound(net, np.array([0, 1, 2]), np.array([3, 4, 5]), np.array([5, 4, 3])).value == 7
    )
    three = np.array([0, 1, 2]), np.array([3, 4, 5])
    found = traffic_bound(net, *three, np.ones(3))
    assert (found.value, found.why) == (2.0, "what 2 hosts get each from leaf0 takes one channel")
    assert traffic_bound(net, np.array([0]), np.array([1]), np.ones(1)).value == 0.0


@pytest.mark.parametrize("spec", ["xgft:8x8/1x8", "leaf-spine:4x8x4", "leaf-spine:2x1x3"])
def test_a_table_that_reaches_the_bound(spec):
    """Where down-channels have one destination each, or all share one, D-mod-k is as good."""
    net = topology(spec)
    found = effective_bisection(net, DModK(), samples=2000)
    assert abs(found.mean - bisection_bound(net)) < found.ci[1] - found.ci[0]


def matchings(count):
    """Yield every matching of halves: senders, and their receivers in order."""
    for drawn in permutations(range(count), 2 * (count // 2)):
        yield drawn[: count // 2], drawn[count // 2 :]


@pytest.mark.parametrize(("leaves", "spines", "hosts"), [(2, 2, 2), (2, 2, 3), (3, 2, 1)])
def test_no_table_at_all_beats_the_bisection_bound(leaves, spines, hosts):
    """Every table of a small tree: each leaf sends to each host elsewhere by either spine."""
    net = topology(f"leaf-spine:{leaves}x{spines}x{hosts}")
    many = leaves * hosts
    pairs = list(matchings(many))
    far = [(leaf, to) for leaf in range(leaves) for to in range(many) if to // hosts != leaf]
    best = 0.0
    choices = list(product(range(spines), repeat=len(far)))
    for chosen in choices if len(choices) < 300 else choices[:: len(choices) // 300]:
        by = dict(zip(far, chosen, strict=True))
        total = 0.0
        for senders, receivers in pairs[:: max(len(pairs) // 400, 1)]:
            load: dict[tuple[int, ...], int] = {}
            ways = []
            for sent, got in zip(senders, receivers, strict=True):
                spine = by.get((sent // hosts, got))
                way = [] if spine is None else [(0, sent // hosts, spine), (1, got // hosts, spine)]
                ways.append(way)
                for each in way:
                    load[each] = load.get(each, 0) + 1
            total += np.mean([1 / max((load[each] for each in way), default=1) for way in ways])
        best = max(best, total / len(pairs[:: max(len(pairs) // 400, 1)]))
    slack = 0.0 if len(pairs) <= 400 else 0.03
    assert best <= bisection_bound(net) + slack + 1e-9
