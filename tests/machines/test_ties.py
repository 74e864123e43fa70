"""Half-way round a ring: which way adaptive packets go on a machine."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.contention.expected_load import best_split
from netloom.machines import machine
from netloom.routing import virtual_channel_routing
from netloom.routing.virtual_channels import virtual_channel_cycle
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.routers import Router
from netloom.topology import topology
from netloom.workload import ProcessGraph
from netloom.workload.traffic import from_process_graph

HALF_WAY = [0, 8, 16, 24, 32]
"""Nodes 000 to 040 of LLNL's counts on a torus of 8×8×8: 36 of 36 packets go this way."""


def ends(node):
    return np.array([0], np.int32), np.array([node], np.int32), np.array([1.0])


def test_all_packets_of_blue_gene_take_the_way_that_its_hardware_counted():
    one = ProcessGraph("one", 512, *ends(32), np.array([1.0]))
    found = nl.simulate("bluegene-p", app=one, routing="adaptive", offered=0.001, seed=1)
    assert found.to_dict()["routing"] == "adaptive:ties=+"
    used = found.channels().filter(pl.col("utilisation") > 0)
    ways = zip(used["source_node"].to_list(), used["target_node"].to_list(), strict=True)
    assert sorted(ways) == list(pairwise(HALF_WAY))


def test_contention_has_the_machine_s_ways():
    network = machine("bluegene-p").network()
    for routing, share in (("adaptive", 0.5), (machine("bluegene-p").routing("adaptive"), 1.0)):
        chosen = virtual_channel_routing(network, routing, num_vcs=4)
        split = best_split(chosen, *ends(32), np.ones(network.num_channels))
        assert split.least == pytest.approx(share)


def test_a_limit_rests_on_no_way_that_the_routing_does_not_take():
    """All nodes of a ring send half-way round it: by one way, channels carry twice as much."""
    ring = topology("torus:4")
    nodes = np.arange(4, dtype=np.int32)
    graph = ProcessGraph("half", 4, nodes, (nodes + 2) % 4, np.ones(4), np.ones(4))
    traffic = from_process_graph(graph, nodes, 4, weight="bytes")
    for name, load in (("adaptive", 1.0), ("adaptive:ties=+", 0.5)):
        routing = virtual_channel_routing(ring, name, num_vcs=3)
        assert throughput_bound(ring, routing, traffic, Router()).load == pytest.approx(load)


def test_the_rule_is_the_machine_s_and_may_be_asked_for_by_name():
    assert machine("bluegene-p").ties == "+"
    assert machine("bluegene-p:4x4x4").routing("adaptive") == "adaptive:ties=+"
    assert machine("tpu-v4").routing("adaptive") == "adaptive"
    net = topology("torus:4x4")
    assert virtual_channel_routing(net, "adaptive:ties=+", num_vcs=4).name == "adaptive:ties=+"
    for wrong in ("adaptive:ties=-", "dimension-order-static-dateline:ties=+"):
        with pytest.raises(InputError, match="ties"):
            virtual_channel_routing(net, wrong, num_vcs=4)


@pytest.mark.parametrize("name", ["adaptive:ties=+", "adaptive-sticky-escape:ties=+"])
def test_one_way_leaves_no_circle(name):
    assert (
        virtual_channel_cycle(virtual_channel_routing(topology("torus:4x4"), name, num_vcs=4)) == ()
    )
