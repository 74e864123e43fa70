"""Traffic between the groups of a dragonfly, or the pods of a fat tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.spec import check_size
from netloom.topology.family import DragonflyShape, TreeShape
from netloom.workload.traffic.patterns import Traffic, pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology


def next_group(topology: Topology) -> Traffic:
    """Return the traffic in which each host sends to any host of the next group.

    Of the last group, to the first. On dragonflies this is the worst traffic for minimal routing,
    which carries 1 / (a p) flits/host/cycle of it over the one link between two groups (Kim,
    Dally, Scott & Abts, *Technology-driven, highly-scalable dragonfly topology*, 2008).

    Raises
    ------
    InputError
        If the network is no dragonfly and no fat tree, has one group, or too many pairs of hosts.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> next_group(topology("dragonfly:2x4x2"))
    <next-group: 72 of 72 nodes send>
    """
    group = _groups(topology)
    count = int(group.max()) + 1
    if count < 2:
        raise InputError("traffic 'next-group'", f"one group of {topology.name}", "at least two")
    sizes = np.bincount(group, minlength=count)
    ahead = np.roll(sizes, -1)
    check_size(int(sizes @ ahead), where="traffic 'next-group'", what="pairs of hosts")
    by_group = np.argsort(group, kind="stable")
    first = np.append(0, np.cumsum(sizes))[:-1]
    many = ahead[group]
    source = np.repeat(np.arange(len(group)), many)
    place = np.arange(len(source)) - np.repeat(np.cumsum(many) - many, many)
    target = by_group[np.repeat(np.roll(first, -1)[group], many) + place]
    weight = 1 / np.repeat(many, many)
    return pairs(topology.num_hosts, source, target, weights=weight, name="next-group")


def _groups(topology: Topology) -> NDArray[np.int64]:
    """Return int64[num_hosts], the group that each host hangs on, or the pod that it is in."""
    shape = topology.family
    if isinstance(shape, DragonflyShape):
        first_port = topology.port_offsets[:-1]
        return topology.injection_router[first_port].astype(np.int64) // shape.routers
    if isinstance(shape, TreeShape):
        hosts = np.arange(topology.num_hosts)
        place = hosts if shape.host_at is None else np.argsort(shape.host_at)
        return place // (len(hosts) // shape.children[-1])
    wanted = "a dragonfly, whose routers are in groups, or a fat tree, whose pods are"
    raise InputError("traffic 'next-group'", f"the network {topology.name}", wanted)
