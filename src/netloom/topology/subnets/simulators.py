"""Networks in the files of other simulators.

BookSim's ``anynet`` has routers, the nodes on them, and links with latencies. Dragonflies of CODES
are the wirings of Theta, Edison and others, in two binary files each. SimGrid's platforms have
clusters, of which one is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError, shown
from netloom.base.spec import check_size
from netloom.base.textfiles import file_kind, read_bytes
from netloom.base.units import parse_rate
from netloom.topology.core import DragonflyShape, Topology, attach_hosts
from netloom.topology.cubes import cube
from netloom.topology.families import check_sizes, xgft
from netloom.topology.faults import two_apart
from netloom.topology.graph import MOST_CYCLES
from netloom.topology.names import unfolded
from netloom.topology.subnets.documents import Element, read_markup
from netloom.topology.subnets.records import (
    HOST,
    MOST_DEVICES,
    SWITCH,
    Device,
    Subnet,
    check_devices,
)
from netloom.topology.subnets.slurm import check_names

ANYNET = "lines such as 'router 0 node 0 router 1 15'"

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
    ends = set()
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
    found, items = _ITEM.findall(line), []
    if _ITEM.sub("", line) or not found or found[0][2]:
        raise InputError(where, f"'{line:.60}'", ANYNET)
    for kind, number, said in found:
        end, cycles = _End(kind, int(number)), int(said or 0)
        if said and not 1 <= cycles <= MOST_CYCLES:
            raise InputError(where, f"{end} after {cycles} cycles", f"1 to {MOST_CYCLES} cycles")
        items.append((end, cycles))
    return items


def _add(subnet: Subnet, ways: dict[tuple[_End, _End], int]) -> None:
    """Add the devices, then each link once, in the order of the file."""
    subnet.ports = False
    ends = dict.fromkeys(end for pair in ways for end in pair)
    for end in ends:
        kind = HOST if end.kind == "node" else SWITCH
        subnet.add(str(end), Device(kind, f"{end.kind}{end.number}"))
    done = set[tuple[_End, _End]]()
    for (here, there), cycles in ways.items():
        if (there, here) in done:
            continue
        done.add((here, there))
        back = ways.get((there, here), 0)
        if "node" in (here.kind, there.kind):
            cycles = back = cycles or back
        subnet.join(str(here), str(there), cycles=(cycles or 1, back or 1))


INTRA = "triples of int32: two routers of a group, and a kind of link"
INTER = "pairs of int32: two routers of different groups"

MOST_BYTES = 2**27
"""Most bytes of a file."""

MOST_ROUTERS, MOST_KINDS = 2**22, 8
"""Numbers of routers and kinds of links are below these."""

CRAY_HOSTS = 4
"""Hosts on a router of a Cray XC: each Aries chip has four network interfaces."""

GIB_GBPS = 8 * 2**30 * 1e-9
"""Gb/s of a GiB a second."""

NO_RATES = (
    "The files say no rates: netloom takes all links to be equally fast. The .conf file of CODES "
    "that names them says them."
)
NO_HOSTS = (
    "The files do not say how many hosts a router has: netloom takes {}, {}. A number behind the "
    "file, such as inter-theta/4, says another."
)

_PAIR = re.compile(r'^\s*([\w-]+)\s*=\s*"([^"]*)"')


@dataclass(frozen=True)
class _Wires:
    """Links inside a group and between groups.

    Attributes
    ----------
    inside
        int64[num_links, 3]: source, target, kind.
    between
        int64[num_links, 2].
    per_group, groups
        Routers of a group, and groups.
    """

    inside: Ints
    between: Ints
    per_group: int
    groups: int

    @property
    def routers(self) -> int:
        """How many routers there are."""
        return self.per_group * self.groups


def is_wiring(path: str) -> bool:
    """Whether a file is called as one of the two of a wiring, with the other beside it."""
    other = _beside(path)
    return other is not None and file_kind(other) == "a file"


def read_wiring(subnet: Subnet, hosts: int = 0) -> Topology:
    """Return the dragonfly of two files of CODES, of which ``subnet`` names one.

    ``inter-NAME`` holds pairs of int32, the routers at the ends of a link between groups.
    ``intra-NAME`` holds triples, two routers of any group and a kind of link (0 along a row, 1
    along a column). Numbers are little-endian. A link is one channel, and each direction has its
    own. Repeated links are parallel channels. Router r is number r mod a of group r div a.

    The files do not describe hosts. If links have both kinds, the network is a Cray XC with 4 hosts
    on each router. If each router has h links to other groups and 2h routers are in a group, it is
    a balanced dragonfly (Kim et al. 2008) of h. The network's notes report this, and that rates are
    not known.

    Mubarak et al., *Enabling parallel simulation of large-scale HPC network systems*, 2017, and
    CODES's ``dragonfly-custom.C``.

    Parameters
    ----------
    subnet
        The name, and the path of either file.
    hosts
        Hosts of each router; 0 where nobody says.

    Raises
    ------
    InputError
        Naming the file, if it is not such a list, links lead one way only, it is a dragonfly+, or
        it is not clear how many hosts a router has.
    """
    other = _beside(subnet.path)
    assert other is not None
    inside, between = sorted((subnet.path, other), key=lambda path: "inter" in Path(path).name)
    wires = _wires(inside, between, 0)
    leads_away = np.zeros(wires.routers, np.bool_)
    leads_away[wires.between] = True
    ends = leads_away[: wires.per_group][wires.inside[:, :2]]
    if (ends[:, 0] != ends[:, 1]).all():
        found = "a dragonfly+, whose routers with links to other groups have no hosts"
        raise InputError(subnet.path, found, "a dragonfly in which every router has hosts")
    subnet.notes.append(NO_RATES)
    if not hosts:
        links = np.bincount(wires.between[:, 0], minlength=wires.routers)
        if set(wires.inside[:, 2].tolist()) == {0, 1}:
            hosts, why = CRAY_HOSTS, "as on a Cray XC, for links are along rows and columns"
        elif (links == links[0]).all() and 2 * links[0] == wires.per_group:
            hosts, why = int(links[0]), "as in a balanced dragonfly"
        else:
            wanted = "that number behind the file, such as inter-NAME/4"
            found = "nothing that says how many hosts a router has"
            raise InputError(subnet.path, found, wanted)
        subnet.notes.append(NO_HOSTS.format(hosts, why))
    return _network(subnet, wires, hosts, None)


def read_conf(subnet: Subnet, text: str) -> Topology:
    """Return the dragonfly that a ``.conf`` file of CODES describes, with hosts and rates.

    It names the two files of ``read_wiring``, which may be beside it. Bandwidths are in GiB/s.

    Raises
    ------
    InputError
        As ``read_wiring`` does. Naming file and line, if a parameter is missing or no number, or if
        the model is another than ``dragonfly_custom`` and ``dragonfly_dally``.
    """
    said = {}
    for number, line in enumerate(text.split("\n"), start=1):
        pair = _PAIR.match(line)
        if pair:
            said[pair[1].lower()] = (pair[2], f"{subnet.path}:{number}")
    if not {"modelnet_dragonfly_custom", "modelnet_dragonfly_dally"} & said.keys():
        wanted = "modelnet_dragonfly_custom or modelnet_dragonfly_dally"
        raise InputError(subnet.path, "another model of CODES", wanted)

    def value(key: str, wanted: str) -> tuple[str, str]:
        if key not in said:
            raise InputError(subnet.path, f"no {key}", f'{key}="{wanted}"')
        return said[key]

    def number_of(key: str, *, whole: bool = True) -> float:
        word, where = value(key, "4" if whole else "5.25")
        form = r"[1-9]\d{0,6}" if whole else r"\d{1,6}(\.\d{1,9})?"
        if not re.fullmatch(form, word.strip(), re.ASCII) or not float(word):
            raise InputError(where, f"{key}='{word:.40}'", "a positive number")
        return float(word)

    def file_of(key: str) -> str:
        word, where = value(key, "FILE")
        here, name = Path(subnet.path).parent, word.replace("\\", "/").rpartition("/")[2]
        found = [path for path in (here / word, here / name) if file_kind(path) == "a file"]
        if not found:
            raise InputError(where, f"{key}='{word:.60}'", "a file that is there, or beside this")
        return str(found[0])

    names = ["num_routers"] if "num_routers" in said else ["num_router_rows", "num_router_cols"]
    per_group = int(np.prod([number_of(key) for key in names]))
    inside, between = (file_of(f"{kind}-group-connections") for kind in ("intra", "inter"))
    wires = _wires(inside, between, per_group)
    if number_of("num_groups") != wires.groups:
        where = said["num_groups"][1]
        raise InputError(where, f"num_groups {said['num_groups'][0]}", f"{wires.groups}")
    keys = ("cn_bandwidth", "local_bandwidth", "global_bandwidth")
    node, local, far = (number_of(key, whole=False) * GIB_GBPS for key in keys)
    return _network(subnet, wires, int(number_of("num_cns_per_router")), (node, local, far))


def _beside(path: str) -> str | None:
    """Return the path of the other file of a wiring. None where the name tells of none."""
    at = Path(path)
    for here, there in (("inter", "intra"), ("intra", "inter")):
        if here in at.name:
            head, _, tail = at.name.rpartition(here)
            return str(at.with_name(head + there + tail))
    return None


def _wires(inside: str, between: str, per_group: int) -> _Wires:
    """Return the links of two files. ``per_group`` routers are in a group, if that is known."""
    local, far = _integers(inside, 3, INTRA), _integers(between, 2, INTER)
    most = int(local[:, :2].max()) + 1
    per_group = per_group or most
    if most > per_group:
        raise InputError(inside, f"router {most - 1} of a group of {per_group}", "fewer")
    groups = int(far.max()) // per_group + 1
    check_sizes(
        between, hosts=0, routers=groups * per_group, channels=len(local) * groups + len(far)
    )
    for path, ends, own in ((inside, local, 1), (between, far, per_group)):
        source, target = ends[:, 0], ends[:, 1]
        near = source // own == target // own
        if near.any():
            pair = f"{source[np.argmax(near)]} and {target[np.argmax(near)]}"
            where = "in one group" if path == between else "one and the same"
            raise InputError(path, f"a link between routers {pair}, {where}", "two apart")
        ahead, behind = ends.copy(), ends.copy()
        behind[:, :2] = ends[:, 1::-1]
        ahead, behind = (each[np.lexsort(each.T[::-1])] for each in (ahead, behind))
        if not np.array_equal(ahead, behind):
            at = int(np.argmax((ahead != behind).any(axis=1)))
            a, b = min(tuple(ahead[at, :2]), tuple(behind[at, :2]))
            found = f"routers {a} and {b} with more links one way than back"
            raise InputError(path, found, "every link from both its ends")
    return _Wires(local, far, per_group, groups)


def _integers(path: str, columns: int, wanted: str) -> Ints:
    data = read_bytes(path, wanted=wanted, most_bytes=MOST_BYTES)
    if not data or len(data) % (4 * columns):
        raise InputError(path, f"{len(data)} bytes", wanted)
    found = np.frombuffer(data, "<i4").reshape(-1, columns).astype(np.int64)
    bad = (found < 0) | (found >= np.array([MOST_ROUTERS, MOST_ROUTERS, MOST_KINDS][:columns]))
    if bad.any():
        raise InputError(path, f"the number {found[bad][0]}", wanted)
    return found


def _network(
    subnet: Subnet, wires: _Wires, hosts: int, gbps: tuple[float, float, float] | None
) -> Topology:
    """Return the network. ``gbps``: of hosts, in a group, between groups."""
    many = len(wires.inside) * wires.groups
    channels = many + len(wires.between) + 2 * hosts * wires.routers
    check_sizes(subnet.path, hosts=wires.routers * hosts, routers=wires.routers, channels=channels)
    first = wires.per_group * np.arange(wires.groups)[:, None]
    ends = np.concatenate(
        [(first + wires.inside[:, :2].T[:, None]).reshape(2, -1), wires.between.T], axis=1
    )
    rate, reference = np.ones(ends.shape[1]), None
    if gbps is not None:
        reference, local, far = gbps
        rate[:] = local / reference
        rate[many:] = far / reference
    order = np.lexsort(ends[::-1])
    source, target = ends[:, order].astype(np.int32)
    routers = Topology(
        subnet.name,
        wires.routers,
        source,
        target,
        tuple(f"g{r // wires.per_group}r{r % wires.per_group}" for r in range(wires.routers)),
        channel_bandwidth=rate[order],
        reference_gbps=reference,
        family=_shape(wires),
    )
    ports = np.arange(wires.routers).repeat(hosts)
    said: dict[str, Any] = {"reference_gbps": reference, "notes": tuple(subnet.notes)}
    found = attach_hosts(routers, ports, name=subnet.name, **said)
    if two_apart(found) is not None:
        raise InputError(subnet.path, "routers that cannot all reach each other", "one piece")
    return found


def _shape(wires: _Wires) -> DragonflyShape | None:
    """Return the parameters of a dragonfly in which all routers of a group are joined once."""
    a, g = wires.per_group, wires.groups
    links = np.bincount(wires.between[:, 0], minlength=wires.routers)
    pairs = wires.inside[:, 0] * a + wires.inside[:, 1]
    joined = len(pairs) == len(np.unique(pairs)) == a * (a - 1)
    groups = wires.between // a
    each = np.bincount(groups[:, 0] * g + groups[:, 1], minlength=g * g)
    even = len(set(each[each > 0].tolist())) == 1 and (each > 0).sum() == g * (g - 1)
    if not joined or not even or (links != links[0]).any():
        return None
    return DragonflyShape(g, a, int(links[0]))


PLATFORM = "a SimGrid platform with one cluster"

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
    top = read_markup(subnet.path, text, wanted=PLATFORM)
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
    radical = cluster.word("radical").replace(" ", "")
    wanted = 'numbers such as radical="0-15" or "0-3,8"'
    numbers = unfolded(f"[{radical}]", where=cluster.where, wanted=wanted, most=MOST_DEVICES)
    prefix, suffix = cluster.said.get("prefix", ""), cluster.said.get("suffix", "")
    names = [f"{prefix}{int(number)}{suffix}" for number in numbers]
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
    sides, *more = [groups[0][::-1]] if kind == "TORUS" else groups[1:]
    check_names(names, prod(sides), where=cluster.where)
    if kind == "TORUS":
        network: Topology = cube(sides, wraps=True, name=subnet.name)
    else:
        network = xgft(sides, *more, name=subnet.name)
    labels = (*names, *network.labels[len(names) :])  # of the routers of a tree, too
    return replace(network, labels=labels, reference_gbps=gbps, notes=tuple(subnet.notes))


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


def _gbps(word: str, where: str) -> float:
    """Return a bandwidth in Gb/s: bytes per second, or what the unit behind it says."""
    try:
        bytes_per_second = parse_rate(f"{word}B/s" if word[-1:].isdigit() else word, where=where)
    except InputError:
        wanted = "a bandwidth such as 125MBps or 10Gbps"
        raise InputError(where, f"bw={word:.40}", wanted) from None
    return float(f"{bytes_per_second * 8e-9:.12g}")


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
            joined += [(row + i, row + j, green) for i, j in combinations(range(routers), 2)]
        for i, j in combinations(range(first, first + per_group, routers), 2):
            joined += [(i + place, j + place, black) for place in range(routers)]
    for i, j in combinations(range(groups), 2):
        joined.append((i * per_group + j, j * per_group + i, blue))
    called = [f"g{g}c{c}r{r}" for g, c, r in product(range(groups), range(chassis), range(routers))]
    _hang(subnet, names, called, [host // nodes for host in range(len(names))], gbps, joined)


def _hang(
    subnet: Subnet,
    names: list[str],
    routers: list[str],
    router_of: list[int],
    gbps: float,
    joined: Sequence[tuple[int, int, int]] = (),
) -> None:
    """Fill in hosts on routers, and between which two routers how many links make up a channel."""
    subnet.natural = subnet.ports = False
    for name in routers:
        subnet.add(f"router {name}", Device(SWITCH, name))
    for name, router in zip(names, router_of, strict=True):
        subnet.add(f"host {name}", Device(HOST, name))
        subnet.join(f"host {name}", f"router {routers[router]}", gbps)
    for one, other, links in joined:
        subnet.join(f"router {routers[one]}", f"router {routers[other]}", gbps * links)
