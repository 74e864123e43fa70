"""The service levels of packets as files: for OpenSM's policy of service, or pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import replacing, write_text
from netloom.routing.forwarding.addresses import addressed, addresses

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

MOST_PAIRS = 2**24
"""Most pairs of a host and a LID that a list of service levels has lines for."""

RULE = """\
    qos-match-rule
        source: {source}
        destination: {target}
        qos-level-name: level-{level}
    end-qos-match-rule
"""

LEVEL = """\
    qos-level
        name: {name}
        sl: {level}
    end-qos-level
"""

GROUP = """\
    port-group
        name: {name}
        port-guid: {guids}
    end-port-group
"""


def write_qos_policy(topology: Topology, table: ForwardingTable, path: str | Path) -> int:
    """Write the levels of a table so that OpenSM gives them to paths. Return how many rules.

    ``opensm -R file -U TABLES -Q -Y FILE``. Path records then have the level that ``table.lanes``
    says, lanes being levels, as OpenSM's own map has it. Groups of ports are those of a switch's
    hosts, and of destinations that have a level in common. The first rule that fits counts. The
    form is that of ``QoS_management_in_OpenSM.txt``.

    Raises
    ------
    InputError
        If the network has no LIDs or GUIDs, the table says lanes in another way, or the file cannot
        be written.
    """
    level = _levels(topology, table, path)
    every, at = addresses(topology), topology.injection_router
    groups, rules = {}, []
    for source, router in _sources(topology, level):
        sends = every.kind < 2 if source == "all" else np.flatnonzero(at == router)
        for number in sorted(set(level[:, router].tolist()) - {0}):
            groups[source] = _guids(every.guid[sends])
            target = f"{source}-level-{number}"
            groups[target] = _guids(every.guid[: len(level)][level[:, router] == number])
            rules.append(RULE.format(source=source, target=target, level=number))
    lines = ["port-groups\n"]
    lines += [GROUP.format(name=name, guids=guids) for name, guids in groups.items()]
    lines.append("end-port-groups\n\nqos-levels\n")
    for number in sorted({0, *np.unique(level).tolist()}):
        name = f"level-{number}" if number else "DEFAULT"
        lines.append(LEVEL.format(name=name, level=number))
    lines += ["end-qos-levels\n\nqos-match-rules\n", *rules, "end-qos-match-rules\n"]
    write_text(path, "".join(lines))
    return len(rules)


def _sources(topology: Topology, level: NDArray[np.uint8]) -> list[tuple[str, int]]:
    """Return groups of hosts whose packets to each destination have one level, and their router."""
    assert topology.cabling is not None
    routers = np.unique(topology.injection_router).tolist()
    if (level[:, routers] == level[:, routers[:1]]).all():
        return [("all", routers[0])]
    return [(f"at-{topology.cabling.router_guid[router]:016x}", router) for router in routers]


def write_levels(topology: Topology, table: ForwardingTable, path: str | Path) -> int:
    """Write the service level of each adapter to each LID. Return how many lines.

    ``0xGUID LID LEVEL``, as ``ibdmchk --psl`` takes them, and ``lfts:TABLES,sl2vl:LANES,psl:FILE``.
    An adapter with ports on several switches has levels for each port, under the port's GUID.
    ``ibdmchk`` has one level for an adapter and a LID, so it does not know these lines.

    Raises
    ------
    InputError
        If the network has no LIDs or GUIDs, there would be over ``MOST_PAIRS`` lines, or the file
        cannot be written.
    """
    level = _levels(topology, table, path)
    every, senders = addresses(topology), _named_senders(topology, path)
    rows = np.flatnonzero(every.lid[: len(level)] > 0)
    if len(rows) * len(senders) > MOST_PAIRS:
        found = f"levels of {len(rows) * len(senders)} pairs"
        raise InputError(
            str(path), found, f"at most {MOST_PAIRS:,}; a policy of service has groups"
        )
    written = 0
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="\n") as stream:
        for guid, own, router in senders:
            said = level[rows, router].tolist()
            for row, number in zip(rows.tolist(), said, strict=True):
                if row == own:
                    continue
                for lid in range(every.lid[row], every.lid[row] + (1 << every.lmc[row])):
                    stream.write(f"0x{guid:016x} {lid} {number}\n")
                    written += 1
    return written


def _named_senders(topology: Topology, path: str | Path) -> list[tuple[int, int, int]]:
    """Return the GUID of each sender of packets, its own row (-1: several), and its router.

    A sender is an adapter if all its ports are on one switch, and a port otherwise.
    """
    cabling, found = topology.cabling, []
    assert cabling is not None
    for host in np.unique(topology.port_host).tolist():
        ports = range(*topology.port_offsets[host : host + 2].tolist())
        routers = topology.injection_router[ports].tolist()
        if len(set(routers)) == 1:
            own = ports[0] if len(ports) == 1 else -1
            found.append((int(cabling.host_guid[host]), own, routers[0]))
            continue
        guids = cabling.port_guid[ports].tolist()
        if len({*guids} - {0}) < len(ports):
            name = f"'{topology.name_of(host)}', whose ports on several switches have no GUIDs"
            raise InputError(str(path), name, "the GUID of each port, as ibnetdiscover prints it")
        found += zip(guids, ports, routers, strict=True)
    return found


def _levels(topology: Topology, table: ForwardingTable, path: str | Path) -> NDArray[np.uint8]:
    """Return the level of packets to each end point but routers, from each router."""
    cabling = addressed(topology, str(path))
    ends = topology.num_ports + len(cabling.others)
    level = np.zeros((ends, topology.num_routers), np.uint8)
    if table.lanes is None:
        return level
    if table.lanes.lane_of is not None:
        found = "a table whose switches have lanes of their own"
        raise InputError(f"routing {table}", found, "one whose lanes are service levels")
    said = table.lanes.level
    level[: len(said)] = said[:ends]
    return level


def _guids(guids: NDArray[np.uint64]) -> str:
    return ", ".join(f"0x{guid:016x}" for guid in guids.tolist())
