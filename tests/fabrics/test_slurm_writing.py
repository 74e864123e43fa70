"""Trees that schedulers are told of are the trees that netloom reads back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.fabrics.writing import tree_of, write_slurm_topology
from netloom.topology import hop_distances, topology, without
from netloom.topology.families import xgft
from tests.topology.subnets.said import read


def pairs(net):
    """Return who is joined to whom, by name, computers for hosts."""
    names = [net.computer_name(int(node)) for node in net.node_of_host]
    names += [net.name_of(vertex) for vertex in range(net.num_hosts, net.num_ends)]
    ends = zip(net.source_end.tolist(), net.target_end.tolist(), strict=True)
    return {(names[a], names[b]) for a, b in ends}


@st.composite
def trees(draw):
    """Return a tree of one to three levels, perhaps without one of its cables."""
    levels = draw(st.integers(1, 3))
    small = st.lists(st.integers(1, 3), min_size=levels, max_size=levels)
    net = xgft(draw(small), draw(small), draw(small))
    inside = net.num_network_channels
    if inside and draw(st.booleans()):
        cut = draw(st.integers(0, inside - 1))
        a, b = (net.name_of(int(end[cut])) for end in (net.source_end, net.target_end))
        try:
            damaged = without(net, channels=f"{a}-{b}")
        except InputError:  # nothing else joins the two parts
            return net
        if not np.isfinite(hop_distances(damaged.routers)[damaged.injection_router[0]]).all():
            return net  # switches that no host reaches any more are not written
        return damaged
    return net


@settings(max_examples=60, deadline=None)
@given(net=trees(), name=st.sampled_from(["topology.conf", "topology.yaml"]))
def test_what_is_written_is_read_back(tmp_path_factory, net, name):
    path = tmp_path_factory.mktemp("trees") / name
    many = write_slurm_topology(net, path)
    found = read(path)
    assert pairs(found) == pairs(net)
    assert found.num_routers == many <= net.num_routers


def test_computers_of_several_rails_are_below_all_their_leaves(tmp_path):
    net = topology("rail:2x4x8x4")
    path = tmp_path / "topology.conf"
    assert write_slurm_topology(net, path) == 2 * 8 + 4
    assert pairs(read(path)) == pairs(net)
    lines = path.read_text().splitlines()
    assert len(lines) == 20
    assert all(line.count(" ") == 1 for line in lines)


def test_a_switch_with_computers_is_a_leaf(tmp_path):
    (tmp_path / "net").write_text("router 0 node 0 router 2\nrouter 1 node 1 router 2\n"
                                  "router 2 router 3\nrouter 3 node 2\n")  # fmt: skip
    net = read(tmp_path / "net")
    assert [each.name for each in tree_of(net)] == ["router0", "router1", "router3", "router2"]
    (tmp_path / "model").write_text("switches: {a: {switches: [b], nodes: [x]}, b: {nodes: [y]}}")
    with pytest.raises(InputError, match="switches of one level that are joined"):
        write_slurm_topology(read(tmp_path / "model"), tmp_path / "topology.conf")


def test_names_that_slurm_does_not_take_are_changed_or_refused(tmp_path):
    (tmp_path / "net").write_text("hosts: x y\nx a,b\ny a,b\n")
    net = topology(f"graph:{tmp_path / 'net'}")
    assert [each.name for each in tree_of(net)] == ["a-b"]
    (tmp_path / "net").write_text("hosts: x y\nx a,b\ny a-b\na,b t\na-b t\n")
    with pytest.raises(InputError, match="the name 'a-b' twice"):
        tree_of(topology(f"graph:{tmp_path / 'net'}"))
    (tmp_path / "net").write_text(f"hosts: x y\nx {'a' * 65}\ny {'a' * 65}\n")
    with pytest.raises(InputError, match="a switch whose name has 65 letters"):
        write_slurm_topology(topology(f"graph:{tmp_path / 'net'}"), tmp_path / "topology.conf")
