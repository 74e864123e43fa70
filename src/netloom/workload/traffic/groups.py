"""Traffic between the groups of a dragonfly, the pods of a fat tree or the rows of a HyperX."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.topology.core import DragonflyShape, HyperXShape, TreeShape
from netloom.workload.traffic.patterns import Traffic, pairs

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.topology import Topology


def adversarial(topology: Topology, ahead: int = 1, *, name: str | None = None) -> Traffic:
    """Return the traffic in which each host sends to any host of the group ``ahead`` further.

    After the last group comes the first. A *group* is

    - a group of a dragonfly or dragonfly+. Minimal routing carries 1 / (a p) flits/host/cycle of
      this traffic over the one link between two groups (Kim, Dally, Scott & Abts,
      *Technology-driven, highly-scalable dragonfly topology*, 2008).
    - a pod of a fat tree: the hosts below one child of the roots, so in a leaf-spine network the
      hosts of one leaf,
    - a row of a HyperX: the hosts whose routers agree in the first coordinate, of those of which
      there are several. So it is a plane in three dimensions, and a router in one. Minimal routing
      carries the traffic of all hosts of a router over one link.

    Parameters
    ----------
    topology
        The network.
    ahead
        From 1 on, less than the number of groups.
    name
        Named in results and errors. ``adversarial:+K`` by default.

    Raises
    ------
    InputError
        If the network has no groups, or not so many, or too many pairs of hosts.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> adversarial(topology("dragonfly:2x4x2"), 2)
    <adversarial:+2: 72 of 72 nodes send>
    """
    name = name or ("adversarial" if ahead == 1 else f"adversarial:+{ahead}")
    group = _groups(topology, f"traffic '{name}'")
    count = int(group.max()) + 1
    if count < 2:
        raise InputError(f"traffic '{name}'", f"one group of {topology.name}", "at least two")
    if not 1 <= ahead < count:
        raise InputError(f"traffic '{name}'", f"{ahead} groups ahead", f"1 to {count - 1}")
    sizes = np.bincount(group, minlength=count)
    many = np.roll(sizes, -ahead)[group]
    check_size(int(many.sum()), where=f"traffic '{name}'", what="pairs of hosts")
    by_group = np.argsort(group, kind="stable")
    first = np.append(0, np.cumsum(sizes))[:-1]
    source = np.repeat(np.arange(len(group)), many)
    place = np.arange(len(source)) - np.repeat(np.cumsum(many) - many, many)
    target = by_group[np.repeat(np.roll(first, -ahead)[group], many) + place]
    weight = 1 / np.repeat(many, many)
    return pairs(topology.num_hosts, source, target, weights=weight, name=name)


def _groups(topology: Topology, where: str) -> Ints:
    """Return int64[num_hosts], the group that each host belongs to."""
    shape = topology.family
    if isinstance(shape, TreeShape):
        hosts = np.arange(topology.num_hosts)
        place = hosts if shape.host_at is None else np.argsort(shape.host_at)
        return place // (len(hosts) // shape.children[-1])
    if isinstance(shape, DragonflyShape):
        return first_router(topology) // shape.routers
    if isinstance(shape, HyperXShape):
        sides = [side for side in shape.sides if side > 1]
        return first_router(topology) // prod(sides[1:])
    wanted = (
        "a dragonfly, whose routers are in groups, or a fat tree, whose pods are, or a HyperX, "
        "whose rows are"
    )
    raise InputError(where, f"the network {topology.name}", wanted)


def first_router(topology: Topology) -> Ints:
    """Return int64[num_hosts], the router that the first port of each host hangs on."""
    return topology.injection_router[topology.port_offsets[:-1]].astype(np.int64)
