"""Allocations by the names of hosts and computers, and how ranks fill them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.base.errors import InputError, NotAMappingError
from netloom.mapping import rank_file
from netloom.mapping.allocation import (
    allocated_hosts,
    computer_names,
    mapping_with_distance,
    node_names,
    place_program,
    places_of,
)
from netloom.mapping.placements import ranks_on_computers
from netloom.topology import mesh, topology
from netloom.topology.names import folded
from netloom.workload import ring

CLUSTER = topology("graph:examples/my-cluster.txt")
RAILS = topology("rail:2x2x4x2")  # four computers of four hosts


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("h[0-3]", [0, 1, 2, 3]),
        ("h12,h[3-2]", None),
        ("h40,h[8-9],0", [40, 8, 9, 0]),
        ("h5 slots=4 max_slots=8\nh2 slots=4\nh5\n", [5, 2]),
        ("h7:16\nh6:16\n", [7, 6]),
        ("# mine\nh1 # one\n\nh0\n", [1, 0]),
        ("leaf0", None),
        ("h64", None),
        ("slots=4", None),
    ],
)
def test_hosts_in_the_order_of_the_list(tmp_path, text, hosts):
    file = tmp_path / "nodes"
    file.write_text(text)
    if hosts is None:
        with pytest.raises(InputError, match=r"nodes:1: found '.*"):
            allocated_hosts(file, CLUSTER)
    else:
        assert allocated_hosts(file, CLUSTER).tolist() == hosts


def test_computers_are_their_hosts():
    assert allocated_hosts("n2,n0.3,1", RAILS).tolist() == [8, 9, 10, 11, 3, 1]
    assert "n0" not in node_names(RAILS)
    assert list(computer_names(RAILS)) == ["n0", "n1", "n2", "n3"]
    assert computer_names(mesh(2, 2)) is None
    assert computer_names(CLUSTER)[63] == "h63"
    hosts = ["cn01", "cn02", "cn03", "cn04"]
    assert allocated_hosts("cn[02-03]", RAILS, hosts).tolist() == [4, 5, 6, 7, 8, 9, 10, 11]


@given(st.lists(st.integers(0, 63), min_size=1, max_size=64, unique=True))
def test_a_folded_list_is_the_same_allocation(hosts):
    names = [CLUSTER.name_of(host) for host in hosts]
    assert allocated_hosts(folded(names), CLUSTER).tolist() == hosts


@pytest.mark.parametrize(
    ("nodes", "per_node", "hosts"),
    [
        ("n1,n0", 1, [4, 5, 6, 7, 0, 1, 2, 3]),
        ("n1,n0", 2, [4, 5, 0, 1]),
        ("n1,n0", 4, [4, 5, 6, 7, 0, 1, 2, 3]),
        ("n1", 6, [4, 5, 6, 7, 4, 5]),
        ("n1.2,n0,n1.0", 3, [6, 4, 6, 0, 1, 2]),
    ],
)
def test_ranks_go_round_the_hosts_of_a_computer(nodes, per_node, hosts):
    asked = {"tasks_per_node": per_node, "nodes": nodes}
    placed = place_program("identity", len(hosts), RAILS, seed=1, **asked)
    assert placed.tolist() == hosts
    places = places_of(allocated_hosts(nodes, RAILS), RAILS, per_node)
    assert places.count == len(hosts)
    shuffled = place_program("random", len(hosts), RAILS, seed=3, **asked)
    assert sorted(shuffled.tolist()) == sorted(hosts)
    with pytest.raises(InputError, match="nodes for"):
        place_program("identity", len(hosts) + 1, RAILS, seed=1, **asked)


@pytest.mark.parametrize(
    ("nodes", "per_node", "hosts", "each"),
    [
        ("n1,n0", 1, [0, 1, 2, 3, 4, 5, 6, 7], 1),
        ("n1,n0", 2, [0, 1, 4, 5], 1),
        ("n0", 8, [0, 1, 2, 3], 2),
        ("n0,n1.0", 4, None, None),
        ("n0", 6, None, None),
    ],
)
def test_a_search_takes_as_many_on_each_host(nodes, per_node, hosts, each):
    places = places_of(allocated_hosts(nodes, RAILS), RAILS, per_node)
    if hosts is None:
        with pytest.raises(
            InputError, match=r"tasks_per_node: found .*; expected as many tasks on"
        ):
            places.each()
    else:
        found, many = places.each()
        assert (found.tolist(), many) == (hosts, each)


def test_places_of_hosts_that_are_alone_on_their_computers():
    net = mesh(4, 4)
    assert places_of(np.array([9, 3]), net, 2).at(np.arange(4)).tolist() == [9, 9, 3, 3]
    one = place_program("random", 5, net, seed=4, tasks_per_node=2, nodes="3,9,12")
    seats = np.random.default_rng(4).permutation(6)[:5]
    assert one.tolist() == np.repeat([3, 9, 12], 2)[seats].tolist()


def test_mapping_files_name_computers(tmp_path):
    file = tmp_path / "m.txt"
    file.write_text("n1\nn0\nn1\nn1.3\nn1\n")
    asked = {"seed": 1, "tasks_per_node": 4}
    assert place_program(file, 5, RAILS, **asked).tolist() == [4, 0, 5, 7, 6]
    json = tmp_path / "m.json"
    json.write_text('{"node_of": ["n1", "n0", "n1"]}')
    assert place_program(json, 3, RAILS, **asked).tolist() == [4, 0, 5]
    with pytest.raises(
        NotAMappingError, match=r"4 tasks on host n1, 0 and 2 among them; .* 3 per node"
    ):
        place_program(file, 5, RAILS, seed=1, tasks_per_node=3)


def test_rank_files_name_computers_and_the_slots_of_their_hosts():
    ranks, slots = ranks_on_computers(np.array([4, 0, 5, 7, 4]), RAILS)
    assert ranks.tolist() == [1, 0, 1, 1, 1]
    assert slots.tolist() == [0, 0, 1, 3, 4]
    names = computer_names(RAILS)
    text = rank_file(ranks, hosts=names, slots=slots)
    assert text.splitlines()[3] == "rank 3=n1 slot=3"
    with pytest.raises(InputError, match="slurm: found rank 3 on host 3 of n1 as its rank 2; exp"):
        rank_file(ranks, "slurm", names, slots=slots)
    ranks, slots = ranks_on_computers(np.array([4, 0, 5]), RAILS)
    assert rank_file(ranks, "slurm", names, slots=slots) == "n1\nn0\nn1\n"
    assert ranks_on_computers(np.array([4, 0]), CLUSTER)[1] is None


@given(st.lists(st.integers(0, 15), min_size=1, max_size=40))
def test_slots_say_on_which_host_a_rank_is(host_of):
    """A reader who knows that slot s of n hosts is of host s modulo n has the mapping back."""
    ranks, slots = ranks_on_computers(np.array(host_of), RAILS)
    assert (ranks * 4 + slots % 4).tolist() == host_of
    assert len(set(zip(ranks.tolist(), slots.tolist(), strict=True))) == len(host_of)


def test_a_wished_distance_is_of_channels_between_switches():
    tree = topology("leaf-spine:4x2x4")  # 0 hops on a leaf, else 2
    near = mapping_with_distance(ring(16), tree, 0.5)
    hops = 2 * (near[:-1] // 4 != near[1:] // 4).sum() + 2 * (near[0] // 4 != near[-1] // 4)
    assert hops / 16 == 0.5
    allocated = place_program(
        "distance:1", ring(8), tree, seed=1, tasks_per_node=1, nodes="h[12-15],h[0-3]"
    )
    assert set(allocated.tolist()) == {0, 1, 2, 3, 12, 13, 14, 15}
    assert (allocated // 4 != np.roll(allocated, 1) // 4).sum() * 2 / 8 == 1
    double = mapping_with_distance(ring(4), topology("xgft:2x2/2x2"), 1)  # two planes
    assert sorted(double.tolist()) == [0, 1, 2, 3]
