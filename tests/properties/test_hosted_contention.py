"""Hosts on routers: one host on each router is the direct network, and the definition holds."""

import numpy as np
from hypothesis import given, strategies as st

from netloom.contention import measure, measure_loads
from netloom.routing import DimensionOrder, ShortestPath, parse_routing, paths
from netloom.topology import topology
from netloom.topology.core import attach_hosts
from tests.networks import HOSTED
from tests.properties.strategies import cubes, pairs
from tests.properties.test_contention import weights_for
from tests.reference import contention as definition

BETWEEN_ROUTERS = (
    "moving", "path_length", "logical_path_length", "path_contention", "contending_weight",
    "channel_load", "weighted_channel_load",
)  # fmt: skip

SPECS = (*HOSTED, "leaf-spine:3x2x2", "xgft:3x2/2x1")


@given(st.data())
def test_one_host_on_each_router_is_the_direct_network(data):
    direct = data.draw(cubes(most_nodes=60))
    hosted = attach_hosts(direct, np.arange(direct.num_hosts), name="hosted")
    routing = data.draw(st.sampled_from([DimensionOrder(), ShortestPath()]))
    source, target = data.draw(pairs(direct.num_hosts))
    weights = weights_for(data, len(source))
    one, other = (measure(net, routing, source, target, weights) for net in (direct, hosted))
    for name in BETWEEN_ROUTERS:
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    sent = np.bincount(source[one.moving], weights[one.moving], direct.num_hosts)
    assert other.weighted_host_channel_load[: direct.num_hosts].tolist() == sent.tolist()
    assert np.all(other.heaviest_channel >= one.heaviest_channel)


@given(st.data())
def test_hosts_on_routers_by_the_definition(data):
    net = topology(data.draw(st.sampled_from(SPECS)))
    bandwidth = data.draw(
        st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=net.num_ports, max_size=net.num_ports)
    )
    if data.draw(st.booleans()):
        rate = np.append(np.ones(net.num_network_channels), np.tile(bandwidth, 2))
        object.__setattr__(net, "channel_bandwidth", rate)
    routing = parse_routing("default", net)
    source, target = data.draw(pairs(net.num_hosts, most=20))
    weights = weights_for(data, len(source))
    found = measure(net, routing, source, target, weights)
    whole = [path.tolist() for path in paths(net, routing, source, target).whole(net)]
    inside = [[hop for hop in path if hop < net.num_network_channels] for path in whole]
    counts, totals = definition.channel_loads(whole, weights, net.num_channels)
    assert np.append(found.channel_load, found.host_channel_load).tolist() == counts
    time = np.array(totals) / net.channel_bandwidth
    assert found.channel_time.tolist() == time.tolist()
    assert found.heaviest_channel.tolist() == [max(time[path], default=0) for path in whole]
    met = definition.contention(inside, weights)
    for number, (length, logical, contention, weight) in enumerate(met):
        assert found.moving[number] == (source[number] != target[number])
        assert found.path_length[number] == length
        assert found.logical_path_length[number] == logical
        assert found.path_contention[number] == contention
        alone = weights[number] if found.moving[number] else 0
        assert found.contending_weight[number] == (weight or alone)
    loads = measure_loads(net, routing, source, target, weights)
    assert loads.channel_time.tolist() == found.channel_time.tolist()
    assert loads.channel_load.tolist() == found.channel_load.tolist()
