"""SimGrid's platforms: the networks of its clusters."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from netloom.base.errors import InputError, shown
from netloom.base.spec import check_size
from netloom.base.units import parse_rate
from netloom.topology.cubes import cube
from netloom.topology.families.trees import xgft
from netloom.topology.hostlists import unfolded
from netloom.topology.subnets.grids import check_names
from netloom.topology.subnets.markup import Element, read_markup
from netloom.topology.subnets.records import HOST, MOST_DEVICES, SWITCH, Cable, Device, Port, Subnet

if TYPE_CHECKING:
    from netloom.topology.core import Topology

WANTED = "a SimGrid platform with one cluster"

PASSED = {"platform", "zone", "AS", "config", "prop", "cluster"}
"""Elements that may stand beside a cluster: they do not change its network."""

FORMS = {
    "TORUS": "sides such as 3,2,2",
    "FAT_TREE": "levels;children;parents;links such as 2;4,4;1,2;1,2",
    "DRAGONFLY": "groups,links;chassis,links;routers,links;nodes such as 3,4;4,3;5,1;2",
}

LIMITER = (
    "SimGrid's limiter_link of {} for each host is left out: netloom lets a host send and receive "
    "as fast as its links."
)
LATENCY = "Every link has SimGrid's latency of {}, which netloom counts as one cycle."


class _Joined(NamedTuple):
    """Two routers that are joined, and how many links make up the one channel each way."""

    one: int
    other: int
    links: int


def read_platform(subnet: Subnet, text: str) -> Topology | None:
    """Read the one cluster of a SimGrid platform, as SimGrid builds its network.

    Hosts are called prefix + number + suffix, and are numbered in the order of ``radical``. All
    links have the rate ``bw`` each way.

    - ``TORUS``: hosts are routers. The first side is fastest. A side of two is one link.
    - ``FAT_TREE``: an extended generalized fat tree with parallel links, digits as SimGrid's.
    - ``DRAGONFLY``: all routers of a chassis are joined (green), and those in the same place of a
      group's chassis (black). Groups i and j are joined by router j of the first chassis of group i
      and router i of that of group j (blue). Several links between two routers count as one that
      has their total bandwidth. Every group needs a place in the first chassis.
    - ``FLAT`` without a backbone: all hosts on one switch.

    Casanova et al., *Versatile, scalable, and accurate simulation of distributed applications and
    platforms*, 2014, and SimGrid's ``TorusZone.cpp``, ``FatTreeZone.cpp``, ``DragonflyZone.cpp``.

    Raises
    ------
    InputError
        Naming file and line, if there is not one cluster alone, a backbone or another policy of
        sharing than SPLITDUPLEX, or if the parameters are no network.
    """
    top = read_markup(subnet.path, text, wanted=WANTED)
    elements = list(top.all())
    clusters = [each for each in elements if each.tag == "cluster"]
    other = next((each for each in elements if each.tag not in PASSED), None)
    if len(clusters) != 1 or other is not None:
        odd = other or (clusters[1] if clusters else top)
        found = f"<{odd.tag:.40}>" if other else f"{len(clusters)} clusters"
        raise InputError(odd.where, found, "one <cluster> and nothing beside it")
    cluster = clusters[0]
    kind = cluster.said.get("topology", "FLAT").upper()
    policy = cluster.said.get("sharing_policy", "SPLITDUPLEX").upper()
    if policy != "SPLITDUPLEX":
        wanted = "SPLITDUPLEX: netloom's channels are directed"
        raise InputError(cluster.where, f"sharing_policy {policy:.40}", wanted)
    if "bb_bw" in cluster.said:
        wanted = "a cluster without a backbone that all flows share"
        raise InputError(cluster.where, f"bb_bw={cluster.said['bb_bw']:.40}", wanted)
    gbps = _gbps(cluster.word("bw"), cluster.where)
    names = _names(cluster)
    subnet.notes.append(LATENCY.format(shown(cluster.said.get("lat", "0"))))
    limiter = cluster.said.get("limiter_link", "0")
    if limiter.strip("0.") != "":
        subnet.notes.append(LIMITER.format(shown(limiter)))
    if kind == "FLAT":
        _hang(subnet, names, ["switch"], [0] * len(names), gbps)
        return None
    if kind not in FORMS:
        raise InputError(cluster.where, f"topology {kind:.40}", f"FLAT, {', '.join(FORMS)}")
    groups = _parameters(cluster, kind)
    if kind == "DRAGONFLY":
        _dragonfly(subnet, names, groups, gbps, cluster.where)
        return None
    made = _torus if kind == "TORUS" else _fat_tree
    network = made(subnet, names, groups, cluster.where)
    routers = network.router_network
    if routers is not None:
        network = replace(network, router_network=replace(routers, reference_gbps=gbps))
    return replace(network, reference_gbps=gbps, notes=tuple(subnet.notes))


def _parameters(cluster: Element, kind: str) -> list[list[int]]:
    """Return topo_parameters: numbers between commas, between semicolons."""
    text = cluster.word("topo_parameters")
    if not re.fullmatch(r"\d{1,9}(\s*[,;]\s*\d{1,9})*", text.strip(), re.ASCII):
        raise InputError(cluster.where, f"topo_parameters '{text:.60}'", FORMS[kind])
    found = [[int(word) for word in part.split(",")] for part in text.split(";")]
    shapes = {
        "TORUS": len(found) == 1,
        "FAT_TREE": len(found) == 4 and [len(part) for part in found] == [1, *[found[0][0]] * 3],
        "DRAGONFLY": [len(part) for part in found] == [2, 2, 2, 1],
    }
    if not shapes[kind] or min(map(min, found)) < 1:
        raise InputError(cluster.where, f"topo_parameters '{text:.60}'", FORMS[kind])
    return found


def _names(cluster: Element) -> list[str]:
    """Return the hosts of a cluster."""
    radical = cluster.word("radical").replace(" ", "")
    wanted = 'numbers such as radical="0-15" or "0-3,8"'
    numbers = unfolded(f"[{radical}]", where=cluster.where, wanted=wanted, most=MOST_DEVICES)
    prefix, suffix = cluster.said.get("prefix", ""), cluster.said.get("suffix", "")
    return [f"{prefix}{int(number)}{suffix}" for number in numbers]


def _gbps(word: str, where: str) -> float:
    """Return a bandwidth in Gb/s: bytes per second, or what the unit behind it says."""
    try:
        bytes_per_second = parse_rate(f"{word}B/s" if word[-1:].isdigit() else word, where=where)
    except InputError:
        wanted = "a bandwidth such as 125MBps or 10Gbps"
        raise InputError(where, f"bw={word:.40}", wanted) from None
    return float(f"{bytes_per_second * 8e-9:.12g}")


def _torus(subnet: Subnet, names: list[str], groups: list[list[int]], where: str) -> Topology:
    check_names(names, prod(groups[0]), where=where)
    return replace(cube(groups[0][::-1], wraps=True, name=subnet.name), labels=tuple(names))


def _fat_tree(subnet: Subnet, names: list[str], groups: list[list[int]], where: str) -> Topology:
    _, children, parents, links = groups
    check_names(names, prod(children), where=where)
    made = xgft(children, parents, links, name=subnet.name)
    return replace(made, labels=(*names, *made.labels[len(names) :]))


def _dragonfly(
    subnet: Subnet, names: list[str], given: list[list[int]], gbps: float, where: str
) -> None:
    """Fill in groups of chassis of routers, and the nodes on them."""
    (groups, blue), (chassis, black), (routers, green), (nodes,) = given
    per_group = chassis * routers
    check_names(names, groups * per_group * nodes, where=where)
    if groups > routers:
        wanted = "at most as many groups as routers: router j leads to group j"
        raise InputError(where, f"{groups} groups with {routers} routers in a chassis", wanted)
    inside = chassis * (routers * routers) + routers * chassis * chassis
    check_size(groups * inside, where=where, what="channels")
    joined = []
    for first in range(0, groups * per_group, per_group):
        for row in range(first, first + per_group, routers):
            joined += [_Joined(row + i, row + j, green)
                       for i, j in combinations(range(routers), 2)]  # fmt: skip
        for i, j in combinations(range(chassis), 2):
            joined += [_Joined(first + i * routers + place, first + j * routers + place, black)
                       for place in range(routers)]  # fmt: skip
    joined += [_Joined(i * per_group + j, j * per_group + i, blue)
               for i, j in combinations(range(groups), 2)]  # fmt: skip
    called = [f"g{group}c{place}r{router}" for group in range(groups)
              for place in range(chassis) for router in range(routers)]  # fmt: skip
    _hang(subnet, names, called, [host // nodes for host in range(len(names))], gbps, joined)


def _hang(
    subnet: Subnet,
    names: list[str],
    routers: list[str],
    router_of: list[int],
    gbps: float,
    joined: list[_Joined] | None = None,
) -> None:
    """Fill in hosts on routers, and the links between these."""
    subnet.natural = subnet.ports = False
    for name in routers:
        subnet.add(f"router {name}", Device(SWITCH, name))
    ports = [0] * len(routers)

    def port(router: int) -> Port:
        ports[router] += 1
        return Port(f"router {routers[router]}", ports[router])

    for name, router in zip(names, router_of, strict=True):
        subnet.add(f"host {name}", Device(HOST, name))
        subnet.cables.append(Cable(Port(f"host {name}", 1), port(router), gbps))
    for one, other, links in joined or []:
        subnet.cables.append(Cable(port(one), port(other), gbps * links))
