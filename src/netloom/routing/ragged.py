"""Paths as one ragged array of channels, between routers and from host to host.

From host to host they are a port of the source, the routers between, and a port of the target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import NO_INT64S, Bools, Floats, Ints, distinct, offsets_of
from netloom.base.errors import NoRouteError
from netloom.topology import Topology

WHOLE, DIGITS, DRAWN, HASHED, SALTED = range(5)
"""How a number picks channels: see ``kernels.several.walk_paths``."""


@dataclass(frozen=True, eq=False)
class Paths:
    """The channels between routers of many paths, one path after the other, with ports beside.

    Attributes
    ----------
    offsets
        int64[num_paths + 1]. Path p is ``channels[offsets[p]:offsets[p + 1]]``.
    channels
        int32[offsets[-1]], in the order in which a packet crosses them. A path from a host to
        itself is empty, as is that to a host of the same router.
    pair
        int32[num_paths], the pair of source and target that each path joins, ascending, where a
        pair may have several paths. None where path p is that of pair p.
    probability
        float64[num_paths], how likely a packet of the pair takes the path, 1 in all for each pair.
        None where each pair has one path.
    ports
        int32[num_paths] twice, the ports by which packets leave their hosts and those by which
        they reach them. Empty of paths from router to router.
    """

    offsets: Ints
    channels: Ints
    pair: Ints | None = None
    probability: Floats | None = None
    ports: tuple[Ints, ...] = ()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, path: int) -> Ints:
        return self.channels[self.offsets[path] : self.offsets[path + 1]]

    @property
    def lengths(self) -> Ints:
        """Path length of each path, in hops (int32[num_paths])."""
        return np.diff(self.offsets).astype(np.int32)

    def taken(self, order: Ints) -> Paths:
        """Return the paths of these numbers, in this order. One behind the last is empty."""
        lengths = np.append(self.lengths, 0)[order]
        offsets = offsets_of(lengths)
        hops = np.arange(offsets[-1]) + np.repeat(self.offsets[order] - offsets[:-1], lengths)
        ports = tuple(np.append(each, np.int32(0))[order] for each in self.ports)
        return Paths(offsets, self.channels[hops], ports=ports)

    def whole(self, topology: Topology) -> Paths:
        """Return the paths with the channels of their ports before and behind, if these are listed.

        A path from a host to itself stays empty.

        Examples
        --------
        >>> from netloom.routing import ShortestPath, paths
        >>> from netloom.topology import topology
        >>> net = topology("leaf-spine:2x1x2")
        >>> found = paths(net, ShortestPath(), [0, 0], [1, 2])
        >>> found.lengths.tolist(), found.whole(net).lengths.tolist()
        ([0, 2], [2, 4])
        """
        from netloom.routing.kernels.shortest_path import with_ports

        if not topology.ports_listed:
            return self
        first, hosts = topology.num_network_channels, topology.port_host
        offsets, channels = with_ports(self.offsets, self.channels, *self.ports, hosts, first)
        return replace(self, offsets=offsets, channels=channels)

    def __repr__(self) -> str:
        return f"<{len(self)} paths, {len(self.channels)} hops>"


def path_offsets(lengths: Ints, sources: Ints, targets: Ints, wanted: str) -> Ints:
    """Return the offsets of paths of these lengths, which join sources and targets.

    Raises
    ------
    NoRouteError
        If a length is below 0: what is ``wanted`` is then missing.
    """
    check_found(lengths >= 0, sources, targets, wanted)
    return offsets_of(lengths)


def check_found(found: Bools, sources: Ints, targets: Ints, wanted: str, where: str = "") -> None:
    """Raise NoRouteError, naming the first pair that is not found, if there is one."""
    if not found.all():
        pair = int(np.argmin(found))
        raise NoRouteError(int(sources[pair]), int(targets[pair]), wanted, where)


# -- from host to host -----------------------------------------------------------------------------


PAIRS_AT_ONCE = 2**20
"""About how many pairs of hosts are looked at at a time."""


class Legs(NamedTuple):
    """Where the packets of each pair of hosts enter and leave the routers.

    Attributes
    ----------
    source_port, target_port
        int32[num_pairs], the ports by which they do. A pair of equal hosts has its first one.
    entry, exit
        int32[num_pairs], the routers at these ports.
    """

    source_port: Ints
    target_port: Ints
    entry: Ints
    exit: Ints

    def around(self, inner: Paths) -> Paths:
        """Return paths between these routers with the ports beside them."""
        pair = slice(None) if inner.pair is None else inner.pair
        return replace(inner, ports=(self.source_port[pair], self.target_port[pair]))


def legs(topology: Topology, sources: Ints, targets: Ints) -> Legs:
    """Return the ports by which each pair of hosts communicates.

    Hosts with one port to the inside of their computer and one to the network use the first with
    each other, the second with all others. Of several ports, elsewhere, those are taken that have
    the fewest hops between them. Of several such pairs of ports the one of number (source + target)
    modulo how many there are, so that the pairs of a host spread over its ports.

    Raises
    ------
    NoRouteError
        If a host has no port.
    """
    if not topology.ports_listed:  # a host is its port and its router
        return Legs(sources, targets, sources, targets)
    offsets = topology.port_offsets
    into, out_of = topology.injection_router, topology.ejection_router
    for ends in (sources, targets):
        check_found(offsets[ends + 1] > offsets[ends], sources, targets, "hosts that work")
    port, sink = (offsets[ends].astype(np.int32) for ends in (sources, targets))
    still = sources == targets
    own = topology.inside_and_out
    if own is not None:
        inner, outer, part = own
        mates = (part[sources] == part[targets]) & (part[sources] >= 0)
        port, sink = (np.where(mates, inner[each], outer[each]) for each in (sources, targets))
        port = np.where(still, offsets[sources], port)
        sink = np.where(still, offsets[targets], sink)
        check_found((port >= 0) & (sink >= 0), sources, targets, "hosts with a way to each other")
        port, sink = port.astype(np.int32), sink.astype(np.int32)
    elif (np.diff(offsets) > 1).any():
        from netloom.routing.kernels.shortest_path import nearest_ports

        by_target, pairs = np.argsort(targets, kind="stable"), (sources, targets)
        wires = topology.routers.channel_source, *topology.routers.incoming()
        nearest = nearest_ports(by_target, *pairs, offsets, into, out_of, *wires)
        port, sink = (np.where(still, port, each).astype(np.int32) for each in nearest)
    entry = into[port]
    return Legs(port, sink, entry, np.where(still, entry, out_of[sink]).astype(np.int32))


def legs_between(topology: Topology, hosts: Ints) -> Iterator[Legs]:
    """Yield the ports of all pairs of different hosts, about ``PAIRS_AT_ONCE`` at a time."""
    step = max(PAIRS_AT_ONCE // max(len(hosts), 1), 1)
    for first in range(0, len(hosts), step):
        some = hosts[first : first + step]
        source, target = np.tile(hosts, len(some)), some.repeat(len(hosts))
        yield legs(topology, source[source != target], target[source != target])


def router_pairs(topology: Topology) -> tuple[Ints, Ints]:
    """Return the routers where packets enter and leave, int32[] both, each two of them once.

    Of all pairs of different hosts that work. In a direct network, all pairs of different nodes.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> entry, leave = router_pairs(topology("leaf-spine:2x1x3"))
    >>> entry.tolist(), leave.tolist()
    ([0, 0, 1, 1], [0, 1, 0, 1])
    """
    count = topology.num_routers
    works = topology.vertex_up[topology.port_host]
    into = topology.injection_router[works].astype(np.int64)
    out_of = topology.ejection_router[works]
    if len(distinct(topology.port_host)) == topology.num_ports:
        enters, inside = np.unique(into, return_counts=True)
        leaves, outside = np.unique(out_of, return_counts=True)
        pairs = (enters[:, None] * count + leaves).ravel()
        own, alone = np.unique(into * count + out_of, return_counts=True)
        of_others = np.outer(inside, outside).ravel()
        of_others[np.searchsorted(pairs, own)] -= alone  # packets of a host to itself
        found = pairs[of_others > 0]
    else:
        found = NO_INT64S
        for ends in legs_between(topology, distinct(topology.port_host)):
            found = distinct(np.append(found, ends.entry.astype(np.int64) * count + ends.exit))
    entry, leave = np.divmod(found, count)
    return entry.astype(np.int32), leave.astype(np.int32)


def parted(topology: Topology, whole: Paths) -> Paths:
    """Return paths, none of them empty, that have been given as ``Paths.whole`` returns them."""
    if not topology.ports_listed:
        return whole
    first, ends = topology.num_network_channels, (whole.offsets[:-1], whole.offsets[1:] - 1)
    port, sink = (whole.channels[each] - first for each in ends)
    inside = whole.channels < first
    offsets = offsets_of(inside)[whole.offsets]
    return Paths(offsets, whole.channels[inside], ports=(port, sink - topology.num_ports))
