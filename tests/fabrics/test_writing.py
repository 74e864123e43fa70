"""Tables as files that a subnet manager takes."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.fabrics.balancing import balanced
from netloom.fabrics.figures import table_figures
from netloom.fabrics.writing import repaired, table_changes, with_others, write_lfts
from netloom.routing.forwarding.engines import minhop
from netloom.routing.forwarding.lfts import table_of_ports
from netloom.routing.forwarding.tables import NO_PORT, ForwardingTable, addresses, port_table
from netloom.routing.rules import spread_table
from netloom.topology import topology, without
from tests.reference.dumps import entries
from tests.reference.forwarding import table_waits, walked


def test_a_file_is_in_the_form_of_opensm_dumps(fabric, tmp_path):
    net = fabric("leaf-spine:2x1x1")
    path = tmp_path / "t.lfts"
    assert write_lfts(net, minhop(net), path) == 15
    assert path.read_text().splitlines()[:7] == [
        "Unicast lids [0-5] of switch Lid 3 guid 0x0000000002000000 ('leaf0'):",
        "0x0001 002 # Channel Adapter portguid 0x0000000000001001: 'h0'",
        "0x0002 001 # Channel Adapter portguid 0x0000000000001011: 'h1'",
        "0x0003 000 # Switch portguid 0x0000000002000000: 'leaf0'",
        "0x0004 001 # Switch portguid 0x0000000002000010: 'leaf1'",
        "0x0005 001 # Switch portguid 0x0000000002000020: 'spine0'",
        "5 lids dumped",
    ]


def test_every_lid_has_an_entry_at_every_switch(fabric, tmp_path):
    net = fabric("leaf-spine:3x2x2", lmc=2, seed=5, aggregated=(0, 3))
    path = tmp_path / "t.lfts"
    lids = 4 * 6 + 5 + 2
    assert write_lfts(net, minhop(net), path) == 5 * lids
    said = entries(path)
    cabling = net.cabling
    for switch in cabling.router_guid.tolist():
        for lid, lmc in zip(cabling.port_lid.tolist(), cabling.lmc.tolist(), strict=True):
            ports = {said[f"0x{switch:016x}", f"0x{lid + k:04x}"] for k in range(2**lmc)}
            assert len(ports) == 1
    for router, lid in enumerate(cabling.router_lid.tolist()):
        assert said[f"0x{cabling.router_guid[router]:016x}", f"0x{lid:04x}"] == 0
    for lid, router, port in zip(cabling.others.lid.tolist(), cabling.others.router.tolist(),
                                 cabling.others.port.tolist(), strict=True):  # fmt: skip
        assert said[f"0x{cabling.router_guid[router]:016x}", f"0x{lid:04x}"] == port


def moved(net, table, *changes):
    """A table with other ports: (destination, switch, port)."""
    ports, names = port_table(net, table), addresses(net).name
    for destination, switch, port in changes:
        ports[names.index(destination), names.index(switch) - len(names)] = port
    return table_of_ports(net, ports, "moved")


def test_every_entry_that_differs_is_listed(fabric):
    net = fabric("leaf-spine:3x2x2")  # LIDs 1 to 11: h0 … h5, leaf0 …, spine0, spine1
    old = minhop(net)
    new = moved(net, old, ("h2", "leaf0", 2), ("spine1", "leaf2", 1), ("h0", "spine0", NO_PORT))
    found = table_changes(net, old, new)
    assert found.table().rows() == [
        ("leaf0", "0x0000000002000000", 3, "h2", 1, 2, False),
        ("leaf2", "0x0000000002000020", 11, "spine1", 2, 1, False),
        ("spine0", "0x0000000002000030", 1, "h0", 1, None, False),
    ]
    assert (found.entries, found.blocks) == (3, 3)
    assert table_changes(net, old, old).entries == 0


def test_entries_that_lead_nowhere_had_to_change(fabric):
    net = fabric("leaf-spine:3x2x2")
    new = minhop(net)
    old = moved(net, new, ("h2", "leaf0", 9), ("h3", "leaf0", NO_PORT), ("h4", "leaf0", 2),
                ("h1", "leaf0", 3), ("h5", "spine0", 0))  # fmt: skip
    lines = {line["destination"]: line for line in table_changes(net, old, new).table().to_dicts()}
    assert {name: line["gone"] for name, line in lines.items()} == {
        "h1": True, "h2": True, "h3": True, "h4": False, "h5": True}  # fmt: skip
    assert (lines["h2"]["old_port"], lines["h3"]["old_port"]) == (9, None)


def test_changes_are_those_of_the_files(fabric, tmp_path):
    net = fabric("fat-tree:3x3", seed=8, lmc=1, aggregated=(2, 20))
    tables = [minhop(net),
              with_others(net, ForwardingTable("spread", spread_table(net)))]  # fmt: skip
    said = []
    for place, table in enumerate(tables):
        write_lfts(net, table, tmp_path / f"{place}.lfts")
        said.append(entries(tmp_path / f"{place}.lfts"))
    differs = {key for key in said[0] if said[0][key] != said[1][key]}
    found = table_changes(net, *tables)
    lines = found.table().to_dicts()
    assert {(line["guid"], f"0x{line['lid']:04x}") for line in lines} == differs
    assert len(lines) == len(differs) > 0
    blocks = {(guid, int(lid, 16) // 64) for guid, lid in differs}
    assert found.blocks == len(blocks) < found.entries
    for line in lines:
        key = line["guid"], f"0x{line['lid']:04x}"
        assert (said[0][key], said[1][key]) == (line["old_port"], line["new_port"])


def test_tables_of_other_networks_are_refused(fabric):
    net, other = fabric("leaf-spine:3x2x2"), fabric("leaf-spine:2x2x2")
    with pytest.raises(InputError, match=r"found 4 ports of hosts and 4 routers; expected a table"):
        table_changes(net, minhop(other), minhop(net))
    plain = topology("leaf-spine:2x2x2")
    with pytest.raises(InputError, match="which has no LIDs"):
        table_changes(plain, minhop(plain), minhop(plain))


def test_only_what_both_tables_say_counts(fabric):
    net = fabric("leaf-spine:3x2x2")
    hosts = ForwardingTable("spread", spread_table(net))
    assert table_changes(net, hosts, with_others(net, hosts)).entries == 0
    assert np.array_equal(with_others(net, hosts).next_channel, hosts.next_channel)


def of_broken(whole, broken, table):
    """Return the table of a network in terms of what is left of it."""
    place = np.full(whole.num_network_channels + 1, -1, np.int32)
    kept = broken.whole_channel[: broken.num_network_channels]
    place[kept] = np.arange(len(kept))
    return replace(table, next_channel=place[table.next_channel])


@pytest.mark.parametrize(
    ("spec", "cut"),
    [
        ("leaf-spine:6x4x8/2", "leaf2-spine1#2"),
        ("leaf-spine:6x4x5", "leaf2-spine1"),
        ("fat-tree:4x3", "s1.0-s2.0"),
    ],
)
def test_one_cable_less_changes_few_entries(spec, cut):
    whole = topology(spec)
    broken = without(whole, channels=cut)
    installed = of_broken(whole, broken, balanced(whole).table)
    table = repaired(broken, installed).next_channel
    for row, end in zip(table, broken.ejection_router.tolist(), strict=True):
        assert all(
            walked(broken, row, at, end) is not None for at in set(broken.ejection_router.tolist())
        )
    assert nx.is_directed_acyclic_graph(table_waits(broken, table))
    gone = (installed.next_channel < 0).sum() - (table < 0).sum()
    assert 0 < gone <= (table != installed.next_channel).sum() <= 3 * gone
    busiest = table_figures(broken, ForwardingTable("repaired", table), samples=0).all_to_all.time
    assert busiest <= 1.15 * balanced(broken).front[0].all_to_all
