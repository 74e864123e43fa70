"""Dragonflies of CODES: Theta's real wiring, and a balanced dragonfly of 72 hosts."""

from __future__ import annotations

import shutil
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.topology import topology
from netloom.topology.core import DragonflyShape
from tests.topology.subnets.said import hops, read

DATA = Path(__file__).parent / "data" / "codes"


@pytest.fixture
def dally(tmp_path):
    """Return a folder with the wiring of 72 hosts."""
    for name in ("dfdally-72-intra", "dfdally-72-inter", "dfdally_72.conf"):
        shutil.copy(DATA / name, tmp_path / name)
    return tmp_path


def test_theta_has_the_links_of_its_nine_groups():
    net = read(DATA / "inter-theta.gz")
    assert (net.num_hosts, net.num_routers) == (3456, 864)
    assert net.num_network_channels == 9 * 2880 + 3456
    groups = [ends // 96 for ends in (net.routers.channel_source, net.routers.channel_target)]
    across = np.bincount((9 * groups[0] + groups[1])[groups[0] != groups[1]], minlength=81)
    assert sorted(set(across.tolist())) == [0, 48]
    assert (across > 0).sum() == 72
    rows = np.bincount(net.routers.channel_source)
    assert set(rows.tolist()) == {15 + 5 * 3 + 4}  # of its row, three of each of its column, blue
    assert net.family is None  # the routers of a group are not all joined
    assert net.notes[1].startswith(
        "The files do not say how many hosts a router has: netloom takes 4"
    )
    assert nx.diameter(nx.Graph(hops(net.routers).subgraph(range(96)))) == 2


def test_either_file_names_the_wiring_and_a_number_its_hosts(dally):
    net = read(dally / "dfdally-72-inter")
    assert (net.num_hosts, net.num_routers, net.num_network_channels) == (72, 36, 180)
    other = read(dally / "dfdally-72-intra")
    assert np.array_equal(net.target_end, other.target_end)
    with pytest.warns(UserWarning, match="no rates"):
        more = topology(f"fabric:{dally}/dfdally-72-inter/3")
    assert more.num_hosts == 108
    assert len(more.notes) == 1


def test_a_whole_dragonfly_is_known_as_one(dally):
    net = read(dally / "dfdally-72-inter")
    assert net.family == DragonflyShape(9, 4, 2)
    same = topology("dragonfly:2x4x2")
    assert sorted(dict(hops(net).out_degree).values()) == sorted(
        dict(hops(same).out_degree).values()
    )
    assert nx.diameter(nx.DiGraph(hops(net.routers))) == 3


def test_a_conf_file_says_hosts_and_rates(dally):
    net = read(dally / "dfdally_72.conf")
    assert net.num_hosts == 72
    assert net.reference_gbps == pytest.approx(4 * 8 * 1.073741824)
    source, target = net.routers.channel_source // 4, net.routers.channel_target // 4
    assert set(net.routers.channel_bandwidth[source == target].tolist()) == {0.5}
    assert set(net.routers.channel_bandwidth[source != target].tolist()) == {0.25}
    assert set(net.channel_bandwidth[net.num_network_channels :].tolist()) == {1.0}
    assert not net.notes


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('num_groups="9"', 'num_groups="8"', ":13: found num_groups 8; expected 9"),
        ('num_routers="4"', 'num_routers="3"', "router 3 of a group of 3"),
        ('cn_bandwidth="4.0"', 'cn_bandwidth="fast"', ":16: found cn_bandwidth='fast'"),
        ('   num_cns_per_router="2";\n', "", "no num_cns_per_router"),
        ("dfdally-72-inter", "elsewhere", ":19: found inter-group-connections="),
        ("modelnet_dragonfly_dally", "modelnet_dragonfly_plus", "another model of CODES"),
    ],
)
def test_a_wrong_conf_file_is_refused(dally, old, new, says):
    conf = dally / "dfdally_72.conf"
    conf.write_text(conf.read_text().replace(old, new))
    with pytest.raises(InputError) as error:
        read(conf)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("name", "numbers", "says"),
    [
        ("dfdally-72-inter", [0, 7, 7], "12 bytes"),
        ("dfdally-72-inter", [0, 7], "more links one way"),
        ("dfdally-72-inter", [0, 1, 1, 0], "in one group"),
        ("dfdally-72-inter", [-1, 7, 7, -1], "the number -1"),
        ("dfdally-72-intra", [0, 1, 0, 1, 0, 9], "the number 9"),
        ("dfdally-72-intra", [0, 1, 0, 1, 0, 0], "nothing that says how many hosts"),
    ],
)
def test_a_wrong_wiring_is_refused(dally, name, numbers, says):
    (dally / name).write_bytes(np.array(numbers, "<i4").tobytes())
    with pytest.raises(InputError) as error:
        read(dally / name)
    assert says in str(error.value)
