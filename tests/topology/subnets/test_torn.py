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
    for length in range(0, len(WHOLE[name]), 1 if name == "old" else 3):
        check_cut(name, length)


@given(st.sampled_from(sorted(WHOLE)), st.floats(0, 1))
def test_what_tools_print_cut_somewhere_is_refused_or_loses_nothing(name, share):
    check_cut(name, int(share * len(WHOLE[name])))


@pytest.mark.parametrize("name", PRINTED)
def test_what_tools_print_cut_near_its_end_is_refused_or_loses_nothing(name):
    text = WHOLE[name]
    end = len(text)
    for length in (*range(end - 250, end - 60, 5), *range(end - 60, end)):
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


def test_a_lid_or_a_guid_twice_is_refused():
    text = OLD.replace("lid 4", "lid 9")
    with pytest.raises(InputError, match="net:16: found LID 9 again, after line 13"):
        read_text_as_fabric(text)  # node1's port has LIDs 8 … 11
    lst = unpacked("multi-opensm-subnet.lst")
    with pytest.raises(InputError, match=r"net:\d+: found .*otherwise than line"):
        read_text_as_fabric(lst.replace("GUID:0000000000002010 P", "GUID:0000000000002000 P"))
