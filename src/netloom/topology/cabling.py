"""What an administrator's file says of a network besides its graph: ports, GUIDs and LIDs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.topology.core import Topology


@dataclass(frozen=True, eq=False)
class OtherEnds:
    """End points of a subnet that run no programs, such as a switch's aggregation node.

    The subnet manager gives them addresses and routes to them, so tables must lead there.

    Attributes
    ----------
    names
        What the file calls them.
    router
        int32[num_others], the router that each hangs on.
    port
        int32[num_others], the router's port.
    guid
        uint64[num_others], of the port, or 0 if the file says none.
    lid
        int32[num_others], the local identifier, or 0 if the file says none.
    """

    names: tuple[str, ...]
    router: Ints
    port: Ints
    guid: NDArray[np.uint64]
    lid: Ints

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Cabling:
    """Port numbers, GUIDs and LIDs of a network that a file describes.

    Attributes
    ----------
    out_port, in_port
        int32[num_channels], the port by which a channel leaves its source, and that by which it
        enters its target, as the file numbers them. The two channels of a cable have the same two
        ports.
    router_guid, host_guid, port_guid
        uint64[num_routers], [num_hosts] and [num_ports] (ports of hosts), or 0 if none is said.
    router_lid, port_lid
        int32[num_routers] and [num_ports], local identifiers, or 0 if none is said.
    lmc
        int32[num_ports]: a port answers to 2**lmc identifiers from its own on.
    router_ports
        int32[num_routers], how many ports a router has, cabled or not.
    others
        End points that run no programs.
    rail
        int32[num_hosts], which of its computer's adapters a host is: hosts of equal numbers are
        called alike, or as the others on their leaf, or −1 if that is not known. All are 0 where
        every computer has one.
    rail_names
        What adapters of each rail are called, such as ``HCA-5, mlx5_4``. Empty where every computer
        has one.
    unplugged
        The names of hosts that the file lists without a cable.
    unnamed
        Number of hosts whose computer the file does not name. Each counts as a computer.
    """

    out_port: Ints
    in_port: Ints
    router_guid: NDArray[np.uint64]
    host_guid: NDArray[np.uint64]
    port_guid: NDArray[np.uint64]
    router_lid: Ints
    port_lid: Ints
    lmc: Ints
    router_ports: Ints
    others: OtherEnds
    rail: Ints
    rail_names: tuple[str, ...] = ()
    unplugged: tuple[str, ...] = ()
    unnamed: int = 0

    def kept(self, channels: Ints, ports: Bools) -> Cabling:
        """Return what is left where some channels and host ports are."""
        return replace(
            self,
            out_port=self.out_port[channels], in_port=self.in_port[channels],
            port_guid=self.port_guid[ports], port_lid=self.port_lid[ports], lmc=self.lmc[ports],
        )  # fmt: skip


def port_numbers(topology: Topology) -> tuple[Ints, Ints]:
    """Return the ports by which each channel leaves its source and enters its target.

    Both are int32[num_channels]. If the network comes from a file, they are the file's. Otherwise
    the ports of a vertex are counted from 1, one for each channel that leaves it, in order of
    number. A channel enters by the port of its reverse channel. If it has none, it enters by its
    rank among the channels that enter.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x1")
    >>> [ports.tolist() for ports in port_numbers(net)]
    [[1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 3, 3], [1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 1, 1]]
    """
    if topology.cabling is not None:
        return topology.cabling.out_port, topology.cabling.in_port
    out_port = _ranks(*topology.outgoing())
    back = way_back(topology)
    by_rank = _ranks(*topology.incoming())
    return out_port, np.where(back >= 0, out_port[back], by_rank).astype(np.int32)


def way_back(topology: Topology) -> Ints:
    """Return the other channel of each channel's cable, int32[num_channels], or -1 if it has none.

    If a file gives the ports, it is the channel between the same two ports. Otherwise the n-th of
    several channels from a to b belongs to the n-th from b to a.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> way_back(mesh(2, 2)).tolist()
    [2, 3, 0, 1, 6, 7, 4, 5]
    """
    source, target = (
        ends.astype(np.int64) for ends in (topology.channel_source, topology.channel_target)
    )
    leaves = enters = topology.twin_number
    if topology.cabling is not None:
        leaves, enters = topology.cabling.out_port, topology.cabling.in_port
    ahead = np.stack([source, target, leaves, enters])
    behind = np.stack([target, source, enters, leaves])
    order = np.lexsort(ahead)
    found = np.lexsort(behind)
    back = np.full(topology.num_channels, -1, np.int32)
    same = (ahead[:, order] == behind[:, found]).all(axis=0)
    if same.all():
        back[found] = order
        return back
    places = {tuple(each): number for number, each in enumerate(ahead.T.tolist())}
    return np.array([places.get(tuple(each), -1) for each in behind.T.tolist()], np.int32)


def _ranks(offsets: Ints, channels: Ints) -> Ints:
    ranks = np.empty(len(channels), np.int32)
    ranks[channels] = np.arange(1, len(channels) + 1) - np.repeat(offsets[:-1], np.diff(offsets))
    return ranks
