"""Dragonflies: groups of routers, all groups joined by global links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.wires import at_least_one, check_sizes, linked, numbers
from netloom.topology.family import DragonflyShape

if TYPE_CHECKING:
    from netloom.base.arrays import Ints

Wiring: TypeAlias = Literal["absolute", "palmtree", "circulant"]


WIRINGS: tuple[Wiring, ...] = ("absolute", "palmtree", "circulant")
"""Which group a global port leads to. ``absolute`` where nothing is said."""


def dragonfly(
    hosts: int, routers: int, globals_: int, groups: int = 0, wiring: Wiring = "absolute"
) -> Topology:
    """Return a dragonfly: groups of routers that are all joined, and all groups joined.

    Kim, Dally, Scott & Abts, *Technology-driven, highly-scalable dragonfly topology*, 2008. Host
    h hangs on router h div p, router r is number r mod a of group r div a. ``global_links`` says
    how groups are joined. A balanced dragonfly has a = 2p = 2h.

    Parameters
    ----------
    hosts, routers, globals_
        p hosts per router, a routers per group, h global links per router.
    groups
        g, at most a·h + 1, which is the default. Of fewer groups, any two are joined by
        a·h div (g − 1) links, and what is left of the global ports stays free.
    wiring
        ``absolute``, ``palmtree`` or ``circulant``.

    Raises
    ------
    InputError
        If a number is below 1, groups are below 2 or above a·h + 1, there is no such wiring, or
        the network would be too large.

    Examples
    --------
    >>> dragonfly(2, 4, 2)
    <dragonfly:2x4x2: 72 hosts, 36 routers, 180 directed channels>
    >>> dragonfly(2, 4, 2, groups=5).num_network_channels  # two links between any two groups
    100
    """
    name = _named(f"dragonfly:{hosts}x{routers}x{globals_}", groups, wiring)
    at_least_one(name, "hosts per router, routers per group, global links per router",
                 hosts, routers, globals_)  # fmt: skip
    groups = _groups(name, routers * globals_, groups)
    all_routers = routers * groups
    inside = groups * routers * (routers - 1) // 2
    check_sizes(
        name, hosts=all_routers * hosts, routers=all_routers,
        channels=2 * (inside + all_routers * (globals_ + hosts)),
    )  # fmt: skip
    low, high = np.triu_indices(routers, 1)
    first = routers * np.arange(groups)[:, None]
    one, other = global_links(groups, routers * globals_, wiring)
    one, other = one // globals_, other // globals_  # ports are numbered group by group
    joined = linked(
        name, all_routers,
        np.concatenate([(first + low).ravel(), one]),
        np.concatenate([(first + high).ravel(), other]),
        labels=tuple(f"g{group}r{r}" for group in range(groups) for r in range(routers)),
        family=DragonflyShape(groups, routers, globals_),
    )  # fmt: skip
    return attach_hosts(joined, np.arange(all_routers).repeat(hosts), name=name)


def dragonfly_plus(
    leaves: int,
    spines: int,
    hosts: int,
    globals_: int,
    groups: int = 0,
    wiring: Wiring = "absolute",
) -> Topology:
    """Return a Dragonfly+ (Megafly): groups of leaves and spines, spines joined across groups.

    Shpiner et al., *Dragonfly+: low cost topology for scaling datacenters*, 2017. In a group each
    leaf is joined to each spine. Hosts hang on leaves, global links on spines. Router r is number
    r mod (leaves + spines) of its group, leaves first.

    Parameters
    ----------
    leaves, spines
        Of each group.
    hosts
        Hosts per leaf.
    globals_
        Global links per spine.
    groups
        g, at most spines · globals_ + 1, which is the default. As in ``dragonfly``.
    wiring
        As in ``dragonfly``.

    Raises
    ------
    InputError
        As ``dragonfly`` does.

    Examples
    --------
    >>> dragonfly_plus(2, 2, 2, 2)
    <dragonfly+:2x2x2x2: 20 hosts, 20 routers, 60 directed channels>
    """
    name = _named(f"dragonfly+:{leaves}x{spines}x{hosts}x{globals_}", groups, wiring)
    at_least_one(name, "leaves and spines per group, hosts per leaf, global links per spine",
                 leaves, spines, hosts, globals_)  # fmt: skip
    groups = _groups(name, spines * globals_, groups)
    size = leaves + spines
    check_sizes(
        name, hosts=groups * leaves * hosts, routers=groups * size,
        channels=2 * groups * (leaves * spines + leaves * hosts + spines * globals_),
    )  # fmt: skip
    first = size * np.arange(groups)[:, None]
    leaf, spine = np.divmod(np.arange(leaves * spines), spines)
    ends = [
        each // (spines * globals_) * size + leaves + each % (spines * globals_) // globals_
        for each in global_links(groups, spines * globals_, wiring)
    ]
    kinds = [f"leaf{i}" for i in range(leaves)] + [f"spine{i}" for i in range(spines)]
    joined = linked(
        name, groups * size,
        np.concatenate([(first + leaf).ravel(), ends[0]]),
        np.concatenate([(first + leaves + spine).ravel(), ends[1]]),
        labels=tuple(f"g{group}{kind}" for group in range(groups) for kind in kinds),
        family=DragonflyShape(groups, size, globals_, leaves),
    )  # fmt: skip
    of_hosts = (first + np.arange(leaves)).ravel().repeat(hosts)
    return attach_hosts(joined, of_hosts, name=name)


def global_links(groups: int, ports: int, wiring: Wiring) -> tuple[Ints, Ints]:
    """Return the two ports of each link between groups. Port j of group i is i · ports + j.

    Ports 0 … g − 2 of a group lead to the other groups in the order of the wiring, the next
    g − 1 again, and so on. Ports that are left when no full round fits stay free. Port j of group
    i leads to

    - ``absolute``: group j, or j + 1 from j = i on (as BookSim's ``dragonflynew`` and SST do)
    - ``palmtree``: group i − j − 1 modulo g
    - ``circulant``: groups i + 1, i − 1, i + 2, i − 2 … modulo g

    and arrives at the port that leads back. See Camarero, Vallejo & Beivide, *Topological
    characterization of Hamming and dragonfly networks and its implications on routing*, 2014, and
    Hastings et al., *Comparing global link arrangements for dragonfly networks*, 2015.

    Examples
    --------
    >>> one, other = global_links(3, 2, "absolute")
    >>> one.tolist(), other.tolist()  # groups 0 and 1, 0 and 2, 1 and 2
    ([0, 1, 3], [2, 4, 5])
    """
    others = groups - 1
    group, turn = np.divmod(np.arange(groups * others), others)
    if wiring == "absolute":
        to = turn + (turn >= group)
        back = group - (group > to)
    elif wiring == "palmtree":
        to = (group - turn - 1) % groups
        back = others - 1 - turn
    else:
        away = turn // 2 + 1
        to = (group + np.where(turn % 2 == 0, away, -away)) % groups
        back = np.where(turn + 1 - turn % 2 * 2 < others, turn + 1 - turn % 2 * 2, turn)
    once = group < to
    rounds = others * np.arange(ports // others)[:, None]
    one = (group * ports + turn)[once] + rounds
    other = (to * ports + back)[once] + rounds
    return one.ravel(), other.ravel()


def _named(start: str, groups: int, wiring: str) -> str:
    if wiring not in WIRINGS:
        raise InputError(start, f"wiring '{wiring}'", f"one of {', '.join(WIRINGS)}")
    name = start + (f"/{groups}" if groups else "")
    return name + (f"/{wiring}" if wiring != "absolute" else "")


def _groups(name: str, ports: int, groups: int) -> int:
    """Return the number of groups: as many as the global ports of one reach, if none is given."""
    if groups == 0:
        return ports + 1
    if not 2 <= groups <= ports + 1:
        found = f"{groups} groups"
        raise InputError(name, found, f"2 to {ports + 1}, for {ports} global links per group")
    return groups


def dragonfly_of(argument: str, spec: str) -> Topology:
    """Read ``2x4x2/9/palmtree``: hosts, routers, global links. Groups. Wiring."""
    shape, groups, wiring = _read(argument, spec, "dragonfly:2x4x2/9/palmtree")
    wanted = "hosts per router, routers per group, global links per router, such as dragonfly:2x4x2"
    p, a, h = numbers(shape, where=spec, count=3, wanted=wanted)
    return dragonfly(p, a, h, groups, wiring)


def dragonfly_plus_of(argument: str, spec: str) -> Topology:
    """Read ``4x4x4x4/9/palmtree``: leaves, spines, hosts, global links. Groups. Wiring."""
    shape, groups, wiring = _read(argument, spec, "dragonfly+:4x4x4x4/9/palmtree")
    wanted = "leaves and spines per group, hosts per leaf, global links per spine"
    leaves, spines, hosts, globals_ = numbers(shape, where=spec, count=4, wanted=wanted)
    return dragonfly_plus(leaves, spines, hosts, globals_, groups, wiring)


def _read(argument: str, spec: str, wanted: str) -> tuple[str, int, Wiring]:
    """Split off what follows the numbers: groups, a wiring, or both in this order."""
    shape, *rest = argument.split("/")
    groups, wiring = 0, "absolute"
    if rest and rest[0] not in WIRINGS:
        groups = whole_number(rest.pop(0), where=spec, least=2)
    if rest:
        wiring = rest.pop(0)
    if rest:
        raise InputError(spec, f"'{argument}'", wanted)
    return shape, groups, _wiring(wiring, spec)


def _wiring(word: str, spec: str) -> Wiring:
    for wiring in WIRINGS:
        if word == wiring:
            return wiring
    raise InputError(spec, f"wiring '{word}'", f"one of {', '.join(WIRINGS)}")
