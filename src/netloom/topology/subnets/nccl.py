"""NCCL's topology files: GPUs, network cards and what joins them inside one machine."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.subnets.markup import Element, read_markup
from netloom.topology.subnets.records import HOST, SWITCH, Cable, Device, Port

if TYPE_CHECKING:
    from netloom.topology.subnets.records import Subnet

WANTED = "NCCL's topology, <system> with <cpu> and <pci>"

BRIDGE, NVSWITCH = "0x0604", "0x0680"
"""How the classes of PCI switches and of NVSwitches begin."""

GPUS, CARDS = ("0x03", "0x12"), ("0x02",)
"""How the classes of GPUs and other accelerators, and of network cards, begin."""

NVLINK_GBPS = ((60, 160.0), (70, 200.0), (80, 200.0), (90, 200.0), (100, 400.0), (103, 400.0))
"""Gb/s each way of one NVLink by compute capability, as NVIDIA's data sheets say of P100 (20 GB/s),
V100, A100 and H100 (25 GB/s) and B200 (50 GB/s)."""

CPU_GBS = (("ppc64", "", 0, 32.0), ("arm64", "", 0, 6.0), ("x86_64", "AuthenticAMD", 0, 16.0),
           ("x86_64", "GenuineIntel", 0xCF, 40.0), ("x86_64", "GenuineIntel", 0x8F, 22.0),
           ("x86_64", "GenuineIntel", 0x55, 10.0), ("x86_64", "GenuineIntel", 0, 6.0))  # fmt: skip
"""GB/s between two CPUs by arch, vendor and least model, as NCCL 2.27 takes them (``topo.h``)."""

CPUS = (
    "NCCL's file says nothing of the links between CPUs: netloom joins every two at {:g} GB/s, as "
    "NCCL does."
)


@dataclass
class _Machine:
    """What is being filled, the ports that are taken, and the NVLinks that were seen."""

    subnet: Subnet
    ports: dict[str, int] = field(default_factory=dict)

    def join(self, one: str, other: str, gbps: float) -> None:
        ends = []
        for key in (one, other):
            self.ports[key] = self.ports.get(key, 0) + 1
            ends.append(Port(key, self.ports[key]))
        self.subnet.cables.append(Cable(ends[0], ends[1], gbps))


def read_machine(subnet: Subnet, text: str) -> None:
    """Fill in what NCCL's topology file says of a machine.

    GPUs and network cards are hosts of one computer. CPUs, PCI switches and NVSwitches are routers.
    A PCI link has ``link_speed`` times ``link_width``, the rate on the wire. Each NVLink that of
    its generation, and parallel ones are parallel cables. The network that a card leads to is not
    part of the machine. Other devices, such as disks, are left out. CPUs are all joined, as NCCL
    joins them: see ``CPUS``.

    NCCL's ``src/graph/topo.cc``, ``topo.h`` and ``xml.cc``.

    Raises
    ------
    InputError
        If a rate is not known, or NVLinks do not lead to NVSwitches: netloom's hosts do not
        forward, as directly joined GPUs would. The error names file and line.
    """
    top = read_markup(subnet.path, text, wanted=WANTED)
    cpus = [each for each in top.inside if each.tag == "cpu"]
    if top.tag != "system" or not cpus:
        raise InputError(top.where, f"<{top.tag:.40}> without <cpu>", WANTED)
    machine = _Machine(subnet)
    subnet.natural = subnet.ports = False
    keys = []
    for place, cpu in enumerate(cpus):
        key = f"cpu{cpu.said.get('numaid', place)}"
        subnet.add(key, Device(SWITCH, key, line=_line(cpu)))
        keys.append(key)
        for each in cpu.inside:
            if each.tag == "pci":
                _add_pci(machine, key, each)
    _add_nvlinks(machine, top)
    if len(keys) > 1:
        rate = min(_cpu_rate(cpu) for cpu in cpus)
        subnet.notes.append(CPUS.format(rate))
        for one, other in combinations(keys, 2):
            machine.join(one, other, 8 * rate)


def _line(element: Element) -> int:
    return int(element.where.rpartition(":")[2])


def _cpu_rate(cpu: Element) -> float:
    """Return the GB/s that NCCL takes for the link from this CPU to another."""
    arch, vendor = cpu.said.get("arch", ""), cpu.said.get("vendor", "")
    model = whole_number(cpu.said.get("modelid") or "0", where=f"{cpu.where}, modelid")
    for known, maker, least, rate in CPU_GBS:
        if (arch, maker or vendor) == (known, vendor) and model >= least:
            return rate
    found = f"several CPUs, one of arch '{arch:.40}' and vendor '{vendor:.40}'"
    raise InputError(cpu.where, found, "CPUs whose links NCCL knows, or one CPU")


def _add_pci(machine: _Machine, above: str, pci: Element) -> None:
    """Add a PCI device and what is below it."""
    kind, key = pci.word("class").lower(), pci.word("busid")
    subnet, line = machine.subnet, _line(pci)
    if kind.startswith(BRIDGE):
        subnet.add(key, Device(SWITCH, f"pci@{key}", line=line))
    elif kind.startswith(GPUS):
        gpus = [each for each in pci.inside if each.tag == "gpu"]
        name = f"gpu{gpus[0].word('dev')}" if gpus else f"gpu@{key}"
        subnet.add(key, Device(HOST, name, "machine", line=line))
    elif kind.startswith(CARDS):
        nets = [net for nic in pci.inside if nic.tag == "nic"
                for net in nic.inside if net.tag == "net"]  # fmt: skip
        name = "+".join(net.word("name") for net in nets) or f"nic@{key}"
        subnet.add(key, Device(HOST, name, "machine", line=line))
    elif pci.inside:
        found = f"something in a PCI device of class {kind:.20}"
        raise InputError(pci.where, found, "PCI switches, GPUs and network cards")
    else:
        return
    machine.join(above, key, _pci_gbps(pci))
    for each in pci.inside:
        if each.tag == "pci":
            _add_pci(machine, key, each)


def _pci_gbps(pci: Element) -> float:
    speed, width = pci.word("link_speed"), pci.word("link_width")
    rate = re.match(r"(\d{1,3}(?:\.\d+)?)\s*GT/s", speed)
    lanes = re.fullmatch(r"\d{1,3}", width, re.ASCII)
    if rate is None or lanes is None or not float(rate[1]) * int(width):
        found = f"link_speed '{speed:.40}' and link_width '{width:.40}'"
        raise InputError(pci.where, found, "a link such as 32.0 GT/s and 16")
    return float(rate[1]) * int(width)


def _add_nvlinks(machine: _Machine, top: Element) -> None:
    """Add NVSwitches, in the order of the file, and the links of GPUs to them."""
    subnet = machine.subnet
    for pci in top.all():
        for gpu in pci.inside if pci.tag == "pci" else ():
            for link in gpu.inside if gpu.tag == "gpu" else ():
                if link.tag != "nvlink":
                    wanted = "NVLinks to NVSwitches"
                    raise InputError(link.where, f"<{link.tag:.40}> on a GPU", wanted)
                target, kind = link.word("target"), link.word("tclass").lower()
                if not kind.startswith(NVSWITCH):
                    found = f"an NVLink to {target:.40} of class {kind:.20}, which is no NVSwitch"
                    wanted = "NVLinks to NVSwitches: netloom's hosts do not forward"
                    raise InputError(link.where, found, wanted)
                if target not in subnet.devices:
                    subnet.add(target, Device(SWITCH, f"nvs@{target}", line=_line(link)))
                for _ in range(_count(link)):
                    machine.join(pci.word("busid"), target, _nvlink_gbps(gpu))


def _count(link: Element) -> int:
    text = link.word("count")
    if not re.fullmatch(r"[1-9]\d{0,2}", text, re.ASCII):
        raise InputError(link.where, f"count={text:.40}", "the number of NVLinks")
    return int(text)


def _nvlink_gbps(gpu: Element) -> float:
    text = gpu.word("sm")
    rates = dict(NVLINK_GBPS)
    if text not in map(str, rates):
        known = ", ".join(map(str, rates))
        raise InputError(gpu.where, f"NVLinks of a GPU with sm={text:.40}", f"sm of {known}")
    return rates[int(text)]
