"""One fabric in all the spellings of InfiniBand's tools is one network."""

from __future__ import annotations

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.topology.core import way_back
from netloom.topology.subnets.files import FORMATS
from tests.attack.files import FILES
from tests.topology.subnets.fabric_files import GOLDEN, read_text_as_fabric, text_of, unpacked


def test_every_format_has_a_file_that_attacks_and_approved_commands_take():
    """A new format is met by them once an example of it stands in ``tests.attack.files``."""
    texts = [whole().decode("utf-8", "replace") for whole, _ in FILES.values()]
    read = [next((form.name for form in FORMATS if form.looks(text)), "") for text in texts]
    assert {form.name for form in FORMATS} <= set(read)


PRINTED = (
    "multi-plain.txt", "multi-group.txt", "multi-full.txt", "multi-ports.txt",
    "multi-linkinfo.txt", "multi-linkinfo-p.txt", "multi-opensm-subnet.lst",
)  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_what_the_genuine_tools_print_of_a_fabric_is_one_network(name):
    plain, net = (read_text_as_fabric(unpacked(each)) for each in (PRINTED[0], name))
    assert net.num_hosts == 4
    assert net.num_routers == 4
    assert net.num_ports == 5
    assert net.labels[:2] == plain.labels[:2] == ("node1/HCA-1", "node2/HCA-1")
    assert net.labels[4:] == plain.labels[4:] == ("leaf 1 'a'", "leaf 2", "spine 1", "spine 2")
    for what in ("channel_source", "channel_target", "channel_bandwidth", "node_of_host"):
        assert np.array_equal(getattr(net, what), getattr(plain, what)), what
    assert net.reference_gbps == 8
    assert net.channel_bandwidth.min() == 0.25
    said, mine = plain.cabling, net.cabling
    for what in ("out_port", "in_port", "port_guid", "port_lid", "router_guid", "router_lid"):
        assert np.array_equal(getattr(mine, what), getattr(said, what)), what
    assert mine.router_ports.tolist() == [8] * 4
    assert mine.others.names == ("gateway", "Mellanox Technologies Aggregation Node")
    assert mine.others.lid.tolist() == [6, 20]
    assert mine.others.port.tolist() == [3, 8]
    says_lmc = name in PRINTED[:3]
    assert mine.lmc.tolist() == [1 if says_lmc else 0] * 5
    assert mine.unnamed == 2


def test_one_line_for_each_link_does_not_say_which_device_is_a_router_to_other_subnets():
    plain = read_text_as_fabric(unpacked("multi-plain.txt"))
    net = read_text_as_fabric(unpacked("multi-linkinfo-l.txt"))
    assert set(net.labels) - set(plain.labels) == {
        "gateway", "0x0000000000002021", "0x0000000000002031"
    }  # fmt: skip
    assert np.array_equal(net.cabling.router_lid, plain.cabling.router_lid)
    assert net.num_network_channels == plain.num_network_channels
    assert set(plain.cabling.port_lid.tolist()) | {6} == set(net.cabling.port_lid.tolist())


def test_what_ibsim_reads_is_what_the_tools_see_in_it():
    said = read_text_as_fabric(unpacked("multi-plain.txt"))
    net = read_text_as_fabric(unpacked("multi.ibsim"))
    assert net.labels == said.labels
    assert net.reference_gbps == said.reference_gbps
    assert np.array_equal(net.channel_bandwidth, said.channel_bandwidth)
    assert np.array_equal(net.cabling.out_port, said.cabling.out_port)
    assert not net.cabling.port_lid.any()


OLD = text_of("old.ibnetdiscover")


def test_old_spellings_and_what_only_one_end_says():
    net = read_text_as_fabric(OLD)
    assert net.labels == ("a/quoted/name", "node1/HCA-1", "sw", "up")
    assert net.cabling.router_lid.tolist() == [1, 0]
    assert net.cabling.port_guid.tolist() == [0x31, 0x21]
    assert net.cabling.port_lid.tolist() == [4, 8]
    assert net.cabling.lmc.tolist() == [0, 2]
    assert net.reference_gbps is None
    assert net.cabling.out_port[:4].tolist() == [3, 4, 1, 2]


def test_one_rate_of_several_is_the_reference():
    text = OLD.replace('[1]\n[4] "S-', '[1] # "up" lid 5 12xSDR\n[4] "S-')
    text = text.replace("[2][ext 2]", '[2] # "up" lid 5 1xSDR')
    net = read_text_as_fabric(text)
    assert net.reference_gbps == 8
    assert net.channel_bandwidth[:4].tolist() == [3.0, 0.25, 3.0, 0.25]
    assert net.cabling.router_lid.tolist() == [1, 5]
    unknown = read_text_as_fabric(text.replace("12xSDR", "12xNEW"))
    assert unknown.reference_gbps is None
    assert unknown.even


TOPO = text_of("systems.topo")


def test_systems_of_ibutils_are_switches_and_adapters():
    net = read_text_as_fabric(TOPO)
    assert net.labels == ("H-1", "H-2", "L1", "L2", "S1")
    assert net.num_ports == 3
    assert net.num_network_channels == 4
    assert net.cabling.out_port[:4].tolist() == [24, 24, 1, 2]


def test_ibsim_includes_files(tmp_path):
    from netloom.topology.subnets.files import read_fabric

    first, second = OLD.split("\n\nHca 1", 1)
    (tmp_path / "rest").write_text("Hca 1" + second)
    (tmp_path / "net").write_text(first + '\n\ninclude "rest"\ndo dump\n')
    net = read_fabric(str(tmp_path / "net"))
    assert net.num_hosts == 2
    assert "No rate is known of 2 of 4 cables" in net.notes[0]
    (tmp_path / "net").write_text('include "net"\n')
    with pytest.raises(InputError, match="at most 64 times"):
        read_fabric(str(tmp_path / "net"))


@pytest.mark.parametrize("name", GOLDEN)
def test_cables_lead_both_ways_between_two_ports(name):
    net = read_text_as_fabric(unpacked(f"{name}.ibsim"))
    back = way_back(net)
    assert (net.cabling.out_port == net.cabling.in_port[back]).all()
    assert (net.source_end == net.target_end[back]).all()


def test_lists_of_ibdiagnet_may_leave_names_and_speeds_out():
    text = unpacked("multi-opensm-subnet.lst")
    bare = text.replace("{leaf 2} ", " ").replace(" SPD=2.5", "")
    net = read_text_as_fabric(bare)
    assert net.labels[4:] == ("0x0000000000001001", "leaf 1 'a'", "spine 1", "spine 2")
    assert net.reference_gbps is None
    down = text.replace("PHY=1x LOG=ACT", "PHY=1x LOG=DWN")
    assert read_text_as_fabric(down).num_network_channels == 10


def test_spellings_that_others_make():
    text = unpacked("multi-plain.txt").replace('"spine 1"', '"Voltaire 4036 # v4036"')
    net = read_text_as_fabric(text.replace("\n[", "\n   ["))
    assert "Voltaire 4036 # v4036" in net.labels
    bare = text.replace('"S-', '"0x').replace('"H-', '"0x').replace('"R-', '"0x')
    assert read_text_as_fabric(bare).cabling.router_guid.tolist() == [
        0x1002,
        0x1000,
        0x1001,
        0x1003,
    ]
    old = unpacked("multi-linkinfo.txt").replace("Switch: ", "Switch ")
    assert read_text_as_fabric(old).num_network_channels == 12
