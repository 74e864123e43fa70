"""InfiniBand fabrics, as tools list them: ibnetdiscover, ibsim, OpenSM, iblinkinfo, ibutils.

What ibsim reads has the form of what ``ibnetdiscover`` prints, and says less. Other files have a
line for each port or cable: ``opensm-subnet.lst``, ibdiagnet's ``.lst``, ``iblinkinfo``,
``ibnetdiscover -p``. The ``.topo`` files of ibutils say systems by type and name, and the cables
between their panels.

The rate of a cable follows from its width and speed. It is what is left for data. The wire is
faster by its coding: 10 bits for 8 up to QDR, 66 for 64 up to EDR, and 17 for 16 with forward error
correction from HDR on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.base.textfiles import read_text
from netloom.topology.subnets.records import (
    HOST,
    SWITCH,
    Address,
    Device,
    Port,
    Sighting,
    Subnet,
    cables_of,
    part_number,
)

# -- what ibnetdiscover prints, and ibsim reads ----------------------------------------------------


WIRE_GBPS = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.3125, "FDR": 14.0625, "EDR": 25.78125,
    "HDR": 53.125, "NDR": 106.25, "XDR": 212.5,
}  # fmt: skip
"""Gb/s of a lane on the wire, as tools print it (InfiniBand Architecture Specification)."""

_CODES = (("SDR DDR QDR", 8, 10), ("FDR10 FDR EDR", 64, 66), ("HDR NDR XDR", 16, 17))
"""Of how many bits on the wire how many are data."""

LANE_GBPS = {
    name: WIRE_GBPS[name] * data / of for names, data, of in _CODES for name in names.split()
}
"""Gb/s of data of a lane: EDR 25, HDR 50, NDR 100."""

_TOKEN = re.compile(r"^(1|2|4|8|12)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)$", re.IGNORECASE)


def gbps_of(words: Iterable[str]) -> float:
    """Return the Gb/s of data that the first of some words says that is a rate, or 0 if none is.

    Examples
    --------
    >>> gbps_of(["lid", "4", "4xNDR"]), gbps_of(["4", "x"])
    (400.0, 0.0)
    """
    for word in words:
        token = _TOKEN.match(word)
        if token:
            return int(token[1]) * LANE_GBPS[token[2].upper()]
    return 0.0


_WIDTHS, _SPEEDS = {1: 1, 2: 4, 4: 8, 8: 12}, {1: "SDR", 2: "DDR", 4: "QDR"}


def simulated_gbps(here: tuple[int, int], there: tuple[int, int]) -> float:
    """Return the Gb/s of data at which ibsim joins two ports: the best that both allow.

    Each end says its widths and speeds as sums of 1, 2, 4, 8 (1x, 4x, 8x, 12x) and of 1, 2, 4
    (SDR, DDR, QDR), or 0 if the two share none (ibsim, ``sim_net.c``).

    Examples
    --------
    >>> simulated_gbps((2, 1), (2, 1)), simulated_gbps((12, 7), (8, 3))
    (8.0, 48.0)
    >>> simulated_gbps((1, 1), (2, 1))
    0.0
    """
    width = max((lanes for bit, lanes in _WIDTHS.items() if bit & here[0] & there[0]), default=0)
    both = (LANE_GBPS[name] for bit, name in _SPEEDS.items() if bit & here[1] & there[1])
    return width * max(both, default=0.0)


def lane_rate(lanes: str, gbps: str) -> float:
    """Return the Gb/s of data of lanes such as ``4X`` at a speed such as ``25.78125`` or ``FDR10``.

    A number is the speed of a lane on the wire. One that OpenSM rounds (``SPD=25``, ``14``) stands
    for the next standard speed. The rate is 0 if none is near.

    Examples
    --------
    >>> lane_rate("4X", "25.78125"), lane_rate("4x", "25"), lane_rate("4x", "FDR10")
    (100.0, 100.0, 40.0)
    >>> lane_rate("4x", "???")
    0.0
    """
    width = int(lanes.rstrip("xX")) if re.fullmatch(r"\d{1,2}[xX]?", lanes, re.ASCII) else 0
    if gbps.upper() in LANE_GBPS:
        return width * LANE_GBPS[gbps.upper()]
    try:
        said = float(gbps)
    except ValueError:
        return 0.0
    speeds = [name for name in WIRE_GBPS if name != "FDR10"]
    nearest = min(speeds, key=lambda name: abs(WIRE_GBPS[name] - said))
    far = abs(WIRE_GBPS[nearest] - said) > 0.07 * WIRE_GBPS[nearest]
    return 0.0 if far else width * LANE_GBPS[nearest]


_NODE = re.compile(r'^(Switch|Ca|Hca|Rt)\s+(\d+)\s*"([^"]*)"\s*(?:#(.*))?$', re.IGNORECASE)
_PORT = re.compile(
    r'^\[(\d+)\](?:\[ext \d+\])?\s*(?:\(([0-9a-f]+)\))?\s*"([^"]*)"\s*(?:\[(\d+)\])?'
    r"(?:\[ext \d+\])?\s*(?:\(([0-9a-f]+)\))?\s*([^#]*)(?:#(.*))?$",
    re.IGNORECASE,
)
_NAME = re.compile(r'"(.*)"')
_SAID = {"LID": re.compile(r"\blid (\d+)"), "LMC": re.compile(r"\blmc (\d+)")}
_GUID = re.compile(r"^(?:([SHR]-)(?:0x)?|0x)([0-9a-f]+)$", re.IGNORECASE)
_ID = re.compile(r"^(switch|ca|hca|rt)guids?[=+](?:0x)?([0-9a-f]+)(\([0-9a-f]*\))?\s*(#|$)", re.I)
_OPTION = re.compile(r"\b([swv])=(\d+)")
_SKIPPED = re.compile(
    r"^(#|$|vendid=|devid=|sysimgguid=|pdebug|Chassis \d+|Non-Chassis Nodes|Hostname: |ibwarn:)"
)
_DEFAULT = re.compile(r"^(width|speed)\s*=\s*(\d+)")
_WHOLE = re.compile(r'("|\]|\)|[swv]=\d+|slot \d+|lmc \d)\s*$')
_LOOKS = frozenset(("d", "dump", "v", "verbose", "r", "route", "a", "attached", "x", "?", "help"))
"""Commands of ibsim that change nothing."""

MOST_SUM = 255
"""Largest sum of widths, or of speeds, that ibsim's files say."""

MOST_INCLUDED = 64
"""Most files that a file of ibsim's may include."""


@dataclass
class _Reading:
    """What is known while the lines of a file, and of those that it includes, are read."""

    subnet: Subnet
    sightings: list[Sighting] = field(default_factory=list)
    options: list[tuple[int, int]] = field(default_factory=list)
    key: str = ""
    guid: int = 0
    width: int = 2
    speed: int = 1
    files: int = 1
    remarks: bool = False
    simulated: bool = False


def read_ibnetdiscover(subnet: Subnet, text: str) -> None:
    """Fill in what a file of ``ibnetdiscover`` says, or one that ibsim reads.

    ``include`` and the widths and speeds of ibsim are followed. Its aliases, modules, and commands
    that change the network are refused.

    Raises
    ------
    InputError
        Naming file and line.
    """
    reading = _Reading(subnet)
    _read(reading, subnet.path, text)
    if reading.simulated and not any(each.gbps for each in reading.sightings):
        both = zip(reading.sightings, reading.options, strict=True)
        mask = {each.here: option for each, option in both}
        for place, each in enumerate(reading.sightings):
            there = mask.get(each.there, mask[each.here])
            gbps = simulated_gbps(mask[each.here], there)
            if not gbps:
                found = "a width and speed that the other end does not share"
                raise InputError(f"{subnet.path}:{each.line}", found, "ends that work together")
            reading.sightings[place] = each._replace(gbps=gbps)
    subnet.cables += cables_of(subnet, reading.sightings)


def _read(reading: _Reading, path: str, text: str) -> None:
    subnet = reading.subnet
    lines = text.split("\n")
    cut = len(lines) if lines[-1] else 0
    for number, line in enumerate(lines, start=1):
        line = line.lstrip()
        port = _PORT.match(line) if line.startswith("[") else None
        where = f"{path}:{number}"
        if port and reading.key:
            reading.sightings.append(_sighting(reading, port, number, where))
        elif line.startswith(("[", "@")):
            wanted = '[PORT] "PEER"[PORT] of a device'
            raise InputError(where, f"'{line:.60}'", wanted)
        elif node := _NODE.match(line):
            said = node[4] or ""
            named, own = _NAME.search(said), _GUID.match(node[3])
            guid = part_number("GUID", own[2], where, 16) if own else reading.guid
            ports = part_number("port", node[2], where)
            name = named[1] if named else node[3]
            device = Device(SWITCH, name, guid=guid, ports=ports, line=number)
            device.classify(node[1])
            if device.kind == SWITCH:
                behind = said[named.end() :] if named else said
                device.lid, device.lmc = _said("LID", behind, where), _said("LMC", behind, where)
            reading.key, reading.guid = _key(node[3], where), 0
            subnet.add(reading.key, device)
            reading.remarks |= bool(node[4])
        else:
            _other(reading, line, path, number)
            continue
        if number == cut:
            ends = _WHOLE.search(line) or gbps_of(line.split()[-1:])
            if not ends or (reading.remarks and "#" not in line):
                raise InputError(where, "a line that is cut off, at the end", "the whole file")


def _other(reading: _Reading, line: str, path: str, number: int) -> None:
    """Take in a line that is of no device and no port."""
    if _SKIPPED.match(line):
        return
    where = f"{path}:{number}"
    found = _ID.match(line)
    words = line.split()
    if found:
        reading.guid = part_number("GUID", found[2], where, 16)
    elif default := _DEFAULT.match(line):
        reading.simulated = True
        setattr(reading, default[1], whole_number(default[2], where=where, most=MOST_SUM))
    elif line.startswith("include"):
        named = _NAME.search(line)
        reading.files += 1
        if named is None or reading.files > MOST_INCLUDED:
            wanted = f'include "FILE", at most {MOST_INCLUDED} times'
            raise InputError(where, f"'{line:.60}'", wanted)
        inner = str(Path(path).parent / named[1])
        reading.key = ""
        _read(reading, inner, read_text(inner, wanted=f"the file that {where} includes"))
        reading.key = ""
    elif line.startswith("do ") and len(words) > 1 and words[1].lower() in _LOOKS:
        pass
    elif line.startswith(("do ", "module")):
        raise InputError(where, f"'{line:.60}'", "a network as it stands, without ibsim's commands")
    elif line.strip():
        wanted = "the lines of ibnetdiscover, or of ibsim"
        raise InputError(where, f"'{line:.60}'", wanted)


def _key(name: str, where: str) -> str:
    """Return a device's name with its GUID, if it is one, written one way."""
    guid = _GUID.match(name)
    if guid is None:
        return name
    return f"{(guid[1] or '').upper()}{part_number('GUID', guid[2], where, 16):016x}"


def _said(kind: str, text: str, where: str) -> int:
    """Return the LID or LMC that a remark says. 0 if it says none."""
    found = _SAID[kind].search(text)
    return part_number(kind, found and found[1], where)


def _sighting(reading: _Reading, port: re.Match[str], line: int, where: str) -> Sighting:
    subnet, key = reading.subnet, reading.key
    here = Port(key, part_number("port", port[1], where))
    there = Port(_key(port[3], where), part_number("port", port[4] or "1", where))
    said = port[7] or ""
    reading.remarks |= bool(said)
    named = _NAME.search(said)
    before, after = (said[: named.start()], said[named.end() :]) if named else ("", said)
    own, lid = (before, after) if named else (said, "")
    if subnet.devices[key].kind != SWITCH:
        guid = part_number("GUID", port[2], where, 16)
        own_lid, lmc = _said("LID", own, where), _said("LMC", own, where)
        subnet.addresses[here] = Address(guid, own_lid, lmc, line)
    options = dict(_OPTION.findall(port[6] or ""))
    if (port[6] or "").strip() and not options:
        raise InputError(where, f"'{port[6].strip():.60}' behind a port", "w=WIDTH or s=SPEED")
    reading.simulated |= bool(options)
    width, speed = (
        whole_number(options.get(letter, str(usual)), where=where, most=MOST_SUM)
        for letter, usual in (("w", reading.width), ("s", reading.speed))
    )
    reading.options.append((width, speed))
    address = _said("LID", lid, where), part_number("GUID", port[5], where, 16)
    return Sighting(here, there, gbps_of(after.split()), line, *address)


# -- lists of ports, cables and systems ------------------------------------------------------------


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
        device.classify(kind)
        if kind == "SW":
            device.lid = lid
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


_REPORT = re.compile(
    r"^(SW|CA|RT)\s+(\d+)\s+(\d+)\s+0x([0-9a-f]+)\s+(\S+)\s+(\S+)\s+"
    r"(?:- (?:SW|CA|RT)\s+(\d+)\s+(\d+)\s+0x([0-9a-f]+) \( '(.*)' \)|'(.*)')\s*$"
)
_HEADER = re.compile(
    r"^(CA|Switch|Router|RT)(?:: | (?=0x))(?:0x([0-9a-f]+) )?(.*):\s*$", re.IGNORECASE
)
_LINK = re.compile(
    r'^\s*(?:0x([0-9a-f]+)\s+)?(?:"\s*(.*)"\s+)?(\d+)\s+(\d+)\[[ \d]*\]\s+'
    r"==\((.*?)\)(?: \(.*?\))?==>\s+"
    r'(?:(?:0x([0-9a-f]+)\s+)?(\d+)\s+(\d+)\[[ \d]*\]\s+"(.*)"\s+\(.*\)|'
    r'(\[  \] "" \( \)|"Port .*"))\s*$'
)
_SPEED = re.compile(r"^\s*(\d+X)\s+([\d.]+) Gbps(?: \(FDR10\))?", re.IGNORECASE)


class _Row(NamedTuple):
    """A port, and what it is cabled to.

    ``group`` is a number for each run of lines that are of one device. A peer is known by its
    port's GUID where lines say it, else by its LID.
    """

    line: int
    group: int
    kind: str
    name: str
    guid: int
    lid: int
    number: int
    gbps: float
    cabled: bool
    peer_lid: int = 0
    peer_guid: int = 0
    peer_number: int = 0


def read_port_report(subnet: Subnet, text: str) -> None:
    """Fill in what ``ibnetdiscover -p`` lists: a line for each port.

    A computer's adapter is known from ports of one name that follow each other.

    Raises
    ------
    InputError
        Naming file and line.
    """
    rows: list[_Row] = []
    group = 0
    for number, line in _lines(subnet, text):
        found = _REPORT.match(line)
        if found is None:
            wanted = "KIND LID PORT GUID WIDTH SPEED - KIND LID PORT GUID ( 'NAME' - 'NAME' )"
            raise InputError(f"{subnet.path}:{number}", f"'{line:.60}'", wanted)
        where = f"{subnet.path}:{number}"
        kind, lid = found[1], part_number("LID", found[2], where)
        port = part_number("port", found[3], where)
        guid = part_number("GUID", found[4], where, 16)
        name = found[11]
        if found[10] is not None:
            name, *other = found[10].split("' - '")
            if len(other) != 1:
                raise InputError(where, f"'{found[10]:.60}'", "'NAME' - 'NAME'")
        last = rows[-1] if rows else None
        same = last is not None and (last.kind, last.name) == (kind, name) and port < last.number
        if kind == "SW":
            same = last is not None and last.kind == "SW" and last.guid == guid
        group += not same
        gbps, peer = lane_rate(found[5], found[6]), _peer(found[7], found[9], found[8], where)
        rows.append(_Row(number, group, kind, name, guid, lid, port, gbps, *peer))
    _fill(subnet, rows)


def read_linkinfo(subnet: Subnet, text: str) -> None:
    """Fill in what ``iblinkinfo`` prints, in blocks, or with ``-l`` a line for each port.

    Lines of ``-l`` do not say which devices are switches: those of which several ports have one
    GUID.

    Raises
    ------
    InputError
        If a device's LID is 0, because blocks name peers by LID alone. The error names file and
        line.
    """
    rows: list[_Row] = []
    group, kind, name, guid = 0, "", "", 0
    for number, line in _lines(subnet, text):
        header = _HEADER.match(line)
        if header:
            group, kind, name = group + 1, header[1].upper()[:2], header[3]
            guid = part_number("GUID", header[2], f"{subnet.path}:{number}", 16)
            continue
        found = _LINK.match(line)
        # only in a switch's block does a line say no GUID
        inside = bool(kind) and found is not None and (kind == "SW") == (found[1] is None)
        if found is None or not (found[1] if found[2] is not None else inside):
            wanted = 'LID PORT[ ] ==(WIDTH SPEED STATE)==> LID PORT[ ] "NAME" behind its device'
            raise InputError(f"{subnet.path}:{number}", f"'{line:.60}'", wanted)
        speed = _SPEED.match(found[5])
        gbps = lane_rate(speed[1], "FDR10" if "FDR10" in found[5] else speed[2]) if speed else 0.0
        where = f"{subnet.path}:{number}"
        own = part_number("GUID", found[1], where, 16) or guid
        lid = part_number("LID", found[3], where)
        port, called = part_number("port", found[4], where), name if found[2] is None else found[2]
        if found[2] is not None:
            last = rows[-1] if rows else None
            group += last is None or last.name != called or port <= last.number
        if not lid and found[10] is None and found[6] is None:
            wanted = "LIDs, by which iblinkinfo names peers: a subnet manager that runs"
            raise InputError(where, "LID 0", wanted)
        peer = _peer(found[7], found[6], found[8], where)
        rows.append(_Row(number, group, kind, called, own, lid, port, gbps, *peer))
    _fill(subnet, rows)


def _peer(
    lid: str | None, guid: str | None, port: str | None, where: str
) -> tuple[bool, int, int, int]:
    """Return whether there is another end, and its LID, GUID and port, 0 where a line says none."""
    return (
        lid is not None,
        part_number("LID", lid, where),
        part_number("GUID", guid, where, 16),
        part_number("port", port, where),
    )


def _lines(subnet: Subnet, text: str) -> list[tuple[int, str]]:
    """Return numbers and texts of lines that say something. The last must have an end."""
    lines = text.split("\n")
    if lines[-1].strip():
        where = f"{subnet.path}:{len(lines)}"
        raise InputError(where, "a line that is cut off, at the end", "the whole file")
    skipped = ("#", "ibwarn:")
    kept = enumerate(lines, start=1)
    return [(at, line) for at, line in kept if line.strip() and not line.startswith(skipped)]


def _fill(subnet: Subnet, rows: list[_Row]) -> None:
    """Make devices of rows, and cables."""
    ports_of: dict[int, set[int]] = {}
    for row in rows:
        ports_of.setdefault(row.guid or row.lid, set()).add(row.number)
    by_guid = any(row.peer_guid for row in rows)
    end_of: dict[tuple[int, int], Port] = {}
    keys: dict[int, str] = {}
    for row in rows:
        several = len(ports_of[row.guid or row.lid]) > 1
        switch = row.kind == "SW" or (not row.kind and several)
        own = row.guid or row.lid
        key = f"S-{own:016x}" if switch else keys.setdefault(row.group, f"H-{own:016x}")
        if key not in subnet.devices:
            device = Device(SWITCH, row.name, guid=row.guid, line=row.line)
            device.classify("SW" if switch else row.kind)
            device.guid, device.lid = (row.guid, row.lid) if switch else (0, 0)
            subnet.add(key, device)
        device = subnet.devices[key]
        device.ports = max(device.ports, row.number)
        end = Port(key, row.number)
        if not switch:
            subnet.addresses.setdefault(end, Address(row.guid, row.lid, 0, row.line))
        elif device.lid != row.lid:
            found = f"LID {row.lid} of '{device.name}'"
            wanted = f"{device.lid}, as line {device.line} says"
            raise InputError(f"{subnet.path}:{row.line}", found, wanted)
        end_of.setdefault((row.guid if by_guid else row.lid, row.number), end)
    sightings = []
    for row in rows:
        if not row.cabled:
            continue
        known = (row.guid if by_guid else row.lid, row.number)
        peer = (row.peer_guid if by_guid else row.peer_lid, row.peer_number)
        shown = f"GUID {peer[0]:#x}" if by_guid else f"LID {peer[0]}"
        there = end_of.get(peer, Port(shown, peer[1]))
        guid = row.peer_guid if there in subnet.addresses else 0
        sightings.append(Sighting(end_of[known], there, row.gbps, row.line, row.peer_lid, guid))
    subnet.cables += cables_of(subnet, sightings)


_SYSTEM = re.compile(r"^(\S+)\s+(\S+)\s*(CFG:.*)?$")
_CABLE = re.compile(
    r"^\s+(\S+)\s+-(?:(\d+x)-)?(?:([\d.]+)G?-)?>\s+(\S+)\s+(\S+)\s+(\S+)$", re.IGNORECASE
)
_PANEL_PORT = re.compile(r"^P(\d+)$")
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
    sightings = []
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
            owner = _system(subnet, kinds, system[1], system[2], number)
        elif cable and owner:
            here = Port(owner, _number(cable[1], where))
            peer = _system(subnet, kinds, cable[4], cable[5], number)
            there = Port(peer, _number(cable[6], where))
            rate = lane_rate(cable[2] or "4x", cable[3]) if cable[3] else 0.0
            sightings.append(Sighting(here, there, rate, number))
        else:
            raise InputError(where, f"'{line.strip():.60}'", "TYPE NAME, or PORT -> TYPE NAME PORT")
    subnet.cables += cables_of(subnet, sightings, both_ends=False)


def _system(subnet: Subnet, kinds: dict[str, str], kind: str, name: str, line: int) -> str:
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
    found = _PANEL_PORT.match(panel)
    if found is None:
        wanted = "ports P1, P2 … of a system of one chip"
        raise InputError(where, f"port '{panel}'", wanted)
    return part_number("port", found[1], where)
