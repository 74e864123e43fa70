"""What a subnet manager has to tell switches where tables change."""

import csv

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.fabrics.writing import table_changes, with_others, write_changes, write_lfts
from netloom.routing.forwarding.engines import minhop
from netloom.routing.forwarding.lfts import table_of_ports
from netloom.routing.forwarding.tables import NO_PORT, ForwardingTable, addresses, port_table
from netloom.routing.rules import spread_table
from netloom.topology import topology
from tests.reference.dumps import entries


def moved(net, table, *changes):
    """A table with other ports: (destination, switch, port)."""
    ports, names = port_table(net, table), addresses(net).name
    for destination, switch, port in changes:
        ports[names.index(destination), names.index(switch) - len(names)] = port
    return table_of_ports(net, ports, "moved")


def test_every_entry_that_differs_is_listed(fabric):
    net = fabric("leaf-spine:3x2x2")  # LIDs 1 to 11: h0 … h5, leaf0 …, spine0, spine1
    old = with_others(net, minhop(net))
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
    new = with_others(net, minhop(net))
    old = moved(net, new, ("h2", "leaf0", 9), ("h3", "leaf0", NO_PORT), ("h4", "leaf0", 2),
                ("h1", "leaf0", 3), ("h5", "spine0", 0))  # fmt: skip
    lines = {line["destination"]: line for line in table_changes(net, old, new).table().to_dicts()}
    assert {name: line["gone"] for name, line in lines.items()} == {
        "h1": True, "h2": True, "h3": True, "h4": False, "h5": True}  # fmt: skip
    assert (lines["h2"]["old_port"], lines["h3"]["old_port"]) == (9, None)


def test_changes_are_those_of_the_files(fabric, tmp_path):
    net = fabric("fat-tree:3x3", seed=8, lmc=1, aggregated=(2, 20))
    tables = [with_others(net, minhop(net)),
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


def test_changes_are_written(fabric, tmp_path):
    net = fabric("leaf-spine:3x2x2")
    old = with_others(net, minhop(net))
    write_changes(table_changes(net, old, moved(net, old, ("h2", "leaf0", NO_PORT))),
                  tmp_path / "changes.csv")  # fmt: skip
    with (tmp_path / "changes.csv").open() as stream:
        (line,) = csv.DictReader(stream)
    assert line == {"switch": "leaf0", "guid": "0x0000000002000000", "lid": "3", "old_port": "1",
                    "destination": "h2", "new_port": "", "gone": "false"}  # fmt: skip


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
