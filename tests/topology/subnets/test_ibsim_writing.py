"""What is written for ibsim is read as the same network."""

from __future__ import annotations

import numpy as np
import pytest

from netloom.topology import topology
from netloom.topology.core import port_numbers, way_back
from netloom.topology.subnets.files import read_fabric
from tests.topology.subnets.fabric_files import read_text_as_fabric, unpacked, written_and_read

SPECS = ("leaf-spine:3x2x2/2", "fat-tree:4x2", "dragonfly:2x4x2", "rail:2x2x2x2", "torus:4x4/2")


@pytest.mark.parametrize("spec", SPECS)
def test_networks_come_back_with_their_ports(spec):
    net, found = topology(spec), written_and_read(spec)
    assert found.num_hosts == net.num_hosts
    assert found.num_nodes == net.num_nodes
    first = net.num_network_channels
    out_port, in_port = port_numbers(net)

    def cables(each, leaves, enters):
        name = [each.name_of(v) for v in range(each.num_ends)]
        ends = zip(each.source_end[:first], each.target_end[:first], strict=True)
        ports = zip(leaves[:first].tolist(), enters[:first].tolist(), strict=True)
        return {(name[a], name[b], *both) for (a, b), both in zip(ends, ports, strict=True)}

    assert cables(net, out_port, in_port) == cables(found, *port_numbers(found))


def test_a_direct_network_has_a_host_on_each_switch():
    found = written_and_read("mesh:3x3")
    assert found.num_hosts == found.num_routers == 9
    assert found.labels[:2] == ("(0,0)", "(0,1)")
    assert found.injection_router.tolist() == list(range(9))
    assert (way_back(found) >= 0).all()


@pytest.mark.parametrize("name", ["multi-plain.txt", "examples/dgx-40.ibnetdiscover"])
def test_what_a_file_says_is_written_again(name):
    net = read_fabric(name) if "/" in name else read_text_as_fabric(unpacked(name))
    found = written_and_read(net)
    assert found.labels == net.labels
    assert found.computer_labels == net.computer_labels
    assert found.reference_gbps == net.reference_gbps
    for what in ("channel_source", "channel_target", "channel_bandwidth", "node_of_host"):
        assert np.array_equal(getattr(found, what), getattr(net, what)), what
    for what in ("out_port", "in_port", "router_guid", "host_guid", "port_guid", "router_lid",
                 "port_lid", "lmc", "router_ports", "rail"):  # fmt: skip
        assert np.array_equal(getattr(found.cabling, what), getattr(net.cabling, what)), what
    for what in ("router", "port", "guid", "lid"):
        mine, said = getattr(found.cabling.others, what), getattr(net.cabling.others, what)
        assert np.array_equal(mine, said), what
    assert found.cabling.others.names == net.cabling.others.names
    assert found.cabling.rail_names == net.cabling.rail_names
