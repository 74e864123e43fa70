"""Forwarding tables and lanes that a subnet manager has computed, read from its dumps.

Tables come in three spellings: OpenSM's ``opensm-lfts.dump``, what ``dump_fts`` and ``ibroute``
print, OpenSM's ``opensm.fdbs``. OpenSM's ``opensm-sl2vl.dump`` says by which virtual lane (VL) a
switch sends packets of a service level (SL) from each port to each other. The SL of each pair of
hosts is with the subnet manager alone. A list of them is in the form that ``ibdmchk --psl`` takes:
``GUID of the source's adapter, destination's LID, SL`` on each line. An adapter whose ports differ
has lines under the GUIDs of its ports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from os.path import isfile
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Ints, UInt8s, UInt64s
from netloom.base.errors import InputError
from netloom.base.textfiles import read_text
from netloom.routing.forwarding import tables
from netloom.routing.forwarding.engines import ENGINES, would_fall_back
from netloom.topology import Topology
from netloom.topology.core import port_numbers

_OWNED = re.compile(r"^0x([0-9a-f]{1,8}) .*\bportguid (?:0x)?([0-9a-f]+)", re.I | re.M)


def with_dumped_lids(topology: Topology, text: str) -> Topology:
    """Return a network with the LIDs that a dump says of its GUIDs, if its file says none.

    What ibsim reads, for example, has GUIDs but no LIDs. The GUID of an adapter's port is what the
    file says, or that of the adapter, or that plus the number of the port, as ibsim has it. The
    network is returned as it is if it has LIDs or no GUIDs, or the dump says no GUIDs.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> with_dumped_lids(mesh(2, 2), "").cabling is None
    True
    """
    cabling = topology.cabling
    if cabling is None or cabling.port_lid.any() or not cabling.router_guid.all():
        return topology
    lid_of = {int(guid, 16): int(lid, 16) for lid, guid in _OWNED.findall(text)}

    def lids(*choices: UInt64s) -> Ints:
        rows = zip(*(each.tolist() for each in choices), strict=True)
        known = (next((lid_of[guid] for guid in row if guid in lid_of), 0) for row in rows)
        return np.fromiter(known, np.int32)

    first = topology.num_network_channels
    node = cabling.host_guid[topology.port_host]
    number = cabling.out_port[first : first + topology.num_ports].astype(np.uint64)
    others, ports = cabling.others, lids(cabling.port_guid, node + number, node)
    others = replace(others, lid=lids(others.guid, others.guid + np.uint64(1)))
    own = lids(cabling.router_guid)
    found = replace(cabling, router_lid=own, port_lid=ports, others=others)
    return replace(topology, cabling=found)


WANTED = "forwarding tables as OpenSM (opensm-lfts.dump, opensm.fdbs), dump_fts or ibroute say them"
OF_THIS = "tables of this fabric: both files from one subnet, at one time"
WHOLE = "a whole dump"

_SWITCH = re.compile(
    r"^(?:Unicast lids \[\w+-(?P<top>\w+)\] of switch .*\bguid|dump_ucast_routes: Switch) "
    r"0x(?P<guid>[0-9a-f]+)",
    re.I,
)
_ENTRY = re.compile(r"^0x([0-9a-f]{1,8}) +(\d{1,8})(?: +(.*))?$", re.I)
_FDBS_ENTRY = re.compile(r"^0x([0-9a-f]{1,8}) *: *(?:(\d{1,8}) *:.*|UNREACHABLE) *()$", re.I)
_COUNT = re.compile(r"^(\d{1,8}) (?:valid )?lids dumped *$", re.I)
_CHATTER = re.compile(r"^\s*(#.*|Lid +Out +Destination.*|Port +Info.*|LID *: *Port *:.*)?$", re.I)
_OWNER = re.compile(r"portguid (?:0x)?([0-9a-f]+)(?:: '(.*)')?", re.I)


def read_ports(topology: Topology, path: str, *, gone: bool = False) -> UInt8s:
    """Return the ports that a dump says: uint8[rows, routers], rows as in ``addresses``.

    0 is the router itself, ``NO_PORT`` no way. Of a port's several LIDs the first counts. If
    that has an entry, the others must have one. Tables of a broken network are those of the whole
    one. There what is broken needs none.

    Parameters
    ----------
    topology
        The network.
    path
        The dump.
    gone
        Whether the dump may tell of switches and end points that the network has no more.

    Raises
    ------
    InputError
        If neither network nor dump says LIDs. Naming file and line, if the dump is of another
        fabric, broken off, or says anything twice.
    """
    if topology.whole.cabling is None:
        tables.addressed(topology.whole, f"routing lfts:{path}")  # refused, whatever the file says
    text = read_text(path, wanted=WANTED)
    network, topology = topology, with_dumped_lids(topology.whole, text)
    cabling = tables.addressed(topology, f"routing lfts:{path}")
    every, owner = tables.addresses_by_lid(topology)
    rows, routers = len(every), topology.num_routers
    if rows * routers > tables.MOST_ENTRIES:
        found = f"{routers} switches times {rows} destinations"
        raise InputError(f"routing lfts:{path}", found, f"at most {tables.MOST_ENTRIES:,}")
    router_of = {guid: number for number, guid in enumerate(cabling.router_guid.tolist())}
    dump = _Dump(topology, path, text.split("\n"), gone, every, owner.tolist(), set())
    ports = np.full((rows, routers), tables.NO_PORT, np.uint8)
    begun, lids = dict[int, int](), set[int]()
    heads = [(at, head) for at, line in enumerate(dump.lines) if (head := _SWITCH.match(line))]
    ends = [at for at, _ in heads] + [len(dump.lines)]
    dump.entries(range(ends[0]), None)
    if not heads:
        raise InputError(path, "no forwarding table", WANTED)
    for (at, head), end in zip(heads, ends[1:], strict=True):
        guid, fdbs = int(head["guid"], 16), head["top"] is None
        router = router_of.get(guid, -1)
        if router < 0:
            if not gone:
                found = f"a switch of GUID 0x{guid:016x}, which {topology.name} does not have"
                raise dump.refused(at, found, OF_THIS)
            continue
        if router in begun:
            found = f"{dump.switch(router)} again, after line {begun[router]}"
            raise dump.refused(at, found, "each switch once")
        begun[router] = at + 1
        said, count = dump.entries(range(at + 1, end), _FDBS_ENTRY if fdbs else _ENTRY)
        lids = lids or set(said)
        if fdbs and lids != set(said):
            found = f"{dump.switch(router)} with other LIDs than those before"
            raise dump.refused(at, found, WHOLE)
        if not fdbs:
            dump.check_count(at, head["top"], len(said), count, router)
        dump.keep(said, ports[:, router], at, router)
    for router in np.flatnonzero(network.routers.vertex_up).tolist():
        if router not in begun:
            found = f"no table of {dump.switch(router)}"
            raise InputError(path, found, "a table of every switch")
    # the row in the whole network of each row of a broken one
    first, whole = network.num_network_channels, topology
    kept = network.whole_channel[first : first + network.num_ports] - whole.num_network_channels
    return ports[np.append(kept, np.arange(whole.num_ports, rows)).astype(np.int64)]


class _Dump(NamedTuple):
    """The lines of a dump, and what they are held against. Lines are counted from 0."""

    topology: Topology
    path: str
    lines: list[str]
    gone: bool
    every: tables.Addresses
    owner: list[int]
    known: set[tuple[int, str]]

    def refused(self, line: int, found: str, wanted: str) -> InputError:
        return InputError(f"{self.path}:{line + 1}", found, wanted)

    def switch(self, router: int) -> str:
        return f"switch '{self.every.name[len(self.every) - self.topology.num_routers + router]}'"

    def entries(
        self, some: range, entry: re.Pattern[str] | None
    ) -> tuple[dict[int, tuple[int, str, int]], tuple[int, int] | None]:
        """Return what lines say of each LID, and how many entries are announced, if that is there.

        Of a LID its port, whose it is, and the line. Behind the number its line, too. ``entry`` is
        what matches: None before all switches.
        """
        said, count = dict[int, tuple[int, str, int]](), None
        wanted = WHOLE if entry else WANTED
        for at in some:
            line = self.lines[at]
            if line[:2] == "0x":
                found = entry.match(line) if entry and count is None else None
                if found is None:
                    what = f"'{line:.40}', which is no entry of a switch"
                    raise self.refused(at, what, wanted)
                lid = int(found[1], 16)
                if lid in said:
                    raise self.refused(at, f"LID 0x{lid:04x} again", "each LID once")
                said[lid] = int(found[2] or tables.NO_PORT), found[3] or "", at
            elif not _CHATTER.match(line):
                number = _COUNT.match(line) if entry is _ENTRY and count is None else None
                if number is None:
                    raise self.refused(at, f"'{line:.40}'", wanted)
                count = int(number[1]), at
        return said, count

    def check_count(
        self, begin: int, top: str, many: int, count: tuple[int, int] | None, router: int
    ) -> None:
        """Refuse a switch whose number of entries is not there, or another one."""
        if count is None:
            what = f"no number of entries at the end of {self.switch(router)}"
            raise self.refused(begin, what, WHOLE)
        try:  # as C writes it, decimal or hexadecimal
            largest = int(top, 0)
        except ValueError:
            raise self.refused(begin, f"'{top}'", "the largest LID") from None
        # dump_fts counts its entries; OpenSM says the largest LID, whether all have entries or not
        if count[0] not in (many, max(largest, many)):
            what = f"{count[0]} entries announced and {many} there of {self.switch(router)}"
            raise self.refused(count[1], what, WHOLE)

    def keep(
        self, said: dict[int, tuple[int, str, int]], ports: UInt8s, begin: int, router: int
    ) -> None:
        """Keep the entries of a switch: those of the first LID of each port."""
        assert self.topology.cabling is not None
        most = int(self.topology.cabling.router_ports[router])
        leads = {lid: each for lid, each in said.items() if each[0] != tables.NO_PORT}
        for lid, (port, whose, line) in leads.items():
            if port > most:
                what = f"port {port} of {self.switch(router)} with {most} ports"
                raise self.refused(line, what, OF_THIS)
            if (lid, whose) not in self.known:
                self.check(lid, whose, line)
                self.known.add((lid, whose))
            row = self.owner[lid] if lid < len(self.owner) else -1
            if row < 0 or lid != self.every.lid[row]:
                continue
            ports[row] = port
            for more in range(lid + 1, lid + (1 << int(self.every.lmc[row]))):
                if more not in leads:
                    what = f"LID 0x{lid:04x} of '{self.every.name[row]}', but not 0x{more:04x}"
                    where = f"{what} of the same port, at {self.switch(router)}"
                    raise self.refused(begin, where, "all 2^LMC LIDs of a port")

    def check(self, lid: int, said: str, number: int) -> None:
        """Refuse a LID that nobody has, or whose owner is another one than the dump says."""
        row = self.owner[lid] if lid < len(self.owner) else -1
        if row < 0 and self.gone:
            return
        if row < 0:
            what = f"LID 0x{lid:04x}, which nobody in {self.topology.name} has"
            if lid > tables.MOST_LID:
                what = f"0x{lid:04x}, which is no LID of an end point"
            raise self.refused(number, what, OF_THIS)
        owner = _OWNER.search(said)
        if owner is None:
            return
        guid, name = int(owner[1], 16), owner[2]
        # a name that was made from a description, perhaps shortened, has no other words
        own = set(re.findall(r"\w+", self.every.name[row].split("@", maxsplit=1)[0]))
        same = name is not None and bool(own) and own <= set(re.findall(r"\w+", name))
        if not same and not self.is_guid(row, guid):
            their = f"'{name}'" if name else f"port GUID 0x{guid:016x}"
            what = f"LID 0x{lid:04x} of {their}; it is of '{self.every.name[row]}' in"
            raise self.refused(number, f"{what} {self.topology.name}", OF_THIS)

    def is_guid(self, row: int, guid: int) -> bool:
        """Whether a GUID is that of a port, of its node, or of its node plus the port's number."""
        cabling, port = self.topology.cabling, int(self.every.guid[row])
        assert cabling is not None
        if guid in (port, port + 1) or not port:  # the simulator ibsim adds the port's number
            return True
        if self.every.kind[row]:
            return False
        node = int(cabling.host_guid[self.topology.port_host[row]])
        return node > 0 and node <= guid <= node + 2


LEVELS = 16
"""Service levels of InfiniBand."""

DROPPED = 15
"""The lane of management: packets of data that are given it are dropped."""

UNSAID = 255
"""Stands for a lane or level that has not been said."""

_DEVICE = re.compile(r"^(Switch|Channel Adapter|Router) 0x([0-9a-f]+)", re.IGNORECASE)
_LEVELS_WANTED = "lines of an adapter's GUID, a LID and a service level (0 to 15)"
_LANES_WANTED = "lanes as OpenSM dumps them (opensm-sl2vl.dump)"


def read_lanes(topology: Topology, sl2vl: str, levels: str = "") -> tables.Lanes:
    """Return the lanes that a dump of OpenSM says, and the service levels of a list.

    Without a list all packets are taken to have service level 0.

    Raises
    ------
    InputError
        Naming file and line, if a file is broken or of another fabric. If packets of a level that
        is used are dropped, or if hosts of one switch send by several levels to one destination.
    """
    lane_of = read_sl2vl(topology, sl2vl)
    count = len(tables.addresses(topology)) - topology.num_routers
    level = np.zeros((count, topology.num_routers), np.uint8)
    if levels:
        level = read_levels(topology, levels)
    used = np.unique(level)
    for router, pairs in _passed(topology):
        lost = np.argwhere(lane_of[router][pairs][:, used] == DROPPED)
        if len(lost):
            at, number = lost[0].tolist()
            name = topology.router_name(router)
            ports = f"from port {pairs[0][at]} to {pairs[1][at]}"
            found = f"packets of level {used[number]} dropped at '{name}' {ports}"
            raise InputError(sl2vl, found, "a lane (0 to 14) for every level in use")
    return tables.Lanes(level, lane_of)


def read_sl2vl(topology: Topology, path: str) -> UInt8s:
    """Return the lanes of OpenSM's dump: see ``Lanes.lane_of``.

    Raises
    ------
    InputError
        Naming file and line.
    """
    cabling = tables.addressed(topology, f"lanes {path}")
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
    for router, pairs in _passed(topology):
        missing = np.flatnonzero(lanes[router][pairs][:, 0] == UNSAID)
        if len(missing):
            name = topology.router_name(router)
            between = f"from port {pairs[0][missing[0]]} to {pairs[1][missing[0]]}"
            raise InputError(path, f"no lanes of switch '{name}' {between}", WHOLE)
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


def _passed(topology: Topology) -> Iterator[tuple[int, tuple[Ints, Ints]]]:
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


def read_levels(topology: Topology, path: str) -> UInt8s:
    """Return the service levels of a list: see ``Lanes.level``.

    Every port must have one to each other. LIDs of other end points may be there, and level 0 is
    theirs where they are not. Of a port's several LIDs the first counts. The GUID of an adapter
    stands for all its ports, unless lines name one of these by a GUID of its own.

    Raises
    ------
    InputError
        Naming file and line.
    """
    tables.addressed(topology, f"levels {path}")
    every, owner = tables.addresses_by_lid(topology)
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
        for router in (at[port] for port in ports_of[guid] if port != row):
            if (other := level[row, router]) not in (UNSAID, said):
                name = topology.router_name(router)
                found = f"levels {other} and {said} from '{name}' to '{every.name[row]}'"
                raise InputError(where, found, "one level for all hosts of a switch")
            level[row, router] = said
    sends = np.bincount(at, minlength=topology.num_routers)
    lacks = (level[: topology.num_ports] == UNSAID) & (sends > 0)
    lacks[np.arange(topology.num_ports), at] &= sends[at] > 1
    if lacks.any():
        row, router = np.argwhere(lacks)[0].tolist()
        found = f"no level from hosts of '{topology.router_name(router)}' to '{every.name[row]}'"
        raise InputError(path, found, "one for each two hosts")
    return np.where(level == UNSAID, 0, level).astype(np.uint8)


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
        for guid, port in zip(own, ports, strict=True):
            if guid:
                found.setdefault(guid, [port])
    return found


def read_lfts(topology: Topology, files: str, *, gone: bool = False) -> tables.ForwardingTable:
    """Return the table that a dump says: see ``read_ports``.

    Entries that led over what is broken, or gone, lead nowhere. Packets to a GPU go to its card.

    Parameters
    ----------
    topology
        The network.
    files
        The dump. ``TABLES,sl2vl:LANES`` says the lanes of switches, too. With the service level of
        each pair, ``TABLES,sl2vl:LANES,psl:LEVELS``: see ``read_levels``. Otherwise all packets
        are on level 0.
    gone
        Whether the dump may tell of switches and end points that the network has no more.

    Raises
    ------
    InputError
        If the network has no LIDs. Naming file and line, if the dump is broken, or of another
        fabric.
    """
    before = topology.of_cards
    if before is not None and before.cabling is not None and not topology.broken:
        return tables.of_gpus(topology, read_lfts(before, files, gone=gone))
    rest, _, levels = files.partition(",psl:")
    path, _, sl2vl = rest.partition(",sl2vl:")
    if levels and not sl2vl:
        found = "levels of packets without the lanes of switches"
        raise InputError(f"routing lfts:{files}", found, "lfts:TABLES,sl2vl:LANES,psl:LEVELS")
    table = table_of_ports(topology, read_ports(topology, path, gone=gone), f"lfts:{files}")
    return replace(table, lanes=read_lanes(topology, sl2vl, levels)) if sl2vl else table


def table_of_ports(topology: Topology, ports: UInt8s, name: str) -> tables.ForwardingTable:
    """Return the table in which routers send by these ports.

    uint8[rows, routers] as in ``port_table``, which says them again. An entry that leads neither
    to a router nor to its destination is in ``ForwardingTable.astray``.

    Examples
    --------
    >>> from netloom.routing.forwarding.tables import port_table
    >>> from netloom.routing.forwarding.engines import minhop
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> ports = port_table(net, minhop(net))
    >>> ports[2, 2] = 9
    >>> table_of_ports(net, ports, "by hand").astray.tolist()
    [[2, 2, 9]]
    """
    every = tables.addresses(topology)
    count = topology.num_network_channels
    channel_at = np.full((topology.num_routers, tables.NO_PORT + 1), -1, np.int32)
    out_port = port_numbers(topology)[0][:count]
    channel_at[topology.routers.channel_source, out_port] = np.arange(count)
    rows, last = np.arange(len(ports)), every.router[: len(ports)]
    table = channel_at[np.arange(topology.num_routers), ports]
    table[rows, last] = -1
    arrives = np.zeros(ports.shape, np.bool_)
    arrives[rows, last] = ports[rows, last] == every.port[: len(ports)]
    missing = ports == tables.NO_PORT
    missing[rows, last] = False
    row, router = np.nonzero((table < 0) & ~arrives & ~missing)
    astray = np.stack([row, router, ports[row, router]], axis=1).astype(np.int32)
    ends = len(topology.ejection_router)
    undelivered = ~arrives[rows, last][:ends]
    wrong = undelivered if undelivered.any() else None, astray if len(astray) else None
    others = table[ends:] if len(table) > ends else None
    return tables.ForwardingTable(name, table[:ends], others, None, *wrong)


def named_table(
    routing: str | tables.ForwardingTable, network: Topology, *, gone: bool = False
) -> tuple[tables.ForwardingTable, str]:
    """Return the forwarding table that a question names, and why OpenSM would fall back to minhop.

    ``gone``: a file may tell of switches and hosts that the network has no more.

    Raises
    ------
    InputError
        If it is no forwarding table.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> named_table("updn", topology("torus:3x3"))[0].name
    'minhop'
    """
    wanted = f"lfts:FILE, or one of {', '.join(ENGINES)}"
    if isinstance(routing, tables.ForwardingTable):
        if routing.choices is not None:
            raise InputError("routing", f"the table {routing} of a function", wanted)
        return routing, ""
    if isfile(routing) or routing.startswith("lfts:"):  # noqa: PTH113 (too long for a path)
        return read_lfts(network, routing.removeprefix("lfts:"), gone=gone), ""
    if routing not in ENGINES:
        raise InputError("routing", f"'{routing}'", wanted)
    why = would_fall_back(network, routing)
    return ENGINES["minhop" if why else routing](network), why
