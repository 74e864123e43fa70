import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.mapping.allocation import allocated_hosts
from netloom.topology import mesh, without
from netloom.topology.core import Topology

NET = mesh(4, 4)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("3", [3]),
        ("3-5, 9", [3, 4, 5, 9]),
        ("7\n3\n# spare: 12\n\n5-6  8\n", [3, 5, 6, 7, 8]),
        ("n3\nn3\nn3\nn1\n", [1, 3]),  # a line a slot
        ("n[0-2,7],n9", [0, 1, 2, 7, 9]),
        ("(0,3), (1,1)", [3, 5]),
        ("15,14,", [14, 15]),
    ],
)
def test_every_way_to_list_nodes(tmp_path, text, nodes):
    file = tmp_path / "allocated.txt"
    file.write_text(text)
    found = np.sort(allocated_hosts(file, NET))
    assert found.dtype == np.int32
    assert found.tolist() == nodes
    assert sorted(allocated_hosts(str(file), NET).tolist()) == nodes
    if "\n" not in text:
        assert sorted(allocated_hosts(text, NET).tolist()) == nodes


def test_a_list_may_be_long():
    everything = ",".join(f"n{node}" for node in range(4096))
    assert len(allocated_hosts(everything, mesh(64, 64))) == 4096


def test_hosts_name_nodes():
    hosts = [f"cn{number:03}" for number in range(100, 116)]
    assert allocated_hosts("cn[100-102],cn115", NET, hosts).tolist() == [0, 1, 2, 15]
    with pytest.raises(InputError, match=r"nodes: found 'n3'; expected hosts 0 to 15 of mesh:4x4"):
        allocated_hosts("n3", NET, hosts)


def test_names_of_the_network_come_before_numbers():
    ends = np.array([0, 1, 2], np.int32), np.array([1, 2, 0], np.int32)
    named = Topology("named", 3, *ends, ("2", "a-b", "c"))
    assert allocated_hosts("2", named).tolist() == [0]
    assert allocated_hosts("a-b,c", named).tolist() == [1, 2]


def test_broken_nodes_are_left_out():
    broken = without(NET, nodes="1,15")
    assert allocated_hosts(None, broken).tolist() == [0, *range(2, 15)]
    assert allocated_hosts("0-3", broken).tolist() == [0, 2, 3]
    assert allocated_hosts(np.array([3, 1, 3]), broken).tolist() == [3]
    with pytest.raises(InputError, match="nodes: found no node that works"):
        allocated_hosts("1,15", broken)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("0\n1\nx7\n", ":3: found 'x7'"),
        ("0\n16\n", ":2: found host 16"),
        ("5-3", ":1: found '5-3'; expected a range from its lowest"),
        ("0-999999999", ":1: found '0-999999999'"),
        ("n[0-20]", ":1: found 'n[0-20]'"),
        ("n[12-17]", ":1: found 'n16'"),
        ("n[[0]]", ":1: found 'n[[0]]'"),
        ("9999999999999", ":1: found"),
        ("(9,9)", ":1: found '(9,9)'"),
        ("# nothing\n", "found no node that works"),
    ],
)
def test_what_is_no_node(tmp_path, text, wrong):
    file = tmp_path / "allocated.txt"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        allocated_hosts(file, NET)
    assert str(error.value).startswith(str(file))
    assert wrong in str(error.value)
    assert "\n" not in str(error.value)
