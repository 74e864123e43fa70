"""The ``.topo`` files of ibutils: systems by type and name, and the cables between their panels."""

from __future__ import annotations

import re

from netloom.base.errors import InputError
from netloom.topology.subnets.rates import lane_rate
from netloom.topology.subnets.records import (
    HOST,
    SWITCH,
    Device,
    Port,
    Sighting,
    Subnet,
    cables_of,
    part_number,
)

_SYSTEM = re.compile(r"^(\S+)\s+(\S+)\s*(CFG:.*)?$")
_CABLE = re.compile(
    r"^\s+(\S+)\s+-(?:(\d+x)-)?(?:([\d.]+)G?-)?>\s+(\S+)\s+(\S+)\s+(\S+)$", re.IGNORECASE
)
_PORT = re.compile(r"^P(\d+)$")
_SWITCHES = re.compile(
    r"^(MTS(400|800|2400|3600)|MIS50(22|23|24|25|30|31|35)|MSX60\d\d|MSB7[78]\d\d|MQM[89]7\d\d)$",
    re.IGNORECASE,
)
_HOSTS = re.compile(r"^(Cougar|CougarCub|MT2[356]\d{3}|MH[A-Z0-9]{2,4}\S*|HCA\S*)$", re.IGNORECASE)
"""Types of systems that are one chip, whose panel names its ports P1, P2 …"""


def read_system_list(subnet: Subnet, text: str) -> None:
    """Fill in what a topology file of ibutils says. It names a cable from one end or from both.

    Systems are switches of one chip or adapters, whose panels name their ports ``P1``, ``P2`` …:
    what a larger system is made of stands in another file (IBNL) and is refused.

    Raises
    ------
    InputError
        Naming file and line.
    """
    sightings: list[Sighting] = []
    kinds: dict[str, str] = {}
    owner = ""
    for number, line in enumerate(text.split("\n"), start=1):
        where = f"{subnet.path}:{number}"
        line = line.split("#", 1)[0].rstrip()
        cable, system = _CABLE.match(line), _SYSTEM.match(line)
        if not line.strip():
            continue
        if line[0] not in " \t" and system:
            if system[3]:
                raise InputError(where, f"'{system[3]:.60}'", "systems of one chip, without CFG")
            owner = _device(subnet, kinds, system[1], system[2], number)
        elif cable and owner:
            here = Port(owner, _number(cable[1], where))
            peer = _device(subnet, kinds, cable[4], cable[5], number)
            there = Port(peer, _number(cable[6], where))
            rate = lane_rate(cable[2] or "4x", cable[3]) if cable[3] else 0.0
            sightings.append(Sighting(here, there, rate, number))
        else:
            raise InputError(where, f"'{line.strip():.60}'", "TYPE NAME, or PORT -> TYPE NAME PORT")
    subnet.cables += cables_of(subnet, sightings, both_ends=False)


def _device(subnet: Subnet, kinds: dict[str, str], kind: str, name: str, line: int) -> str:
    known = kinds.setdefault(name, kind)
    if known != kind:
        found = f"system '{name}' of type {kind}"
        raise InputError(f"{subnet.path}:{line}", found, f"type {known}, as before")
    if name not in subnet.devices:
        switch = _SWITCHES.match(kind) is not None
        if not switch and not _HOSTS.match(kind):
            wanted = "switches of one chip (MTS2400 …) or adapters (MT23108, Cougar …)"
            raise InputError(f"{subnet.path}:{line}", f"a system of type '{kind}'", wanted)
        device = Device(SWITCH if switch else HOST, name, line=line)
        if not switch:
            device.describe(name)
        subnet.add(name, device)
    return name


def _number(panel: str, where: str) -> int:
    found = _PORT.match(panel)
    if found is None:
        wanted = "ports P1, P2 … of a system of one chip"
        raise InputError(where, f"port '{panel}'", wanted)
    return part_number("port", found[1], where)
