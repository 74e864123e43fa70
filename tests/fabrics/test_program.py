"""Tables for a program, against trying every path, and never worse than what was there."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.fabrics.kernels.rerouting import route_flows
from netloom.fabrics.program import busiest_time, flows_of, for_program
from netloom.routing import ForwardingTable, paths
from netloom.routing.forwarding.engines import minhop
from netloom.topology import Topology, hop_distances, topology
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
