"""Devices, ports and cables that a file lists, checked, and the network that they make.

A reader of an administrator's file fills a ``Subnet``. ``cables_of`` checks that both ends of a
cable say the same. ``subnet_topology`` makes a network of it, whatever the format.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.base.words import counted
from netloom.topology.core import Cabling, OtherEnds, Topology
from netloom.topology.graph import NO_UNIT, NOTHING, Drawing, Link, Said, Vertex
from netloom.topology.names import host_of, natural, serves
from netloom.topology.subnets.shapes import Adapter, rails_of

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
        self.name, self.computer, self.adapter = host_of(description, self.guid)

    def classify(self, word: str) -> None:
        """Set kind and names by a file's word for it: a switch (SW…), a router (R…), an adapter."""
        if word[:2].upper() == "SW":
            self.kind = SWITCH
        elif word[:1].upper() == "R" or serves(self.name):
            self.kind = SERVER
        else:
            self.kind = HOST
            self.describe(self.name)


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

    @property
    def ends(self) -> set[str]:
        """The keys of the devices at its ends."""
        return {self.first.device, self.second.device}


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
    taken
        How many ports of each device ``join`` has taken, by key.
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
    taken: dict[str, int] = field(default_factory=dict)

    def join(
        self, one: str, other: str, gbps: float = 0.0, cycles: tuple[int, int] = (1, 1)
    ) -> None:
        """Add a cable between the next ports of two devices, where a file does not number them."""
        ends = []
        for key in (one, other):
            self.taken[key] = self.taken.get(key, 0) + 1
            ends.append(Port(key, self.taken[key]))
        self.cables.append(Cable(ends[0], ends[1], gbps, cycles))

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
    taken: dict[Port, Sighting] = {}
    cables = []

    def take(ports: dict[Port, Sighting], end: Port, sighting: Sighting) -> None:
        first = ports.setdefault(end, sighting)
        if first is not sighting:
            found = f"{_port(subnet, end)} again, after line {first.line}"
            raise InputError(f"{subnet.path}:{sighting.line}", found, "each port once")

    for sighting in sightings:
        _check_ports(subnet, sighting)
        take(seen, sighting.here, sighting)
    for sighting in sightings:
        back = seen.get(sighting.there)
        torn = back is None if both_ends else False
        if torn or (back is not None and back.there != sighting.here):
            wanted = "every cable seen alike from both its ends: scan the fabric again"
            where = f"{subnet.path}:{sighting.line}"
            raise InputError(where, _torn(subnet, sighting, back), wanted)
        _check_address(subnet, sighting)
        if back is not None and back.line < sighting.line:
            continue
        take(taken, sighting.here, sighting)
        take(taken, sighting.there, sighting)
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
    parts: list[tuple[str, Port, Device | Address]] = [
        ("GUID", Port(key, 0), device) for key, device in subnet.devices.items()
    ]
    parts += [("port GUID", end, address) for end, address in subnet.addresses.items()]
    said = []
    for what, owner, part in parts:
        said.append((what, part.guid, part.line, owner))
        lids = range(part.lid, part.lid + 2**part.lmc) if part.lid else ()
        said += [("LID", lid, part.line, owner) for lid in lids]
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


def subnet_topology(subnet: Subnet) -> Topology:
    """Return the network that a subnet is: hosts on routers.

    Hosts are adapters with a cable, in the order of their names, or of the file (see ``Subnet``),
    so are routers. Channels are sorted by router and port. Host ports by host and port. Bandwidths
    are relative to the rate of most host ports, of several such to the slowest. All are 1 where
    the file says no rates.

    Raises
    ------
    InputError
        If there are no hosts or no switches, a cable joins two hosts, or two hosts cannot both
        reach each other.
    """
    devices, cabled = subnet.devices, set[str]().union(*(cable.ends for cable in subnet.cables))
    hosts = [key for key, device in devices.items() if device.kind == HOST and key in cabled]
    routers = [key for key, device in devices.items() if device.kind == SWITCH]
    if not hosts or not routers:
        found = f"{len(hosts)} hosts with a cable and {len(routers)} switches"
        raise InputError(subnet.path, found, "at least one of each")
    if subnet.natural:

        def order(key: str) -> tuple[object, ...]:
            device = devices[key]
            computer = device.computer or device.name
            return not device.computer, natural(computer), natural(device.name), device.guid

        hosts.sort(key=order)
        routers.sort(key=order)
    drawing = Drawing(subnet.name, labelled=True)
    for kind, some in (("host", hosts), ("switch", routers)):
        counts = Counter(devices[key].name for key in some)
        for place, key in enumerate(some):
            device, label = devices[key], devices[key].name
            if counts[label] > 1:  # told apart by GUID, or place
                label += f"@0x{device.guid:016x}" if device.guid else f"@{place}"
            drawing.vertices[key] = Vertex(kind, label, device.computer or label)
    cables = [each for each in subnet.cables if each.ends <= drawing.vertices.keys()]
    unrated = sum(not cable.gbps for cable in cables)
    notes = tuple(subnet.notes)
    if 0 < unrated < len(cables):
        said = f"No rate is known of {unrated} of {counted(len(cables), 'cable')}"
        notes = (*notes, f"{said}: netloom takes all to be equally fast.")
    for cable in cables:
        if {devices[key].kind for key in cable.ends} == {HOST}:
            pair = " - ".join(devices[end.device].name for end in cable[:2])
            raise InputError(subnet.path, f"a cable between two hosts: {pair}", "hosts on switches")
        unit = NO_UNIT if subnet.relative else "Gb/s"
        rate = NOTHING if unrated else Said(cable.gbps, unit)
        one, other, _, cycles = cable
        for here, there, delay in ((one, other, cycles[0]), (other, one, cycles[1])):
            late = Said(delay, "cycles")
            link = Link(here.device, there.device, rate, late, here.number, there.number)
            drawing.links.append(link)
    network = replace(drawing.topology(), notes=notes)
    if subnet.ports:
        network = replace(network, cabling=_cabling(subnet, network, drawing, hosts, routers))
    return network


def _cabling(
    subnet: Subnet, network: Topology, drawing: Drawing, hosts: list[str], routers: list[str]
) -> Cabling:
    devices, none = subnet.devices, Address()
    links = [drawing.links[place] for place in drawing.order.tolist()]
    out_port = np.array([link.out_port for link in links], np.int32)
    in_port = np.array([link.in_port for link in links], np.int32)
    injected = links[network.num_network_channels :][: network.num_ports]
    said = [subnet.addresses.get(Port(str(link.source), link.out_port), none) for link in injected]
    used = np.zeros(network.num_ends, np.int32)  # the largest number of a port
    used[len(hosts) :] = [devices[key].ports for key in routers]
    np.maximum.at(used, network.source_end, out_port)
    own = [devices[key] for key in hosts]
    leaves = network.injection_router[network.port_offsets[:-1]].tolist()
    rail, rail_names = rails_of(
        [Adapter(each.computer, each.adapter, at) for each, at in zip(own, leaves, strict=True)]
    )
    others = []
    router = {key: place for place, key in enumerate(routers)}
    for cable in subnet.cables:
        for end, peer in ((cable.first, cable.second), (cable.second, cable.first)):
            device = devices[end.device]
            if device.kind == SERVER and peer.device in router:
                address = subnet.addresses.get(end, none)
                place = router[peer.device], peer.number
                others.append((*place, address.guid or device.guid, address.lid, device.name))
    at, port, guid, lid, names = zip(*sorted(others), strict=True) if others else ((),) * 5
    plugged = set(hosts)
    lost = [d.name for key, d in devices.items() if d.kind == HOST and key not in plugged]
    return Cabling(
        out_port=out_port,
        in_port=in_port,
        router_guid=np.array([devices[key].guid for key in routers], np.uint64),
        host_guid=np.array([each.guid for each in own], np.uint64),
        port_guid=np.array([each.guid for each in said], np.uint64),
        router_lid=np.array([devices[key].lid for key in routers], np.int32),
        port_lid=np.array([each.lid for each in said], np.int32),
        lmc=np.array([each.lmc for each in said], np.int32),
        router_ports=used[len(hosts) :],
        others=OtherEnds(
            names,
            np.array(at, np.int32),
            np.array(port, np.int32),
            np.array(guid, np.uint64),
            np.array(lid, np.int32),
        ),
        rail=np.array(rail, np.int32),
        rail_names=rail_names,
        unplugged=tuple(lost),
        unnamed=sum(not each.computer for each in own),
    )
