"""NCCL's topology files."""

from __future__ import annotations

from tests.topology.subnets.fabric_files import text_of
from tests.topology.subnets.said import links, network

MACHINE = text_of("machine.nccl.xml")


def test_a_machine_is_its_cards_and_what_joins_them(tmp_path):
    net = network(tmp_path, MACHINE)
    assert net.labels == ("gpu0", "mlx5_0", "gpu1", "cpu0", "pci@01", "cpu1", "nvs@c7", "nvs@c4")
    assert net.num_nodes == 1
    assert len(set(net.local_group.tolist())) == 3  # it is the inside of a node, and used
    expected = [("cpu0", "pci@01", 256), ("gpu0", "pci@01", 256), ("mlx5_0", "pci@01", 128),
                ("cpu1", "gpu1", 256), ("cpu0", "cpu1", 128)]  # fmt: skip
    expected += [(gpu, nvs, 200) for gpu in ("gpu0", "gpu1") for nvs in ("nvs@c7", "nvs@c4")] * 2
    found = [(a, b, rate) for a, b, rate, _ in links(net)]
    assert found == sorted(expected + [(b, a, rate) for a, b, rate in expected])
    assert net.notes[0].startswith("NCCL's file says nothing of the links between CPUs")


def test_one_processor_needs_no_note(tmp_path):
    start = MACHINE.index('<cpu numaid="1"')
    net = network(tmp_path, MACHINE[:start] + "</system>")
    assert not net.notes
    assert net.num_hosts == 2
