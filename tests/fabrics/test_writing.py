"""Tables as files that a subnet manager takes."""

import pytest

from netloom.base.errors import InputError
from netloom.fabrics.writing import write_lfts
from netloom.routing.forwarding.engines import minhop
from netloom.topology import topology
from tests.reference.dumps import entries


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


def test_networks_without_lids_or_guids_are_refused(tmp_path):
    net = topology("leaf-spine:2x2x2")
    with pytest.raises(InputError, match=r"which has no LIDs; expected .*ibnetdiscover"):
        write_lfts(net, minhop(net), tmp_path / "t.lfts")
    ibsim = tmp_path / "fabric.ibsim"
    ibsim.write_text('Switch 2 "S0"\n[1] "H0"[1]\n[2] "H1"[1]\nHca 1 "H0"\n[1] "S0"[1]\n'
                     'Hca 1 "H1"\n[1] "S0"[2]\n')  # fmt: skip
    net = topology(f"fabric:{ibsim}")
    with pytest.raises(InputError, match=r"has no LIDs; expected .*ibnetdiscover"):
        write_lfts(net, minhop(net), tmp_path / "t.lfts")
    assert not (tmp_path / "t.lfts").exists()
