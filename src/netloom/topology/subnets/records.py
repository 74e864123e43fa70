"""What a reader finds in an administrator's file: devices, their ports, and cables between them.

A reader fills a ``Subnet``. ``subnet_topology`` makes a network of it, whatever the format.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.subnets.names import adapter_of, host_of

HOST, SWITCH, SERVER = "host", "switch", "server"
"""Kinds of devices: what runs programs, what forwards, and an end point that runs none.

The last are aggregation nodes of switches, routers to other subnets, and gateways.
"""


MOST_DEVICES = 2**18
"""Most switches and adapters of a file: each takes some 2,000 bytes while it is read."""

BOUNDS = {"port": 2**16 - 1, "LID": 2**16 - 1, "LMC": 7, "GUID": 2**64 - 1}
"""The largest numbers that a file may give its parts."""


def part_number(kind: str, text: str | None, where: str, base: int = 10) -> int:
    """Read the number of a port, a LID, LMC or GUID. 0 if the file says none.

    Raises
    ------
    InputError
        If it is above ``BOUNDS``. The error names ``where`` and the kind.
    """
    return whole_number(text or "0", where=f"{where}, {kind}", most=BOUNDS[kind], base=base)


def check_devices(many: int, where: str) -> None:
    """Refuse more than ``MOST_DEVICES``."""
    if many > MOST_DEVICES:
        raise InputError(where, f"over {MOST_DEVICES:,} switches and hosts", "fewer")


@dataclass(slots=True)
class Device:
    """A switch or an adapter.

    Attributes
    ----------
    kind
        HOST, SWITCH or SERVER.
    name
        What the file calls it. Not necessarily unique.
    computer
        The computer that owns it, where it is one of several adapters or is called otherwise.
    adapter
        What the file calls it among those of its computer, such as ``mlx5_0``. Empty if nothing.
    guid
        Of the node, or 0 if the file says none.
    ports
        How many ports it has, or 0 if the file says none.
    lid, lmc
        A switch's local identifier, or 0 if the file says none.
    line
        Where the file begins to describe it.
    """

    kind: str
    name: str
    computer: str = ""
    guid: int = 0
    ports: int = 0
    lid: int = 0
    lmc: int = 0
    line: int = 0
    adapter: str = ""

    def describe(self, description: str) -> None:
        """Set the names of an adapter from its description."""
        self.name, self.computer = host_of(description, self.guid)
        self.adapter = adapter_of(description)


class Port(NamedTuple):
    """A port: the key of its device in ``Subnet.devices``, and its number there."""

    device: str
    number: int


@dataclass(slots=True)
class Address:
    """What a file says of an end point's port, and in which line."""

    guid: int = 0
    lid: int = 0
    lmc: int = 0
    line: int = 0


class Cable(NamedTuple):
    """A cable between two ports, good both ways.

    Attributes
    ----------
    first, second
        The ports at its ends.
    gbps
        Its rate in Gb/s each way, or 0 if the file says none.
    cycles
        Its latency from the first port to the second, and back.
    """

    first: Port
    second: Port
    gbps: float = 0.0
    cycles: tuple[int, int] = (1, 1)


class Sighting(NamedTuple):
    """A cable as one of its ends sees it.

    Attributes
    ----------
    here, there
        The end that sees it, and the other.
    gbps
        Its rate each way, or 0 if the line says none.
    line
        Of the file.
    lid, guid
        Of the other end, a switch's or a port's, or 0 if the line says none.
    """

    here: Port
    there: Port
    gbps: float
    line: int
    lid: int = 0
    guid: int = 0


@dataclass
class Subnet:
    """All that a file says of a network.

    Attributes
    ----------
    name
        The spec that the network gets, such as ``fabric:FILE``.
    path
        The file, for messages.
    devices
        By any key that is unique, in the order of the file.
    cables
        Each once.
    addresses
        Of ports of hosts and aggregation nodes, where the file says any.
    natural
        Whether vertices are numbered as their names order them (``node9`` before ``node10``),
        which does not depend on where a scan began. Otherwise as the file lists them.
    ports
        Whether the file numbers ports. If it does not, the network has no ``Cabling``.
    relative
        Whether rates are numbers without a unit, to compare with each other, rather than Gb/s.
    notes
        As in ``Topology``.
    """

    name: str
    path: str
    devices: dict[str, Device] = field(default_factory=dict)
    cables: list[Cable] = field(default_factory=list)
    addresses: dict[Port, Address] = field(default_factory=dict)
    natural: bool = True
    ports: bool = True
    relative: bool = False
    notes: list[str] = field(default_factory=list)

    def add(self, key: str, device: Device) -> None:
        """Add a device.

        Raises
        ------
        InputError
            If the file had one of this key before, or ``MOST_DEVICES``.
        """
        where = f"{self.path}:{device.line}" if device.line else self.path
        check_devices(len(self.devices) + 1, where)
        if key in self.devices:
            found = f"'{key}' again, after line {self.devices[key].line}"
            raise InputError(f"{self.path}:{device.line}", found, "each device once")
        self.devices[key] = device


def cables_of(subnet: Subnet, sightings: list[Sighting], *, both_ends: bool = True) -> list[Cable]:
    """Return the cables, each of which both ends must have seen.

    What one end says of the other's LID and GUID must be what that says itself, and is taken where
    that says nothing. ``both_ends=False``: the format names a cable from one end or from both.

    Raises
    ------
    InputError
        If two lines are of one port, a device has no such port, or a cable leads back to its
        device. If an end did not see a cable, or saw another: the network changed during the scan,
        or a part of the file is missing.
    """
    seen: dict[Port, Sighting] = {}
    for sighting in sightings:
        _check_ports(subnet, sighting)
        first = seen.setdefault(sighting.here, sighting)
        if first is not sighting:
            found = f"{_port(subnet, sighting.here)} again, after line {first.line}"
            raise InputError(f"{subnet.path}:{sighting.line}", found, "each port once")
    taken: dict[Port, Sighting] = {}
    cables = []
    for sighting in sightings:
        back = seen.get(sighting.there)
        torn = back is None if both_ends else False
        if torn or (back is not None and back.there != sighting.here):
            raise InputError(
                f"{subnet.path}:{sighting.line}", _torn(subnet, sighting, back),
                "every cable seen alike from both its ends: scan the fabric again",
            )  # fmt: skip
        _check_address(subnet, sighting)
        if back is not None and back.line < sighting.line:
            continue
        for end in (sighting.here, sighting.there):
            first = taken.setdefault(end, sighting)
            if first is not sighting:
                found = f"{_port(subnet, end)} again, after line {first.line}"
                raise InputError(f"{subnet.path}:{sighting.line}", found, "each port once")
        rates = [each for each in (sighting.gbps, back.gbps if back else 0.0) if each]
        cables.append(Cable(sighting.here, sighting.there, min(rates, default=0.0)))
    return cables


def check_addresses(subnet: Subnet) -> None:
    """Refuse a GUID or a LID that two devices, or two ports, have.

    Raises
    ------
    InputError
        Naming the line of the second.
    """
    said: list[tuple[str, int, int, Port]] = []
    for key, device in subnet.devices.items():
        itself = Port(key, 0)
        said.append(("GUID", device.guid, device.line, itself))
        lids = range(device.lid, device.lid + 2**device.lmc) if device.lid else ()
        said += [("LID", lid, device.line, itself) for lid in lids]
    for end, address in subnet.addresses.items():
        said.append(("port GUID", address.guid, address.line, end))
        lids = range(address.lid, address.lid + 2**address.lmc) if address.lid else ()
        said += [("LID", lid, address.line, end) for lid in lids]
    first: dict[tuple[str, int], tuple[int, Port]] = {}
    for what, value, line, owner in said:
        at, other = first.setdefault((what, value), (line, owner))
        if value and other != owner:
            early, late = sorted((at, line))
            shown = f"{value}" if what == "LID" else f"{value:#x}"
            found = f"{what} {shown} again, after line {early}"
            raise InputError(f"{subnet.path}:{late}", found, f"each {what} once")


def _check_ports(subnet: Subnet, sighting: Sighting) -> None:
    for end in (sighting.here, sighting.there):
        device = subnet.devices.get(end.device)
        if device is not None and not 1 <= end.number <= (device.ports or end.number):
            has = f"ports 1 to {device.ports}" if device.ports else "a port from 1 on"
            raise InputError(f"{subnet.path}:{sighting.line}", _port(subnet, end), has)
    if sighting.here.device == sighting.there.device:
        found = f"a cable from {_port(subnet, sighting.here)} to the same device"
        raise InputError(f"{subnet.path}:{sighting.line}", found, "cables between two devices")


def _check_address(subnet: Subnet, sighting: Sighting) -> None:
    """Compare what one end says of the other's address with what that says. Fill in what is not."""
    device = subnet.devices[sighting.there.device]
    if device.kind == SWITCH:
        own = Address(device.guid, device.lid, 0, device.line)
        device.lid = device.lid or sighting.lid
    else:
        own = subnet.addresses.setdefault(sighting.there, Address(line=sighting.line))
        own.guid = own.guid or sighting.guid
        own.lid = own.lid or sighting.lid
    said = [("LID", sighting.lid, own.lid), ("GUID", sighting.guid, own.guid)]
    for what, seen, is_own in said:
        if seen and is_own and seen != is_own:
            form = "#x" if what == "GUID" else "d"
            found = f"{what} {seen:{form}} of {_port(subnet, sighting.there)}"
            wanted = f"{is_own:{form}}, as line {own.line} says"
            raise InputError(f"{subnet.path}:{sighting.line}", found, wanted)


def _port(subnet: Subnet, end: Port) -> str:
    device = subnet.devices.get(end.device)
    return f"port {end.number} of '{device.name if device else end.device}'"


def _torn(subnet: Subnet, sighting: Sighting, back: Sighting | None) -> str:
    said = f"{_port(subnet, sighting.here)} cabled to {_port(subnet, sighting.there)}"
    if sighting.there.device not in subnet.devices:
        return f"{said}, which the file does not list"
    if back is None:
        return f"{said}, which says no cable"
    return f"{said}, which line {back.line} says is cabled to {_port(subnet, back.there)}"
