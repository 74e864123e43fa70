"""Mappings onto hosts of switched networks: what the objective counts, and what is said of it."""

import numpy as np
import pytest

from netloom import find_mapping
from netloom.base.errors import InputError
from netloom.contention import measure, measure_loads
from netloom.routing import parse_routing
from netloom.topology import Topology, topology
from netloom.topology.core import attach_hosts
from netloom.workload import process_graph, read

LAMMPS = "examples/lammps-64.mtx"


def measured(found):
    """The loads of a mapping that was found."""
    routing = parse_routing(found.routing, found.network)
    return measure(found.network, routing, *ends_of(found), found.graph.bytes)


def ends_of(found):
    graph = found.graph
    return found.node_of[graph.source], found.node_of[graph.target]


def test_one_task_a_host_is_judged_by_channels_between_routers():
    found = find_mapping(LAMMPS, "leaf-spine:8x4x8", rounds=2)
    loads = measured(found)
    assert found.value == loads.weighted_channel_load.max() <= found.found.starts["identity"]
    assert found.value < loads.weighted_host_channel_load.max()
    assert 0.85 * found.found.starts["identity"] < found.bound <= found.value
    assert "leaf" in found.after.bottleneck.channel


def test_several_tasks_a_host_are_judged_by_hosts_channels_too():
    nodes = np.arange(0, 64, 2)
    found = find_mapping(LAMMPS, "dragonfly:2x4x2", nodes=nodes, tasks_per_node=2, rounds=1)
    loads = measured(found)
    assert found.value == loads.channel_time.max()
    assert np.isin(found.node_of, nodes).all()
    assert np.bincount(found.node_of).max() == 2
    assert found.bound <= found.value <= found.found.starts["identity"]


def uneven():
    """Return two leaves of two hosts; of the two spines between them one is half as fast."""
    source, target = np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([2, 3, 2, 3, 0, 1, 0, 1])
    rate = np.where((source == 3) | (target == 3), 0.5, 1.0)
    ends = source.astype(np.int32), target.astype(np.int32)
    routers = Topology("uneven", 4, *ends, channel_bandwidth=rate)
    return attach_hosts(routers, np.array([0, 0, 1, 1]), name="uneven")


def test_loads_count_over_bandwidths():
    app = process_graph(4, [0, 1, 2, 3, 0], [2, 3, 0, 1, 1], bytes=[8, 8, 8, 8, 1])
    found = find_mapping(app, uneven(), rounds=2)
    assert 0 < found.bound <= found.value == 1  # pairs that send much are on one leaf
    loads = measured(found)
    times = loads.channel_time[: found.network.num_network_channels]
    assert found.value == times.max()
    with pytest.raises(InputError, match="saturation on uneven, whose channels differ"):
        find_mapping(app, uneven(), objective="saturation")


def test_several_paths_a_pair_count_as_expected():
    routing = "nca"
    found = find_mapping(LAMMPS, "leaf-spine:8x4x8", routing=routing, rounds=1)
    several = parse_routing(routing, found.network)
    loads = measure_loads(found.network, several, *ends_of(found), found.graph.bytes)
    assert found.value == pytest.approx(loads.weighted_channel_load.max())
    assert found.bound <= found.value
    hops = find_mapping(LAMMPS, "leaf-spine:8x4x8", objective="hop-bytes", rounds=1)
    same = find_mapping(
        LAMMPS, "leaf-spine:8x4x8", objective="hop-bytes", routing=routing, rounds=1
    )
    assert same.value == pytest.approx(hops.value)  # all paths are shortest ones


def test_routers_by_other_numbers_change_nothing():
    """Bounds, starts and what they are worth follow from hosts, not from numbers of routers."""
    tree = topology("leaf-spine:4x2x4")
    routers = tree.routers
    number = np.random.default_rng(1).permutation(routers.num_routers).astype(np.int32)
    other = Topology(
        "other", len(number), number[routers.channel_source], number[routers.channel_target]
    )
    turned = attach_hosts(other, number[tree.injection_router], name="other")
    app = read("random-regular:16,3")
    one, two = (find_mapping(app, net, routing="minimal", rounds=0) for net in (tree, turned))
    assert one.bound == pytest.approx(two.bound)
    assert one.found.starts == pytest.approx(two.found.starts)
    assert one.node_of.tolist() == two.node_of.tolist()
