"""``opensm-subnet.lst`` and ibdiagnet's ``.lst``: a line for each end of a cable."""

from __future__ import annotations

import re

from netloom.base.errors import InputError
from netloom.topology.subnets.names import serves
from netloom.topology.subnets.rates import lane_rate
from netloom.topology.subnets.records import (
    HOST,
    SERVER,
    SWITCH,
    Address,
    Device,
    Port,
    Sighting,
    Subnet,
    cables_of,
    part_number,
)

_END = (
    r"\{ (?P<kind{0}>SW|CA|Rt|RT)\S* Ports:(?P<ports{0}>[0-9A-F]+) SystemGUID:[0-9A-F]+ "
    r"NodeGUID:(?P<node{0}>[0-9A-F]+) PortGUID:(?P<port{0}>[0-9A-F]+) \S+ \S+ \S+ +"
    r"(?:\{(?P<name{0}>.*?)\} )?LID:(?P<lid{0}>[0-9A-F]+) PN:(?P<number{0}>[0-9A-F]+) \}"
)
_LINE = re.compile(
    rf"^{_END.replace('{0}', '0')} {_END.replace('{0}', '1')} "
    r"PHY=(?P<width>\S+) LOG=(?P<state>\S+)(?: SPD=(?P<speed>\S+))?\s*$",
    re.IGNORECASE,
)
KINDS = {"node": "GUID", "port": "GUID", "lid": "LID", "ports": "port", "number": "port"}
"""What each number of an end is."""

WANTED = "{ END } { END } PHY=WIDTH LOG=STATE SPD=SPEED"


def read_link_list(subnet: Subnet, text: str) -> None:
    """Fill in what OpenSM or ibdiagnet lists of cables. All numbers of ends are hexadecimal.

    Each cable must be listed from both its ends, as they write it. A cable that is down is none.

    Raises
    ------
    InputError
        Naming file and line.
    """
    sightings = []
    lines = text.split("\n")
    cut = len(lines) if lines[-1] else 0
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{subnet.path}:{number}"
        found = _LINE.match(line)
        rate = lane_rate(found["width"], found["speed"] or "") if found else 0.0
        if found is None or (number == cut and not rate):
            raise InputError(where, f"'{line:.60}'", WANTED)
        if found["state"].upper() == "DWN":
            continue
        ends = [_end(subnet, found, side, number) for side in "01"]
        guid = subnet.addresses[ends[1]].guid if ends[1] in subnet.addresses else 0
        lid = part_number("LID", found["lid1"], where, 16)
        sightings.append(Sighting(ends[0], ends[1], rate, number, lid, guid))
    subnet.cables += cables_of(subnet, sightings)


def _end(subnet: Subnet, found: re.Match[str], side: str, line: int) -> Port:
    """Return an end's port. Its device is added, or compared with what other lines say of it."""

    def number(what: str) -> int:
        return part_number(KINDS[what], found[f"{what}{side}"], f"{subnet.path}:{line}", 16)

    guid, lid = number("node"), number("lid")
    kind, name = found[f"kind{side}"].upper(), found[f"name{side}"] or ""
    name = name or (f"0x{guid:016x}" if kind == "SW" else "")
    key = f"{guid:016x}"
    device = subnet.devices.get(key)
    if device is None:
        device = Device(SWITCH, name, guid=guid, ports=number("ports"), line=line)
        if kind == "SW":
            device.lid = lid
        elif kind == "RT" or serves(name):
            device.kind = SERVER
        else:
            device.kind = HOST
            device.describe(name)
        subnet.add(key, device)
    end = Port(key, number("number"))
    own = Address(number("port"), lid, 0, line)
    before = own
    if device.kind != SWITCH:
        before = subnet.addresses.setdefault(end, own)
    elif device.lid != lid:
        before = Address(own.guid, device.lid, 0, device.line)
    alike = (device.kind == SWITCH) == (kind == "SW") and device.ports == number("ports")
    if not alike or (before.guid, before.lid) != (own.guid, own.lid):
        said = f"port {end.number} of '{name}' otherwise than line {before.line} or {device.line}"
        raise InputError(f"{subnet.path}:{line}", said, "each device described alike")
    return end
