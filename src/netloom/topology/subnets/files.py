"""Which format a file is in, and the network that it describes: ``fabric:FILE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.errors import InputError
from netloom.textfiles import read_text
from netloom.topology.subnets.built import subnet_topology
from netloom.topology.subnets.ibnetdiscover import read_ibnetdiscover
from netloom.topology.subnets.records import Subnet

if TYPE_CHECKING:
    from netloom.topology.core import Topology

WANTED = "the output of ibnetdiscover"


def read_fabric(path: str, name: str = "") -> Topology:
    """Return the network that an administrator's file describes; its format is recognised.

    Raises
    ------
    InputError
        If the format is not known, or naming file and line.
    """
    text = read_text(path, wanted=WANTED)
    subnet = Subnet(name or f"fabric:{path}", path)
    read_ibnetdiscover(subnet, enumerate(text.split("\n"), start=1))
    if not subnet.devices:
        raise InputError(path, "a format that is not known", WANTED)
    return subnet_topology(subnet)
