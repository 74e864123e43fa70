"""The output of ``ibnetdiscover``, and what ibsim reads: the same form, of which it says less."""

from __future__ import annotations

import re

from netloom.errors import InputError
from netloom.topology.subnets.names import host_of
from netloom.topology.subnets.rates import gbps_of
from netloom.topology.subnets.records import (
    AGGREGATION,
    HOST,
    SWITCH,
    Address,
    Device,
    Port,
    Sighting,
    Subnet,
    cables_of,
)

_NODE = re.compile(r'^(Switch|Ca|Hca|Rt)\s+(\d+)\s+"([^"]*)"\s*(?:#\s*(.*))?$', re.IGNORECASE)
_PORT = re.compile(
    r'^\[(\d+)\](?:\[ext \d+\])?\s*(?:\(([0-9a-f]+)\))?\s*"([^"]*)"\s*\[(\d+)\]'
    r"(?:\[ext \d+\])?\s*(?:\(([0-9a-f]+)\))?\s*(?:#\s*(.*))?$",
    re.IGNORECASE,
)
_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"')
_LID = re.compile(r"\blid (\d+)")
_LMC = re.compile(r"\blmc (\d+)")
_GUID = re.compile(r"^(?:[SHR]-)?(?:0x)?([0-9a-f]+)$", re.IGNORECASE)


def read_ibnetdiscover(subnet: Subnet, text: str) -> None:
    """Fill in what a file of ``ibnetdiscover`` says.

    Raises
    ------
    InputError
        Naming file and line.
    """
    sightings: list[Sighting] = []
    key = ""
    for number, line in enumerate(text.split("\n"), start=1):
        node = _NODE.match(line)
        if node:
            key = node[3]
            subnet.add(key, _device(node, number))
            continue
        port = _PORT.match(line)
        if port and key:
            sightings.append(_sighting(subnet, key, port, number))
        elif line.startswith("["):
            found = f"'{line:.60}'"
            raise InputError(f"{subnet.path}:{number}", found, '[PORT] "PEER"[PORT] of a device')
    subnet.cables += cables_of(subnet, sightings)


def _device(node: re.Match[str], line: int) -> Device:
    said = node[4] or ""
    named = _NAME.search(said)
    name = named[1] if named else node[3]
    guid = _GUID.match(node[3])
    found = Device(SWITCH, name, guid=int(guid[1], 16) if guid else 0, ports=int(node[2]))
    found.line = line
    if node[1].lower() == "switch":
        lid, lmc = _LID.search(said), _LMC.search(said)
        found.lid, found.lmc = int(lid[1]) if lid else 0, int(lmc[1]) if lmc else 0
    elif "Aggregation Node" in name:
        found.kind = AGGREGATION
    else:
        found.kind = HOST
        found.name, found.computer = host_of(name, found.guid)
    return found


def _sighting(subnet: Subnet, key: str, port: re.Match[str], line: int) -> Sighting:
    here = Port(key, int(port[1]))
    said = port[6] or ""
    if subnet.devices[key].kind != SWITCH:
        lid, lmc = _LID.search(said), _LMC.search(said)
        subnet.addresses[here] = Address(
            int(port[2], 16) if port[2] else 0,
            int(lid[1]) if lid else 0,
            int(lmc[1]) if lmc else 0,
        )
    words = _NAME.sub("", said).split()
    return Sighting(here, Port(port[3], int(port[4])), gbps_of(words), line)
