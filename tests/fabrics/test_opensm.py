"""The genuine OpenSM takes the tables, and says the same of fabrics."""

import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from netloom.fabrics.balancing import balanced
from netloom.fabrics.writing import with_others, write_lfts, write_qos_policy
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import (
    ForwardingTable,
    Lanes,
    lane_circle,
    lanes_used,
    layered,
    table_problems,
)
from netloom.routing.rules import spread_table
from netloom.topology import topology
from tests.fabrics.opensm import needs_opensm, simulated
from tests.reference.dumps import entries
from tests.reference.scans import scan

LOADED = {"file tables configured on all switches"}
DGX = Path("examples/dgx-40.ibnetdiscover").resolve()

MAKERS = {
    "minhop": ENGINES["minhop"],
    "spread": lambda net: ForwardingTable("spread", spread_table(net)),
}


@pytest.fixture
def subnet(tmp_path):
    """Return a function that simulates the subnet of a file, or of a family."""
    needs_opensm()

    def made(fabric, **more):
        path = Path(fabric)
        if not path.exists():
            path = tmp_path / "fabric.txt"
            path.write_text(scan(topology(fabric), **more))
        return simulated(path, tmp_path / "subnet")

    return made


def same(one, other):
    assert np.array_equal(one.next_channel, other.next_channel)
    assert np.array_equal(one.others, other.others)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("fabric", ["fat-tree:3x3", "torus:4x3/2"])
def test_tables_are_loaded_and_dumped_again_without_a_difference(subnet, tmp_path, fabric, maker):
    with subnet(fabric, aggregated=(0, 5)) as sim:
        sim.opensm("minhop")
        net = topology(f"fabric:{sim.scan()}")
        table = MAKERS[maker](net)
        written = write_lfts(net, table, tmp_path / "t.lfts")
        said, dump = sim.opensm("file", "-U", tmp_path / "t.lfts")
        assert said == LOADED
        mine, theirs = entries(tmp_path / "t.lfts"), entries(dump)
        assert len(theirs) == written
        assert mine == theirs
        same(read_lfts(net, str(dump)), with_others(net, table))


def test_all_lids_of_ports_are_loaded(subnet, tmp_path):
    with subnet("leaf-spine:4x2x3") as sim:
        sim.opensm("minhop", "-l", "2")
        net = topology(f"fabric:{sim.scan()}")
        assert set(net.cabling.lmc.tolist()) == {2}
        write_lfts(net, ENGINES["minhop"](net), tmp_path / "t.lfts")
        said, dump = sim.opensm("file", "-l", "2", "-U", tmp_path / "t.lfts")
        assert said == LOADED
        assert entries(dump) == entries(tmp_path / "t.lfts")
        lids = 4 * net.num_ports + net.num_routers
        assert len(entries(dump)) == lids * net.num_routers


@pytest.mark.parametrize("fabric", ["fat-tree:3x3", "leaf-spine:5x3x2", "torus:4x3/2"])
def test_what_its_tools_print_is_read(subnet, fabric):
    with subnet(fabric, aggregated=(0, 2)) as sim:
        said, dump = sim.opensm("minhop")
        assert said == {"minhop tables configured on all switches"}
        net = topology(f"fabric:{sim.scan()}")
        table = read_lfts(net, str(dump))
        assert not table_problems(net, table)
        for spelling in (("dump_fts",), ("dump_fts", "-a"), ("dump_fts", "-n")):
            printed = sim.folder / "fts.txt"
            printed.write_text(sim.run(*spelling))
            same(read_lfts(net, str(printed)), table)
        same(read_lfts(net, str(sim.folder / "opensm.fdbs")), table)
        printed.write_text("".join(sim.run("ibroute", str(lid))
                                   for lid in net.cabling.router_lid.tolist()))  # fmt: skip
        same(read_lfts(net, str(printed)), table)


@pytest.mark.parametrize(
    "fabric", ["fat-tree:3x3", "leaf-spine:5x3x2", "torus:4x3/2", DGX], ids=str
)
def test_minhop_is_theirs(subnet, fabric):
    with subnet(fabric, seed=4) as sim:
        _, dump = sim.opensm("minhop")
        net = topology(f"fabric:{DGX if fabric == DGX else sim.scan()}")
        theirs = read_lfts(net, str(dump))
        assert not table_problems(net, theirs)
        assert np.array_equal(ENGINES["minhop"](net).next_channel, theirs.next_channel)


@pytest.mark.parametrize("by", ["pair", "destination"])
def test_paths_have_the_levels_of_the_policy(subnet, tmp_path, by):
    with subnet("ring:6/1", aggregated=(1,)) as sim:
        sim.opensm("minhop")
        net = topology(f"fabric:{sim.scan()}")
        table = ENGINES["minhop"](net)
        level = layered(net, table.next_channel).level
        if by == "destination":
            level = np.repeat(np.arange(6, dtype=np.uint8)[:, None] % 4, 6, axis=1)
        table = replace(table, lanes=Lanes(level))
        write_lfts(net, table, tmp_path / "t.lfts")
        rules = write_qos_policy(net, table, tmp_path / "t.qos")
        some = level if by == "pair" else level[:, :1]
        assert rules == sum(len(set(column) - {0}) for column in some.T.tolist())
        lids, routers = net.cabling.port_lid.tolist(), net.injection_router.tolist()
        with sim.managed("file", "-U", tmp_path / "t.lfts", "-Q", "-Y", tmp_path / "t.qos"):
            for source, target in permutations(range(6), 2):
                path = sim.run("saquery", "--src-to-dst", f"{lids[source]}:{lids[target]}")
                said = re.search(r"\bsl\.+0x(\w+)", path)[1]
                assert int(said, 16) == level[target, routers[source]], (source, target)
        assert len(np.unique(level)) == (4 if by == "destination" else 2)


def test_lanes_of_switches_are_read(subnet):
    with subnet("torus:4x4/1") as sim:
        said, dump = sim.opensm("dfsssp")
        assert said == {"dfsssp tables configured on all switches"}
        net = topology(f"fabric:{sim.scan()}")
        table = read_lfts(net, f"{dump},sl2vl:{sim.folder / 'opensm-sl2vl.dump'}")
        lane_of = table.lanes.lane_of
        assert (lane_of[:, 1, 2] == np.arange(16) % 8).all()
        assert lanes_used(table) == 1  # all on level 0: what levels they have, the files do not say


@pytest.mark.parametrize("fabric", ["xgft:2x3x3/1x2x2", DGX], ids=str)
def test_balanced_tables_are_taken(subnet, tmp_path, fabric):
    with subnet(fabric, seed=1, aggregated=(0, 17)) as sim:
        if fabric != DGX:
            sim.opensm("minhop")
        net = topology(f"fabric:{fabric if fabric == DGX else sim.scan()}")
        table = balanced(net, tries=2).table
        assert not table_problems(net, table)
        assert lane_circle(net, table, everyone=True) == ()
        write_lfts(net, table, tmp_path / "t.lfts")
        said, dump = sim.opensm("file", "-U", tmp_path / "t.lfts")
        assert said == LOADED
        assert entries(dump) == entries(tmp_path / "t.lfts")
        same(read_lfts(net, str(dump)), table)
