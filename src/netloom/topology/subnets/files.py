"""Which format a file is in, and the network that it describes: ``fabric:FILE``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from netloom.base.errors import InputError
from netloom.base.textfiles import file_kind, read_text
from netloom.topology.core import Topology
from netloom.topology.graph import is_edge_list
from netloom.topology.subnets import computers, infiniband, simulators, slurm
from netloom.topology.subnets.records import Subnet, check_addresses, subnet_topology


class Format(NamedTuple):
    """A kind of file that describes a network.

    Attributes
    ----------
    name
        What messages call it, in a word or two.
    looks
        Whether a text is of this kind. The first format of ``FORMATS`` that says so reads it.
    read
        Fills a ``Subnet`` from the text, or returns the network itself where it is one of a family
        that netloom makes. Raises ``InputError`` naming file and line.
    """

    name: str
    looks: Callable[[str], bool]
    read: Callable[[Subnet, str], Topology | None]


def read_fabric(path: str, name: str = "") -> Topology:
    """Return the network that an administrator's file describes. Its format is recognized.

    What the file leaves open, and netloom took for it, is in ``notes``.

    Raises
    ------
    InputError
        If the format is not known, or naming file and line.
    """
    wanted = f"one of {', '.join(each.name for each in FORMATS)}"
    file, hosts, (before, _, number) = path, 0, path.rpartition("/")
    said = re.fullmatch(r"[1-9]\d{0,5}", number, re.ASCII)
    if said and file_kind(path) != "a file" and file_kind(before) == "a file":
        file, hosts = before, int(number)  # as in inter-theta/4, of each router
    subnet = Subnet(name or f"fabric:{path}", file)
    text = read_text(file, wanted=wanted)
    if "\0" in text and simulators.is_wiring(file):
        return simulators.read_wiring(subnet, hosts)
    if hosts:
        raise InputError(path, f"hosts of each router behind {file}", "a wiring of CODES there")
    if not text.strip():
        raise InputError(path, "an empty file", wanted)
    zero = text.find("\0")
    if zero >= 0:
        where = f"{path}:{text.count(chr(10), 0, zero) + 1}"
        raise InputError(where, "a byte that is zero", f"a text: {wanted}")
    form = next((each for each in FORMATS if each.looks(text)), None)
    if form is None and is_edge_list(text):
        raise InputError(path, "a list of links", f"graph:{path}, which reads it")
    if form is None:
        raise InputError(f"{path}:1", "a format that is not known", wanted)
    found = form.read(subnet, text)
    if found is not None:
        return found
    if not subnet.devices:
        where = f"{path}:{len(text.splitlines())}"
        raise InputError(where, f"no device in what begins as {form.name}", "a whole file")
    check_addresses(subnet)
    return subnet_topology(subnet)


def spec_of_file(path: str) -> str:
    """Return the spec of the network in a file: ``graph:`` for GraphML and lists of links.

    Examples
    --------
    >>> spec_of_file("examples/my-cluster.txt"), spec_of_file("examples/dgx-40.ibnetdiscover")
    ('graph:examples/my-cluster.txt', 'fabric:examples/dgx-40.ibnetdiscover')
    """
    if path.endswith(".graphml"):
        return f"graph:{path}"
    text = read_text(path, wanted="a network")
    links = is_edge_list(text) and not any(each.looks(text) for each in FORMATS)
    return f"{'graph' if links else 'fabric'}:{path}"


def _has(pattern: str) -> Callable[[str], bool]:
    """Return whether a line of a text begins in a way. Blanks do not go beyond it."""
    blank = pattern.replace(r"\s", r"[^\S\n]")
    found = re.compile(blank, re.MULTILINE | re.IGNORECASE)
    return lambda text: found.search(text) is not None


def _has_keys(*keys: str) -> Callable[[str], bool]:
    """Return whether a text in YAML or JSON has some keys."""
    found = [re.compile(rf'(?:^[^\S\n]*|")(?:- )?{key}"?[^\S\n]*:', re.MULTILINE) for key in keys]
    return lambda text: all(each.search(text) for each in found)


def _starts(text: str, tag: str) -> bool:
    """Return whether the outermost element of a text in XML is one of a name."""
    before = r"(?:\s+|<\?[^>]*>|<!--.*?-->|<!(?!--)[^>]*>)*+"
    return re.match(rf"{before}<{tag}[\s>]", text, re.DOTALL) is not None


FORMATS = (
    Format(  # and what is printed of a group or a fabric
        "ibnetdiscover", _has(r"^(vendid=|switchguid=|caguid=|# Topology file: )"),
        infiniband.read_ibnetdiscover),
    Format(  # a network that it simulates
        "ibsim", _has(r'^((Switch|Ca|Hca|Rt)\s+\d+\s*"|include ")'), infiniband.read_ibnetdiscover),
    Format(  # a line for each port
        "ibnetdiscover -p", _has(r"^(CA|SW|RT)\s+\d+\s+\d+\s+0x[0-9a-f]{4,} "),
        infiniband.read_port_report),
    Format(  # the cables that OpenSM or ibdiagnet lists
        "opensm-subnet.lst", _has(r"^\{ (CA|SW|Rt)\S* Ports:"), infiniband.read_link_list),
    Format(  # with -l or without
        "iblinkinfo", _has(r"^((CA|Switch|Router)(: | 0x).*:\s*$|\s*0x[0-9a-f]+ .*==\()"),
        infiniband.read_linkinfo),
    Format(  # a topology file of ibutils
        ".topo", _has(r"^\s+\S+\s+-(\d+x-)?([\d.]+G?-)?>\s+\S+\s+\S+\s+\S+\s*(#|$)"),
        infiniband.read_system_list),
    Format(  # a tree, blocks or a ring
        "Slurm's topology.conf", _has(r"^\s*(SwitchName|BlockName|BlockSizes|RingName)\s*="),
        slurm.read_topology_conf),
    Format(  # a tree, blocks, a ring or a torus
        "Slurm's topology.yaml", _has(r"^\s*-\s+topology:"), slurm.read_topology_yaml),
    Format(  # switches and nodes as NVIDIA's topograph has them
        "topograph's model", _has(r"^(switches|blocks|capacity_blocks):"), slurm.read_topograph),
    Format(
        "BookSim's anynet", _has(r"^\s*(router|node)\s+\d+\s+(router|node)\s+\d+"),
        simulators.read_anynet),
    Format(  # an infrastructure in JSON or YAML
        "InfraGraph", _has_keys("instances", "devices"), computers.read_infrastructure),
    Format(  # one cluster: a torus, fat tree, dragonfly or star
        "SimGrid's platform", lambda text: _starts(text, "platform"), simulators.read_platform),
    Format(  # GPUs, network cards and what joins them in one machine
        "NCCL's topology", lambda text: _starts(text, "system"), computers.read_machine),
    Format(  # a dragonfly, and the files of its wiring
        "CODES's .conf", _has(r"^\s*(intra|inter)-group-connections\s*="), simulators.read_conf),
)  # fmt: skip
"""Every kind of file that ``fabric:FILE`` takes. The first that recognizes a text reads it."""
