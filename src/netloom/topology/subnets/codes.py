"""Dragonflies of CODES: the wirings of Theta, Edison and others, in two binary files each."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import file_kind, read_bytes
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.wires import check_sizes
from netloom.topology.family import DragonflyShape
from netloom.topology.reach import two_apart

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.topology.subnets.records import Subnet

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
    between, inside = (subnet.path, other) if "inter" in Path(subnet.path).name else (
        other, subnet.path)  # fmt: skip
    wires = _wires(inside, between, 0)
    if _two_kinds(wires):
        found = "a dragonfly+, whose routers with links to other groups have no hosts"
        raise InputError(subnet.path, found, "a dragonfly in which every router has hosts")
    subnet.notes.append(NO_RATES)
    if not hosts:
        hosts, why = _usual_hosts(subnet, wires)
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
    said: dict[str, tuple[str, str]] = {}
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
    wires = _wires(file_of("intra-group-connections"), file_of("inter-group-connections"),
                   per_group)  # fmt: skip
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


def _two_kinds(wires: _Wires) -> bool:
    """Whether links in a group join routers with links to other groups to those without alone."""
    far = np.zeros(wires.routers, np.bool_)
    far[wires.between] = True
    far = far[: wires.per_group]
    return bool((far[wires.inside[:, 0]] != far[wires.inside[:, 1]]).all())


def _usual_hosts(subnet: Subnet, wires: _Wires) -> tuple[int, str]:
    """Return how many hosts a router usually has, and why."""
    if set(wires.inside[:, 2].tolist()) == {0, 1}:
        return CRAY_HOSTS, "as on a Cray XC, for links are along rows and columns"
    links = np.bincount(wires.between[:, 0], minlength=wires.routers)
    if (links == links[0]).all() and 2 * links[0] == wires.per_group:
        return int(links[0]), "as in a balanced dragonfly"
    wanted = "that number behind the file, such as inter-NAME/4"
    raise InputError(subnet.path, "nothing that says how many hosts a router has", wanted)


def _network(
    subnet: Subnet, wires: _Wires, hosts: int, gbps: tuple[float, float, float] | None
) -> Topology:
    """Return the network. ``gbps``: of hosts, in a group, between groups."""
    check_sizes(
        subnet.path, hosts=wires.routers * hosts, routers=wires.routers,
        channels=len(wires.inside) * wires.groups + len(wires.between) + 2 * hosts * wires.routers,
    )  # fmt: skip
    first = wires.per_group * np.arange(wires.groups)[:, None]
    source, target = (
        np.concatenate([(first + wires.inside[:, end]).ravel(), wires.between[:, end]])
        for end in (0, 1)
    )
    rate = np.ones(len(source))
    reference = None
    if gbps is not None:
        reference, local, far = gbps
        rate[:] = local / reference
        rate[len(wires.inside) * wires.groups :] = far / reference
    order = np.lexsort((target, source))
    routers = Topology(
        subnet.name, wires.routers, source[order].astype(np.int32), target[order].astype(np.int32),
        tuple(f"g{r // wires.per_group}r{r % wires.per_group}" for r in range(wires.routers)),
        channel_bandwidth=rate[order], reference_gbps=reference, family=_shape(wires),
    )  # fmt: skip
    found = attach_hosts(
        routers, np.arange(wires.routers).repeat(hosts), name=subnet.name,
        reference_gbps=reference, notes=tuple(subnet.notes),
    )  # fmt: skip
    if two_apart(found) is not None:
        raise InputError(subnet.path, "routers that cannot all reach each other", "one piece")
    return replace(found, family=routers.family)


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
