"""What is above what in a network, and the ways that go up, then down.

Packets that never go up after they went down wait for each other in no circle, so one lane is
enough. Every router gets a height of its own. A channel leads up where its target is higher.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Ints
from netloom.routing.forwarding.tables import senders
from netloom.routing.rules import ranked
from netloom.topology import Topology

Wiring = tuple[Ints, Ints, Ints, Ints, Ints, Ints]

ROOTS = 6
"""Routers that are tried as the root above all others."""

MOSTLY = 0.95
"""Share of shortest ways that are left in a tree (by their logarithms)."""

MOST_TURNED = 2**23
"""Routers × channels of networks where a root is looked for though no end point needs it."""

SLACK = 1e-9
"""Rounding of sums."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The channels that may lead to each router where packets leave.

    Attributes
    ----------
    height
        int32[num_routers], no two alike. All 0 where every shortest way may be taken.
    exits
        int32[num_exits], routers with hosts, then all others.
    near
        int16[num_exits, num_routers], hops to each exit; -1 without a way.
    falls
        bool[num_exits, num_routers], whether they all lead down.
    unreached, longer
        Pairs of routers with hosts, weighted by these, that have no way up and then down, and that
        have one, but longer than the shortest.
    """

    height: Ints
    exits: Ints
    near: NDArray[np.int16]
    falls: Bools
    unreached: int
    longer: int

    @property
    def plain(self) -> bool:
        """Whether these are all shortest ways, which may need several lanes."""
        return bool((self.height == 0).all())


def wiring_of(topology: Topology) -> Wiring:
    """Return the channels between routers as kernels take them."""
    inside = topology.routers
    return (inside.channel_source, inside.channel_target, *inside.incoming(), *inside.outgoing())


def shortest_ways(topology: Topology) -> Ways:
    """Return all shortest ways."""
    return _ways(topology, np.zeros(topology.num_routers, np.int32), None)


def tree_ways(topology: Topology, shortest: Ways, installed: Ints | None = None) -> Ways:
    """Return the ways up and then down that cost hosts least.

    Routers are ranked in several ways: by hops to the nearest one with hosts, and by hops to all
    hosts, fewest on top. The ranking with the fewest pairs of hosts without a path is taken, then
    that with the fewest longer paths. If some routers still do not reach each other, such as two
    spines, one router becomes the root of all. It and everything above it are turned upside down,
    so that the rest keeps its paths. If that removes paths between hosts, it is done only if end
    points would not reach each other without it. Of roots that cost nothing, the one is taken that
    admits most entries of a table that is ``installed``. This is int32[num_rows, num_routers], with
    its last rows to the routers.
    """
    bearing, weight = bearing_routers(topology)
    hops = shortest.near[: len(bearing)].astype(np.int64)
    far = np.where(hops < 0, np.iinfo(np.int32).max, hops)
    most = weight[bearing] * 2 >= weight.max(initial=0)
    rankings = [ranked(far.min(axis=0))]  # heights of all routers, no two alike
    if not most.all():
        rankings.append(ranked(far[most].min(axis=0)))
    rankings.append(ranked(-(np.maximum(hops, 0) * weight[bearing][:, None]).sum(axis=0)))
    found = min(
        (_ways(topology, height, shortest) for height in rankings),
        key=lambda ways: (ways.unreached, ways.longer),
    )
    lost = (found.near < 0) & (shortest.near >= 0)
    if not lost.any():
        return found
    cabling = topology.cabling  # end points of any kind
    ends = bearing if cabling is None else np.union1d(bearing, cabling.others.router)
    needed = lost[np.ix_(np.isin(found.exits, ends), ends)].any()
    if not needed and len(found.exits) * topology.num_network_channels > MOST_TURNED:
        return found
    choices = _choices(topology, found)
    tried: list[tuple[float, ...]] = []
    rooted: list[Ways] = []
    for height in _rooted(topology, found.height, ROOTS if installed is None else None):
        ways = _ways(topology, height, shortest)
        gone = max(choices - _choices(topology, ways), SLACK * choices)
        kept, place = 0, np.argsort(ways.exits)
        if installed is not None:  # entries of a table to the routers, its last rows
            rows = enumerate(installed[-topology.num_routers :])
            kept = sum(leads(topology, ways, place[end])[row[row >= 0]].sum() for end, row in rows)
        tried.append((ways.unreached, ways.longer, gone, -int(kept)))
        rooted.append(ways)
        if installed is None and tried[-1] <= (found.unreached, found.longer, SLACK * choices):
            return ways
    best = min(tried)
    if needed or best[:3] <= (found.unreached, found.longer, SLACK * choices):
        return rooted[tried.index(best)]
    return found


def leads(topology: Topology, ways: Ways, place: int) -> Bools:
    """Return by which channels between routers packets may go to an exit, by its place.

    bool[num_network_channels]. Each leads one hop nearer, up first and then down.
    """
    inside, near, falls = topology.routers, ways.near[place], ways.falls[place]
    source, target = inside.channel_source, inside.channel_target
    down = ways.height[source] > ways.height[target]
    stays = (down == falls[source]) & (falls[target] | ~down)
    nearer = (near[target] == near[source] - 1) & (near[target] >= 0)
    return np.asarray(nearer & (ways.plain | stays))


def costs_nothing(topology: Topology, tree: Ways, shortest: Ways) -> bool:
    """Return whether going up and then down leaves nearly all shortest ways between hosts."""
    if tree.unreached or tree.longer * 20 > sum(bearing_routers(topology)[1]) ** 2:
        return False
    return _choices(topology, tree) >= MOSTLY * _choices(topology, shortest)


def bearing_routers(topology: Topology) -> tuple[Ints, Ints]:
    """Return the routers with hosts, and how many ports of hosts each router of all has."""
    ports = np.bincount(topology.ejection_router, minlength=topology.num_routers)
    weight = np.maximum(senders(topology).max(axis=1), ports * topology.routers.vertex_up)
    return np.flatnonzero(weight).astype(np.int32), weight


def _ways(topology: Topology, height: Ints, shortest: Ways | None) -> Ways:
    from netloom.fabrics.kernels.ways import nearness

    bearing, weight = bearing_routers(topology)
    rest = np.setdiff1d(np.arange(topology.num_routers), bearing)
    ends = np.concatenate([bearing, rest]).astype(np.int32)
    near, falls = nearness(ends, height, wiring_of(topology))
    unreached = longer = 0
    if shortest is not None:
        block = np.ix_(np.arange(len(bearing)), bearing)
        mine, best = near[block], shortest.near[block]
        pairs = weight[bearing][:, None] * weight[bearing]
        unreached = int(pairs[(mine < 0) & (best >= 0)].sum())
        longer = int(pairs[(mine >= 0) & (mine > best)].sum())
    return Ways(height, ends, near, falls, unreached, longer)


def _rooted(topology: Topology, height: Ints, most: int | None) -> Iterator[Ints]:
    """Yield heights at which one router is above all others, by the best of these routers.

    Best are those from which most of the highest routers can be reached upwards.
    """
    inside = topology.routers
    beside: list[list[int]] = [[] for _ in range(inside.num_routers)]
    for source, target in zip(
        inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True
    ):
        beside[source].append(target)
    high = height.tolist()
    tops = [0] * len(high)  # the highest routers above each, as bits
    for router in np.argsort(-height).tolist():
        above = [each for each in beside[router] if high[each] > high[router]]
        tops[router] = 1 << router
        if above:
            tops[router] = 0
            for each in above:
                tops[router] |= tops[each]
    bearing, _ = bearing_routers(topology)
    best = sorted(bearing.tolist(), key=lambda router: -tops[router].bit_count())
    for root in best[:most]:
        yield _turned(root, beside, high)


def _turned(root: int, beside: list[list[int]], high: list[int]) -> Ints:
    """Return the heights where a root and what was above it are on top, the root highest.

    All others follow, highest first among those that have a neighbour above them.
    """
    above, queue = {root}, [root]
    for router in queue:
        for each in beside[router]:
            if high[each] > high[router] and each not in above:
                above.add(each)
                queue.append(each)
    placed = dict.fromkeys(sorted(above, key=high.__getitem__))
    for start in [root, *sorted(range(len(high)), key=high.__getitem__, reverse=True)]:
        heap: list[tuple[int, int]] = []
        if start not in placed:
            placed[start] = None
            around = [start]
        else:
            around = list(placed) if start == root else []
        for router in around:
            for each in beside[router]:
                heappush(heap, (-high[each], each))
        while heap:
            router = heappop(heap)[1]
            if router not in placed:
                placed[router] = None
                for each in beside[router]:
                    if each not in placed:
                        heappush(heap, (-high[each], each))
    height = np.empty(len(high), np.int32)
    height[list(placed)] = np.arange(len(high))[::-1]
    return height


def _choices(topology: Topology, ways: Ways) -> float:
    """Return how many ways there are between routers with hosts: the sum of their logarithms."""
    source, target = topology.routers.channel_source, topology.routers.channel_target
    bearing, _ = bearing_routers(topology)
    total = 0.0
    for row in range(len(bearing)):
        near, led = ways.near[row], leads(topology, ways, row)
        count = np.zeros(len(near))
        count[ways.exits[row]] = 1.0
        for hops in range(1, int(near.max()) + 1):
            step = np.flatnonzero(led & (near[source] == hops))
            np.add.at(count, source[step], count[target[step]])
        total += float(np.log(np.maximum(count[bearing], 1.0)).sum())
    return total
