"""A subnet made a network: hosts, routers and channels by number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.topology.cabling import Cabling, OtherEnds
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.reach import two_apart
from netloom.topology.recognise import tree_shape
from netloom.topology.subnets.names import natural
from netloom.topology.subnets.rails import Adapter, rails_of
from netloom.topology.subnets.records import HOST, SERVER, SWITCH, Address, Port

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.topology.subnets.records import Subnet


class Ends(NamedTuple):
    """The two ends of some cables, int64[num_cables] each: numbers of devices, and their ports.

    Rates in Gb/s, and cycles from here to there, come behind.
    """

    here: Ints
    port: Ints
    there: Ints
    far_port: Ints
    gbps: Floats
    cycles: Ints


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
    hosts, routers = _numbered(subnet)
    inside, at_hosts = _cables(subnet, hosts, routers)
    reference, rates, host_rates = _rates(inside, at_hosts)
    reference = None if subnet.relative else reference
    names = [subnet.devices[key].name for key in hosts]
    labels = _unique(names, [subnet.devices[key].guid for key in hosts])
    switches = [subnet.devices[key] for key in routers]
    router_labels = _unique([device.name for device in switches], [d.guid for d in switches])
    network = Topology(
        subnet.name, len(routers), inside.here.astype(np.int32), inside.there.astype(np.int32),
        tuple(router_labels), channel_bandwidth=rates, channel_cycles=inside.cycles,
        reference_gbps=reference,
    )  # fmt: skip
    owners = [subnet.devices[key].computer or label
              for key, label in zip(hosts, labels, strict=True)]  # fmt: skip
    node_of = {owner: node for node, owner in enumerate(dict.fromkeys(owners))}
    nodes = np.array([node_of[owner] for owner in owners], np.int32)
    found = attach_hosts(
        network, at_hosts.there, name=subnet.name, labels=(*labels, *router_labels),
        port_host=at_hosts.here, bandwidth=host_rates, cycles=at_hosts.cycles,
        reference_gbps=reference, node_of_host=nodes, computer_labels=tuple(node_of),
        notes=(*subnet.notes, *_unrated(inside, at_hosts)),
    )  # fmt: skip
    if subnet.ports:
        found = replace(found, cabling=_cabling(subnet, hosts, routers, inside, at_hosts))
    apart = two_apart(found)
    if apart is not None:
        first, second = (found.name_of(host) for host in sorted(apart))
        said = f"hosts {first} and {second} that cannot both reach each other"
        raise InputError(subnet.path, said, "a fabric in one piece")
    return replace(found, family=tree_shape(found))


def _numbered(subnet: Subnet) -> tuple[list[str], list[str]]:
    """Return the keys of hosts with a cable and of routers, in the order of their numbers."""
    cabled = {end.device for cable in subnet.cables for end in cable[:2]}
    devices = subnet.devices
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
    return hosts, routers


def _cables(subnet: Subnet, hosts: list[str], routers: list[str]) -> tuple[Ends, Ends]:
    """Return the channels between routers, both ways, and the cables of hosts, hosts first."""
    number = {key: (0, place) for place, key in enumerate(hosts)}
    number |= {key: (1, place) for place, key in enumerate(routers)}
    inside, at_hosts = [], []
    for cable in subnet.cables:
        kinds = [subnet.devices[end.device].kind for end in cable[:2]]
        if SERVER in kinds:
            continue
        first, second = cable.first, cable.second
        if kinds[1] == HOST:
            first, second = second, first
        (a_host, a), (b_host, b) = number[first.device], number[second.device]
        there, back = cable.cycles if first == cable.first else cable.cycles[::-1]
        row = (a, first.number, b, second.number, cable.gbps, there)
        if not a_host and not b_host:
            pair = " - ".join(subnet.devices[end.device].name for end in cable[:2])
            raise InputError(subnet.path, f"a cable between two hosts: {pair}", "hosts on switches")
        if a_host:
            inside += [row, (b, second.number, a, first.number, cable.gbps, back)]
        else:
            at_hosts.append(row)
    return _sorted(inside), _sorted(at_hosts)


def _sorted(rows: list[tuple[int, int, int, int, float, int]]) -> Ends:
    values = np.array(sorted(rows), np.float64).reshape(-1, 6)
    here, port, there, far_port = (values[:, column].astype(np.int64) for column in range(4))
    return Ends(here, port, there, far_port, values[:, 4], values[:, 5].astype(np.int32))


def _rates(inside: Ends, at_hosts: Ends) -> tuple[float | None, Floats, Floats]:
    """Return the reference rate in Gb/s and the bandwidths relative to it."""
    if not (at_hosts.gbps > 0).all() or not (inside.gbps > 0).all():
        return None, np.ones(len(inside.gbps)), np.ones(len(at_hosts.gbps))
    rates, counts = np.unique(at_hosts.gbps, return_counts=True)
    reference = float(rates[np.argmax(counts)])
    return reference, inside.gbps / reference, at_hosts.gbps / reference


def _unrated(inside: Ends, at_hosts: Ends) -> tuple[str, ...]:
    """Return a note where some cables have rates and others none."""
    none = [int((ends.gbps == 0).sum()) for ends in (inside, at_hosts)]
    unrated, cables = none[0] // 2 + none[1], len(inside.gbps) // 2 + len(at_hosts.gbps)
    if not 0 < unrated < cables:
        return ()
    said = f"No rate is known of {unrated} of {counted(cables, 'cable')}"
    return (f"{said}: netloom takes all to be equally fast.",)


def _unique(names: list[str], guids: list[int]) -> list[str]:
    """Return the names, those that come more than once with their GUID, or their place, behind."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    told = enumerate(zip(names, guids, strict=True))
    return [
        name if counts[name] == 1 else f"{name}@{f'0x{guid:016x}' if guid else place}"
        for place, (name, guid) in told
    ]


def _cabling(
    subnet: Subnet,
    hosts: list[str],
    routers: list[str],
    inside: Ends,
    at_hosts: Ends,
) -> Cabling:
    devices, none = subnet.devices, Address()
    ends = zip(at_hosts.here.tolist(), at_hosts.port.tolist(), strict=True)
    said = [subnet.addresses.get(Port(hosts[host], port), none) for host, port in ends]
    cabled = {end.device for cable in subnet.cables for end in cable[:2]}
    lost = [d.name for key, d in devices.items() if d.kind == HOST and key not in cabled]
    out_port = np.concatenate([inside.port, at_hosts.port, at_hosts.far_port])
    in_port = np.concatenate([inside.far_port, at_hosts.far_port, at_hosts.port])
    largest = np.zeros(len(routers), np.int64)
    for router, port in ((inside.here, inside.port), (at_hosts.there, at_hosts.far_port)):
        np.maximum.at(largest, router, port)
    ports = np.array([devices[key].ports for key in routers], np.int64)
    leaf = np.zeros(len(hosts), np.int64)
    leaf[at_hosts.here[::-1]] = at_hosts.there[::-1]
    rail, rail_names = rails_of(
        [
            Adapter(devices[key].computer, devices[key].adapter, router)
            for key, router in zip(hosts, leaf.tolist(), strict=True)
        ]
    )
    return Cabling(
        out_port=out_port.astype(np.int32), in_port=in_port.astype(np.int32),
        router_guid=np.array([devices[key].guid for key in routers], np.uint64),
        host_guid=np.array([devices[key].guid for key in hosts], np.uint64),
        port_guid=np.array([each.guid for each in said], np.uint64),
        router_lid=np.array([devices[key].lid for key in routers], np.int32),
        port_lid=np.array([each.lid for each in said], np.int32),
        lmc=np.array([each.lmc for each in said], np.int32),
        router_ports=np.maximum(ports, largest).astype(np.int32),
        others=_others(subnet, {key: place for place, key in enumerate(routers)}),
        rail=np.array(rail, np.int32), rail_names=rail_names, unplugged=tuple(lost),
        unnamed=sum(not devices[key].computer for key in hosts),
    )  # fmt: skip


def _others(subnet: Subnet, router: dict[str, int]) -> OtherEnds:
    rows = []
    for cable in subnet.cables:
        for end, peer in ((cable.first, cable.second), (cable.second, cable.first)):
            device = subnet.devices[end.device]
            if device.kind == SERVER and peer.device in router:
                said = subnet.addresses.get(end, Address())
                at = router[peer.device], peer.number
                rows.append((*at, said.guid or device.guid, said.lid, device.name))
    rows.sort()
    columns = list(zip(*rows, strict=True)) or [()] * 5
    return OtherEnds(
        tuple(columns[4]), np.array(columns[0], np.int32), np.array(columns[1], np.int32),
        np.array(columns[2], np.uint64), np.array(columns[3], np.int32),
    )  # fmt: skip
