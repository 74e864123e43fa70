"""The lanes of packets as files say them: lanes of service levels, and service levels of pairs.

OpenSM's ``opensm-sl2vl.dump`` says by which virtual lane (VL) a switch sends packets of a service
level (SL) from each port to each other. The SL of each pair of hosts is with the subnet manager
alone. A list of them is in the form that ``ibdmchk --psl`` takes: ``GUID of the source's adapter,
destination's LID, SL`` on each line. An adapter whose ports differ has lines under the GUIDs of its
ports.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import read_text
from netloom.routing.forwarding.addresses import addressed, addresses, rows_of_lids
from netloom.routing.forwarding.dumps import OF_THIS, WHOLE
from netloom.routing.forwarding.tables import Lanes
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology

LEVELS = 16
"""Service levels of InfiniBand."""

DROPPED = 15
"""The lane of management: packets of data that are given it are dropped."""

UNSAID = 255
"""Stands for a lane or level that has not been said."""

_DEVICE = re.compile(r"^(Switch|Channel Adapter|Router) 0x([0-9a-f]+)", re.IGNORECASE)
_LEVELS_WANTED = "lines of an adapter's GUID, a LID and a service level (0 to 15)"
_LANES_WANTED = "lanes as OpenSM dumps them (opensm-sl2vl.dump)"


def read_lanes(topology: Topology, sl2vl: str, levels: str = "") -> Lanes:
    """Return the lanes that a dump of OpenSM says, and the service levels of a list.

    Without a list all packets are taken to have service level 0.

    Raises
    ------
    InputError
        Naming file and line, if a file is broken or of another fabric. If packets of a level that
        is used are dropped, or if hosts of one switch send by several levels to one destination.
    """
    lane_of = read_sl2vl(topology, sl2vl)
    count = len(addresses(topology)) - topology.num_routers
    level = np.zeros((count, topology.num_routers), np.uint8)
    if levels:
        level = read_levels(topology, levels)
    used = np.unique(level)
    for router, pairs in _passed(topology):
        lost = np.argwhere(lane_of[router][pairs][:, used] == DROPPED)
        if len(lost):
            at, number = lost[0].tolist()
            name = topology.name_of(topology.router_vertex(router))
            ports = f"from port {pairs[0][at]} to {pairs[1][at]}"
            found = f"packets of level {used[number]} dropped at '{name}' {ports}"
            raise InputError(sl2vl, found, "a lane (0 to 14) for every level in use")
    return Lanes(level, lane_of)


def read_sl2vl(topology: Topology, path: str) -> NDArray[np.uint8]:
    """Return the lanes of OpenSM's dump: see ``Lanes.lane_of``.

    Raises
    ------
    InputError
        Naming file and line.
    """
    cabling = addressed(topology, f"lanes {path}")
    router_of = {guid: number for number, guid in enumerate(cabling.router_guid.tolist())}
    most = int(cabling.router_ports.max()) + 1
    lanes = np.full((topology.num_routers, most, most, LEVELS), UNSAID, np.uint8)
    router, begun = -1, set()
    for number, line in enumerate(read_text(path, wanted=_LANES_WANTED).split("\n"), start=1):
        where = f"{path}:{number}"
        if not line.strip() or line[0] == "#":
            continue
        device = _DEVICE.match(line)
        if device is None:
            if router == -1:
                raise InputError(where, f"'{line:.40}'", _LANES_WANTED)
            if router >= 0:
                comes, leaves, row = _row(line, where, most)
                if lanes[router, comes, leaves, 0] != UNSAID:
                    raise InputError(where, f"ports {comes} and {leaves} again", "each pair once")
                lanes[router, comes, leaves] = row
            continue
        guid, router = int(device[2], 16), -2  # of an adapter: its packets have not entered yet
        if device[1].lower() == "switch":
            router = router_of.get(guid, -1)
            if router < 0:
                found = f"a switch of GUID 0x{guid:016x}, which {topology.name} does not have"
                raise InputError(where, found, OF_THIS)
            if router in begun:
                raise InputError(where, f"switch 0x{guid:016x} again", "each switch once")
            begun.add(router)
    _check_all(topology, lanes, path)
    return np.where(lanes == UNSAID, 0, lanes).astype(np.uint8)


def _row(line: str, where: str, most: int) -> tuple[int, int, list[int]]:
    """Return the ports and lanes of a line such as ``1 2 : 0 1 2 …``."""
    ports, _, words = line.partition(":")
    try:
        comes, leaves = map(int, ports.split())
        row = list(map(int, words.split()))
    except ValueError:
        comes, leaves, row = -1, -1, []
    if len(row) != LEVELS or not 0 <= min(row) <= max(row) < LEVELS:
        raise InputError(where, f"'{line:.40}'", "two ports, a colon and 16 lanes (0 to 15)")
    if not (0 <= comes < most and 0 <= leaves < most):
        raise InputError(where, f"ports {comes} and {leaves}", f"ports below {most}")
    return comes, leaves, row


def _passed(
    topology: Topology,
) -> Iterator[tuple[int, tuple[Ints, Ints]]]:
    """Yield each router with the ports by which packets come in and go on, pair by pair."""
    out_port, in_port = port_numbers(topology)
    inside, first = topology.routers, topology.num_network_channels
    enters = np.append(inside.channel_target, topology.injection_router)
    by = in_port[: first + topology.num_ports]
    into, out = np.argsort(enters, kind="stable"), np.argsort(inside.channel_source, kind="stable")
    routers = np.arange(topology.num_routers + 1)
    come = np.searchsorted(enters[into], routers)
    leave = np.searchsorted(inside.channel_source[out], routers)
    for router in range(topology.num_routers):
        comes = by[into[come[router] : come[router + 1]]]
        leaves = out_port[out[leave[router] : leave[router + 1]]]
        one, other = comes.repeat(len(leaves)), np.tile(leaves, len(comes))
        yield router, (one[one != other], other[one != other])


def _check_all(topology: Topology, lanes: NDArray[np.uint8], path: str) -> None:
    """Refuse a dump without the lanes of all pairs of ports between which packets pass."""
    for router, pairs in _passed(topology):
        missing = np.flatnonzero(lanes[router][pairs][:, 0] == UNSAID)
        if len(missing):
            name = topology.name_of(topology.router_vertex(router))
            ports = f"from port {pairs[0][missing[0]]} to {pairs[1][missing[0]]}"
            raise InputError(path, f"no lanes of switch '{name}' {ports}", WHOLE)


def read_levels(topology: Topology, path: str) -> NDArray[np.uint8]:
    """Return the service levels of a list: see ``Lanes.level``.

    Every port must have one to each other. LIDs of other end points may be there, and level 0 is
    theirs where they are not. Of a port's several LIDs the first counts. The GUID of an adapter
    stands for all its ports, unless lines name one of these by a GUID of its own.

    Raises
    ------
    InputError
        Naming file and line.
    """
    addressed(topology, f"levels {path}")
    every, owner = addresses(topology), rows_of_lids(topology, topology.name)
    lines = read_text(path, wanted=_LEVELS_WANTED).split("\n")
    ports_of = _ports_of(topology, lines)
    ends = len(every) - topology.num_routers
    level = np.full((ends, topology.num_routers), UNSAID, np.uint8)
    at = topology.injection_router.tolist()
    for number, line in enumerate(lines, start=1):
        where, words = f"{path}:{number}", line.split("#")[0].split()
        if not words:
            continue
        try:
            guid, lid, said = int(words[0], 16), int(words[1], 0), int(words[2], 0)
        except (ValueError, IndexError):
            raise InputError(where, f"'{line:.40}'", _LEVELS_WANTED) from None
        if len(words) != 3 or not 0 <= said < LEVELS:
            raise InputError(where, f"'{line:.40}'", _LEVELS_WANTED)
        row = int(owner[lid]) if 0 < lid < len(owner) else -1
        if guid not in ports_of or row < 0:
            found = f"GUID 0x{guid:016x}" if row >= 0 else f"LID {lid}"
            raise InputError(where, f"{found}, which {topology.name} does not have", OF_THIS)
        if row >= ends or lid != every.lid[row]:
            continue
        for port in ports_of[guid]:
            if level[row, at[port]] not in (UNSAID, said) and port != row:
                name = topology.name_of(topology.router_vertex(at[port]))
                found = (
                    f"levels {level[row, at[port]]} and {said} from '{name}' to '{every.name[row]}'"
                )
                raise InputError(where, found, "one level for all hosts of a switch")
            if port != row:
                level[row, at[port]] = said
    return _filled(topology, level, path)


def _ports_of(topology: Topology, lines: list[str]) -> dict[int, list[int]]:
    """Return the ports that each GUID in a list of levels stands for."""
    cabling, found = topology.cabling, {}
    assert cabling is not None
    firsts = {word for line in lines for word in line.split("#")[0].split()[:1]}
    named = {int(word, 16) for word in firsts if re.fullmatch(r"(0x)?[0-9a-f]+", word, re.I)}
    for host in np.unique(topology.port_host).tolist():
        ports = list(range(*topology.port_offsets[host : host + 2].tolist()))
        adapter, own = int(cabling.host_guid[host]), cabling.port_guid[ports].tolist()
        if len(ports) == 1 or not (set(own) - {adapter}) & named:
            found[adapter] = ports
        found |= {guid: [port] for guid, port in zip(own, ports, strict=True)
                  if guid and guid not in found}  # fmt: skip
    return found


def _filled(topology: Topology, level: NDArray[np.uint8], path: str) -> NDArray[np.uint8]:
    """Refuse a list that lacks pairs of hosts. Give 0 to what is left."""
    every, hosts = addresses(topology), topology.num_ports
    sends = np.bincount(topology.injection_router, minlength=topology.num_routers)
    lacks = (level[:hosts] == UNSAID) & (sends > 0)
    lacks[np.arange(hosts), topology.injection_router] &= sends[topology.injection_router] > 1
    if lacks.any():
        row, router = np.argwhere(lacks)[0].tolist()
        name = topology.name_of(topology.router_vertex(router))
        found = f"no level from hosts of '{name}' to '{every.name[row]}'"
        raise InputError(path, found, "one for each two hosts")
    return np.where(level == UNSAID, 0, level).astype(np.uint8)
