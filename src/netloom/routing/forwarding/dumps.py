"""The files in which switches' forwarding tables are dumped, in three spellings.

OpenSM's ``opensm-lfts.dump``, what ``dump_fts`` and ``ibroute`` print, OpenSM's ``opensm.fdbs``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import read_text
from netloom.routing.forwarding.addresses import (
    MOST_LID,
    NO_PORT,
    Addresses,
    addressed,
    addresses,
    rows_of_lids,
)
from netloom.routing.forwarding.dumped_lids import with_dumped_lids
from netloom.routing.forwarding.tables import MOST_ENTRIES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology

WANTED = "forwarding tables as OpenSM (opensm-lfts.dump, opensm.fdbs), dump_fts or ibroute say them"
OF_THIS = "tables of this fabric: both files from one subnet, at one time"
WHOLE = "a whole dump"
GONE = -2
"""Stands for a switch that the network has no more."""

_SWITCH = re.compile(
    r"^(?:Unicast lids \[\w+-(?P<top>\w+)\] of switch .*\bguid|dump_ucast_routes: Switch) "
    r"0x(?P<guid>[0-9a-f]+)",
    re.I,
)
_ENTRY = re.compile(r"^0x([0-9a-f]{1,8}) +(\d{1,8})(?: +(.*))?$", re.I)
_FDBS_ENTRY = re.compile(r"^0x([0-9a-f]{1,8}) *: *(?:(\d{1,8}) *:.*|UNREACHABLE) *$", re.I)
_COUNT = re.compile(r"^(\d{1,8}) (?:valid )?lids dumped *$", re.I)
_CHATTER = re.compile(r"^\s*(#.*|Lid +Out +Destination.*|Port +Info.*|LID *: *Port *:.*)?$", re.I)
_OWNER = re.compile(r"portguid (?:0x)?([0-9a-f]+)(?:: '(.*)')?", re.I)


def read_ports(topology: Topology, path: str, *, gone: bool = False) -> NDArray[np.uint8]:
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
        addressed(topology.whole, f"routing lfts:{path}")  # refused, whatever the file says
    text = read_text(path, wanted=WANTED)
    network, topology = topology, with_dumped_lids(topology.whole, text)
    cabling = addressed(topology, f"routing lfts:{path}")
    every, owner = addresses(topology), rows_of_lids(topology, topology.name)
    rows, routers = len(every), topology.num_routers
    if rows * routers > MOST_ENTRIES:
        found = f"{routers} switches times {rows} destinations"
        raise InputError(f"routing lfts:{path}", found, f"at most {MOST_ENTRIES:,}")
    router_of = {guid: number for number, guid in enumerate(cabling.router_guid.tolist())}
    reading = _Reading(topology, path, every, owner.tolist(), router_of, gone)
    for number, line in enumerate(text.split("\n"), start=1):
        if line[:2] == "0x":
            reading.entry(line, number)
            continue
        switch = _SWITCH.match(line)
        if switch:
            reading.end_switch()
            reading.begin_switch(switch, number)
        elif not _CHATTER.match(line):
            reading.count(line, number)
    reading.end_switch()
    reading.check_all(network.routers.vertex_up.tolist())
    return reading.ports[_kept(network)]


def _kept(network: Topology) -> Ints:
    """Return the row in the whole network of each row of a broken one."""
    whole, first = network.whole, network.num_network_channels
    ports = network.whole_channel[first : first + network.num_ports] - whole.num_network_channels
    return np.append(ports, np.arange(whole.num_ports, len(addresses(whole)))).astype(np.int64)


@dataclass
class _Reading:
    """What has been read, and where."""

    topology: Topology
    path: str
    every: Addresses
    owner: list[int]
    router_of: dict[int, int]
    gone: bool
    router: int = -1
    line: int = 0
    most: int = 0
    top: int = 0
    fdbs: bool = False
    counted: bool = True
    begun: dict[int, int] = field(default_factory=dict)
    said: dict[int, int] = field(default_factory=dict)
    known: set[tuple[str, str | None]] = field(default_factory=set)
    lids: set[int] = field(default_factory=set)
    ports: NDArray[np.uint8] = field(init=False)

    def __post_init__(self) -> None:
        self.ports = np.full((len(self.every), self.topology.num_routers), NO_PORT, np.uint8)

    def refused(self, line: int, found: str, wanted: str) -> InputError:
        return InputError(f"{self.path}:{line}", found, wanted)

    def name(self, router: int) -> str:
        return self.every.name[len(self.every) - self.topology.num_routers + router]

    def begin_switch(self, switch: re.Match[str], number: int) -> None:
        guid = int(switch["guid"], 16)
        router = self.router_of.get(guid, GONE)
        if router == GONE and self.gone:
            self.router = GONE
            return
        if router == GONE:
            found = f"a switch of GUID 0x{guid:016x}, which {self.topology.name} does not have"
            raise self.refused(number, found, OF_THIS)
        if router in self.begun:
            found = f"switch '{self.name(router)}' again, after line {self.begun[router]}"
            raise self.refused(number, found, "each switch once")
        self.begun[router] = number
        self.router, self.line, self.said = router, number, {}
        self.fdbs = switch["top"] is None
        self.top = -1 if self.fdbs else self.number(switch["top"], number)
        self.counted = self.fdbs
        self.most = int(self.topology.cabling.router_ports[router])  # type: ignore[union-attr]

    def entry(self, line: str, number: int) -> None:
        if self.router == GONE:
            return
        found = (_FDBS_ENTRY if self.fdbs else _ENTRY).match(line)
        if found is None or self.router < 0 or (self.counted and not self.fdbs):
            wanted = WHOLE if self.router >= 0 else WANTED
            raise self.refused(number, f"'{line:.40}', which is no entry of a switch", wanted)
        lid, port = int(found[1], 16), int(found[2] or NO_PORT)
        if lid in self.said:
            raise self.refused(number, f"LID 0x{lid:04x} again", "each LID once")
        self.said[lid] = port
        if port > self.most:
            if port == NO_PORT:
                return
            called = f"switch '{self.name(self.router)}' with {self.most} ports"
            raise self.refused(number, f"port {port} of {called}", OF_THIS)
        said = (found[1], None if self.fdbs else found[3])
        if said not in self.known:
            self.check(lid, said[1] or "", number)
            self.known.add(said)

    def check(self, lid: int, said: str, number: int) -> None:
        """Refuse a LID that nobody has, or whose owner is another one than the dump says."""
        row = self.owner[lid] if lid < len(self.owner) else -1
        if row < 0 and self.gone:
            return
        if row < 0:
            what = f"LID 0x{lid:04x}, which nobody in {self.topology.name} has"
            if lid > MOST_LID:
                what = f"0x{lid:04x}, which is no LID of an end point"
            raise self.refused(number, what, OF_THIS)
        owner = _OWNER.search(said)
        if owner is None:
            return
        guid, name = int(owner[1], 16), owner[2]
        if not self.is_guid(row, guid) and (name is None or not _same(name, self.every.name[row])):
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

    def number(self, word: str, line: int) -> int:
        """Return a number as C writes it, decimal or hexadecimal."""
        try:
            return int(word, 16 if word[:2] in ("0x", "0X") else 10)
        except ValueError:
            raise self.refused(line, f"'{word}'", "the largest LID") from None

    def count(self, line: str, number: int) -> None:
        found = _COUNT.match(line)
        if found and self.router == GONE:
            return
        if found is None or self.router < 0 or self.fdbs:
            wanted = WHOLE if self.router >= 0 else WANTED
            raise self.refused(number, f"'{line:.40}'", wanted)
        # dump_fts counts its entries; OpenSM says the largest LID, whether all have entries or not
        if self.counted or int(found[1]) not in (len(self.said), max(self.top, len(self.said))):
            what = f"{found[1]} entries announced and {len(self.said)} there"
            raise self.refused(number, f"{what} of switch '{self.name(self.router)}'", WHOLE)
        self.counted = True

    def end_switch(self) -> None:
        """Keep the entries of the switch that was read."""
        if self.router < 0:
            return
        if not self.counted:
            found = f"no number of entries at the end of switch '{self.name(self.router)}'"
            raise self.refused(self.line, found, WHOLE)
        if self.fdbs:
            self.lids = self.lids or set(self.said)
            if self.lids != set(self.said):
                found = f"switch '{self.name(self.router)}' with other LIDs than those before"
                raise self.refused(self.line, found, WHOLE)
        every, owner = self.every, self.owner
        for lid, port in self.said.items():
            if port == NO_PORT:
                continue
            row = owner[lid] if lid < len(owner) else -1
            if row < 0:
                continue
            base = int(every.lid[row])
            if lid == base:
                self.ports[row, self.router] = port
                for more in range(base + 1, base + (1 << int(every.lmc[row]))):
                    if self.said.get(more, NO_PORT) == NO_PORT:
                        found = f"LID 0x{base:04x} of '{every.name[row]}', but not 0x{more:04x}"
                        where = f"{found} of the same port, at switch '{self.name(self.router)}'"
                        raise self.refused(self.line, where, "all 2^LMC LIDs of a port")

    def check_all(self, up: list[bool]) -> None:
        """Refuse a dump that does not tell of every router that is up."""
        if not self.begun:
            raise InputError(self.path, "no forwarding table", WANTED)
        for router in range(self.topology.num_routers):
            if up[router] and router not in self.begun:
                found = f"no table of switch '{self.name(router)}'"
                raise InputError(self.path, found, "a table of every switch")


def _same(description: str, name: str) -> bool:
    """Whether a name that was made from a description, perhaps shortened, is of this one."""
    words = set(re.findall(r"\w+", description))
    own = re.findall(r"\w+", name.split("@", maxsplit=1)[0])
    return bool(own) and words.issuperset(own)
