"""Paths as one ragged array of channels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import NoRouteError

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.topology import Topology


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
        lengths = np.append(self.lengths, 0)[order].astype(np.int64)
        offsets = np.append(0, np.cumsum(lengths))
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
        from netloom.routing.kernels.hosted import with_ports

        if not topology.ports_listed:
            return self
        first, hosts = topology.num_network_channels, topology.port_host
        offsets, channels = with_ports(self.offsets, self.channels, *self.ports, hosts, first)
        return replace(self, offsets=offsets, channels=channels)

    def __repr__(self) -> str:
        return f"<{len(self)} paths, {len(self.channels)} hops>"


def offsets_of(
    lengths: Ints,
    sources: Ints,
    targets: Ints,
    wanted: str,
) -> Ints:
    """Return the offsets of paths of these lengths, which join sources and targets.

    Raises
    ------
    NoRouteError
        If a length is below 0: what is ``wanted`` is then missing.
    """
    if len(lengths) and lengths.min() < 0:
        path = int(np.argmin(lengths))
        raise NoRouteError(int(sources[path]), int(targets[path]), wanted)
    return np.append(0, np.cumsum(lengths, dtype=np.int64))
