"""How good a forwarding table is, as an administrator would ask, and why a channel is busy.

All-to-all, shifts and random matchings of random halves load the cables. Circles of packets that
wait for each other, and pairs of hosts without a way, are what must not be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.bounds import busiest_bound
from netloom.contention import effective_bisection, shift_loads
from netloom.routing.forwarding.lanes import lane_circle, lanes_used
from netloom.routing.forwarding.tables import exits, senders
from netloom.routing.hosted import legs
from netloom.topology.core import way_back
from netloom.topology.faults import working_nodes
from netloom.topology.subnets.shapes import shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.contention import EffectiveBisection, Shifts
    from netloom.contention.permutations import Reached
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology


MOST_SHIFTED = 2**23
"""Most pairs of hosts of all shifts together, about a second of work. Beyond, shifts are drawn."""

MOST_BUSIEST = 10
"""Busiest channels that are listed."""


ENDS = ("from", "from_port", "to", "to_port")
"""What says of a channel, as plain data, where it begins and where it ends."""


def cable(topology: Topology, channel: int) -> dict[str, Any]:
    """Return both ends of a channel and their ports (0: not said), as plain data.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> cable(topology("leaf-spine:2x1x2"), 0)
    {'from': 'leaf0', 'from_port': 0, 'to': 'spine0', 'to_port': 0}
    """
    return dict(zip(ENDS, topology.cable_end(channel), strict=True))


class BusyChannel(NamedTuple):
    """A channel between routers: its ends, their ports (0: not said), and what it carries."""

    source: str
    source_port: int
    target: str
    target_port: int
    paths: int
    channel: int


@dataclass(frozen=True, eq=False)
class TableFigures:
    """How good a forwarding table is.

    Attributes
    ----------
    taking
        int32[], the hosts that take part, in order.
    switches, cables
        How many routers the network has, and cables, with those of hosts.
    paths
        int64[num_network_channels], paths on each channel between routers if every host sends to
        every other.
    time
        float64[num_network_channels], paths over bandwidth.
    routed, unrouted
        Ordered pairs of hosts with a path, and without. All figures are of those with a path.
    switch_hops_max
        Channels between routers on the longest path.
    shifts
        What each shift of the hosts loads. See ``contention.shift_loads``.
    bisection
        What pairs get in random matchings of random halves. None where no matchings were asked for.
    lanes
        How many virtual lanes packets take.
    circle
        Channels, each with its lane, in which packets between any two ports of hosts can wait for
        each other in a circle; () where there is none.
    """

    topology: Topology
    taking: Ints
    switches: int
    cables: int
    paths: Ints
    time: Floats
    routed: int
    unrouted: int
    switch_hops_max: int
    shifts: Shifts
    bisection: EffectiveBisection | None
    lanes: int
    circle: tuple[tuple[int, int], ...]

    @property
    def hosts(self) -> int:
        """How many hosts take part."""
        return len(self.taking)

    @property
    def switch_hops_mean(self) -> float:
        """Channels between routers on a path, mean over ordered pairs of hosts."""
        return float(self.paths.sum()) / self.routed if self.routed else 0.0

    @property
    def most_paths(self) -> int:
        """Paths of an all-to-all on the channel that has most."""
        return int(self.paths.max(initial=0))

    @property
    def longest_time(self) -> float:
        """The same over bandwidth, of the channel where that is most."""
        return float(self.time.max(initial=0.0))

    @property
    def mean_paths(self) -> float:
        """Paths of an all-to-all on a channel between routers, on average."""
        return float(self.paths.mean()) if len(self.paths) else 0.0

    @property
    def largest_of_shifts(self) -> Ints:
        """int64[shifts], paths on the busiest channel. Host channels, of one path, count."""
        return np.maximum(self.shifts.largest_load.astype(np.int64), 1)

    @property
    def every_shift(self) -> bool:
        """Whether all shifts were counted, not some that were drawn."""
        return len(self.shifts.distance) == self.hosts - 1

    @property
    def deadlock_free(self) -> bool:
        """Whether packets between ports of hosts cannot wait for each other in a circle."""
        return not self.circle

    def busiest(self, most: int = MOST_BUSIEST) -> tuple[BusyChannel, ...]:
        """Return the channels between routers that an all-to-all keeps busy longest, in order."""
        order = np.argsort(-self.time, kind="stable")[:most]
        return tuple(
            BusyChannel(*self.topology.cable_end(channel), int(self.paths[channel]), channel)
            for channel in order.tolist()
            if self.paths[channel]
        )

    def beside(self, least: float) -> dict[str, float | None]:
        """Return a bound as plain data that goes with ``all_to_all``.

        ``least`` is what the busiest channel carries at least, over bandwidth: ``time_bound``.
        ``bound`` is the same in paths, at the bandwidth of the channel that is busiest here, which
        is never above ``max``. ``ratio`` is how many times its bound that one works.
        """
        busiest = self.busiest(1)
        rate = float(self.topology.channel_bandwidth[busiest[0].channel]) if busiest else 1.0
        ratio = self.longest_time / least if least else None
        return {"bound": least * rate, "time_bound": least, "ratio": ratio}

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        half, loads = self.bisection, self.largest_of_shifts
        spread = None if half is None or half.samples < 2 else float(half.shares.std(ddof=1))
        return {
            "hosts": self.hosts,
            "switches": self.switches,
            "cables": self.cables,
            "unrouted": self.unrouted,
            "switch_hops": {"mean": self.switch_hops_mean, "max": self.switch_hops_max},
            "all_to_all": {
                "max": self.most_paths, "mean": self.mean_paths, "time": self.longest_time,
            },
            "shifts": {
                "max": int(loads.max()), "mean": float(loads.mean()), "count": len(loads),
            },
            "effective_bisection": {
                "mean": None if half is None else half.mean,
                "sd": spread,
                "samples": 0 if half is None else half.samples,
            },
            "lanes": self.lanes,
            "deadlock_free": self.deadlock_free,
            "busiest": [
                cable(self.topology, each.channel) | {"paths": each.paths}
                for each in self.busiest()
            ],
        }  # fmt: skip


def table_figures(
    topology: Topology,
    table: ForwardingTable,
    *,
    hosts: Ints | None = None,
    samples: int = 1000,
    seed: int = DEFAULT_SEED,
) -> TableFigures:
    """Return how good a forwarding table is.

    Shifts are of the hosts in order: host i sends to host i + d, modulo their number. If all
    shifts would be more than ``MOST_SHIFTED`` pairs, some are drawn.

    Parameters
    ----------
    topology, table
        The network and where its routers forward.
    hosts
        int32[], those that take part, in order. All that work by default.
    samples
        Random matchings of random halves; 0: none.
    seed
        Where chance comes from.

    Raises
    ------
    InputError
        If fewer than two hosts take part.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:8x4x8")
    >>> found = table_figures(net, ENGINES["minhop"](net), samples=0)
    >>> found.most_paths, found.busiest(1)[0][:4], found.deadlock_free
    (112, ('leaf0', 0, 'spine0', 0), True)
    """
    taking = working_nodes(topology) if hosts is None else np.asarray(hosts, np.int32)
    if len(taking) < 2:
        raise InputError(topology.name, f"{len(taking)} hosts", "at least two")
    ways = ways_of(topology, table, taking)
    reached = pairs_reached(topology, ways.arrives) if ways.unrouted else None
    inside = topology.num_network_channels
    return TableFigures(
        topology=topology,
        taking=taking,
        switches=topology.num_routers,
        cables=num_cables(topology),
        paths=ways.paths,
        time=ways.paths / topology.channel_bandwidth[:inside],
        routed=ways.routed,
        unrouted=ways.unrouted,
        switch_hops_max=ways.longest,
        shifts=shift_loads(
            topology, table, hosts=taking, distances=_distances(len(taking), seed), reached=reached
        ),
        bisection=effective_bisection(
            topology, table, hosts=taking, samples=samples, seed=seed, reached=reached
        )
        if samples
        else None,
        lanes=lanes_used(table),
        circle=lane_circle(topology, table),
    )


class Ways(NamedTuple):
    """The paths of a table between some hosts, all together.

    Attributes
    ----------
    paths
        int64[num_network_channels], how many take each channel between routers.
    arrives
        bool[num_destinations, num_routers], whether packets from there arrive, where hosts send.
    routed, unrouted
        Pairs of hosts with a path, and without.
    longest
        Channels between routers on the longest path.
    """

    paths: Ints
    arrives: Bools
    routed: int
    unrouted: int
    longest: int


def ways_of(
    topology: Topology, table: ForwardingTable, taking: Ints, rows: Sequence[int] | None = None
) -> Ways:
    """Return the paths of an all-to-all of some hosts, to all of them or to some rows of a table.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> found = ways_of(net, ENGINES["minhop"](net), np.array([0, 1, 2]))
    >>> found.paths.tolist(), found.routed, found.longest
    ([2, 2, 2, 2], 6, 2)
    """
    from netloom.fabrics.kernels.figures import all_to_all

    chosen: Any = slice(None) if rows is None else list(rows)
    takes = np.isin(np.arange(topology.num_hosts), taking)
    sent, wanted = senders(topology, taking), takes[topology.port_host]
    own = np.where(sent.shape[1] == 1, topology.injection_router, -1).astype(np.int32)
    leaves = exits(topology)
    if table.undelivered is not None:
        leaves = np.where(table.undelivered, -1, leaves).astype(np.int32)
    if sent.shape[1] > 1:
        sent = sent[:, chosen]
    found = all_to_all(
        table.next_channel[chosen], wanted[chosen], leaves[chosen], sent, own[chosen],
        topology.routers.channel_target,
    )  # fmt: skip
    return Ways(*found)


def pairs_reached(topology: Topology, arrives: Bools) -> Reached:
    """Return what says of pairs of hosts whether they have a path, given ``Ways.arrives``."""

    def reached(sources: Ints, targets: Ints) -> Bools:
        ends = legs(topology, sources, targets)
        found: Bools = arrives[ends.target_port, ends.entry]
        return found

    return reached


def _distances(hosts: int, seed: int) -> Ints:
    """Return all shifts of the hosts, or as many drawn ones as there is time for, ascending."""
    most = max(MOST_SHIFTED // hosts, 1)
    if hosts - 1 <= most:
        return np.arange(1, hosts)
    return np.sort(np.random.default_rng(seed).choice(hosts - 1, most, replace=False) + 1)


def rises(topology: Topology) -> Ints:
    """Return whether each channel between routers leads up (1), down (-1) or across (0).

    Up is away from hosts, by the levels of ``topology.subnets.shapes``. A network without levels
    has channels across only.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> rises(topology("leaf-spine:1x2x2")).tolist()
    [1, 1, -1, -1]
    """
    inside, level = topology.routers, shape_of(topology).level
    found: Ints = np.sign(level[inside.channel_target] - level[inside.channel_source])
    return found


def on_several_switches(topology: Topology) -> int:
    """Return how many hosts have ports on more than one router.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> on_several_switches(topology("leaf-spine:2x1x3"))
    0
    """
    if topology.num_ports == topology.num_hosts:
        return 0
    ends = np.unique(np.stack([topology.port_host, topology.injection_router]), axis=1)
    return int((np.bincount(ends[0]) > 1).sum())


def num_cables(topology: Topology) -> int:
    """Return the number of cables: between routers, and of hosts. One-way ones count.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> num_cables(topology("leaf-spine:2x1x3/2"))
    10
    """
    back = way_back(topology)
    return int((back >= 0).sum()) // 2 + int((back < 0).sum())


MOST_LISTED = 2**22
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
    if table.next_channel.size * many > MOST_LISTED * topology.num_routers:
        return hosts[:0, :few], paths[:0, :few]
    owner, each = topology.port_host, np.arange(many)
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
    owner = topology.port_host
    rows = rows[np.isin(owner[rows], figures.taking)]
    if len(rows) * topology.num_routers > MOST_FOLLOWED:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    counts = np.zeros(topology.num_hosts, np.int64)
    for row in rows.tolist():
        counts[owner[row]] += ways_of(topology, table, figures.taking, (row,)).paths[channel]
    order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
    return order, counts[order]
