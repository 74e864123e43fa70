"""Dumps of forwarding tables: three spellings, and what is refused."""

import gzip
import re

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.fabrics.writing import write_lfts
from netloom.routing.forwarding.engines import minhop
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import port_table, table_problems
from netloom.topology import topology
from netloom.topology.faults import without
from tests.reference.dumps import as_dump_fts, as_fdbs


@pytest.fixture
def dumped(fabric, tmp_path):
    """Return a function that gives a fabric, its table, and the dump of it."""

    def made(spec="leaf-spine:3x2x2", **more):
        net = fabric(spec, **more)
        table = minhop(net)
        write_lfts(net, table, tmp_path / "table")
        return net, table, (tmp_path / "table").read_text()

    return made


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a dump's text."""

    def made(net, text):
        path = tmp_path / "dump"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_lfts(net, str(path))

    return made


def same(one, other):
    assert np.array_equal(one.next_channel, other.next_channel)
    assert np.array_equal(one.others, other.others)
    assert one.undelivered is None
    assert one.astray is None


@pytest.mark.parametrize("spelling", [str, as_dump_fts, as_fdbs])
def test_every_spelling_says_the_same(dumped, read, spelling):
    net, table, text = dumped(seed=3, lmc=1, aggregated=(1, 4))
    same(read(net, spelling(text)), table)
    same(read(net, gzip.compress(spelling(text).encode())), table)
    same(read(net, spelling(text).replace("\n", "\r\n")), table)


@pytest.mark.parametrize("spelling", [str, as_dump_fts, as_fdbs])
def test_no_entry_is_no_way(dumped, read, spelling):
    net, _, text = dumped()
    cut = re.sub(r"(?m)^0x0003 001 # .*\n", "", text)
    found = table_problems(net, read(net, spelling(cut)))
    assert found.unrouted == 4  # the hosts of two leaves, to h2
    assert {fault.kind for fault in found.faults} == {"no entry"}


def test_port_255_is_no_way(dumped, read):
    net, _, text = dumped()
    lines = as_dump_fts(text).splitlines()
    lines[3] = "0x0001 255 : (illegal port)"
    lines[6] = "0x0004 255 : (path #1 - illegal port)"
    words = [fault.words for fault in table_problems(net, read(net, "\n".join(lines))).faults]
    assert words == ["leaf0 has no entry for h0 and 1 more destination"]


def test_an_owner_is_known_by_guid_or_name(dumped, read):
    net, table, text = dumped()
    # what ibsim does to GUIDs of ports; an adapter replaced; one renamed
    same(read(net, re.sub(r"portguid 0x(\w+)", lambda said: f"portguid {int(said[1], 16) + 1:#x}",
                          text)), table)  # fmt: skip
    same(
        read(net, text.replace("portguid 0x0000000000001001", "portguid 0x00000000deadbeef")), table
    )
    same(read(net, text.replace("'h0'", "'localhost mlx5_0'")), table)


def test_names_may_be_dressed_in_more_words(dumped, read):
    net, table, text = dumped()
    dressed = re.sub(r"portguid 0x\w+: '(leaf\d|spine\d)'", r"portguid 0xbad: 'MF0;\1:MQM9700/U1'",
                     text)  # fmt: skip
    same(read(net, dressed), table)


@pytest.mark.parametrize("spelling", [str, as_dump_fts, as_fdbs])
def test_a_file_cut_anywhere_is_refused(dumped, read, spelling):
    net, table, text = dumped()
    text = spelling(text)
    for length in range(0, len(text.rstrip()) - 1, 37):
        cut = text[:length]
        if "\n" not in text[length:-1] and cut.split("\n")[-1].count(":") == 2:
            same(read(net, cut), table)  # only what comes behind the last port is missing
            continue
        with pytest.raises(InputError) as caught:
            read(net, cut)
        assert "\n" not in str(caught.value)


def test_all_lids_of_a_port_have_entries_or_none_has(dumped, read):
    net, _, text = dumped(lmc=1)
    cut = re.sub(r"0x0003 .*\n", "", text, count=1)
    message = r":1: found LID 0x0002 of 'h0', but not 0x0003 of the same port, at switch 'leaf0'"
    with pytest.raises(InputError, match=message):
        read(net, cut)


def test_what_leads_over_a_broken_cable_leads_nowhere(dumped, read):
    whole, _, text = dumped(seed=2, aggregated=(1,))
    net = without(whole, channels="leaf0-spine1")
    table = read(net, text)
    found = table_problems(net, table)
    assert {fault.routers for fault in found.faults} == {(0,), (4,)}
    assert {fault.kind for fault in found.faults} == {"black hole"}
    ports = port_table(net, table)
    assert np.array_equal(ports, port_table(whole, read(whole, text)))


def test_the_rest_of_a_network_without_a_switch_is_read(dumped, read):
    whole, _, text = dumped(seed=2, aggregated=(1,))
    net = without(whole, nodes="spine0,h1")
    table = read(net, text)
    assert table.next_channel.shape == (5, 5)
    spared = re.sub(r"(?s)Unicast.*?dumped\n", lambda said: said[0] * ("'spine0'):" not in said[0]),
                    text)  # fmt: skip
    again = read(net, spared)
    assert np.array_equal(again.next_channel, table.next_channel)
    with pytest.raises(InputError, match="no table of switch 'spine0'"):
        read(whole, spared)
    lost = table_problems(net, table)
    assert all(fault.kind == "black hole" for fault in lost.faults)
    assert not table_problems(net, minhop(net))


def test_a_dump_may_tell_of_what_is_gone(dumped, tmp_path):
    _, _, text = dumped("leaf-spine:3x2x2", lmc=1)
    (tmp_path / "old").write_text(text)
    scanned = (tmp_path / "leaf-spine-3x2x2.txt").read_text()
    blocks = [block for block in scanned.split("\n\n") if '"spine1"' not in block.split("[")[0]]
    blocks = [block for block in blocks if '# "h5"' not in block.split("[")[0]]
    kept = re.sub(r'(?m)^\[.*"(spine1|h5)".*\n', "", "\n\n".join(blocks))
    (tmp_path / "now.txt").write_text(kept + "\n")
    now = topology(f"fabric:{tmp_path / 'now.txt'}")
    assert (now.num_hosts, now.num_routers) == (5, 4)
    with pytest.raises(InputError, match="nobody in"):
        read_lfts(now, str(tmp_path / "old"))
    table = read_lfts(now, str(tmp_path / "old"), gone=True)
    kinds = {fault.kind for fault in table_problems(now, table).faults}
    assert kinds == {"black hole"}
    for spelling in (as_dump_fts, as_fdbs):
        (tmp_path / "other").write_text(spelling(text))
        other = read_lfts(now, str(tmp_path / "other"), gone=True)
        assert np.array_equal(other.next_channel, table.next_channel)
