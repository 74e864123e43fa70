"""Flows of hosts that hang on routers: those of direct networks, queueing theory, simulation."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import DeadlockError
from netloom.contention.channel_queueing import (
    channel_saturation,
    follow_flows,
    host_flows,
    predict_channels,
    prepare_channels,
    resource_name,
)
from netloom.routing import DimensionOrder, ShortestPath, UpDown, virtual_channel_routing
from netloom.topology import Topology, cube, topology, torus
from netloom.topology.core import attach_hosts
from netloom.workload.traffic import uniform

FLITS = 5


def uniform_flows(net, routing, *, vcs=4):
    source, target, share = uniform(net.num_hosts).matrix()
    return host_flows(net, routing, source, target, share * net.num_hosts, vcs=vcs)


def wait(prepared, load):
    found = predict_channels(prepared, load)
    return found.latency - found.zero_load_latency


@given(st.data(), st.sampled_from([DimensionOrder(), ShortestPath(), UpDown()]), st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_one_host_a_router_is_the_direct_network(data, routing, vcs):
    sides = data.draw(st.sampled_from([(2,), (3, 3), (4, 3), (2, 2, 2), (5,), (6,)]))
    net = cube(sides, data.draw(st.booleans()))
    node = st.integers(0, net.num_hosts - 1)
    ends = data.draw(st.lists(st.tuples(node, node), min_size=1, max_size=30))
    source, target = np.array(ends).T
    rate = np.full(len(ends), 1 / len(ends))
    try:
        direct = follow_flows(
            virtual_channel_routing(net, routing, num_vcs=vcs), source, target, rate
        )
    except DeadlockError:
        return
    hosted = attach_hosts(net, np.arange(net.num_hosts), name="hosted")
    found = host_flows(hosted, routing, source, target, rate, vcs=vcs)
    for name in ("source", "target", "rate", "vc_share", "pair", "num_nodes", "num_channels"):
        assert np.array_equal(getattr(found, name), getattr(direct, name)), name
    assert np.array_equal(found.paths.channels, direct.paths.channels)
    assert np.array_equal(found.paths.offsets, direct.paths.offsets)


@pytest.mark.parametrize("hosts", [3, 8, 20])
@pytest.mark.parametrize("flits", [1, 5, 8])
def test_one_leaf_is_queues_at_its_ends(hosts, flits):
    """Lightly loaded, a source is Geo/D/1, and an ejection channel shares itself out: L/(1 - ρ).

    Of a host's packets, those of N - 2 others go to the same target, which gets 1 / (N - 1) of
    each. With one VC a head takes a cycle more of its source.
    """
    net = topology(f"fat-tree:{hosts}x1")
    prepared = prepare_channels(uniform_flows(net, UpDown()), flits=flits)
    load = 1e-4
    expected = load * ((flits - 1) / 2 + flits * (hosts - 2) / (hosts - 1))
    assert wait(prepared, load) == pytest.approx(expected, rel=0.01)
    assert prepared.full_load == pytest.approx(1)
    assert predict_channels(prepared, load).zero_load_latency == pytest.approx(6 + flits - 1)


def test_all_to_one_saturates_at_its_ejection_channel():
    net = topology("leaf-spine:3x2x4")
    others = np.arange(1, 12)
    flows = host_flows(net, UpDown(), others, np.zeros(11), np.ones(11), vcs=4)
    prepared = prepare_channels(flows, flits=FLITS)
    assert prepared.full_load == pytest.approx(1 / 11)
    assert channel_saturation(prepared) < 1 / 11
    busy = predict_channels(prepared, 1 / 11).busiest[0]
    assert busy.what == "channel"
    assert resource_name(busy, prepared, net) == "channel leaf0 -> h0"


def test_a_port_is_a_node_of_the_flows():
    """Hosts 0 and 1 have a port on each of two routers without a link; pairs take turns."""
    two, hosts = Topology("two", 2, *np.zeros((2, 0), np.int32)), np.array([0, 0, 1, 1])
    net = attach_hosts(two, np.array([0, 1, 0, 1]), name="rails", port_host=hosts)
    flows = host_flows(net, ShortestPath(), [0, 1, 0], [1, 0, 0], np.ones(3), vcs=2)
    assert flows.num_nodes == 4
    assert flows.source[2] == flows.target[2] == 0  # to itself, out and in by its first port
    assert (flows.source[0], flows.target[0]) == (1, 3)
    assert (flows.source[1], flows.target[1]) == (3, 1)


def test_paths_that_could_deadlock_are_put_into_layers():
    net = attach_hosts(torus(6), np.arange(6).repeat(2), name="torus:6/2")
    with pytest.raises(DeadlockError, match=r"shortest-path on torus:6/2 .* at least 2 VCs"):
        uniform_flows(net, ShortestPath(), vcs=1)
    flows = uniform_flows(net, ShortestPath(), vcs=3)
    assert set(map(tuple, flows.vc_share)) <= {(0.5, 0.5, 0), (0, 0, 1)}
    assert len(np.unique(flows.vc_share, axis=0)) == 2
    assert np.unique(uniform_flows(net, UpDown(), vcs=3).vc_share) == [1 / 3]
