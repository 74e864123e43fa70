"""Slurm's topology.conf and topology.yaml."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.topology import cube, topology
from netloom.topology.core import TreeShape
from tests.topology.subnets.fabric_files import text_of
from tests.topology.subnets.said import links, network

TREE = text_of("tree.topology.conf")


def test_a_tree_has_one_cable_for_each_name(tmp_path):
    net = network(tmp_path, TREE)
    found = {(a, b) for a, b, _, _ in links(net)}
    below = {"s3": ["s0", "s1", "s2"], "s0": ["dev0", "dev1"], "s1": ["dev2", "dev3"],
             "s2": ["dev4", "login1"]}  # fmt: skip
    pairs = {(upper, lower) for upper, names in below.items() for lower in names}
    assert found == pairs | {(b, a) for a, b in pairs}
    assert net.num_channels == 2 * len(pairs)
    assert "not by how many cables" in net.notes[0]
    assert net.cabling is None  # no port is made up


def test_what_the_file_leaves_open_is_warned_of(tmp_path):
    (tmp_path / "topology.conf").write_text(TREE)
    with pytest.warns(UserWarning, match="not by how many cables"):
        topology(f"fabric:{tmp_path / 'topology.conf'}")


def test_a_leaf_below_several_spines_has_a_cable_to_each(tmp_path):
    text = "\n".join(
        [f"SwitchName=leaf{i} Nodes=n[{4 * i}-{4 * i + 3}]" for i in range(4)]
        + [f"SwitchName=spine{i} Switches=leaf[0-3]" for i in range(2)]
    )
    net = network(tmp_path, text)
    assert isinstance(net.family, TreeShape)
    assert (net.family.children, net.family.parents) == ((4, 4), (1, 2))


def test_a_node_on_several_switches_has_several_ports(tmp_path):
    net = network(tmp_path, "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[1-2]\n")
    assert (net.num_hosts, net.num_ports) == (2, 4)


def test_speeds_are_relative_and_must_be_everywhere(tmp_path):
    rated = "SwitchName=t Switches=a,b LinkSpeed=400\n"
    rated += "SwitchName=a Nodes=x,y LinkSpeed=100\nSwitchName=b Nodes=z LinkSpeed=100\n"
    net = network(tmp_path, rated)
    assert net.reference_gbps is None
    assert {rate for a, b, rate, _ in links(net) if "t" in (a, b)} == {4.0}
    assert {rate for a, b, rate, _ in links(net) if "t" not in (a, b)} == {1.0}
    net = network(tmp_path, rated.replace(" LinkSpeed=400", ""))
    assert net.even
    assert "LinkSpeed" in net.notes[1]


def test_blocks_are_switches_below_one(tmp_path):
    conf = network(tmp_path, "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4,8")
    text = """\
- topology: blocks
  block:
    block_sizes: [4, 8]
    blocks:
    - {block: b1, nodes: "n[1-4]"}
    - {block: b2, nodes: "n[5-8]"}
"""
    yaml = network(tmp_path, text)
    assert links(conf) == links(yaml)
    assert conf.labels[-3:] == ("b1", "b2", "blocks")
    assert "not what joins blocks" in conf.notes[0]
    assert network(tmp_path, "BlockName=b1 Nodes=n[1-4]\n").num_routers == 1


def test_rings(tmp_path):
    conf = network(tmp_path, "RingName=r0 Nodes=node[01-08]")
    yaml = network(
        tmp_path, "- topology: r\n  ring:\n    rings:\n    - {ring: r0, nodes: 'node[01-08]'}"
    )
    for net in (conf, yaml):
        assert net.labels[:8] == tuple(f"node{i:02}" for i in range(1, 9))
        assert np.array_equal(net.routers.channel_target, cube([8], wraps=True).channel_target)


TORUS = text_of("torus.topology.yaml")


def test_in_a_torus_x_is_fastest(tmp_path):
    net = network(tmp_path, TORUS)
    assert net.routers.sides == (2, 3, 4)
    assert net.labels[:24] == tuple(f"n{i:02}" for i in range(1, 25))
    neighbours = {net.name_of(int(b)) for a, b in zip(net.source_end, net.target_end,
                  strict=True) if net.name_of(int(a)) == "(0,0,0)"}  # fmt: skip
    at = {"(0,0,1)", "(0,0,3)", "(0,1,0)", "(0,2,0)", "(1,0,0)"}  # z, y, x
    assert neighbours == at | {"n01"}


def test_regions_of_a_torus_fill_it_from_their_anchors(tmp_path):
    regions = """regions:
      - anchor: {x: 0, y: 0, z: 0}
        dims: {x: 2, y: 3, z: 2}
        nodes: a[00-11]
      - anchor: {x: 2, y: 0, z: 0}
        dims: {x: 2, y: 3, z: 2}
        nodes: b[00-11]"""
    net = network(tmp_path, TORUS.replace("nodes: n[01-24]", regions))
    assert net.labels[:8] == ("a00", "a01", "b00", "b01", "a02", "a03", "b02", "b03")
    with pytest.raises(InputError, match=r"fabric:15: found a region beyond the sides 4x3x2"):
        network(
            tmp_path, TORUS.replace("nodes: n[01-24]", regions.replace("x: 2, y: 0", "x: 3, y: 0"))
        )


def test_yaml_says_the_same_tree(tmp_path):
    text = """\
- topology: default
  tree:
    switches:
    - switch: s3
      children: s[0-2]
    - switch: s0
      nodes: dev[0-1]
    - {switch: s1, nodes: "dev[2-3]"}
    - {switch: s2, nodes: "dev4,login1"}
"""
    assert links(network(tmp_path, text)) == links(network(tmp_path, TREE))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*TREE.split("\n"), *TORUS.split("\n"), "x", "- a: [", "=", "\\"])))
def test_shuffled_lines_are_a_network_or_one_line(tmp_path_factory, lines):
    with suppress(InputError):
        assert network(tmp_path_factory.getbasetemp(), "\n".join(lines)).num_hosts
