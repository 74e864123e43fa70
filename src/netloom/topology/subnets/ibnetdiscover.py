"""What ibnetdiscover prints of an InfiniBand fabric, and networks of ibsim.

Rates of InfiniBand cables, from their width and speed.

A rate is what is left for data. The wire is faster by its coding: 10 bits for 8 up to QDR, 66 for
64 up to EDR, and 17 for 16 with forward error correction from HDR on.

The output of ``ibnetdiscover``, and what ibsim reads: the same form, of which it says less.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.base.textfiles import read_text
from netloom.topology.subnets.records import (
    SWITCH,
    Address,
    Device,
    Port,
    Sighting,
    Subnet,
    cables_of,
    part_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


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
_GUID = re.compile(r"^([SHR]-)?(?:0x)?([0-9a-f]+)$", re.IGNORECASE)
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
            reading.key = _key(node[3], where)
            subnet.add(reading.key, _device(node, reading, number, where))
            reading.guid = 0
            reading.remarks |= bool(node[4])
        else:
            _other(reading, line, path, number)
            continue
        if number == cut and not _is_whole(line, remarks=reading.remarks):
            raise InputError(where, "a line that is cut off, at the end", "the whole file")


def _is_whole(line: str, *, remarks: bool) -> bool:
    """Whether a last line without an end is one that may end so."""
    if remarks and "#" not in line:
        return False
    return bool(_WHOLE.search(line)) or gbps_of(line.split()[-1:]) > 0


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
        _include(reading, line, path, where)
    elif line.startswith("do ") and len(words) > 1 and words[1].lower() in _LOOKS:
        pass
    elif line.startswith(("do ", "module")):
        raise InputError(where, f"'{line:.60}'", "a network as it stands, without ibsim's commands")
    elif line.strip():
        wanted = "the lines of ibnetdiscover, or of ibsim"
        raise InputError(where, f"'{line:.60}'", wanted)


def _include(reading: _Reading, line: str, path: str, where: str) -> None:
    named = _NAME.search(line)
    reading.files += 1
    if named is None or reading.files > MOST_INCLUDED:
        wanted = f'include "FILE", at most {MOST_INCLUDED} times'
        raise InputError(where, f"'{line:.60}'", wanted)
    inner = str(Path(path).parent / named[1])
    reading.key = ""
    _read(reading, inner, read_text(inner, wanted=f"the file that {where} includes"))
    reading.key = ""


def _key(name: str, where: str) -> str:
    """Return a device's name with its GUID, if it is one, written one way."""
    guid = _GUID.match(name)
    if guid is None or not (guid[1] or name.lower().startswith("0x")):
        return name
    return f"{(guid[1] or '').upper()}{part_number('GUID', guid[2], where, 16):016x}"


def _device(node: re.Match[str], reading: _Reading, line: int, where: str) -> Device:
    said = node[4] or ""
    named = _NAME.search(said)
    name = named[1] if named else node[3]
    said = said[named.end() :] if named else said
    guid = _GUID.match(node[3])
    known = guid and (guid[1] or node[3].lower().startswith("0x"))
    number = part_number("GUID", guid[2], where, 16) if guid and known else reading.guid
    found = Device(SWITCH, name, guid=number, ports=part_number("port", node[2], where), line=line)
    found.classify(node[1])
    if found.kind == SWITCH:
        found.lid, found.lmc = _said("LID", said, where), _said("LMC", said, where)
    return found


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
        subnet.addresses[here] = Address(
            part_number("GUID", port[2], where, 16),
            _said("LID", own, where),
            _said("LMC", own, where),
            line,
        )
    options = dict(_OPTION.findall(port[6] or ""))
    if (port[6] or "").strip() and not options:
        raise InputError(where, f"'{port[6].strip():.60}' behind a port", "w=WIDTH or s=SPEED")
    reading.simulated |= bool(options)
    width, speed = (
        whole_number(options.get(letter, str(usual)), where=where, most=MOST_SUM)
        for letter, usual in (("w", reading.width), ("s", reading.speed))
    )
    reading.options.append((width, speed))
    return Sighting(
        here, there, gbps_of(after.split()), line,
        _said("LID", lid, where), part_number("GUID", port[5], where, 16),
    )  # fmt: skip
