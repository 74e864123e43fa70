"""Why a channel is busy: what else could carry its traffic, and who it is for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.fabrics.bounds import busiest_bound
from netloom.fabrics.figures import rises, ways_of
from netloom.topology.cabling import way_back

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.fabrics.figures import TableFigures
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

MOST_COUNTED = 2**22
"""Most destinations times channels of which those that load a channel most are looked for."""

MOST_FOLLOWED = 2**26
"""Most entries of the table that are looked at to find whom a channel's traffic is for."""


@dataclass(frozen=True)
class Cause:
    """Why a channel between routers carries what it does.

    Attributes
    ----------
    way
        Whether it leads ``up``, away from hosts, ``down`` towards them, or ``across``.
    beside
        The channels that might have carried it instead: those that lead down into the same router,
        or up or across from the same router. Itself among them.
    share
        Of the paths on all of them, its own.
    least, most
        Paths on the other ones; 0 where there are none.
    alike
        How many of them join the same two routers, itself among them.
    usual
        How many join two routers, of most that ``beside`` joins.
    hosts
        The hosts that its paths lead to, those with most paths first.
    paths
        How many lead to each.
    rate, usual_rate
        Its bandwidth, and that of most of the other ones (its own where there are none).
    as_usual
        How many of the other ones have the latter.
    mended
        If it is slower: how many times its bound the busiest channel of the network carries once
        its cable is as fast as most beside it. None if it is not slower.
    """

    way: Literal["up", "down", "across"]
    beside: int
    share: float
    least: int
    most: int
    alike: int
    usual: int
    hosts: tuple[int, ...]
    paths: tuple[int, ...]
    rate: float
    usual_rate: float
    as_usual: int
    mended: float | None

    @property
    def fair(self) -> float:
        """Its share, if all channels beside it carried the same."""
        return 1 / self.beside


def cause_of(
    topology: Topology, table: ForwardingTable, figures: TableFigures, channel: int
) -> Cause:
    """Return why a channel between routers is as busy as it is in an all-to-all.

    Examples
    --------
    Of two spines, minhop gives each of a leaf's two hosts one:

    >>> from netloom.fabrics.figures import table_figures
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> table = ENGINES["minhop"](net)
    >>> found = cause_of(net, table, table_figures(net, table, samples=0), 0)
    >>> found.way, found.beside, found.share, found.hosts, found.paths
    ('up', 2, 0.5, (2,), (2,))
    """
    source, target = topology.routers.channel_source, topology.routers.channel_target
    rise = rises(topology)
    if rise[channel] < 0:
        beside = (target == target[channel]) & (rise < 0)
        far = source
    else:
        beside = (source == source[channel]) & (rise == rise[channel])
        far = target
    paths, apart = figures.paths[beside], np.flatnonzero(beside) != channel
    others = paths[apart]
    rate, bandwidth = float(topology.channel_bandwidth[channel]), topology.channel_bandwidth
    rates, times = np.unique(bandwidth[np.flatnonzero(beside)[apart]], return_counts=True)
    usual_rate = float(rates[np.argmax(times)]) if len(rates) else rate
    ends, counts = np.unique(far[beside], return_counts=True)
    hosts, each = _destinations(topology, table, figures, channel)
    return Cause(
        way="down" if rise[channel] < 0 else "up" if rise[channel] > 0 else "across",
        beside=int(beside.sum()),
        share=float(figures.paths[channel]) / max(int(paths.sum()), 1),
        least=int(others.min(initial=figures.most_paths)) if len(others) else 0,
        most=int(others.max(initial=0)),
        alike=int(counts[ends == far[channel]].sum()),
        usual=int(np.bincount(counts).argmax()),
        hosts=tuple(hosts.tolist()),
        paths=tuple(each.tolist()),
        rate=rate,
        usual_rate=usual_rate,
        as_usual=int(times.max(initial=0)),
        mended=_mended(topology, figures, channel, usual_rate) if rate < usual_rate else None,
    )


def _mended(topology: Topology, figures: TableFigures, channel: int, rate: float) -> float:
    """Return how many times its bound the busiest channel carries if a cable has this rate."""
    bandwidth, back = topology.channel_bandwidth.copy(), int(way_back(topology)[channel])
    cable = [channel] if back < 0 else [channel, back]
    bandwidth[cable] = np.maximum(bandwidth[cable], rate)
    mended = replace(topology, channel_bandwidth=bandwidth)
    longest = (figures.paths / bandwidth[: len(figures.paths)]).max()
    return float(longest) / busiest_bound(mended, hosts=figures.taking).value


def busiest_destinations(
    topology: Topology, table: ForwardingTable, taking: Ints, few: int = 3
) -> tuple[Ints, Ints]:
    """Return the hosts to which most paths on each channel between routers lead, and how many.

    int64[num_network_channels, few] both, those with most paths first. No paths beyond the last.
    Empty if the network is too large.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> [found[0].tolist() for found in busiest_destinations(
    ...     net, ENGINES["minhop"](net), np.arange(4, dtype=np.int32))]
    [[2, 3, 0], [2, 2, 0]]
    """
    many = topology.num_network_channels
    hosts, paths = np.zeros((2, many, few + 1), np.int64)
    if table.next_channel.size * many > MOST_COUNTED * topology.num_routers:
        return hosts[:0, :few], paths[:0, :few]
    owner = np.arange(topology.num_hosts) if topology.direct else topology.port_host
    each = np.arange(many)
    for host in taking.tolist():
        rows = np.flatnonzero(owner == host)
        found = sum(ways_of(topology, table, taking, (int(row),)).paths for row in rows)
        place = (paths[:, :few] >= np.asarray(found)[:, None]).sum(axis=1)
        for at in range(few - 1, -1, -1):
            moved = place <= at
            hosts[moved, at + 1], paths[moved, at + 1] = hosts[moved, at], paths[moved, at]
        hosts[each, place], paths[each, place] = host, found
    return hosts[:, :few], paths[:, :few]


def _destinations(
    topology: Topology, table: ForwardingTable, figures: TableFigures, channel: int
) -> tuple[Ints, Ints]:
    """Return the hosts that the paths on a channel lead to, and how many to each, most first."""
    router = topology.routers.channel_source[channel]
    rows = np.flatnonzero(table.next_channel[:, router] == channel)
    owner = np.arange(topology.num_hosts) if topology.direct else topology.port_host
    rows = rows[np.isin(owner[rows], figures.taking)]
    if len(rows) * topology.num_routers > MOST_FOLLOWED:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    counts = np.zeros(topology.num_hosts, np.int64)
    for row in rows.tolist():
        counts[owner[row]] += ways_of(topology, table, figures.taking, (row,)).paths[channel]
    order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
    return order, counts[order]
