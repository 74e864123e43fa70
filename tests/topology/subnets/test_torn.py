"""A file that is cut, or whose ends disagree, is never a smaller network."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.base.errors import InputError
from netloom.topology import topology
from tests.reference.ibsim import ibsim_text
from tests.topology.subnets.fabric_files import read_or_refused, read_text_as_fabric, unpacked
from tests.topology.subnets.test_formats import OLD, PRINTED

WHOLE = {
    "written": ibsim_text(topology("leaf-spine:2x2x1")),
    "old": OLD,
    "plain ibsim": """\
Switch 4 "Sw1"
[1] "Hca1"[1]
[3] "Sw2"[3] w=12
[4] "Sw2"[4]

Switch 4 "Sw2"
[3] "Sw1"[3] w=12
[4] "Sw1"[4]
[1] "Hca2"

Hca 2 "Hca1"
[1] "Sw1"
Hca 1 "Hca2"
[1] "Sw2"[1]
""",
} | {name: unpacked(name) for name in (*PRINTED, "multi-linkinfo-l.txt")}


def alike(net, whole) -> bool:
    arrays = ("channel_source", "channel_target", "channel_bandwidth", "node_of_host")
    said = ("out_port", "in_port", "port_guid", "port_lid", "lmc", "router_guid", "router_lid")
    return (
        net.labels == whole.labels
        and all(np.array_equal(getattr(net, each), getattr(whole, each)) for each in arrays)
        and all(
            np.array_equal(getattr(net.cabling, each), getattr(whole.cabling, each))
            for each in said
        )
        and net.cabling.others.names == whole.cabling.others.names
    )


def check_cut(name: str, length: int) -> None:
    whole = read_text_as_fabric(WHOLE[name])
    found = read_or_refused(WHOLE[name][:length])
    if isinstance(found, str):
        assert found.startswith("net")
        assert "\n" not in found
    else:
        assert alike(found, whole), WHOLE[name][:length][-80:]


@pytest.mark.parametrize("name", ["written", "old", "plain ibsim"])
def test_a_file_cut_anywhere_is_refused_or_loses_nothing(name):
    for length in range(len(WHOLE[name])):
        check_cut(name, length)


@given(st.sampled_from(sorted(WHOLE)), st.floats(0, 1))
def test_what_tools_print_cut_somewhere_is_refused_or_loses_nothing(name, share):
    check_cut(name, int(share * len(WHOLE[name])))


@pytest.mark.parametrize("name", PRINTED)
def test_what_tools_print_cut_near_its_end_is_refused_or_loses_nothing(name):
    text = WHOLE[name]
    for length in range(len(text) - 250, len(text)):
        check_cut(name, length)


@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_a_line_that_is_gone_is_missed(name, data):
    lines = WHOLE[name].split("\n")
    gone = data.draw(st.integers(0, len(lines) - 1))
    whole = read_text_as_fabric(WHOLE[name])
    found = read_or_refused("\n".join(lines[:gone] + lines[gone + 1 :]))
    if isinstance(found, str):
        assert found.startswith("net")
    else:
        assert found.num_channels == whole.num_channels
        assert found.labels[4:] == whole.labels[4:]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('[4] "S-0000000000000011"[2]', '[3] "S-0000000000000011"[2]',
         "net:6: found port 3 of 'sw' again, after line 5; expected each port once"),
        ('[3] "S-0000000000000011"[1]', '[5] "S-0000000000000011"[1]',
         "net:5: found port 5 of 'sw'; expected ports 1 to 4"),
        ('[3] "S-0000000000000011"[1]', '[3] "S-0000000000000011"[5]',
         "net:5: found port 5 of 'up'; expected ports 1 to 4"),
        ('[3] "S-0000000000000011"[1]', '[3] "S-0000000000000010"[3]',
         "net:5: found a cable from port 3 of 'sw' to the same device"),
        ('[1] "S-0x10"[3]', '[1] "S-0x10"[4]', "net:5: found port 3 of 'sw' cabled to port 1 of"
         " 'up', which line 9 says is cabled to port 4 of 'sw'"),
        ('[1] "S-0x10"[3]\n', "", "net:5: found port 3 of 'sw' cabled to port 1 of 'up', which "
         "says no cable"),
        ('[3] "S-0000000000000011"', '[3] "S-0000000000000012"', "net:5: found port 3 of 'sw' "
         "cabled to port 1 of 'S-0000000000000012', which the file does not list"),
        ('"H-0x20" # ', '"S-0x10" # ', "net:12: found 'S-0000000000000010' again, after line 2"),
        ("lid 8 lmc", "lid 16 lmc", "net:3: found LID 8 of port 1 of 'node1/HCA-1'; expected 16, "
         "as line 13 says"),
        ("(31)", "(21)", "found port GUID 0x21 again, after line 13; expected each port GUID once"),
        ('lid 4 lmc 0 "sw" lid 1', 'lid 4 lmc 0 "sw" lid 2', "net:16: found LID 2 of port 2 of"),
        ('Hca 2 "H-0x20" # "node1', 'Hca two "H-0x20" # "node1', "net:12: found 'Hca two "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_with_its_line(old, new, said):
    assert old in OLD
    with pytest.raises(InputError) as told:
        read_text_as_fabric(OLD.replace(old, new, 1))
    assert said in str(told.value)


def test_a_lid_or_a_guid_twice_is_refused():
    text = OLD.replace("lid 4", "lid 9")
    with pytest.raises(InputError, match="net:16: found LID 9 again, after line 13"):
        read_text_as_fabric(text)  # node1's port has LIDs 8 … 11
    lst = unpacked("multi-opensm-subnet.lst")
    with pytest.raises(InputError, match=r"net:\d+: found .*otherwise than line"):
        read_text_as_fabric(lst.replace("GUID:0000000000002010 P", "GUID:0000000000002000 P"))


def test_ends_of_ibsim_that_allow_no_width_together_are_refused():
    with pytest.raises(InputError, match="net:3: found a width and speed that the other end"):
        read_text_as_fabric(WHOLE["plain ibsim"].replace("w=12", "w=1", 1))
    net = read_text_as_fabric(WHOLE["plain ibsim"])
    assert net.reference_gbps == 8
    assert net.channel_bandwidth[:2].tolist() == [3.0, 1.0]
