"""Tables for a program, against trying every path, and never worse than what was there."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.bounds import traffic_bound
from netloom.fabrics.balancing import balanced
from netloom.fabrics.kernels.rerouting import route_flows
from netloom.fabrics.program import (
    FEW,
    busiest_time,
    flows_of,
    for_program,
    in_lanes,
    tables_for_program,
)
from netloom.routing import ForwardingTable, paths
from netloom.routing.forwarding.engines import ENGINES, minhop
from netloom.routing.forwarding.tables import lane_circle, lanes_used
from netloom.topology import Topology, hop_distances, topology, without
from tests.fabrics.networks import uneven
from tests.reference.forwarding import walked
from tests.reference.program_tables import route

NETWORKS = ("leaf-spine:3x2x3", "xgft:2x2x3/1x2x2", "fat-tree:2x3", "hyperx:3x3/2")


def nearer(network: Topology) -> np.ndarray:
    """Return the channels of shortest ways to each destination."""
    inside, ends = network.routers, network.ejection_router
    hops = hop_distances(inside)[:, ends].T
    return np.asarray(hops[:, inside.channel_source] == hops[:, inside.channel_target] + 1)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NETWORKS), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 2.0, 4.0]))
def test_one_destination_is_routed_as_by_trying_every_path(spec, seed, power):
    network, rng = topology(spec), np.random.default_rng(seed)
    inside = network.routers
    target = int(rng.integers(network.num_hosts))
    end = int(network.ejection_router[target])
    others = np.setdiff1d(np.unique(network.injection_router), [end])
    chosen = rng.permutation(others)[: rng.integers(1, len(others) + 1)].astype(np.int32)
    volume = np.sort(rng.uniform(1, 90, len(chosen)))[::-1].copy()
    load = rng.uniform(0, 200, inside.num_channels)  # no two ways cost the same
    row = minhop(network).next_channel[target]
    allowed = nearer(network)[target]
    pairs = list(zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True))
    before = load.copy()
    expected = route(
        row.tolist(), end, list(zip(chosen.tolist(), volume.tolist(), strict=True)),
        allowed.tolist(), pairs, [1.0] * len(pairs), load.tolist(), power,
    )  # fmt: skip
    speed = np.ones(inside.num_channels)
    route_flows(
        row, end, chosen, volume, allowed, inside.outgoing(), inside.channel_target, speed, load,
        power,
    )  # fmt: skip
    paid = (load**power - before**power).sum()
    assert paid == pytest.approx(sum(expected))
    assert load.sum() >= (before.sum() + volume.sum()) * (1 - 1e-12)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NETWORKS), st.integers(0, 2**32 - 1))
def test_a_programs_table_is_never_worse_and_leads_everywhere(spec, seed):
    network, rng = topology(spec), np.random.default_rng(seed)
    source, target = rng.integers(0, network.num_hosts, (2, 12)).astype(np.int32)
    flows = flows_of(network, source, target, rng.integers(1, 99, 12).astype(float))
    start = minhop(network)
    found = for_program(network, start, flows, nearer(network), seed=seed, tries=2)
    assert busiest_time(network, found, flows) <= busiest_time(network, start, flows)
    other = np.setdiff1d(np.arange(len(start.next_channel)), flows.target)
    assert (found.next_channel[other] == start.next_channel[other]).all()
    everyone = np.divmod(np.arange(network.num_hosts**2, dtype=np.int32), network.num_hosts)
    assert len(paths(network, found, *everyone)) == network.num_hosts**2


def test_two_destinations_that_shared_a_spine_are_taken_apart():
    network = topology("leaf-spine:2x2x2")
    together = minhop(network).next_channel.copy()
    together[2:, 0] = 0  # leaf 0 sends all to spine 0
    start = ForwardingTable("together", together)
    flows = flows_of(network, np.array([0, 1]), np.array([2, 3]), np.array([8.0, 8.0]))
    found = for_program(network, start, flows, nearer(network))
    times = [busiest_time(network, each, flows) for each in (start, found)]
    assert times == [16.0, 8.0]


def test_what_stays_inside_a_computer_or_is_empty_is_no_flow():
    network = topology("rail:1x2x2x1")
    flows = flows_of(network, np.array([0, 0, 2]), np.array([1, 2, 3]), np.array([4.0, 0.0, 9.0]))
    assert len(flows.source) == 0
    start = minhop(network)
    found = for_program(network, start, flows, nearer(network))
    assert (found.next_channel == start.next_channel).all()
    assert busiest_time(network, found, flows) == 0.0


DAMAGED = ("leaf-spine:3x3x3", "xgft:2x2x3/1x2x2", "fat-tree:2x3", "hyperx:3x3/2", "torus:4x3/1",
            "mesh:3x3", "leaf-spine:4x2x2/2")  # fmt: skip


def damaged(spec, rng):
    """Return a network without some of its cables, in one piece."""
    whole = topology(spec)
    inside = whole.routers
    pairs = {
        (min(pair), max(pair))
        for pair in zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True)
    }
    left = nx.Graph(pairs)
    names = whole.labels[whole.num_hosts :] if whole.labels and not whole.direct else None
    cut = []
    for source, target in rng.permutation(sorted(pairs))[: rng.integers(0, 3)].tolist():
        left.remove_edge(source, target)
        if not nx.is_connected(left):
            left.add_edge(source, target)
            continue
        ends = (source, target) if names is None else (names[source], names[target])
        cut.append("-".join(map(str, ends)))
    return without(whole, channels=",".join(cut)) if cut else whole


def random_flows(network, rng):
    count = int(rng.integers(1, 20))
    source, target = rng.integers(0, network.num_hosts, (2, count)).astype(np.int32)
    return flows_of(network, source, target, rng.integers(1, 99, count).astype(float))


@settings(max_examples=10, deadline=None)
@given(
    st.sampled_from([*DAMAGED, "random"]),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["minhop", "nue", "sssp"]),
    st.sampled_from([None, 1, 2]),
)
def test_all_arrive_without_a_circle_and_the_program_is_never_worse_off(spec, seed, engine, lanes):
    rng = np.random.default_rng(seed)
    network = uneven(rng) if spec == "random" else damaged(spec, rng)
    flows, installed = random_flows(network, rng), ENGINES[engine](network)
    table = tables_for_program(network, installed, flows, lanes=lanes)
    waits = nx.DiGraph()
    for row, end in zip(table.next_channel, network.ejection_router.tolist(), strict=True):
        for at in set(network.ejection_router.tolist()):
            path = walked(network, row, at, end)
            assert path is not None
            waits.add_edges_from(pairwise(path))
    assert lane_circle(network, table) == ()
    if lanes_used(table) == 1:
        assert nx.is_directed_acyclic_graph(waits)
    assert lanes_used(table) <= (lanes or 8)
    found = busiest_time(network, table, flows)
    assert found >= traffic_bound(network, *flows).value * (1 - 1e-9)
    general = balanced(network, lanes=lanes, tries=FEW).table
    assert found <= busiest_time(network, general, flows) * (1 + 1e-9)
    if in_lanes(network, installed, lanes or 8) is not None:
        assert found <= busiest_time(network, installed, flows) * (1 + 1e-9)


def test_holes_in_the_installed_table_do_no_harm():
    network = topology("leaf-spine:3x2x2")
    installed = ENGINES["minhop"](network)
    installed.next_channel[4, 0] = -1
    flows = flows_of(network, np.array([0, 1]), np.array([4, 5]), np.array([8.0, 8.0]))
    assert busiest_time(network, installed, flows) == float("inf")
    assert busiest_time(network, tables_for_program(network, installed, flows), flows) == 8.0


def test_a_table_on_longer_ways_is_kept_where_no_shortest_one_is_as_good():
    """Two hosts of a triangle's corner send to one: one of them goes round the third corner."""
    network = topology("hyperx:3/2")
    inside = network.routers
    installed = ENGINES["minhop"](network)
    leads = {
        pair: number
        for number, pair in enumerate(
            zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True)
        )
    }
    installed.next_channel[2, 0], installed.next_channel[2, 2] = leads[0, 2], leads[2, 1]
    flows = flows_of(network, np.array([0, 1]), np.array([2, 3]), np.array([8.0, 8.0]))
    shortest = tables_for_program(network, ENGINES["minhop"](network), flows)
    assert busiest_time(network, shortest, flows) == 16.0
    table = tables_for_program(network, installed, flows)
    assert busiest_time(network, table, flows) == 8.0
    assert lane_circle(network, table) == ()
