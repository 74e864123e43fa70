"""Service levels and lanes as files, out and in."""

import re
from dataclasses import replace

import numpy as np
import pytest

from netloom.fabrics.writing import write_levels, write_lfts, write_qos_policy
from netloom.routing.forwarding.engines import minhop
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import Lanes, lane_circle, lanes_used, layered
from tests.reference.dumps import as_sl2vl


@pytest.fixture
def ring(fabric, tmp_path):
    """Return a ring with aggregation nodes, a table in two lanes, and its files."""
    net = fabric("ring:6/2", seed=3, lmc=1, aggregated=(1,))
    table = minhop(net)
    table = replace(table, lanes=layered(net, table.next_channel, others=table.others))
    write_lfts(net, table, tmp_path / "tables")
    write_levels(net, table, tmp_path / "levels")
    (tmp_path / "lanes").write_text(as_sl2vl(net, lambda _switch, _into, _out, level: level % 8))
    return net, table


def read(net, folder, files="tables,sl2vl:lanes,psl:levels"):
    return read_lfts(net, ",".join(
        re.sub(r"(^|:)(\w+)$", rf"\1{folder}/\2", word) for word in files.split(",")))  # fmt: skip


def test_lanes_and_levels_come_back(ring, tmp_path):
    net, table = ring
    assert lane_circle(net, replace(table, lanes=None))
    found = read(net, tmp_path)
    assert np.array_equal(found.lanes.level, table.lanes.level[: len(found.lanes.level)])
    assert lanes_used(found) == lanes_used(table) == 2
    assert lane_circle(net, found, everyone=True) == ()
    assert found.name.endswith("levels")


def test_levels_are_written_for_all_lids_but_ones_own(ring, tmp_path):
    net, _ = ring
    lines = (tmp_path / "levels").read_text().splitlines()
    assert len(lines) == len(set(lines)) == 12 * (11 * 2 + 1)
    assert all(re.fullmatch(r"0x0000000000001[0-9a-f]{3} \d+ [01]", line) for line in lines)
    own = {int(guid): int(lid) for guid, lid in
           zip(net.cabling.host_guid, net.cabling.port_lid, strict=True)}  # fmt: skip
    assert all(own[int(line.split()[0], 16)] != int(line.split()[1]) for line in lines)


def test_without_levels_all_packets_are_on_level_0(ring, tmp_path):
    net, _ = ring
    found = read(net, tmp_path, "tables,sl2vl:lanes")
    assert not found.lanes.level.any()
    assert lanes_used(found) == 1
    assert lane_circle(net, found)


def test_lanes_may_differ_by_port(ring, tmp_path):
    net, _ = ring
    (tmp_path / "lanes").write_text(as_sl2vl(net, lambda switch, *_: int(switch == 0)))
    found = read(net, tmp_path, "tables,sl2vl:lanes")
    assert found.lanes.lane_of[0].max() == 1 > found.lanes.lane_of[1].max()
    assert lanes_used(found) == 2


def test_a_policy_groups_sources_only_where_it_must(ring, tmp_path):
    net, table = ring
    assert write_qos_policy(net, table, tmp_path / "policy") > 1
    by_end = np.repeat(np.arange(len(net.port_host))[:, None] % 3, net.num_routers, axis=1)
    table = replace(table, lanes=Lanes(by_end.astype(np.uint8)))
    assert write_qos_policy(net, table, tmp_path / "policy") == 2
    text = (tmp_path / "policy").read_text()
    assert text.count("    port-group\n") == 3
    assert re.findall(r"name: (.*)\n        sl: (\d)", text) == [
        ("DEFAULT", "0"), ("level-1", "1"), ("level-2", "2")]  # fmt: skip
    assert write_qos_policy(net, replace(table, lanes=None), tmp_path / "policy") == 0
