"""Ways to aggregation nodes and switches: all there, up and then down."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.fabrics.writing import with_others
from netloom.routing import paths
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.forwarding.tables import ForwardingTable, lane_circle, table_problems
from netloom.routing.rules import spread_table
from netloom.topology import topology
from tests.reference.scans import scan

DGX = "fabric:examples/dgx-40.ibnetdiscover"


def hosts_only(net, engine):
    if engine == "spread":
        return ForwardingTable("spread", spread_table(net))
    return replace(ENGINES[engine](net), others=None)


def between_hosts(net, table):
    hosts = np.arange(net.num_hosts, dtype=np.int32)
    sources, targets = hosts.repeat(len(hosts)), np.tile(hosts, len(hosts))
    return paths(net, table, sources, targets)


@pytest.mark.parametrize("engine", ["minhop", "updn", "spread"])
def test_all_ends_of_a_damaged_subnet_are_reached(engine):
    net = topology(DGX)
    table = hosts_only(net, engine)
    found = with_others(net, table)
    assert not table_problems(net, found)
    assert lane_circle(net, found) == ()
    some = np.arange(0, net.num_hosts, 9, dtype=np.int32)
    pairs = some.repeat(len(some)), np.tile(some, len(some))
    assert np.array_equal(paths(net, found, *pairs).channels, paths(net, table, *pairs).channels)


@settings(max_examples=50)
@given(st.sampled_from(["leaf-spine:4x3x2", "fat-tree:3x2", "xgft:3x2x2/1x2x3", "hyperx:3x3/2",
                        "mesh:3x3/2"]),
       st.integers(0, 99), st.sets(st.integers(0, 8), min_size=1), st.data())  # fmt: skip
def test_hosts_keep_their_ways(tmp_path_factory, spec, seed, places, data):
    family = topology(spec)
    aggregated = tuple(place for place in places if place < family.num_routers)
    path = tmp_path_factory.mktemp("fabric") / "fabric.txt"
    path.write_text(scan(family, seed=seed, aggregated=aggregated))
    net = topology(f"fabric:{path}")
    engine = data.draw(st.sampled_from(["spread", "minhop"]))
    table = hosts_only(net, engine)
    found = with_others(net, table)
    assert found.others.shape == (len(aggregated) + net.num_routers, net.num_routers)
    assert not table_problems(net, found)
    ours, theirs = between_hosts(net, found), between_hosts(net, table)
    assert np.array_equal(ours.channels, theirs.channels)
    if "x3/2" not in spec:  # trees
        assert lane_circle(net, found, everyone=True) == ()


def test_a_table_that_leads_everywhere_stays():
    net = topology(DGX)
    table = with_others(net, hosts_only(net, "spread"))
    assert with_others(net, table) is table
