"""SimGrid's clusters, against finish times that libsimgrid 3.32 printed.

Messages of 1 MB at 125 MB/s take 8 ms alone, and every link on the way 50 us. A shift by one takes
as long as its longest way, if nothing is shared; all-to-all at least as long as the busiest link.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.topology import torus
from netloom.topology.families import xgft
from tests.topology.subnets.said import hops, links, network

CLUSTER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- a cluster -->
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="c" prefix="node-" radical="0-{last}" suffix=".org" speed="1Gf" bw="125MBps"
             lat="50us" {more}/>
  </zone>
</platform>
"""


def cluster(folder, hosts, topology, parameters, more=""):
    """Return the network of a cluster."""
    more = f'topology="{topology}" topo_parameters="{parameters}" {more}'
    return network(folder, CLUSTER.format(last=hosts - 1, more=more))


@pytest.mark.parametrize(
    ("hosts", "topology", "parameters", "seconds"),
    [
        (12, "TORUS", "3,2,2", 0.00815),
        (16, "FAT_TREE", "2;4,4;1,2;1,2", 0.0082),
        (64, "TORUS", "4,4,4", 0.00815),
        (64, "FAT_TREE", "3;4,4,4;1,4,4;1,1,1", 0.0083),
        (64, "FAT_TREE", "2;8,8;1,4;1,1", 0.0082),
        (120, "DRAGONFLY", "3,4;4,3;5,1;2", 0.0083),
    ],
)
def test_a_shift_by_one_takes_as_long_as_its_longest_way(
    tmp_path, hosts, topology, parameters, seconds
):
    net = cluster(tmp_path, hosts, topology, parameters)
    assert net.num_hosts == hosts
    assert net.reference_gbps == 1.0
    assert net.labels[:2] == ("node-0.org", "node-1.org")
    graph = hops(net)
    ways = [nx.shortest_path_length(graph, i, (i + 1) % hosts) for i in range(hosts)]
    assert 0.008 + 50e-6 * max(ways) == pytest.approx(seconds, rel=1e-9)


@pytest.mark.parametrize(
    ("hosts", "parameters", "seconds"),
    [
        (16, "2;4,4;1,2;1,2", 0.1201),
        (64, "3;4,4,4;1,4,4;1,1,1", 0.5041),
        (64, "2;8,8;1,4;1,1", 0.8962),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # the network is read again, by its name
def test_all_to_all_takes_as_long_as_the_busiest_link(tmp_path, hosts, parameters, seconds):
    net = cluster(tmp_path, hosts, "FAT_TREE", parameters)
    load = nl.analyze(f"all-to-all:{hosts}", net, random_mappings=0).to_dict()["channel_load"]
    busiest = max(load["max"], hosts - 1)  # or the link of a host, to which all others send
    assert 0.008 * busiest == pytest.approx(seconds, abs=3e-4)  # and some latency


def test_a_torus_is_a_torus_with_its_first_side_fastest(tmp_path):
    net = cluster(tmp_path, 12, "torus", "3,2,2")
    assert net.sides == (2, 2, 3)
    assert np.array_equal(net.target_end, torus(2, 2, 3).channel_target)
    assert net.name_of(11) == "node-11.org"
    assert "50us" in net.notes[0]


def test_a_fat_tree_is_the_one_of_its_parameters(tmp_path):
    net = cluster(tmp_path, 16, "FAT_TREE", "2;4,4;1,2;1,2")
    same = xgft((4, 4), (1, 2), (1, 2))
    assert np.array_equal(net.source_end, same.source_end)
    assert np.array_equal(net.target_end, same.target_end)
    assert (net.family.children, net.family.parallel) == ((4, 4), (1, 2))


def test_a_dragonfly_has_green_black_and_blue_links(tmp_path):
    net = cluster(tmp_path, 120, "DRAGONFLY", "3,4;4,3;5,1;2", 'limiter_link="150MBps"')
    found = {
        (a, b): rate for a, b, rate, _ in links(net) if a.startswith("g") and b.startswith("g")
    }
    assert found.pop(("g0c0r2", "g2c0r0")) == 4.0  # blue: router 2 of group 0 leads to group 2
    blue = {pair for pair in found if pair[0][:2] != pair[1][:2]}
    green = {(a, b) for a, b in found if a[:4] == b[:4]}
    black = found.keys() - blue - green
    assert (len(blue), len(green), len(black)) == (5, 12 * 20, 3 * 5 * 12)
    assert {found[pair] for pair in black} == {3.0}
    assert {found[pair] for pair in green} == {1.0}
    assert all(a[4:] == b[4:] for a, b in black)  # the same place in another chassis
    assert "limiter_link of 150MBps" in net.notes[1]


def test_a_flat_cluster_is_one_switch(tmp_path):
    net = network(tmp_path, CLUSTER.format(last=5, more=""))
    assert (net.num_hosts, net.num_routers, net.num_channels) == (6, 1, 12)


def test_comments_before_a_platform_take_no_time_to_pass(tmp_path):
    with pytest.raises(InputError, match="not known"):
        network(tmp_path, "<!-- a --> <!-- b > -->\n" * 20_000 + "<nothing/>")
