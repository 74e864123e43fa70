"""Computers with an inside: NCCL's topologies, and InfraGraph's.

NCCL's files say GPUs, network cards and what joins them inside one machine. InfraGraph's
infrastructures say devices, how many of each there are, and the links between them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from math import isfinite
from typing import NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.base.words import counted
from netloom.topology.subnets.documents import Document, Element, Record, read_document, read_markup
from netloom.topology.subnets.records import HOST, SWITCH, Cable, Device, Port, Subnet

NCCL = "NCCL's topology, <system> with <cpu> and <pci>"

BRIDGE, NVSWITCH = "0x0604", "0x0680"
"""How the classes of PCI switches and of NVSwitches begin."""

GPUS, CARDS = ("0x03", "0x12"), ("0x02",)
"""How the classes of GPUs and other accelerators, and of network cards, begin."""

NVLINK_GBPS = {"60": 160.0, "70": 200.0, "80": 200.0, "90": 200.0, "100": 400.0, "103": 400.0}
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
    top = read_markup(subnet.path, text, wanted=NCCL)
    cpus = [each for each in top.inside if each.tag == "cpu"]
    if top.tag != "system" or not cpus:
        raise InputError(top.where, f"<{top.tag:.40}> without <cpu>", NCCL)
    subnet.natural = subnet.ports = False
    keys = []
    for place, cpu in enumerate(cpus):
        key = f"cpu{cpu.said.get('numaid', place)}"
        subnet.add(key, Device(SWITCH, key, line=_line(cpu)))
        keys.append(key)
        for each in cpu.inside:
            if each.tag == "pci":
                _add_pci(subnet, key, each)
    _add_nvlinks(subnet, top)
    if len(keys) > 1:
        rate = min(_cpu_rate(cpu) for cpu in cpus)
        subnet.notes.append(CPUS.format(rate))
        for one, other in combinations(keys, 2):
            subnet.join(one, other, 8 * rate)


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


def _add_pci(subnet: Subnet, above: str, pci: Element) -> None:
    """Add a PCI device and what is below it."""
    kind, key = pci.word("class").lower(), pci.word("busid")
    line = _line(pci)
    if kind.startswith(BRIDGE):
        subnet.add(key, Device(SWITCH, f"pci@{key}", line=line))
    elif kind.startswith(GPUS):
        gpus = [each for each in pci.inside if each.tag == "gpu"]
        name = f"gpu{gpus[0].word('dev')}" if gpus else f"gpu@{key}"
        subnet.add(key, Device(HOST, name, "machine", line=line))
    elif kind.startswith(CARDS):
        nics = (each.inside for each in pci.inside if each.tag == "nic")
        nets = (each.word("name") for each in chain(*nics) if each.tag == "net")
        name = "+".join(nets) or f"nic@{key}"
        subnet.add(key, Device(HOST, name, "machine", line=line))
    elif pci.inside:
        found = f"something in a PCI device of class {kind:.20}"
        raise InputError(pci.where, found, "PCI switches, GPUs and network cards")
    else:
        return
    speed, width = pci.word("link_speed"), pci.word("link_width")
    rate = re.match(r"(\d{1,3}(?:\.\d+)?)\s*GT/s", speed)
    lanes = re.fullmatch(r"\d{1,3}", width, re.ASCII)
    if rate is None or lanes is None or not float(rate[1]) * int(width):
        found = f"link_speed '{speed:.40}' and link_width '{width:.40}'"
        raise InputError(pci.where, found, "a link such as 32.0 GT/s and 16")
    subnet.join(above, key, float(rate[1]) * int(width))
    for each in pci.inside:
        if each.tag == "pci":
            _add_pci(subnet, key, each)


def _add_nvlinks(subnet: Subnet, top: Element) -> None:
    """Add NVSwitches, in the order of the file, and the links of GPUs to them."""
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
                count = link.word("count")
                if not re.fullmatch(r"[1-9]\d{0,2}", count, re.ASCII):
                    raise InputError(link.where, f"count={count:.40}", "the number of NVLinks")
                sm = gpu.word("sm")
                if sm not in NVLINK_GBPS:
                    found = f"NVLinks of a GPU with sm={sm:.40}"
                    raise InputError(gpu.where, found, f"sm of {', '.join(NVLINK_GBPS)}")
                for _ in range(int(count)):
                    subnet.join(pci.word("busid"), target, NVLINK_GBPS[sm])


INFRAGRAPH = "InfraGraph's infrastructure: devices, instances, edges and links"

COMPUTES = {"xpu", "npu", "gpu", "nic"}
"""Components that make a device a computer, in whatever part of it they are."""

SWITCHES = {"switch", "port"}
"""Components that make any other device a switch."""

MOST_COUNT = 2**20
"""Devices or parts of one kind that a file names."""
MOST_ENDS = 2**22
"""Ends of links that a file describes."""

UNITS = {"gigabits_per_second": 1.0, "gigabytes_per_second": 8.0}
"""Gb/s of a unit of bandwidth."""

INSIDE = "What is inside a computer is left out: netloom takes the links between devices."
LATENCIES = "Latencies of links are left out: InfraGraph's have no clock to count them by."

SHARED = "{} lead to ports that have one already: netloom takes a port for each."
LOOPS = "{} from a switch to itself are left out."

_END = re.compile(r"([^\[\].]+)(?:\[([^\[\]]*)\])?")


@dataclass
class _Graph:
    """The parts of an infrastructure by name, and the ports that are taken.

    Attributes
    ----------
    kinds
        By device and component its choice, and how many there are.
    instances
        By name of an instance its device and how many there are.
    links
        By name of a link its rate in Gb/s.
    taken
        By device the ports that are.
    shared, loops
        How often a port was taken before, and cables from a switch to itself.
    """

    document: Document
    kinds: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    instances: dict[str, tuple[str, int]] = field(default_factory=dict)
    links: dict[str, float] = field(default_factory=dict)
    taken: dict[str, set[int]] = field(default_factory=dict)
    shared: int = 0
    loops: int = 0

    def is_switch(self, device: str) -> bool:
        """Whether a device is a switch, rather than a computer."""
        found, inside = set[str](), [device]
        for here in inside:  # which grows: devices have devices in them
            for name, (choice, _) in self.kinds[here].items():
                found.add(choice)
                if choice == "device" and name in self.kinds and name not in inside:
                    inside.append(name)
        if found & COMPUTES:
            return False
        return any(choice in SWITCHES for choice, _ in self.kinds[device].values())

    def most(self, instance: str) -> int:
        """Return the highest number of a port that an instance has."""
        device, _ = self.instances[instance.rpartition(".")[0]]
        return max(
            (many for kind, many in self.kinds[device].values() if kind == "port"), default=0
        )


class _Component(NamedTuple):
    """One component of one instance, as an edge names it: ``leaf.0`` and ``port.3``."""

    instance: str
    part: str  # the first of the parts that lead to it, such as ``port.3``
    port: int  # its number among ports of a switch, from 1; 0 where it is no port


def read_infrastructure(subnet: Subnet, text: str) -> None:
    """Fill in what InfraGraph says of an infrastructure, in JSON or YAML.

    A device with an accelerator or a network card in it is a computer. Any other is a switch if it
    has a component of that kind, or ports. Each component of a computer that an
    edge of the infrastructure names is a host of it, called as in InfraGraph's own graphs. A link's
    bandwidth is its rate. What is inside devices, and annotations, are left out.

    InfraGraph (Keysight, MLCommons Chakra), ``models/*.yaml``.

    Raises
    ------
    InputError
        If a name, an index or a rate is not clear, or an edge's scheme is neither ``one2one`` (with
        as many ends on both sides) nor ``many2many``. The error names file and line.
    """
    document = read_document(subnet.path, text, wanted=INFRAGRAPH)
    top = document.top
    if isinstance(top, Record) and isinstance(top.get("infrastructure"), Record):
        top = top["infrastructure"]
    if not isinstance(top, Record) or "devices" not in top or "instances" not in top:
        raise InputError(subnet.path, "no devices and instances", INFRAGRAPH)
    graph = _graph(document, top)
    edges = document.records(top, "edges")
    if not edges:
        raise InputError(document.at(top), "no edges between instances", INFRAGRAPH)
    if any("latency" in _physical(document, link) for link in document.records(top, "links")):
        subnet.notes.append(LATENCIES)
    subnet.notes.append(INSIDE)
    for name, (device, count) in graph.instances.items():
        if graph.is_switch(device):
            for place in range(count):
                key = f"{name}.{place}"
                subnet.add(key, Device(SWITCH, key))
    for edge in edges:
        _add_edge(graph, subnet, edge)
        if len(subnet.cables) > MOST_ENDS:
            raise InputError(document.at(edge), f"over {MOST_ENDS} links", "fewer")
    if graph.shared:
        subnet.notes.append(SHARED.format(counted(graph.shared, "more link")))
    if graph.loops:
        subnet.notes.append(LOOPS.format(counted(graph.loops, "link")))


def _add_edge(graph: _Graph, subnet: Subnet, edge: Record) -> None:
    """Add the cables of an edge."""
    document, where = graph.document, graph.document.at(edge)
    ends = [_components(graph, document.record(edge, end), edge) for end in ("ep1", "ep2")]
    # as files said it before there were schemes
    many = str(edge.get("many2many", "")).lower() == "true"
    scheme = document.text(edge, "scheme", "many2many" if many else "one2one")
    one_each = scheme == "one2one" and len(ends[0]) == len(ends[1])
    if not one_each and scheme != "many2many":
        found = f"an edge {scheme:.20} of {len(ends[0])} and {len(ends[1])} ends"
        wanted = "many2many, or one2one with as many ends on both sides"
        raise InputError(where, found, wanted)
    if scheme == "many2many" and len(ends[0]) * len(ends[1]) > MOST_ENDS:
        raise InputError(where, f"over {MOST_ENDS} links", "fewer")
    link = document.text(edge, "link", "")
    if link and link not in graph.links:
        found = f"a link '{link:.40}', which the file does not have"
        raise InputError(where, found, "links of the infrastructure")
    for pair in zip(*ends, strict=True) if one_each else product(*ends):
        first, second = (_port(graph, subnet, each) for each in pair)
        if first.device == second.device:
            graph.loops += 1
        else:
            subnet.cables.append(Cable(first, second, graph.links.get(link, 0.0)))


def _graph(document: Document, top: Record) -> _Graph:
    """Return devices, instances and links by name."""
    graph = _Graph(document)
    for device in document.records(top, "devices"):
        kinds = {}
        for part in document.records(device, "components"):
            choice = document.text(part, "choice", document.text(part, "type", "custom"))
            many = document.number(part, "count", 1, most=MOST_COUNT)
            kinds[document.text(part, "name")] = choice, many
        graph.kinds[document.text(device, "name")] = kinds
    for instance in document.records(top, "instances"):
        name, owner = document.text(instance, "name"), document.text(instance, "device")
        if owner not in graph.kinds:
            found = f"device '{owner:.40}', which the file does not have"
            raise InputError(document.at(instance), found, "devices of the file")
        if name in graph.instances:
            raise InputError(document.at(instance), f"'{name:.40}' again", "each name once")
        graph.instances[name] = owner, document.number(instance, "count", 1, most=MOST_COUNT)
    for link in document.records(top, "links"):
        graph.links[document.text(link, "name")] = _gbps(document, link)
    return graph


def _physical(document: Document, link: Record) -> Record:
    return document.record(link, "physical") or link


def _gbps(document: Document, link: Record) -> float:
    """Return the rate of a link in Gb/s; 0 where none is said."""
    said = document.record(_physical(document, link), "bandwidth")
    words = {key: value for key, value in said.items() if key != "choice"}
    if not words:
        return 0.0
    ((unit, value),) = words.items() if len(words) == 1 else (("several units", ""),)
    try:
        rate = float(value) * UNITS[unit]
    except (KeyError, TypeError, ValueError):
        rate = 0.0
    if not isfinite(rate) or rate <= 0:
        found = f"a bandwidth of {value!s:.20} {unit:.40}"
        raise InputError(document.at(said), found, f"one of {', '.join(UNITS)}")
    return rate


def _components(graph: _Graph, end: Record, edge: Record) -> list[_Component]:
    """Return what an end of an edge stands for: components of instances, in order."""
    document, where = graph.document, graph.document.at(edge)
    said = document.text(end, "instance")
    (name, indices), *rest = _parts(said, where)
    if rest or name not in graph.instances:
        raise InputError(where, f"instance '{said:.60}'", "an instance of the file")
    device, count = graph.instances[name]
    found = [("", 0)]
    kinds = graph.kinds[device]
    component = document.text(end, "component")
    for part, places in _parts(component, where):
        if part not in kinds:
            said = f"component '{component:.60}' of {name:.40}"
            raise InputError(where, said, "a component of its device")
        choice, many = kinds[part]
        chosen = _chosen(places, many, component, where)
        found = [
            (first or f"{part}.{place}", place + 1 if choice == "port" else 0)
            for first, _ in found
            for place in chosen
        ]
        kinds = graph.kinds.get(part, {})
    instances = _chosen(indices, count, said, where)
    if len(instances) * len(found) > MOST_ENDS:
        raise InputError(where, f"{len(instances) * len(found)} ends", f"at most {MOST_ENDS}")
    return [_Component(f"{name}.{place}", *each) for place in instances for each in found]


def _parts(text: str, where: str) -> list[tuple[str, str | None]]:
    """Split ``cx5[0:2].port`` into names and what stands in brackets. None where nothing does."""
    found = [_END.fullmatch(part) for part in text.split(".")]
    parts = [(part[1], part[2]) for part in found if part is not None]
    if len(parts) < len(found):
        raise InputError(where, f"'{text:.60}'", "names such as leaf[0] or port[0:4]")
    return parts


def _chosen(text: str | None, many: int, said: str, where: str) -> range:
    """Return the numbers that an index or a slice of Python's names."""
    words = (text or "").split(":")
    if len(words) > 3 or not all(re.fullmatch(r"\d{0,9}", word, re.ASCII) for word in words):
        raise InputError(where, f"'{said:.60}'", "an index or a slice such as [3] or [0:4]")
    numbers = [int(word) if word else None for word in words]
    if len(numbers) == 1 and numbers[0] is not None:
        found = range(numbers[0], numbers[0] + 1)
    else:
        start, stop, step = (*numbers, None, None)[:3]
        found = range(start or 0, many if stop is None else stop, 1 if step is None else step or 1)
    if not found or found[-1] >= many:
        raise InputError(where, f"'{said:.60}' of which there are {many}", f"0 to {many - 1}")
    return found


def _port(graph: _Graph, subnet: Subnet, end: _Component) -> Port:
    """Return the port of a component, or a new one if that is taken. Hosts are added."""
    key = end.instance
    if key not in subnet.devices:
        key = f"{end.instance}.{end.part}"
        if key not in subnet.devices:
            subnet.add(key, Device(HOST, key, end.instance))
    taken = graph.taken.setdefault(key, set())
    number = end.port
    if not number or number in taken:
        graph.shared += number > 0
        number = max(taken | {graph.most(end.instance)}) + 1
    taken.add(number)
    return Port(key, number)
