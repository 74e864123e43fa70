"""Which format a file is in, and the network that it describes: ``fabric:FILE``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netloom.errors import InputError
from netloom.textfiles import read_text
from netloom.topology.subnets.anynet import read_anynet
from netloom.topology.subnets.built import subnet_topology
from netloom.topology.subnets.ibnetdiscover import read_ibnetdiscover
from netloom.topology.subnets.link_lists import read_link_list
from netloom.topology.subnets.port_lists import read_linkinfo, read_port_report
from netloom.topology.subnets.records import Subnet, check_addresses
from netloom.topology.subnets.slurm import read_topology_conf, read_topology_yaml
from netloom.topology.subnets.system_lists import read_system_list
from netloom.topology.subnets.topograph import read_topograph

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.topology.core import Topology


class Format(NamedTuple):
    """A kind of file that describes a network.

    Attributes
    ----------
    name
        What messages call it, in a word or two.
    says
        What it is, in plain words.
    looks
        Whether a text is of this kind; the first format of ``FORMATS`` that says so reads it.
    read
        Fills a ``Subnet`` from the text, or returns the network itself where it is one of a family
        that netloom makes; raises ``InputError`` naming file and line.
    """

    name: str
    says: str
    looks: Callable[[str], bool]
    read: Callable[[Subnet, str], Topology | None]


def read_fabric(path: str, name: str = "") -> Topology:
    """Return the network that an administrator's file describes; its format is recognised.

    Raises
    ------
    InputError
        If the format is not known, or naming file and line.
    """
    wanted = f"one of {', '.join(each.name for each in FORMATS)}"
    text = read_text(path, wanted=wanted)
    if not text.strip():
        raise InputError(path, "an empty file", wanted)
    zero = text.find("\0")
    if zero >= 0:
        where = f"{path}:{text.count(chr(10), 0, zero) + 1}"
        raise InputError(where, "a byte that is zero", f"a text: {wanted}")
    form = next((each for each in FORMATS if each.looks(text)), None)
    if form is None:
        raise InputError(f"{path}:1", "a format that is not known", wanted)
    subnet = Subnet(name or f"fabric:{path}", path)
    found = form.read(subnet, text)
    if found is not None:
        return found
    if not subnet.devices:
        raise InputError(path, f"no device in what begins as {form.name}", "a whole file")
    check_addresses(subnet)
    return subnet_topology(subnet)


def _has(pattern: str) -> Callable[[str], bool]:
    """Return whether a line of a text begins in a way."""
    found = re.compile(pattern, re.MULTILINE | re.IGNORECASE)
    return lambda text: found.search(text) is not None


FORMATS: tuple[Format, ...] = (
    Format(
        "ibnetdiscover", "what ibnetdiscover prints",
        _has(r"^(vendid=|switchguid=|caguid=|# Topology file: )"), read_ibnetdiscover,
    ),
    Format(
        "ibsim", "a network that ibsim simulates",
        _has(r'^((Switch|Ca|Hca|Rt)\s+\d+\s*"|include ")'), read_ibnetdiscover,
    ),
    Format(
        "ibnetdiscover -p", "a line for each port, as ibnetdiscover -p prints",
        _has(r"^(CA|SW|RT)\s+\d+\s+\d+\s+0x[0-9a-f]{4,} "), read_port_report,
    ),
    Format(
        "opensm-subnet.lst", "the cables that OpenSM or ibdiagnet lists",
        _has(r"^\{ (CA|SW|Rt)\S* Ports:"), read_link_list,
    ),
    Format(
        "iblinkinfo", "what iblinkinfo prints, with -l or without",
        _has(r"^((CA|Switch|Router): .*:\s*$|\s*0x[0-9a-f]+ .*==\()"), read_linkinfo,
    ),
    Format(
        ".topo", "a topology file of ibutils",
        _has(r"^\s+\S+\s+-(\d+x-)?([\d.]+G?-)?>\s+\S+\s+\S+\s+\S+\s*(#|$)"), read_system_list,
    ),
    Format(
        "Slurm's topology.conf", "a tree, blocks or a ring, as Slurm has them",
        _has(r"^\s*(SwitchName|BlockName|BlockSizes|RingName)\s*="), read_topology_conf,
    ),
    Format(
        "Slurm's topology.yaml", "a tree, blocks, a ring or a torus, as Slurm has them",
        _has(r"^\s*-\s+topology:"), read_topology_yaml,
    ),
    Format(
        "topograph's model", "switches and nodes as NVIDIA's topograph has them",
        _has(r"^(switches|blocks|capacity_blocks):"), read_topograph,
    ),
    Format(
        "BookSim's anynet", "a network file of BookSim's anynet",
        _has(r"^\s*(router|node)\s+\d+\s+(router|node)\s+\d+"), read_anynet,
    ),
)  # fmt: skip
"""Every kind of file that ``fabric:FILE`` takes; the first that recognises a text reads it."""
