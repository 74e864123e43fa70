"""What a packet between hosts carries from its birth on, where its routing is listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import NoRouteError

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.routing.by_hop.tables import HopTables
    from netloom.routing.ragged import Paths
    from netloom.topology import Topology


@dataclass(frozen=True, eq=False)
class TableBirths:
    """Packets that tables lead on carry nothing.

    Attributes
    ----------
    topology, name
        The network, and the routing for messages.
    reached
        bool[num_ports, num_routers], whether packets come to a host port from the router that they
        enter by. None where they always do.
    """

    topology: Topology
    name: str
    reached: Bools | None = None

    def draw(self, tables: HopTables, sources: Ints, targets: Ints) -> Ints:
        """Return int32[num_packets] of -1.

        Raises
        ------
        NoRouteError
            If the tables do not lead from a source to its target.
        """
        if self.reached is not None:
            offsets = self.topology.port_offsets
            port, sink = offsets[sources], offsets[targets]
            if len(tables.pair_sink):
                pair = sources.astype(np.int64) * self.topology.num_hosts + targets
                port, sink = tables.pair_entry[pair], tables.pair_sink[pair]
            found = self.reached[sink, self.topology.injection_router[port]]
            _check(found, sources, targets, "hosts that can reach each other", self.name)
        return np.full(len(sources), -1, np.int32)


@dataclass(frozen=True, eq=False)
class PathBirths:
    """Packets that carry the number of the path listed for their pair.

    Attributes
    ----------
    topology, name
        The network, and the routing for messages.
    pairs
        int64[num_pairs], ascending: ``source * num_hosts + target``, or, where paths join routers,
        ``entry * num_routers + exit``.
    routed
        Their paths without channels of hosts. One more stands behind them, which is empty: that of
        packets that stay at their router.
    ports
        int32[2, num_paths], the injection port and the sink of each. None where paths join routers.
    """

    topology: Topology
    name: str
    pairs: Ints
    routed: Paths
    ports: Ints | None = None

    def draw(self, tables: HopTables, sources: Ints, targets: Ints) -> Ints:
        """Return int32[num_packets], the number of the path of each.

        Raises
        ------
        NoRouteError
            If a pair has no path.
        """
        del tables
        topology = self.topology
        start, end, count = sources, targets, topology.num_hosts
        own, sink = (topology.port_offsets[hosts] for hosts in (sources, targets))
        if self.ports is None:
            count = topology.num_routers
            start, end = topology.injection_router[own], topology.ejection_router[sink]
            still = start == end
        else:
            stays = topology.injection_router[own] == topology.ejection_router[own]
            still = (start == end) & stays
        keys = start.astype(np.int64) * count + end
        place = np.searchsorted(self.pairs, keys)
        found = still | (np.append(self.pairs, -1)[place] == keys)
        _check(found, sources, targets, "a route for every pair that sends", self.name)
        return np.where(still, len(self.routed) - 1, place).astype(np.int32)


Births = TableBirths | PathBirths


def _check(found: Bools, sources: Ints, targets: Ints, wanted: str, where: str) -> None:
    if not found.all():
        pair = int(np.argmin(found))
        raise NoRouteError(int(sources[pair]), int(targets[pair]), wanted, where)
