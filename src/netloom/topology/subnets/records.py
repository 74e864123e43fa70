"""What a reader finds in an administrator's file: devices, their ports, and cables between them.

A reader fills a ``Subnet``; ``subnet_topology`` makes a network of it, whatever the format.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from netloom.errors import InputError

HOST, SWITCH, AGGREGATION = "host", "switch", "aggregation"
"""Kinds of devices: what runs programs, what forwards, and what hangs on a switch to serve it."""


@dataclass
class Device:
    """A switch or an adapter.

    Attributes
    ----------
    kind
        HOST, SWITCH or AGGREGATION.
    name
        What the file calls it; not necessarily unique.
    computer
        The computer that owns it, where it is one of several adapters or is called otherwise.
    guid
        Of the node; 0 where the file says none.
    ports
        How many ports it has; 0 where the file says none.
    lid, lmc
        A switch's local identifier; 0 where the file says none.
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


class Port(NamedTuple):
    """A port: the key of its device in ``Subnet.devices``, and its number there."""

    device: str
    number: int


@dataclass
class Address:
    """What a file says of a host's port."""

    guid: int = 0
    lid: int = 0
    lmc: int = 0


class Cable(NamedTuple):
    """A cable between two ports, good both ways.

    Attributes
    ----------
    first, second
        The ports at its ends.
    gbps
        Its rate in Gb/s each way; 0 where the file says none.
    """

    first: Port
    second: Port
    gbps: float = 0.0


class Sighting(NamedTuple):
    """A cable as one of its ends sees it."""

    here: Port
    there: Port
    gbps: float
    line: int


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
        which does not depend on where a scan began; otherwise as the file lists them.
    """

    name: str
    path: str
    devices: dict[str, Device] = field(default_factory=dict)
    cables: list[Cable] = field(default_factory=list)
    addresses: dict[Port, Address] = field(default_factory=dict)
    natural: bool = True

    def add(self, key: str, device: Device) -> None:
        """Add a device.

        Raises
        ------
        InputError
            If the file had one of this key before.
        """
        if key in self.devices:
            found = f"'{key}' again, after line {self.devices[key].line}"
            raise InputError(f"{self.path}:{device.line}", found, "each device once")
        self.devices[key] = device


def cables_of(subnet: Subnet, sightings: list[Sighting]) -> list[Cable]:
    """Return the cables, each of which both ends must have seen.

    Raises
    ------
    InputError
        If two lines are of one port, or an end did not see a cable, or saw another: the scan raced
        with a change, or a part of the file is missing.
    """
    seen: dict[Port, Sighting] = {}
    for sighting in sightings:
        first = seen.setdefault(sighting.here, sighting)
        if first is not sighting:
            name = subnet.devices[sighting.here.device].name
            found = f"port {sighting.here.number} of '{name}' again, after line {first.line}"
            raise InputError(f"{subnet.path}:{sighting.line}", found, "each port once")
    found_cables = []
    for sighting in sightings:
        back = seen.get(sighting.there)
        if back is None or back.there != sighting.here:
            raise InputError(
                f"{subnet.path}:{sighting.line}", _torn(subnet, sighting, back),
                "every cable seen from both its ends: scan the fabric again",
            )  # fmt: skip
        if seen[sighting.here] is sighting and _first_end(sighting, back):
            gbps = min(sighting.gbps, back.gbps) or max(sighting.gbps, back.gbps)
            found_cables.append(Cable(sighting.here, sighting.there, gbps))
    return found_cables


def _first_end(sighting: Sighting, back: Sighting) -> bool:
    return sighting.line <= back.line


def _torn(subnet: Subnet, sighting: Sighting, back: Sighting | None) -> str:
    def port(end: Port) -> str:
        device = subnet.devices.get(end.device)
        return f"port {end.number} of '{device.name if device else end.device}'"

    said = f"{port(sighting.here)} cabled to {port(sighting.there)}"
    if sighting.there.device not in subnet.devices:
        return f"{said}, which the file does not list"
    if back is None:
        return f"{said}, which says no cable"
    return f"{said}, which line {back.line} says is cabled to {port(back.there)}"
