"""Networks of BookSim's ``anynet``: routers, the nodes on them, and links with latencies."""

from __future__ import annotations

import re
from typing import NamedTuple

from netloom.base.errors import InputError
from netloom.topology.rates import MOST_CYCLES
from netloom.topology.subnets.records import (
    HOST,
    SWITCH,
    Cable,
    Device,
    Port,
    Subnet,
    check_devices,
)

WANTED = "lines such as 'router 0 node 0 router 1 15'"

_ITEM = re.compile(r"(router|node)\s+(\d{1,9})(?:\s+(\d{1,9}))?(?:\s+|$)", re.ASCII)


class _End(NamedTuple):
    """A router or a node, and its number."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


def read_anynet(subnet: Subnet, text: str) -> None:
    """Fill in what a network file of BookSim's ``anynet`` says.

    A line begins with a router or a node. What follows are the nodes and routers that are joined to
    it, each perhaps with the latency of that link in cycles. As in BookSim, this is the latency
    from the head of the line. If a file says nothing of a direction, it is 1. Two routers are
    joined by one link, however often a file says so. A latency behind a node is that of its link,
    both ways. Ports are counted in the order of the file.

    Jiang et al., *A detailed and flexible cycle-accurate network-on-chip simulator*, 2013, and
    BookSim's ``anynet.cpp``.

    Raises
    ------
    InputError
        Naming file and line of what cannot be read, of a node on two routers, of a direction that
        has two latencies, or if nodes are not numbered from 0 on.
    """
    router_of: dict[int, int] = {}
    ways: dict[tuple[_End, _End], int] = {}  # cycles; 0 where nothing is said
    ends: set[_End] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{subnet.path}:{number}"
        head, *others = _items(line.strip(), where)
        ends.update([head[0], *(end for end, _ in others)])
        check_devices(len(ends), where)
        for end, cycles in others:
            if head[0] == end or head[0].kind == end.kind == "node":
                wanted = "links between two routers, and nodes on routers"
                raise InputError(where, f"{head[0]} joined to {end}", wanted)
            one, other = sorted((head[0], end))  # a node comes before a router
            if one.kind == "node":
                first = router_of.setdefault(one.number, other.number)
                if first != other.number:
                    found = f"{one} on routers {first} and {other.number}"
                    raise InputError(where, found, "each node on one router")
            before = ways.setdefault((head[0], end), cycles)
            if cycles and before and cycles != before:
                found = f"{head[0]} to {end} with {cycles} cycles, and with {before} before"
                raise InputError(where, found, "one latency for each direction")
            ways[head[0], end] = cycles or before
    lost = set(range(len(router_of))) - router_of.keys()
    if lost:
        found = f"{len(router_of)} nodes, but no node {min(lost)}"
        raise InputError(subnet.path, found, "nodes that are numbered from 0 on")
    _add(subnet, ways)


def _items(line: str, where: str) -> list[tuple[_End, int]]:
    """Return what a line lists: its head, and what is joined to it with how many cycles."""
    found = [(_End(kind, int(number)), int(cycles or 0), bool(cycles))
             for kind, number, cycles in _ITEM.findall(line)]  # fmt: skip
    if _ITEM.sub("", line) or not found or found[0][2]:
        raise InputError(where, f"'{line:.60}'", WANTED)
    for end, cycles, said in found:
        if said and not 1 <= cycles <= MOST_CYCLES:
            raise InputError(where, f"{end} after {cycles} cycles", f"1 to {MOST_CYCLES} cycles")
    return [(end, cycles) for end, cycles, _ in found]


def _add(subnet: Subnet, ways: dict[tuple[_End, _End], int]) -> None:
    """Add the devices, then each link once, in the order of the file."""
    subnet.ports = False
    ends = dict.fromkeys(end for pair in ways for end in pair)
    for end in ends:
        kind = HOST if end.kind == "node" else SWITCH
        subnet.add(str(end), Device(kind, f"{end.kind}{end.number}"))
    done = set[tuple[_End, _End]]()
    ports = dict.fromkeys(ends, 0)
    for (here, there), cycles in ways.items():
        if (there, here) in done:
            continue
        done.add((here, there))
        ports[here], ports[there] = ports[here] + 1, ports[there] + 1
        back = ways.get((there, here), 0)
        if "node" in (here.kind, there.kind):
            cycles = back = cycles or back
        first, second = Port(str(here), ports[here]), Port(str(there), ports[there])
        subnet.cables.append(Cable(first, second, cycles=(cycles or 1, back or 1)))
