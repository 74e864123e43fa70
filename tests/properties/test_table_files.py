"""What is written of tables is read, whatever the network and its addresses."""

from random import Random

import numpy as np
from hypothesis import given, strategies as st

from netloom.fabrics.writing import with_others, write_lfts
from netloom.routing.forwarding.lfts import read_lfts, table_of_ports
from netloom.routing.forwarding.tables import NO_PORT, ForwardingTable, port_table
from netloom.routing.rules import spread_table
from netloom.topology import topology
from tests.reference.dumps import as_dump_fts, as_fdbs
from tests.reference.scans import scan

NETWORKS = ("leaf-spine:3x2x4", "fat-tree:2x3", "dragonfly:2x3x1", "hyperx:3x2/2", "torus:3x4/1",
            "jellyfish:8x5x3/2", "mesh:2x3/3")  # fmt: skip


@given(
    st.sampled_from(NETWORKS), st.integers(0, 999), st.integers(0, 2),
    st.sets(st.integers(0, 5)), st.sampled_from([str, as_dump_fts, as_fdbs]), st.booleans(),
)  # fmt: skip
def test_tables_come_back(tmp_path_factory, spec, seed, lmc, places, spelling, holes):
    folder = tmp_path_factory.mktemp("fabric")
    family = topology(spec)
    aggregated = tuple(place for place in places if place < family.num_routers)
    (folder / "fabric").write_text(scan(family, seed=seed, lmc=lmc, aggregated=aggregated))
    net = topology(f"fabric:{folder / 'fabric'}")
    table = with_others(net, ForwardingTable("spread", spread_table(net)))
    ports = port_table(net, table)
    if holes:  # missing entries, but for a router's own, which only a broken switch lacks
        chance = Random(seed)
        for row in range(len(net.port_host)):
            router = chance.randrange(net.num_routers)
            if table.next_channel[row, router] >= 0:
                ports[row, router] = NO_PORT
        table = table_of_ports(net, ports, "with holes")
    write_lfts(net, table, folder / "table")
    (folder / "table").write_text(spelling((folder / "table").read_text()))
    found = read_lfts(net, str(folder / "table"))
    assert np.array_equal(found.next_channel, table.next_channel)
    assert np.array_equal(found.others, table.others)
    assert np.array_equal(port_table(net, found), ports)
